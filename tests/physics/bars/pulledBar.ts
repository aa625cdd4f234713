/**
 * A bar pulled at both ends until it rests: its stretch and lateral contraction beside the law's. Under nominal stress
 * P along s, free across:
 *   Saint Venant-Kirchhoff   P = k s (s^2 - 1)/2,  t^2 = 1 - nu (s^2 - 1)
 *   Neo-Hookean              P = mu (s - t^2/s),  mu (t^2 - 1) + lambda log(s t^2) = 0
 *   stable Neo-Hookean       P = mu (s - t^2/s),  mu + lambda' s (s t^2 - gamma) = 0
 */
import type { IsotropicMaterial } from "../../../shared/scene/sceneMaterials.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { softBox } from "../../support/bodies.ts";

export interface Bar {
  k: number;
  nu: number;
  tickHz: number;
  substeps: number;
  iterations: number;
  /** the stretch that the load is chosen for */
  s: number;
  /** default stvk */
  model?: IsotropicMaterial["model"];
  size?: [number, number, number];
  cells?: [number, number, number];
}

/** Principal stretch along x, and the mean of those along y and z, of the affine map that fits the motion best. */
export function stretches(X: Float64Array, x: Float64Array): { s: number; t: number } {
  const A = Array.from({ length: 3 }, () => [0, 0, 0]);
  const D = [0, 0, 0];
  for (let i = 0; i < X.length; i += 3) {
    for (let c = 0; c < 3; c++) {
      D[c]! += X[i + c]! ** 2;
      for (let r = 0; r < 3; r++) A[r]![c]! += x[i + r]! * X[i + c]!;
    }
  }
  const length = (c: number): number => Math.sqrt([0, 1, 2].reduce((sum, r) => sum + (A[r]![c]! / D[c]!) ** 2, 0));
  return { s: length(0), t: (length(1) + length(2)) / 2 };
}

/** Nominal stress P (Pa) and lateral stretch t at stretch s. */
export function uniaxialLaw(model: Bar["model"], k: number, nu: number, s: number): { P: number; t: number } {
  if (model === undefined || model === "stvk")
    return { P: (k * s * (s * s - 1)) / 2, t: Math.sqrt(1 - nu * (s * s - 1)) };
  const mu = k / (2 * (1 + nu));
  const lambda = (k * nu) / ((1 + nu) * (1 - 2 * nu));
  let t2 = 0;
  if (model === "stable-neo-hookean") t2 = (1 + mu / (lambda + mu) - mu / ((lambda + mu) * s)) / s;
  else {
    // monotonic in t^2: bisection
    let low = 1e-9;
    let high = 10;
    for (let i = 0; i < 100; i++) {
      t2 = (low + high) / 2;
      if (mu * (t2 - 1) + lambda * Math.log(s * t2) < 0) low = t2;
      else high = t2;
    }
  }
  return { P: mu * (s - t2 / s), t: Math.sqrt(t2) };
}

/**
 * Energy density W (Pa) at stretch s with free sides: the integral of the law's P from rest. Below 58 % of its length a
 * Saint Venant-Kirchhoff body has the energy mu q + lambda/2 t^2 of the tangents q of |eps|^2 and t of tr eps
 * (server/sim/reference/tetrahedron.ts), at the side strain e that minimizes it:
 *   q = 1/9 + 2 e0 s0 (s - s0) + 2 e^2,  t = e1 + 2 e,  e1 = e0 + s0 (s - s0),  e = -lambda t/(2 mu)
 *   s0 = 1/sqrt 3,  e0 = -1/3
 * @throws Error below 0.35, where the kernel continues the Neo-Hookean models and these formulas do not
 */
export function uniaxialEnergy(model: Bar["model"], k: number, nu: number, s: number): number {
  const mu = k / (2 * (1 + nu));
  const lambda = (k * nu) / ((1 + nu) * (1 - 2 * nu));
  if (model === undefined || model === "stvk") {
    const s0 = 1 / Math.sqrt(3);
    const e0 = -1 / 3;
    const e1 = e0 + s0 * (s - s0);
    const t = e1 / (1 + lambda / mu);
    const e = (-lambda * t) / (2 * mu);
    return s >= s0
      ? (k * (s * s - 1) ** 2) / 8
      : mu * (e0 * e0 + 2 * e0 * s0 * (s - s0) + 2 * e * e) + (lambda / 2) * t * t;
  }
  if (s < 0.35) throw new Error(`stretch s: ${s}, limit: at least 0.35 for model ${model}`);
  const { t } = uniaxialLaw(model, k, nu, s);
  const J = s * t * t;
  const squares = s * s + 2 * t * t - 3;
  const gamma = 1 + mu / (lambda + mu);
  if (model === "neo-hookean") return (mu / 2) * (squares - 2 * Math.log(J)) + (lambda / 2) * Math.log(J) ** 2;
  return (mu / 2) * squares + ((lambda + mu) / 2) * ((J - gamma) ** 2 - (1 - gamma) ** 2);
}

/**
 * A cube on a floor without friction, with its upper face loaded until it has the stretch s < 1. The floor prevents the
 * compressed body from turning over.
 * @throws Error if the room held the body
 */
export async function pressCube({
  k,
  nu,
  tickHz,
  substeps,
  iterations,
  s,
  model,
  cells = [2, 2, 2],
}: Bar): Promise<{ s: number; t: number; ideal: { s: number; t: number } }> {
  const size = 0.1;
  const law = uniaxialLaw(model, k, nu, s);
  const slow = Math.sqrt(k / 1000) / size;
  const lab = await laboratory({
    tickHz,
    substeps,
    iterations,
    bodies: [
      softBox("cube", [size, size, size], cells, {
        material: {
          ...(model && { model }),
          density: 1000,
          youngsModulus: k,
          poissonsRatio: nu,
          friction: 0,
          damping: 2 * slow,
        },
        loads: [
          { select: { box: { min: [-1, 0.4999 * size, -1], max: [1, 1, 1] } }, force: [0, law.P * size * size, 0] },
        ],
      }),
    ],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: -0.5 * size, friction: 0 }],
  });
  const X = lab.positions();
  const events = lab.run(Math.ceil(0.5 * tickHz));
  if (events.length > 0) throw new Error(`the cube was held: ${JSON.stringify(events)}`);
  const turned = (x: Float64Array): Float64Array => x.map((_, i) => x[i % 3 === 0 ? i + 1 : i % 3 === 1 ? i - 1 : i]!);
  const x = lab.positions();
  const mean = x.reduce((sum, v, i) => sum + (i % 3 === 1 ? v : 0), 0) / (x.length / 3);
  return { ...stretches(turned(X), turned(x.map((v, i) => (i % 3 === 1 ? v - mean : v)))), ideal: { s, t: law.t } };
}

/** @throws Error if the room held the body or refused an input */
export async function stretchBar(
  bar: Bar,
): Promise<{ s: number; t: number; ideal: { s: number; t: number }; lab: Laboratory }> {
  const { k, nu, tickHz, substeps, iterations, s, model, size = [0.3, 0.1, 0.1], cells = [6, 2, 2] } = bar;
  const law = uniaxialLaw(model, k, nu, s);
  const force = law.P * size[1] * size[2];
  const end = 0.4999 * size[0];
  const slow = Math.sqrt(k / 1000) / size[0];
  const lab = await laboratory({
    tickHz,
    substeps,
    iterations,
    worldRadius: 1000,
    bodies: [
      softBox("bar", size, cells, {
        material: {
          ...(model && { model }),
          density: 1000,
          youngsModulus: k,
          poissonsRatio: nu,
          damping: Math.min(10000, 2 * slow),
        },
        loads: [
          { select: { box: { min: [end, -10, -10], max: [10, 10, 10] } }, force: [force, 0, 0] },
          { select: { box: { min: [-10, -10, -10], max: [-end, 10, 10] } }, force: [-force, 0, 0] },
        ],
      }),
    ],
  });
  const X = lab.positions();
  const events = lab.run(Math.ceil(Math.max(30 / slow, 0.1) * tickHz));
  if (events.length > 0) throw new Error(`the bar was held: ${JSON.stringify(events)}`);
  return { ...stretches(X, lab.positions()), lab, ideal: { s, t: law.t } };
}
