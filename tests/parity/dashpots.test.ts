/**
 * kernel/assembly/constraints/dashpots.ts, and the solves with its stored strains, against their float64 twins.
 * Tolerance: 8 units. A unit is the largest change of the twin's result when its inputs change by one float32 unit in
 * the last place (kit.ts). Measured: below 3.
 */
import { expect, test } from "vitest";
import { CONSTRAINTS, type Elements } from "../../server/sim/constraints/kinds.ts";
import { isotropicCompliance, orthotropicCompliance } from "../../server/sim/scene/materialConstants.ts";
import { keepPast } from "../../server/sim/reference/dashpots.ts";
import { inLong } from "../support/run/long.ts";
import {
  DEFORMATIONS,
  deformed,
  inverseMasses,
  randomStencils,
  randomTets,
  randomTriangles,
} from "./randomElements.ts";
import { agrees } from "./agreement.ts";
import { makeKit, perturbed, randomStream, sizeOf, UNIT } from "./kit.ts";

const TOLERANCE = 8;
const COUNT = inLong(41, 9);
const SIZE = 0.1;
const H = 1 / 240;

type Made = { X: Float64Array; elements: Elements };

/** Elements with dashpots of tau = `times` h. */
const KINDS: Record<string, (stiffness: number, times: number) => Made> = {
  "isotropic tetrahedra": (k, times) => {
    const { X, elements } = randomTets(COUNT, SIZE, k, 0.3);
    const compliance = isotropicCompliance({ youngsModulus: k * times, poissonsRatio: 0.3 });
    return { X, elements: { ...elements, kind: "tet-dashpot", compliance, past: new Float64Array(6 * COUNT) } };
  },
  "orthotropic tetrahedra": (k, times) => {
    const { X, elements } = randomTets(COUNT, SIZE, k, 0.3);
    const compliance = orthotropicCompliance({
      youngsModuli: [k * times, 10 * k * times, 2 * k * times],
      poissonsRatios: [0.03, 0.3, 0.2],
      shearModuli: [k * times, 0.3 * k * times, 0.5 * k * times],
    });
    return { X, elements: { ...elements, kind: "tet-dashpot", compliance, past: new Float64Array(6 * COUNT) } };
  },
  triangles: (k, times) => {
    const [kWeft, kWarp, kShear] = [k * times, 10 * k * times, k * times];
    const { X, elements } = randomTriangles(COUNT, SIZE, { kWeft, kWarp, kShear, nuWeft: 0.04, nuWarp: 0.4 });
    return { X, elements: { ...elements, kind: "triangle-dashpot", past: new Float64Array(3 * COUNT) } };
  },
  "bending stencils": (k, times) => {
    const { X, elements } = randomStencils(COUNT, SIZE, 1e-3 * k * SIZE ** 3 * times, false);
    return { X, elements: { ...elements, kind: "bend-dashpot", past: new Float64Array(3 * COUNT) } };
  },
};

for (const [kind, make] of Object.entries(KINDS)) {
  test(`dashpots of ${kind} agree with the twin in four iterations and in their stored strains`, () => {
    for (const stiffness of [1e3, 1e7]) {
      for (const times of [0.1, 10]) {
        for (const [name, deform] of Object.entries(DEFORMATIONS)) {
          const { X, elements } = make(stiffness, times);
          const random = randomStream(3);
          // the substep began a little elsewhere
          keepPast(
            deformed(X, deform, SIZE, 11).map((x) => x + 0.02 * SIZE * random()),
            elements,
          );
          const particles = CONSTRAINTS[elements.kind].corners * COUNT;
          const kit = makeKit(elements, deformed(X, deform, SIZE, 11), inverseMasses(particles, 10 * SIZE ** 3, 5), H);
          agrees(kit, TOLERANCE, `${stiffness} Pa, ${times} h, ${name}`, 4, random);
          judgeKept(kit, name, random);
        }
      }
    }
  });
}

/**
 * Compares stored strains with the twin's. The unit is the twin's change when its inputs change by one unit, as in
 * `conditioned`.
 */
function judgeKept(kit: ReturnType<typeof makeKit>, name: string, random: () => number): void {
  const e = kit.elements as Elements & { past: Float64Array };
  const k = CONSTRAINTS[e.kind].corners;
  const x = kit.kernelPositions();
  kit.endSubstep(H);
  keepPast(x, e);
  const unit = e.past.map((value) => UNIT * Math.abs(value));
  for (let sample = 0; sample < 6; sample++) {
    const other = { ...perturbed(e, random), past: new Float64Array(e.past.length) } as typeof e;
    const moved = Float64Array.from(x);
    for (let i = 0; i < COUNT; i++) {
      const corners = [...e.particles.subarray(k * i, k * i + k)];
      const size = sizeOf(x, corners);
      for (const c of corners) for (let r = 0; r < 3; r++) moved[3 * c + r]! += UNIT * size * random();
    }
    keepPast(moved, other);
    other.past.forEach((value, n) => (unit[n] = Math.max(unit[n]!, Math.abs(value - e.past[n]!))));
  }
  const numbers = e.past.length / COUNT;
  kit.state().forEach((value, n) => {
    const first = numbers * Math.floor(n / numbers);
    const most = Math.max(...unit.subarray(first, first + numbers));
    expect(Math.abs(value - e.past[n]!) / most, `${name}, number ${n}: ${value}`).toBeLessThan(TOLERANCE);
  });
}
