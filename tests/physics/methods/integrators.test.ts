/**
 * The three Eulers on one oscillator, a particle on a spring of the mass-spring method, against x = a cos(w t): order
 * of convergence, limits of stability, and what becomes of energy. All numbers follow from the eigenvalues of one step.
 */
import { describe, expect, test } from "vitest";
import { massSpring } from "../../../server/sim/methods/massSpring.ts";
import type { MethodState } from "../../../server/sim/methods/method.ts";
import type { Integrator } from "../../../server/sim/methods/integrators.ts";
import { NOTHING, outside } from "./kit.ts";

const MASS = 2;
const STIFFNESS = 50;
const OMEGA = Math.sqrt(STIFFNESS / MASS);
const LENGTH = 1;
const AMPLITUDE = 1e-3;

/** A fixed particle at 0, and one that swings about x = LENGTH. */
function oscillator(integrator: Integrator, h: number, alpha = 0, beta = 0) {
  const body = { count: 2, mass: Float64Array.of(0, MASS), h, alpha, beta };
  const method = massSpring.open(
    { ends: Uint32Array.of(0, 1), rest: Float64Array.of(LENGTH), stiffness: Float64Array.of(STIFFNESS) },
    { type: "mass-spring", integrator },
    body,
  );
  const state: MethodState = {
    x: Float64Array.of(0, 0, 0, LENGTH + AMPLITUDE, 0, 0),
    v: new Float64Array(6),
    more: NOTHING,
  };
  const nobody = outside(body);
  return {
    step: () => method.step(state, nobody),
    place: () => state.x[3]! - LENGTH,
    energy: () => method.energy(state) + 0.5 * MASS * state.v[3]! ** 2,
    state,
  };
}

describe.each(["explicit", "symplectic", "implicit"] as const)("%s Euler", (integrator) => {
  test("is of order 1", () => {
    const T = 0.7;
    const error = (steps: number): number => {
      const one = oscillator(integrator, T / steps);
      for (let n = 0; n < steps; n++) one.step();
      return Math.abs(one.place() - AMPLITUDE * Math.cos(OMEGA * T));
    };
    const order = Math.log2(error(800) / error(1600));
    expect(Math.abs(order - 1)).toBeLessThan(0.05);
  });

  test("damps along the spring as much as its beta and alpha say", () => {
    // v' = -(alpha + beta w^2) v - w^2 x: overdamped rates from the characteristic polynomial, order 1 in h
    const alpha = 0.4;
    const beta = 0.02;
    const ratio = (alpha + beta * OMEGA * OMEGA) / (2 * OMEGA);
    const T = 1;
    const steps = 20_000;
    const one = oscillator(integrator, T / steps, alpha, beta);
    for (let n = 0; n < steps; n++) one.step();
    const swing = OMEGA * Math.sqrt(1 - ratio * ratio);
    const exact =
      AMPLITUDE *
      Math.exp(-ratio * OMEGA * T) *
      (Math.cos(swing * T) + ((ratio * OMEGA) / swing) * Math.sin(swing * T));
    expect(Math.abs(one.place() - exact)).toBeLessThan((AMPLITUDE * OMEGA * OMEGA * T * T) / steps);
  });
});

/** How many times as far from rest it gets in so many steps of h. */
function growth(integrator: Integrator, h: number, steps: number, beta = 0): number {
  const one = oscillator(integrator, h, 0, beta);
  // so small that what grows stays on its side of the fixed particle
  one.state.x[3] = LENGTH + 1e-9;
  let most = 0;
  for (let n = 0; n < steps; n++) {
    one.step();
    if (n >= steps - 20) most = Math.max(most, Math.abs(one.place()));
  }
  return most / 1e-9;
}

test("symplectic Euler is stable up to h = 2/omega, within 1 %", () => {
  // at the limit both eigenvalues are -1; below, it swings by up to 1/sqrt(1 - (wh/2)^2) further
  expect(growth("symplectic", (0.99 * 2) / OMEGA, 20_000)).toBeLessThan(1.1 / Math.sqrt(1 - 0.99 ** 2));
  expect(growth("symplectic", (1.01 * 2) / OMEGA, 50)).toBeGreaterThan(100);
});

test("explicit Euler with damping ratio z is stable up to h = 2 z/omega, within 1 %, and never without", () => {
  const ratio = 0.3;
  const beta = (2 * ratio) / OMEGA;
  expect(growth("explicit", (0.99 * 2 * ratio) / OMEGA, 4000, beta)).toBeLessThan(0.1);
  expect(growth("explicit", (1.01 * 2 * ratio) / OMEGA, 4000, beta)).toBeGreaterThan(10);
  const h = 0.1 / OMEGA;
  const one = oscillator("explicit", h);
  const before = one.energy();
  for (let n = 0; n < 100; n++) one.step();
  expect(one.energy() / before).toBeCloseTo((1 + 0.1 ** 2) ** 100, 6);
});

test("the energy of symplectic Euler stays within its bounds for a million steps", () => {
  // it keeps v^2 + w^2 x^2 - h w^2 x v, so the energy stays within (1 +- h w/2) of one number
  const part = 0.1;
  const one = oscillator("symplectic", part / OMEGA);
  let low = Infinity;
  let high = 0;
  for (let n = 0; n < 1_000_000; n++) {
    one.step();
    if (n % 7 !== 0) continue;
    const energy = one.energy();
    low = Math.min(low, energy);
    high = Math.max(high, energy);
  }
  const bound = (1 + part / 2) / (1 - part / 2);
  expect(high / low).toBeLessThan(bound * (1 + 1e-6));
  expect(high / low).toBeGreaterThan(bound * (1 - 1e-2));
});

test("implicit Euler loses energy in every step, however long", () => {
  const one = oscillator("implicit", 10 / OMEGA);
  let before = one.energy();
  for (let n = 0; n < 4; n++) {
    one.step();
    const now = one.energy();
    // 1 + h^2 w^2 times less in every step; after 4 the spring is 1e-7 from its length, known to 1e-16
    expect(Math.abs((101 * now) / before - 1)).toBeLessThan(1e-6);
    before = now;
  }
});
