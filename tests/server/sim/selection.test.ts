/** Which particles a selection contains, and how a force is distributed over them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundarySurface } from "../../../server/meshing/surface/boundary.ts";
import { boxTets, gridCloth } from "../../../server/meshing/generators.ts";
import { renumber } from "../../../server/meshing/tetrahedra/renumber.ts";
import { addLoad, selectParticles } from "../../../server/sim/body/selection.ts";
import { tetElements } from "../../../server/sim/constraints/tetrahedra.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import type { Selection, Vec3 } from "../../../shared/scene/scene.ts";

/** A box of 2 x 1 x 1 m in cells of 0.25 m, renumbered as bodies are: `origin` is no longer 0, 1, 2 ... */
const file = boxTets([2, 1, 1], [8, 4, 4]);
const { mesh } = renumber(file);
const { positions } = mesh;
const origin = mesh.origin!;
const count = origin.length;
const triangles = boundarySurface(mesh);
const mass = new Float64Array(count);
const { volume } = tetElements(positions, mesh.tets, { mu: 1, lambda: 1 });
mesh.tets.forEach((p, i) => (mass[p]! += volume[Math.floor(i / 4)]! / 4));
const at = (i: number): Vec3 => [positions[3 * i]!, positions[3 * i + 1]!, positions[3 * i + 2]!];
const select = (selection: Selection): number[] =>
  selectParticles(selection, { positions, origin }, "/bodies/0/pins/0/select");

test("the body's order is not the file's", () => expect([...origin]).not.toEqual([...origin].sort((a, b) => a - b)));

test("a box: all particles in it and on its faces, no others", () => {
  const face = select({ box: { min: [1, -9, -9], max: [1, 9, 9] } });
  expect(face).toHaveLength(25);
  expect(face.every((i) => at(i)[0] === 1)).toBe(true);
});

test("a ball: all particles within the radius, including on it", () => {
  const found = select({ sphere: { center: [0, 0, 0], radius: 0.25 } }).map(at);
  expect(found.sort()).toEqual(
    [
      [0, 0, 0],
      [0.25, 0, 0],
      [-0.25, 0, 0],
      [0, 0.25, 0],
      [0, -0.25, 0],
      [0, 0, 0.25],
      [0, 0, -0.25],
    ].sort(),
  );
});

test("particle numbers are those of the mesh file, for any order in the body", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(count - 1), { minLength: 1, maxLength: 10 }), (numbers) => {
      const found = select({ particles: numbers });
      expect(found.map((i) => origin[i]!).sort((a, b) => a - b)).toEqual([...numbers].sort((a, b) => a - b));
      for (const i of found) expect(at(i)).toEqual([...file.positions.subarray(3 * origin[i]!, 3 * origin[i]! + 3)]);
    }),
  );
});

test("of several conditions all must be met", () => {
  const box = { min: [0, -9, -9] as Vec3, max: [9, 9, 9] as Vec3 };
  const sphere = { center: [0, 0, 0] as Vec3, radius: 0.5 };
  const inBoth = select({ box }).filter((i) => select({ sphere }).includes(i));
  expect(select({ box, sphere })).toEqual(inBoth);
  const one = origin[inBoth[0]!]!;
  const outside = origin[select({ box: { min: [-1, -9, -9], max: [-1, 9, 9] } })[0]!]!;
  expect(select({ box, sphere, particles: [one, outside] })).toEqual([inBoth[0]]);
});

function fault(selection: Selection): SceneError {
  try {
    select(selection);
  } catch (error) {
    if (error instanceof SceneError) return error;
  }
  throw new Error("accepted");
}

test.each<Selection>([
  { box: { min: [5, 5, 5], max: [6, 6, 6] } },
  { box: { min: [1, 1, 1], max: [-1, -1, -1] } },
  { sphere: { center: [0.1, 0.1, 0.1], radius: 0.01 } },
  { box: { min: [-9, -9, -9], max: [-0.9, 9, 9] }, sphere: { center: [1, 0, 0], radius: 0.5 } },
])("an empty selection is refused: %j", (selection) => {
  expect(fault(selection)).toMatchObject({
    path: "/bodies/0/pins/0/select",
    value: selection,
    limit: "a selection with at least one particle in it",
  });
});

test("a particle that the body does not have is refused", () => {
  expect(fault({ particles: [0, count, 3] })).toMatchObject({
    path: "/bodies/0/pins/0/select/particles",
    value: count,
    limit: `a particle of the body's ${count}`,
  });
});

describe("loads", () => {
  const load = (chosen: readonly number[], total: Vec3, distribute: "area" | "mass"): Float64Array => {
    const force = new Float64Array(3 * count);
    addLoad(force, chosen, total, distribute, { positions, triangles, mass });
    return force;
  };
  const sums = (force: Float64Array): number[] =>
    [0, 1, 2].map((r) => force.reduce((sum, f, i) => (i % 3 === r ? sum + f : sum), 0));

  test("the forces add up to the total, for any place and distribution", () => {
    const component = fc.double({ min: -1e3, max: 1e3, noNaN: true });
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(count - 1), { minLength: 1 }),
        fc.tuple(component, component, component),
        fc.constantFrom("area" as const, "mass" as const),
        (chosen, total, distribute) => {
          const force = load(chosen, total, distribute);
          sums(force).forEach((sum, r) => expect(sum).toBeCloseTo(total[r]!, 8));
          for (let i = 0; i < count; i++)
            if (!chosen.includes(i)) expect([...force.subarray(3 * i, 3 * i + 3)]).toEqual([0, 0, 0]);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("on a face by area: the consistent load of a uniform traction", () => {
    const face = select({ box: { min: [1, -9, -9], max: [1, 9, 9] } });
    const force = load(face, [12, 0, 0], "area");
    // Each particle's share is a third of the face's triangles around it over the face's 1 m^2, and side triangles do
    // not count.
    for (const i of face) {
      let area = 0;
      for (let t = 0; t < triangles.length; t += 3) {
        const corners = [...triangles.subarray(t, t + 3)];
        if (corners.includes(i) && corners.every((c) => at(c)[0] === 1)) area += 0.25 * 0.25 * 0.5;
      }
      expect(force[3 * i]).toBeCloseTo((12 * area) / 3, 12);
    }
    // A uniform traction has no moment about the face's center.
    const moment = [0, 1, 2].map((r) => face.reduce((sum, i) => sum + force[3 * i]! * at(i)[r]!, 0));
    expect(moment[1]).toBeCloseTo(0, 12);
    expect(moment[2]).toBeCloseTo(0, 12);
  });

  test("on a face by mass: every particle in proportion to its mass", () => {
    const face = select({ box: { min: [1, -9, -9], max: [1, 9, 9] } });
    const force = load(face, [0, -3, 0], "mass");
    const whole = face.reduce((sum, i) => sum + mass[i]!, 0);
    for (const i of face) expect(force[3 * i + 1]).toBeCloseTo((-3 * mass[i]!) / whole, 12);
  });

  test("by area without a completely selected triangle: by mass", () => {
    const inside = select({ sphere: { center: [0, 0, 0], radius: 0.25 } });
    expect(load(inside, [1, 2, 3], "area")).toEqual(load(inside, [1, 2, 3], "mass"));
    const corner = select({ box: { min: [1, 0.5, 0.5], max: [1, 0.5, 0.5] } });
    expect(corner).toHaveLength(1);
    expect([...load(corner, [1, 2, 3], "area").subarray(3 * corner[0]!, 3 * corner[0]! + 3)]).toEqual([1, 2, 3]);
  });

  test("on a cloth's hem by length: equal shares except at the ends, for any diagonals", () => {
    const sheet = gridCloth([2, 1], [8, 4]);
    const particles = sheet.positions.length / 3;
    const hem = [...Array(9).keys()];
    const force = new Float64Array(3 * particles);
    const body = { ...sheet, mass: Float64Array.from({ length: particles }, (_, i) => 1 + (i % 2)) };
    addLoad(force, hem, [0, 16, 0], "area", body);
    hem.forEach((p) => expect(force[3 * p + 1]).toBeCloseTo(p === 0 || p === 8 ? 1 : 2, 12));
    expect(force.filter((f) => f !== 0)).toHaveLength(hem.length);
  });

  test("loads add up", () => {
    const face = select({ box: { min: [1, -9, -9], max: [1, 9, 9] } });
    const force = load(face, [1, 0, 0], "area");
    addLoad(force, face, [0, 5, 0], "mass", { positions, triangles, mass });
    expect(sums(force).map((s) => Number(s.toFixed(9)))).toEqual([1, 5, 0]);
  });
});

test("a number of a merged vertex selects the particle that it is part of", () => {
  const merged = new Map([[999, origin[3]!]]);
  expect(selectParticles({ particles: [999] }, { positions, origin, merged }, "/bodies/0/pins/0/select")).toEqual([3]);
});
