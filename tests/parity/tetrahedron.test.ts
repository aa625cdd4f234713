/**
 * kernel/assembly/constraints/tetrahedron.ts and inversion.ts against their float64 twin. Tolerance: 8 units. A unit is
 * the largest change of the twin's result when its inputs change by one float32 unit in the last place (kit.ts).
 * Measured: 3.
 */
import { expect, test } from "vitest";
import { tetElements } from "../../server/sim/constraints/tetrahedra.ts";
import { lameCoefficients } from "../../server/sim/scene/materialConstants.ts";
import { tetrahedronVolume } from "../../server/sim/reference/tetrahedron.ts";
import { inLong } from "../support/run/long.ts";
import { DEFORMATIONS, deformed, inverseMasses, randomTets } from "./randomElements.ts";
import { agrees } from "./agreement.ts";
import { makeKit, sizeOf, UNIT } from "./kit.ts";
import { fixedCornersStay, fixedElementsStay, manyColorsAgree, recovers } from "./solidChecks.ts";

const TOLERANCE = 8;
/** Not a multiple of four: the last block has padded lanes. */
const COUNT = inLong(21, 9);

for (const size of [1e-3, 0.1, 10]) {
  for (const youngsModulus of [1, 1e4, 1e9]) {
    test(`elements of ${size} m and ${youngsModulus} Pa agree with the twin, four iterations each`, () => {
      for (const nu of inLong([0, 0.3, 0.4999], size === 0.1 && youngsModulus === 1e4 ? [0, 0.3, 0.4999] : [0.4999])) {
        for (const [name, deform] of Object.entries(DEFORMATIONS)) {
          const { X, elements } = randomTets(COUNT, size, youngsModulus, nu);
          const masses = inverseMasses(4 * COUNT, 1000 * size ** 3, 5);
          agrees(makeKit(elements, deformed(X, deform, size, 11), masses, 1 / 240), TOLERANCE, `${name}, nu ${nu}`);
        }
      }
    });
  }
}

const random = (count: number, seed?: number) => randomTets(count, 0.1, 1e5, 0.3, seed);

test("single elements, and elements with fixed corners, agree with the twin", () => {
  fixedCornersStay(random, TOLERANCE);
});

test("an element with only fixed corners keeps every bit", () => fixedElementsStay(random));

// The frame of degenerate singular vectors is arbitrary: the test compares values that do not depend on it, and that
// the element opens.
test("an element on a line opens like its twin: the same distances between its corners", () => {
  const { X, elements } = randomTets(COUNT, 0.125, 1e5, 0.3);
  const h = 1 / 240;
  // coordinates that are multiples of 2^-10 give F an exact rank of one
  const x = X.map((_, k) => [1, 2, -1][k % 3]! * (Math.round(X[3 * Math.floor(k / 3)]! * 1024) / 1024));
  const kit = makeKit(elements, x, inverseMasses(4 * COUNT, 1, 5), h);
  kit.iterate(true);
  const kernel = kit.kernelPositions();
  for (let i = 0; i < COUNT; i++) {
    const corners = [0, 1, 2, 3].map((c) => 4 * i + c);
    const size = sizeOf(kernel, corners);
    for (const a of corners)
      for (const b of corners)
        expect(Math.abs(sizeOf(kernel, [a, b]) - sizeOf(kit.particles.x, [a, b]))).toBeLessThan(64 * UNIT * size);
    expect(size).not.toBe(sizeOf(x, corners));
  }
});

test("an element in a point opens like its twin", () => {
  const { X, elements } = randomTets(COUNT, 0.1, 1e6, 0.3);
  const kit = makeKit(
    elements,
    X.map((_, k) => X[12 * Math.floor(k / 12) + (k % 3)]!),
    inverseMasses(4 * COUNT, 1, 5),
    1 / 240,
  );
  kit.iterate(true);
  const kernel = kit.kernelPositions();
  for (let i = 0; i < COUNT; i++) {
    const corners = [0, 1, 2, 3].map((c) => 4 * i + c);
    expect(sizeOf(kernel, corners)).toBeGreaterThan(0);
    for (const a of corners)
      for (const b of corners)
        expect(Math.abs(sizeOf(kernel, [a, b]) - sizeOf(kit.particles.x, [a, b]))).toBeLessThan(64 * UNIT * 0.2);
  }
});

test("a mirrored, a flat and a collapsed element recover, in kernel and twin", () => {
  recovers(
    (X, corners) => tetElements(X, corners, lameCoefficients({ youngsModulus: 1e6, poissonsRatio: 0.3 })),
    (x, elements) => tetrahedronVolume(x, elements, 0) / elements.volume[0]!,
    60,
  );
});

test("one iteration over a mesh of many colors agrees with the twin", () => {
  const material = lameCoefficients({ youngsModulus: 1e5, poissonsRatio: 0.4 });
  manyColorsAgree((X, tets) => tetElements(X, tets, material), TOLERANCE);
});
