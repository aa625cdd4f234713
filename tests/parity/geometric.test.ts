/**
 * kernel/assembly/constraints/{distance,volume,hexahedron}.ts against their float64 twins, with compliance and with
 * stiffness k', bilateral and unilateral.
 *
 * Tolerance: 16 units. A unit is the largest change of the twin's result when its inputs change by one float32 unit in
 * the last place (kit.ts). A volume is a sum of six products of three differences, each rounded three times. Measured:
 * 8.3.
 */
import { distanceValue, type DistanceElements } from "../../server/sim/constraints/distance.ts";
import type { Elements } from "../../server/sim/constraints/kinds.ts";
import { describe, expect, test } from "vitest";
import { inLong } from "../support/run/long.ts";
import {
  DEFORMATIONS,
  deformed,
  inverseMasses,
  randomDistances,
  randomHexahedra,
  randomVolumes,
} from "./randomElements.ts";
import { agrees } from "./agreement.ts";
import { conditioned, distanceAt, makeKit, randomStream } from "./kit.ts";

const TOLERANCE = 16;
const COUNT = inLong(41, 13);
const H = 1 / 240;

interface Kind {
  corners: number;
  /** @param compliance relative: 1 means W = alpha/h^2 in XPBD, 0 rigid; undefined: stiffness k' */
  make: (size: number, compliance: number | undefined, unilateral: boolean) => { X: Float64Array; elements: Elements };
}

/** Compliance in the ratio `soft` to W, the sum of w |grad C|^2, for particles of about 10 size^3 kg. */
const KINDS: Record<string, Kind> = {
  distances: {
    corners: 2,
    make: (size, soft, unilateral) =>
      randomDistances(
        COUNT,
        size,
        soft === undefined ? { stiffness: 0.3 } : { compliance: (soft * H * H) / (5 * size ** 3) },
        unilateral,
      ),
  },
  volumes: {
    corners: 4,
    make: (size, soft, unilateral) =>
      randomVolumes(
        COUNT,
        size,
        soft === undefined ? { stiffness: 0.3 } : { compliance: (soft * H * H * size) / 10 },
        unilateral,
      ),
  },
  hexahedra: { corners: 8, make: (size, soft = 0.1) => randomHexahedra(COUNT, size, (soft * H * H * size) / 10) },
};

for (const [kind, { corners, make }] of Object.entries(KINDS)) {
  describe(kind, () => {
    for (const [name, deform] of Object.entries(DEFORMATIONS)) {
      test(`${name} agree with the twin, four iterations each`, () => {
        for (const size of [1e-3, 0.1, 10]) {
          for (const soft of [undefined, 0, 1, 100]) {
            for (const unilateral of kind === "hexahedra" ? [false] : [false, true]) {
              const { X, elements } = make(size, soft, unilateral);
              const masses = inverseMasses(corners * COUNT, 10 * size ** 3, 5, 9);
              const kit = makeKit(elements, deformed(X, deform, size, 11), masses, H);
              agrees(kit, TOLERANCE, `size ${size} m, softness ${soft}, unilateral ${unilateral}`);
            }
          }
        }
      });
    }

    test("a rest state keeps every bit, at the origin and a kilometer away", () => {
      for (const soft of [undefined, 0, 1]) {
        const { X, elements } = make(0.5, soft, false);
        for (const at of [0, 1024]) {
          const kit = makeKit(
            elements,
            X.map((x, k) => x + [at, -at, at / 2][k % 3]!),
            inverseMasses(corners * COUNT, 0.1, 5),
            H,
          );
          const before = kit.kernelPositions();
          for (let iteration = 0; iteration < 5; iteration++) kit.iterate(iteration === 0);
          expect(kit.kernelPositions().every((x, k) => x === before[k])).toBe(true); // -0 may become 0
        }
      }
    });

    test("collapsed into a point, distances separate; volumes have no gradient and do not move", () => {
      for (const soft of [undefined, 0, 1]) {
        const { X, elements } = make(0.5, soft, false);
        const kit = makeKit(
          elements,
          X.map(() => 0.25),
          inverseMasses(corners * COUNT, 0.1, 5),
          H,
        );
        const random = randomStream(3);
        for (let iteration = 0; iteration < 3; iteration++) {
          for (const { distance, unit } of conditioned(kit, iteration === 0, kit.h, random, 0))
            expect(distance).toBeLessThanOrEqual(TOLERANCE * unit);
        }
        expect(kit.kernelPositions().every((x) => x === 0.25)).toBe(kind !== "distances");
      }
    });
  });
}

// m (x - xTilde)/h^2 + grad E = 0: the direction of a distance does not turn during its solve. Tolerance: rounding of
// positions, 2^-24 of 0.1 m, relative to corrections of 1 mm and more.
test("1000 iterations of one distance give an implicit Euler step, for any step and compliance", () => {
  for (const h of [1 / 60, 1 / 1200]) {
    for (const soft of [0.1, 1, 10]) {
      for (const strain of [0.05, 0.3]) {
        const { X, elements } = randomDistances(1, 0.1, { compliance: 20 * soft * h * h }, false, 40);
        const random = randomStream(31);
        const kit = makeKit(
          elements,
          X.map((v) => v + 0.1 * strain * random()),
          Float64Array.of(10, 12),
          h,
        );
        const start = Float64Array.from(kit.particles.x);
        for (let n = 0; n < 1000; n++) kit.iterate(n === 0);
        const e = kit.elements as DistanceElements;
        for (const [positions, limit] of [
          [kit.particles.x, 1e-8],
          [kit.kernelPositions(), 2e-3],
        ] as const) {
          const { C, gradient } = distanceValue(positions, e, 0);
          const force = C / e.alpha[0]!;
          for (let k = 0; k < 6; k++) {
            const inertia = (positions[k]! - start[k]!) / (kit.particles.w[Math.floor(k / 3)]! * kit.h ** 2);
            expect(
              Math.abs(inertia + force * gradient[Math.floor(k / 3)]![k % 3]!),
              `h ${h}, softness ${soft}, strain ${strain}`,
            ).toBeLessThan(limit * Math.abs(force));
          }
        }
      }
    }
  }
});

describe("unilateral constraints", () => {
  test("a distance shorter than its rest length is left alone, a longer one is corrected", () => {
    for (const ask of [{ stiffness: 1 }, { compliance: 0 }]) {
      const { X, elements } = randomDistances(COUNT, 0.5, ask, true);
      const w = inverseMasses(2 * COUNT, 0.1, 5);
      for (const [factor, moves] of [
        [0.8, false],
        [1.2, true],
      ] as const) {
        const x = X.map((value) => factor * value);
        const kit = makeKit(elements, x, w, H);
        const before = kit.kernelPositions();
        kit.iterate(true);
        for (let i = 0; i < 2 * COUNT; i++) expect(distanceAt(before, kit.kernelPositions(), i) > 0).toBe(moves);
      }
    }
  });

  test("a volume larger than at rest is left alone, a smaller or inverted one is corrected", () => {
    for (const ask of [{ stiffness: 1 }, { compliance: 0 }]) {
      const { X, elements } = randomVolumes(COUNT, 0.5, ask, true);
      const w = inverseMasses(4 * COUNT, 0.1, 5);
      for (const [factor, moves] of [
        [1.2, false],
        [0.8, true],
        [-1, true],
      ] as const) {
        const x = X.map((value, k) => (k % 3 ? Math.abs(factor) : factor) * value);
        const kit = makeKit(elements, x, w, H);
        const before = kit.kernelPositions();
        kit.iterate(true);
        for (let i = 0; i < 4 * COUNT; i++) expect(distanceAt(before, kit.kernelPositions(), i) > 0).toBe(moves);
      }
    }
  });

  test("with compliance the total multiplier is bounded: an iteration takes back an excess of earlier ones", () => {
    const { X, elements } = randomDistances(1, 0.5, { compliance: 0 }, true);
    const w = Float64Array.of(1, 1);
    const kit = makeKit(
      elements,
      X.map((value) => 1.2 * value),
      w,
      H,
    );
    kit.iterate(true);
    // another force pushes the two together, below their rest length
    const near = kit.kernelPositions();
    const middle = [0, 1, 2].map((r) => (near[r]! + near[3 + r]!) / 2);
    kit.place(near.map((x, k) => middle[k % 3]! + 0.9 * (x - middle[k % 3]!)));
    const length = (x: Float64Array): number => Math.sqrt([0, 1, 2].reduce((s, r) => s + (x[r]! - x[3 + r]!) ** 2, 0));
    const pushed = length(kit.kernelPositions());
    kit.iterate(false);
    expect(length(kit.kernelPositions())).toBeGreaterThan(pushed); // an earlier pull is taken back
    for (let i = 0; i < 3; i++) kit.iterate(false);
    const rest = "rest" in kit.elements ? kit.elements.rest[0]! : NaN;
    expect(Math.abs(length(kit.kernelPositions()) / rest - 1)).toBeLessThan(1e-6);
  });
});
