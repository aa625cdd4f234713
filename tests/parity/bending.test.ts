/**
 * kernel/assembly/constraints/bending.ts against its float64 twin. Tolerance: 8 units. A unit is the largest change of
 * the twin's result when its inputs change by one float32 unit in the last place (kit.ts). Measured: 3.
 */
import { expect, test } from "vitest";
import { DEFORMATIONS, deformed, inverseMasses, randomStencils, stencilsOn } from "./randomElements.ts";
import { agrees } from "./agreement.ts";
import { conditioned, distanceAt, makeKit, randomStream } from "./kit.ts";

const TOLERANCE = 8;
const COUNT = 41;

for (const flat of [true, false]) {
  for (const size of [1e-3, 0.1, 10]) {
    for (const rigidity of [1e-9, 1e-3, 1e6]) {
      test(`${flat ? "flat" : "curved"} stencils of ${size} m, ${rigidity} N m agree with the twin four times`, () => {
        for (const [name, deform] of Object.entries(DEFORMATIONS)) {
          const { X, elements } = randomStencils(COUNT, size, rigidity, flat);
          const masses = inverseMasses(4 * COUNT, 10 * size ** 3, 5);
          agrees(makeKit(elements, deformed(X, deform, size, 11), masses, 1 / 240), TOLERANCE, name);
        }
      });
    }
  }
}

test("fixed corners keep every bit", () => {
  for (const pinned of [1, 2, 3]) {
    const { X, elements } = randomStencils(5, 0.1, 1e-3, true);
    const h = 1 / 240;
    const random = randomStream(3);
    const kit = makeKit(
      elements,
      deformed(X, DEFORMATIONS["strained by 20 %"]!, 0.1, 3),
      inverseMasses(20, 0.1, 9, pinned),
      h,
    );
    const before = kit.kernelPositions();
    for (let iteration = 0; iteration < 3; iteration++)
      for (const { distance, unit } of conditioned(kit, iteration === 0, h, random))
        expect(distance / unit).toBeLessThan(TOLERANCE);
    const after = kit.kernelPositions();
    for (let i = pinned - 1; i < 20; i += pinned) expect(distanceAt(before, after, i)).toBe(0);
  }
});

// With absolute float32 positions an undeformed stencil far from the origin would move by a meter.
test("a rest state is a fixed point a kilometer from the origin", () => {
  const { X } = randomStencils(COUNT, 1, 1, true);
  // coordinates that are exact in float32 at 1,024 m as well as at 0: multiples of 2^-13 m
  const grid = X.map((x) => Math.round(x * 8192) / 8192);
  const kit = makeKit(
    stencilsOn(grid, 1),
    grid.map((x, k) => x + [1024, -1024, 512][k % 3]!),
    inverseMasses(4 * COUNT, 0.1, 5),
    1 / 240,
  );
  const before = kit.kernelPositions();
  for (let iteration = 0; iteration < 5; iteration++) kit.iterate(iteration === 0);
  const after = kit.kernelPositions();
  for (let i = 0; i < 4 * COUNT; i++) expect(distanceAt(before, after, i)).toBeLessThan(1e-6);
});
