/**
 * kernel/assembly/constraints/triangle.ts against its float64 twin. Tolerance: 8 units. A unit is the largest change of
 * the twin's result when its inputs change by one float32 unit in the last place (kit.ts). Measured: 3.
 */
import { triangleElements } from "../../server/sim/constraints/triangle.ts";
import { expect, test } from "vitest";
import { gridCloth } from "../../server/meshing/generators.ts";
import { inLong } from "../support/run/long.ts";
import { DEFORMATIONS, deformed, inverseMasses, randomTriangles, type Deform } from "./randomElements.ts";
import { conditioned, distanceAt, makeKit, randomStream, UNIT } from "./kit.ts";

const TOLERANCE = 8;
const COUNT = inLong(41, 13);

const MATERIALS = {
  isotropic: { kWeft: 1, kWarp: 1, kShear: 1 / 2.6, nuWeft: 0.3, nuWarp: 0.3 },
  "without contraction": { kWeft: 1, kWarp: 1, kShear: 0.5, nuWeft: 0, nuWarp: 0 },
  "warp ten times stiffer, soft in shear": { kWeft: 1, kWarp: 10, kShear: 0.02, nuWeft: 0.04, nuWarp: 0.4 },
  "nearly singular": { kWeft: 1, kWarp: 4, kShear: 0.3, nuWeft: 0.475, nuWarp: 1.9 },
};

/** Further deformations for triangles. */
const COLLAPSED: Record<string, Deform> = {
  "on a line": (x) => [x[0], 2 * x[0], -x[0]],
  "in a point": () => [0.01, 0.02, 0.03],
};

for (const size of [1e-3, 0.1, 10]) {
  for (const stiffness of [1e2, 1e6, 1e11]) {
    test(`elements of ${size} m and ${stiffness} Pa agree with the twin, four iterations each`, () => {
      for (const [material, unit] of Object.entries(MATERIALS)) {
        const moduli = {
          ...unit,
          kWeft: unit.kWeft * stiffness,
          kWarp: unit.kWarp * stiffness,
          kShear: unit.kShear * stiffness,
        };
        for (const [name, deform] of Object.entries({ ...DEFORMATIONS, ...COLLAPSED })) {
          const { X, elements } = randomTriangles(COUNT, size, moduli);
          const x = deformed(X, deform, size, 11);
          const w = inverseMasses(3 * COUNT, 10 * size ** 3, 5);
          for (const iterations of [undefined, 1, 4]) {
            const random = randomStream(3);
            const h = 1 / 240;
            const kit = makeKit(elements, x, w, h, "compliant", iterations);
            for (let iteration = 0; iteration < (iterations ?? 4); iteration++)
              for (const [i, d] of conditioned(kit, iteration === 0, h, random).entries())
                expect(
                  d.distance / d.unit,
                  `${material}, ${name}, iteration ${iteration} of ${iterations}, element ${i}: ${d.distance} m apart`,
                ).toBeLessThan(TOLERANCE);
          }
        }
      }
    });
  }
}

test("fixed corners keep every bit", () => {
  const moduli = { kWeft: 1e6, kWarp: 1e6, kShear: 4e5, nuWeft: 0.3, nuWarp: 0.3 };
  for (const pinned of [1, 2, 3, 4]) {
    const { X, elements } = randomTriangles(5, 0.1, moduli);
    const h = 1 / 240;
    const random = randomStream(3);
    const kit = makeKit(
      elements,
      deformed(X, DEFORMATIONS["strained by 20 %"]!, 0.1, 3),
      inverseMasses(15, 0.1, 9, pinned),
      h,
    );
    const before = kit.kernelPositions();
    for (let iteration = 0; iteration < 3; iteration++)
      for (const { distance, unit } of conditioned(kit, iteration === 0, h, random))
        expect(distance / unit).toBeLessThan(TOLERANCE);
    const after = kit.kernelPositions();
    for (let i = pinned - 1; i < 15; i += pinned) expect(distanceAt(before, after, i)).toBe(0);
  }
});

test("one iteration over a sheet of many colors agrees with the twin", () => {
  const { positions, triangles } = gridCloth([0.4, 0.4], [9, 8]);
  const N = positions.length / 3;
  const random = randomStream(17);
  const elements = triangleElements(
    positions,
    triangles,
    { kWeft: 1e6, kWarp: 3e6, kShear: 2e5, nuWeft: 0.1, nuWarp: 0.3 },
    0.001,
  );
  const kit = makeKit(
    elements,
    positions.map((x) => x + 0.005 * random()),
    inverseMasses(N, 0.001, 5),
    1 / 240,
  );
  for (let iteration = 0; iteration < 3; iteration++) {
    kit.align();
    kit.iterate(iteration === 0);
    const kernel = kit.kernelPositions();
    // up to 8 elements move a particle one after another, each with a few units of its position and of its edge
    for (let i = 0; i < N; i++) expect(distanceAt(kernel, kit.particles.x, i)).toBeLessThan(8 * TOLERANCE * UNIT * 0.4);
  }
});
