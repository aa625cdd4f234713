/**
 * kernel/assembly/constraints/hyperelastic.ts and hyperelasticInversion.ts against their float64 twin, both models.
 *
 * Tolerance: 8 units. A unit is the largest change of the twin's result when its inputs change by one float32 unit in
 * the last place (kit.ts). If singular values are clamped, the kernel takes them from F^T F, which loses up to
 * sigma_0/sigma_1 (svd.ts), about 100 "all over the place": those deformations have 256. Measured: 5 and 140.
 */
import { describe, test } from "vitest";
import { hyperElements } from "../../server/sim/constraints/hyperelastic.ts";
import { neoHookean, stableNeoHookean } from "../../server/sim/scene/materialConstants.ts";
import { hyperelasticVolume } from "../../server/sim/reference/hyperelastic.ts";
import { inLong } from "../support/run/long.ts";
import { DEFORMATIONS, deformed, HYPER_KINDS, inverseMasses, randomHyper } from "./randomElements.ts";
import { agrees } from "./agreement.ts";
import { makeKit } from "./kit.ts";
import { fixedCornersStay, fixedElementsStay, manyColorsAgree, recovers } from "./solidChecks.ts";

const TOLERANCE = 8;
const CLAMPED = 256;
/** Not a multiple of four: the last block has padded lanes. */
const COUNT = inLong(21, 6);
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
            const masses = inverseMasses(4 * COUNT, 1000 * size ** 3, 5);
            const kit = makeKit(elements, deformed(X, deform, size, 11), masses, 1 / 240);
            agrees(kit, /flat|mirrored|place|third/.test(name) ? CLAMPED : TOLERANCE, `${name}, nu ${nu}`);
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
          const masses = inverseMasses(4 * COUNT, 1, 5);
          const kit = makeKit({ ...elements, tangled: true }, deformed(X, deform, 0.1, 11), masses, 1 / 240);
          agrees(kit, CLAMPED, `${name}, nu ${nu}`);
        }
      }
    }
  });

  const random = (count: number, seed?: number) => randomHyper(kind, count, 0.1, 1e5, 0.3, seed);

  test("single elements, and elements with fixed corners, agree with the twin", () => {
    fixedCornersStay(random, TOLERANCE);
  });

  test("an element with only fixed corners keeps every bit", () => fixedElementsStay(random));

  test.each([0, 0.3, 0.45])("nu %d: a mirrored, a flat and a collapsed element recover, in kernel and twin", (nu) => {
    const material = moduli[kind]({ youngsModulus: 1e6, poissonsRatio: nu });
    recovers(
      (X, corners) => hyperElements(kind, X, corners, material),
      (x, elements) => hyperelasticVolume(x, elements, 0) / elements.volume[0]!,
      120,
    );
  });

  test("one iteration over a mesh of many colors agrees with the twin", () => {
    const material = moduli[kind]({ youngsModulus: 1e5, poissonsRatio: 0.4 });
    manyColorsAgree((X, tets) => hyperElements(kind, X, tets, material), TOLERANCE);
  });
});
