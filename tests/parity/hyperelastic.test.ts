/**
 * kernel/assembly/constraints/hyperelastic.ts and hyperelasticInversion.ts against their float64 twin, both models.
 *
 * Tolerance: 8 units. A unit is the largest change of the twin's result when its inputs change by one float32 unit in
 * the last place (kit.ts). If singular values are clamped, the kernel takes them from F^T F, which loses up to
 * sigma_0/sigma_1 (svd.ts), about 100 "all over the place": those deformations have 256. Measured: 5 and 140.
 */
import { describe, expect, test } from "vitest";
import { boxTets } from "../../server/meshing/generators.ts";
import { hyperElements } from "../../server/sim/constraints/hyperelastic.ts";
import { neoHookean, stableNeoHookean } from "../../server/sim/scene/materialConstants.ts";
import { hyperelasticVolume } from "../../server/sim/reference/hyperelastic.ts";
import { inLong } from "../support/run/long.ts";
import { DEFORMATIONS, deformed, HYPER_KINDS, inverseMasses, randomHyper } from "./randomElements.ts";
import { conditioned, distanceAt, makeKit, randomStream, UNIT } from "./kit.ts";

const TOLERANCE = 8;
const CLAMPED = 256;
/** Not a multiple of four: the last block has padded lanes. */
const COUNT = inLong(21, 9);
const moduli = { "neo-hookean": neoHookean, "stable-neo-hookean": stableNeoHookean };

describe.each(HYPER_KINDS)("%s", (kind) => {
  for (const size of [1e-3, 0.1, 10]) {
    for (const youngsModulus of [1, 1e4, 1e9]) {
      test(`elements of ${size} m and ${youngsModulus} Pa agree with the twin, four iterations each`, () => {
        for (const nu of inLong(
          [0, 0.3, 0.4999],
          size === 0.1 && youngsModulus === 1e4 ? [0, 0.3, 0.4999] : [0.4999],
        )) {
          for (const [name, deform] of Object.entries(DEFORMATIONS)) {
            const { X, elements } = randomHyper(kind, COUNT, size, youngsModulus, nu);
            const random = randomStream(3);
            const h = 1 / 240;
            const kit = makeKit(
              elements,
              deformed(X, deform, size, 11),
              inverseMasses(4 * COUNT, 1000 * size ** 3, 5),
              h,
            );
            for (let iteration = 0; iteration < 4; iteration++) {
              for (const [i, { distance, unit }] of conditioned(kit, iteration === 0, h, random).entries()) {
                expect(
                  distance / unit,
                  `${name}, nu ${nu}, iteration ${iteration}, element ${i}: ${distance} m apart`,
                ).toBeLessThan(/flat|mirrored|place|third/.test(name) ? CLAMPED : TOLERANCE);
              }
            }
          }
        }
      });
    }
  }

  test("elements of a tangled body agree with the twin", () => {
    for (const youngsModulus of [1e3, 1e7]) {
      for (const nu of inLong([0, 0.3, 0.45], youngsModulus === 1e3 ? [0, 0.45] : [0.3])) {
        for (const [name, deform] of Object.entries(DEFORMATIONS)) {
          const { X, elements } = randomHyper(kind, COUNT, 0.1, youngsModulus, nu);
          const random = randomStream(3);
          const h = 1 / 240;
          const kit = makeKit(
            { ...elements, tangled: true },
            deformed(X, deform, 0.1, 11),
            inverseMasses(4 * COUNT, 1, 5),
            h,
          );
          for (let iteration = 0; iteration < 4; iteration++) {
            for (const [i, { distance, unit }] of conditioned(kit, iteration === 0, h, random).entries())
              expect(distance / unit, `${name}, nu ${nu}, iteration ${iteration}, element ${i}`).toBeLessThan(CLAMPED);
          }
        }
      }
    }
  });

  test("single elements, and elements with fixed corners, agree with the twin", () => {
    for (const pinned of [2, 3, 5, Infinity]) {
      for (const count of [1, 2, 3, 4, 5]) {
        const { X, elements } = randomHyper(kind, count, 0.1, 1e5, 0.3, count);
        const h = 1 / 240;
        const random = randomStream(3);
        const kit = makeKit(
          elements,
          deformed(X, DEFORMATIONS["strained by 20 %"]!, 0.1, 3),
          inverseMasses(4 * count, 1, 9, pinned),
          h,
        );
        const before = kit.kernelPositions();
        for (let iteration = 0; iteration < 3; iteration++)
          for (const { distance, unit } of conditioned(kit, iteration === 0, h, random))
            expect(distance / unit).toBeLessThan(TOLERANCE);
        const after = kit.kernelPositions();
        for (let i = pinned - 1; i < 4 * count; i += pinned)
          expect(distanceAt(before, after, i), "a fixed corner moved").toBe(0);
      }
    }
  });

  test("an element with only fixed corners keeps every bit", () => {
    const { X, elements } = randomHyper(kind, 5, 0.1, 1e5, 0.3);
    const kit = makeKit(
      elements,
      deformed(X, DEFORMATIONS["strained by 20 %"]!, 0.1, 3),
      new Float64Array(20),
      1 / 240,
    );
    const before = kit.kernelPositions();
    for (let iteration = 0; iteration < 3; iteration++) kit.iterate(iteration === 0);
    expect(kit.kernelPositions()).toEqual(before);
  });

  test("a mirrored, a flat and a collapsed element recover, in kernel and twin", () => {
    const X = Float64Array.from([1, 1, 1, -1, 1, -1, 1, -1, -1, -1, -1, 1].map((v) => 0.05 * v));
    for (const poissonsRatio of [0, 0.3, 0.45]) {
      const elements = hyperElements(
        kind,
        X,
        Uint32Array.of(0, 2, 1, 3),
        moduli[kind]({ youngsModulus: 1e6, poissonsRatio }),
      );
      for (const squash of [-1, -0.3, 0, 0.01]) {
        const kit = makeKit(
          elements,
          X.map((x, k) => (k % 3 === 0 ? squash * x : squash === 0 ? 0 : x)),
          inverseMasses(4, 1, 5),
          1 / 240,
        );
        for (let substep = 0; substep < 120; substep++) kit.iterate(true);
        expect(
          hyperelasticVolume(kit.kernelPositions(), elements, 0) / elements.volume[0]!,
          `x times ${squash}, nu ${poissonsRatio}`,
        ).toBeCloseTo(1, 2);
        expect(
          hyperelasticVolume(kit.particles.x, elements, 0) / elements.volume[0]!,
          `x times ${squash}, nu ${poissonsRatio}, twin`,
        ).toBeCloseTo(1, 2);
      }
    }
  });

  test("one iteration over a mesh of many colors agrees with the twin", () => {
    const { positions, tets } = boxTets([0.3, 0.2, 0.2], [5, 4, 3]);
    const N = positions.length / 3;
    const random = randomStream(17);
    const elements = hyperElements(kind, positions, tets, moduli[kind]({ youngsModulus: 1e5, poissonsRatio: 0.4 }));
    const kit = makeKit(
      elements,
      positions.map((x) => x + 0.01 * random()),
      inverseMasses(N, 0.05, 5),
      1 / 240,
    );
    expect(kit.colors.length).toBeGreaterThan(8);
    for (let iteration = 0; iteration < 3; iteration++) {
      kit.align();
      kit.iterate(iteration === 0);
      const kernel = kit.kernelPositions();
      // up to 24 elements move a particle one after another, each with a few units of its position and of its edge
      for (let i = 0; i < N; i++)
        expect(distanceAt(kernel, kit.particles.x, i)).toBeLessThan(24 * TOLERANCE * UNIT * 0.3);
    }
  });
});
