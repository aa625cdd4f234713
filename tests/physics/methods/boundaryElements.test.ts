/**
 * Boundary elements: uniform strain and a ball under pressure against exact fields, a cube against finite elements of
 * 27 times as many cells by other code (tests/statics), and hands that come and go.
 */
import { describe, expect, test } from "vitest";
import type { BodyTemplate } from "../../../server/sim/body/template.ts";
import { boundaryElements } from "../../../server/sim/methods/boundaryElements.ts";
import { BoundarySolid, type BoundaryMesh } from "../../../server/sim/methods/boundarySolid.ts";
import { solveDense } from "../../../server/sim/methods/denseSolve.ts";
import type { MethodState } from "../../../server/sim/methods/method.ts";
import { HoldingPoints, type HeldPoint } from "../../../server/sim/reference/implicit/points.ts";
import type { SoftBody, Vec3 } from "../../../shared/scene.ts";
import { densityOf } from "../../statics/materials.ts";
import { elasticHessian, solidMesh } from "../../statics/solidMesh.ts";
import { blockMatrix, factorize, solveFactored } from "../../statics/sparse.ts";
import { cube, known, largest, NOTHING, outside, POISSON, randoms, templateOf, YOUNG } from "./kit.ts";

const METHOD = { type: "boundary-elements" } as const;
const ISOTROPIC = { shearModulus: YOUNG / 2 / (1 + POISSON), poissonsRatio: POISSON };
/**
 * The rule of seven points is exact to degree 5, and kernels of 1/R^2 over triangles 1.5 times as far away as they are
 * long leave (1/1.5)^2 / 7! of it in the next ones, twice over.
 */
const QUADRATURE = 1e-3;

const cells = (n: number, more: Partial<SoftBody> = {}): SoftBody =>
  cube(METHOD, { mesh: { type: "box", size: [0.5, 0.5, 0.5], cells: [n, n, n] }, ...more });

function meshOf({ positions, triangles, pinned, streamedCount }: BodyTemplate): BoundaryMesh {
  return { positions, triangles, fixed: pinned.slice(0, streamedCount) };
}

/** Tractions sigma n of a uniform stress, float64[9T]. */
function tractionsOf({ positions: x, triangles }: BoundaryMesh, stress: readonly number[]): Float64Array {
  const traction = new Float64Array(3 * triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => 3 * triangles[t + k]!) as [number, number, number];
    const u = [0, 1, 2].map((r) => x[b + r]! - x[a + r]!) as [number, number, number];
    const v = [0, 1, 2].map((r) => x[c + r]! - x[a + r]!) as [number, number, number];
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    for (let k = 0; k < 9; k++) traction[3 * t + k] = (stress[k % 3]! * n[k % 3]!) / Math.hypot(...n);
  }
  return traction;
}

/** A ball of radius 1 that is round to 642 corners at most: an octahedron, divided. */
function ball(divisions: number): BoundaryMesh {
  let triangles = [0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5];
  const corners = [
    [1, 0, 0],
    [-1, 0, 0],
    [0, 1, 0],
    [0, -1, 0],
    [0, 0, 1],
    [0, 0, -1],
  ];
  for (let d = 0; d < divisions; d++) {
    const middles = new Map<string, number>();
    const middle = (a: number, b: number): number => {
      const name = [a, b].sort((p, q) => p - q).join();
      if (!middles.has(name)) {
        const sum = corners[a]!.map((value, r) => value + corners[b]![r]!);
        middles.set(name, corners.push(sum.map((value) => value / Math.hypot(...sum))) - 1);
      }
      return middles.get(name)!;
    };
    triangles = Array.from({ length: triangles.length / 3 }, (_, t) => triangles.slice(3 * t, 3 * t + 3)).flatMap(
      ([a, b, c]) => {
        const [ab, bc, ca] = [middle(a!, b!), middle(b!, c!), middle(c!, a!)];
        return [a!, ab, ca, b!, bc, ab, c!, ca, bc, ab, bc, ca];
      },
    );
  }
  const positions = Float64Array.from([...corners.flat(), 0, 0, 0, 0.3, -0.4, 0.2]);
  return {
    positions,
    triangles: Uint32Array.from(triangles),
    fixed: Uint8Array.from(corners, ([, y]) => (y! < -0.7 ? 1 : 0)),
  };
}

describe("exact fields, on the surface and inside", () => {
  test.each([2, 4])("uniform tension of a cube of %d cells an edge", async (n) => {
    const mesh = meshOf(await templateOf(cells(n)));
    const stress = 300;
    const exact = mesh.positions.map((value, k) => (k % 3 === 1 ? 1 : -POISSON) * (stress / YOUNG) * value);
    const [u] = new BoundarySolid(mesh, ISOTROPIC).solve([
      { displacement: exact.subarray(0, 3 * mesh.fixed.length), traction: tractionsOf(mesh, [0, stress, 0]) },
    ]);
    expect(largest(u!.map((value, k) => value - exact[k]!))).toBeLessThan(QUADRATURE * largest(exact));
  });

  test("a ball under pressure, held at a cap", () => {
    const mesh = ball(3);
    const pressure = 500;
    const exact = mesh.positions.map((value) => -((pressure * (1 - 2 * POISSON)) / YOUNG) * value);
    const [u] = new BoundarySolid(mesh, ISOTROPIC).solve([
      {
        displacement: exact.subarray(0, 3 * mesh.fixed.length),
        traction: tractionsOf(mesh, [-pressure, -pressure, -pressure]),
      },
    ]);
    expect(largest(u!.map((value, k) => value - exact[k]!))).toBeLessThan(0.01 * largest(exact));
  });

  test("a surface without area is refused", () => {
    const mesh = { ...ball(0), positions: new Float64Array(18) };
    const nothing = { displacement: new Float64Array(18), traction: new Float64Array(72) };
    expect(() => new BoundarySolid(mesh, ISOTROPIC).solve([nothing])).toThrow("limit: triangles with an area");
  });
});

/** Where a body rests under nodal forces by linear finite elements. @returns float64[3N] m */
function elements(template: BodyTemplate, force: Float64Array): Float64Array {
  const { positions, tets, pinned } = template;
  const A = blockMatrix(tets, pinned);
  elasticHessian(solidMesh(positions, tets), densityOf("stvk", YOUNG, POISSON), positions, A, false);
  const x = new Float64Array(3 * A.count);
  A.place.forEach((row, p) => {
    for (let r = 0; row >= 0 && r < 3; r++) x[3 * row + r] = force[3 * p + r]!;
  });
  solveFactored(factorize(A)!, x);
  return Float64Array.from(positions, (_, k) => {
    const row = A.place[Math.floor(k / 3)]!;
    return row < 0 ? 0 : x[3 * row + (k % 3)]!;
  });
}

const weight = ({ mass }: BodyTemplate): Float64Array =>
  Float64Array.from({ length: 3 * mass.length }, (_, k) => (k % 3 === 1 ? -9.81 * mass[Math.floor(k / 3)]! : 0));

/** Where it goes at once, for there is no damping. */
function rested(template: BodyTemplate, force: Float64Array): Float64Array {
  const body = known(template, 1 / 240);
  const method = boundaryElements.open(boundaryElements.plan(template, METHOD, body, ""), METHOD, body);
  const state: MethodState = {
    x: Float64Array.from(template.positions),
    v: new Float64Array(3 * body.count),
    more: NOTHING,
  };
  method.step(state, outside(body, force));
  return state.x.map((value, k) => value - template.positions[k]!);
}

const onTop = (x: Float64Array, corners: readonly number[]): boolean => corners.every((p) => x[3 * p + 1]! > 0.4999);

/** Of a cube with tractions on its top, Pa. @returns float64[3N] m */
function pulled(template: BodyTemplate, stress: readonly number[]): Float64Array {
  const mesh = meshOf(template);
  const traction = new Float64Array(3 * mesh.triangles.length);
  for (let t = 0; t < mesh.triangles.length; t += 3)
    if (onTop(mesh.positions, [...mesh.triangles.subarray(t, t + 3)]))
      for (let k = 0; k < 9; k++) traction[3 * t + k] = stress[k % 3]!;
  return new BoundarySolid(mesh, ISOTROPIC).solve([
    { displacement: new Float64Array(3 * mesh.fixed.length), traction },
  ])[0]!;
}

/** The same as nodal forces: a third of each triangle's for each of its corners. */
function forces({ positions, triangles, particleCount }: BodyTemplate, stress: readonly number[]): Float64Array {
  const force = new Float64Array(3 * particleCount);
  const all = Array.from({ length: triangles.length / 3 }, (_, t) => [...triangles.subarray(3 * t, 3 * t + 3)]);
  const top = all.filter((corners) => onTop(positions, corners));
  for (const p of top.flat()) for (let r = 0; r < 3; r++) force[3 * p + r]! += (0.25 * stress[r]!) / (3 * top.length);
  return force;
}

test.each<[string, (template: BodyTemplate) => Float64Array, (template: BodyTemplate) => Float64Array]>([
  ["pulled up by its top", (t) => pulled(t, [0, 1600, 0]), (t) => forces(t, [0, 1600, 0])],
  ["pushed aside by its top", (t) => pulled(t, [800, 0, 400]), (t) => forces(t, [800, 0, 400])],
  ["under its own weight", (t) => rested(t, weight(t)), weight],
])("a cube %s: as finite elements of a third of the spacing, outside and inside", async (_, move, forceOf) => {
  const coarse = await templateOf(cells(4));
  const fine = await templateOf({ ...cells(12), method: { type: "finite-elements" } });
  const u = move(coarse);
  const exact = elements(fine, forceOf(fine));
  const place = (x: Float64Array, p: number): string => [0, 1, 2].map((r) => x[3 * p + r]!.toFixed(6)).join();
  const fineAt = new Map(Array.from({ length: fine.particleCount }, (__, p) => [place(fine.positions, p), p] as const));
  const difference = u.map((value, k) => {
    const p = fineAt.get(place(coarse.positions, Math.floor(k / 3)))!;
    return value - exact[3 * p + (k % 3)]!;
  });
  expect(largest(difference)).toBeLessThan(0.03 * largest(exact));
});

describe("hands", () => {
  const held = (particles: number[], weights: number[], target: [number, number, number]): HeldPoint => ({
    particles,
    weights,
    target,
    compliance: 1e-4,
    maxForce: Infinity,
  });

  async function bench(forceOf: (template: BodyTemplate) => Float64Array): Promise<{
    template: BodyTemplate;
    state: MethodState;
    step: (points: readonly HeldPoint[]) => void;
    force: Float64Array;
    stiffness: Float64Array;
    free: Uint32Array;
  }> {
    const template = await templateOf(cells(2));
    const body = known(template, 1 / 240);
    const constants = boundaryElements.plan(template, METHOD, body, "");
    const method = boundaryElements.open(constants, METHOD, body);
    const state: MethodState = {
      x: Float64Array.from(template.positions),
      v: new Float64Array(3 * body.count),
      more: NOTHING,
    };
    const force = forceOf(template);
    // inertia limits nobody's grip: the compliance alone counts
    const points = new HoldingPoints({ mass: body.mass, coefficient: 1e12 });
    return {
      template,
      state,
      force,
      stiffness: constants.stiffness as Float64Array,
      free: constants.free as Uint32Array,
      step: (list) => {
        points.hold(list);
        method.step(state, { ...outside(body, force), points });
      },
    };
  }

  test("a hand that comes and goes leaves every bit as it was", async () => {
    const { state, step, template } = await bench(weight);
    step([]);
    const before = state.x.slice();
    const top = template.positions.findIndex((y, k) => k % 3 === 1 && y > 0.499);
    for (let n = 0; n < 5; n++) step([held([(top - 1) / 3], [1], [0.3, 0.9, 0.1])]);
    expect(largest(state.x.map((value, k) => value - before[k]!))).toBeGreaterThan(0.05);
    step([]);
    expect(state.x).toEqual(before);
  });

  test("each bears what the others leave: forces on all corners are in balance", async () => {
    const nothing = ({ particleCount }: BodyTemplate): Float64Array => new Float64Array(3 * particleCount);
    const { state, step, template, stiffness, free } = await bench(nothing);
    const list = [
      held([free[3]!, free[5]!], [0.3, 0.7], [0.2, 0.6, 0]),
      held([free[5]!, free[9]!], [0.5, 0.5], [0, 0.7, 0.3]),
    ];
    step(list);
    const n = 3 * free.length;
    const out = new Float64Array(n);
    free.forEach((_, a) => {
      for (let r = 0; r < 3; r++) {
        for (let j = 0; j < n; j++) {
          const k = 3 * free[Math.floor(j / 3)]! + (j % 3);
          out[3 * a + r]! += stiffness[n * (3 * a + r) + j]! * (state.x[k]! - template.positions[k]!);
        }
      }
    });
    for (const { particles, weights, target, compliance } of list)
      for (let r = 0; r < 3; r++) {
        const gap = particles.reduce((sum, p, i) => sum + weights[i]! * state.x[3 * p + r]!, -target[r]!);
        particles.forEach((p, i) => (out[3 * free.indexOf(p) + r]! += (weights[i]! * gap) / compliance));
      }
    expect(largest(out)).toBeLessThan(1e-9 * largest(stiffness) * 0.5);
  });

  test("with stiffnessDamping it goes there by backward Euler, a share h / (h + beta) a step", async () => {
    const template = await templateOf(cells(2));
    const [h, beta] = [1 / 240, 0.05];
    const body = known(template, h, 0, beta);
    const method = boundaryElements.open(boundaryElements.plan(template, METHOD, body, ""), METHOD, body);
    const state: MethodState = {
      x: Float64Array.from(template.positions),
      v: new Float64Array(3 * body.count),
      more: NOTHING,
    };
    const end = rested(template, weight(template));
    for (let n = 1; n <= 30; n++) {
      method.step(state, outside(body, weight(template)));
      const left = (1 - h / (h + beta)) ** n;
      const off = state.x
        .map((value, k) => value - template.positions[k]! - (1 - left) * end[k]!)
        .subarray(0, 3 * template.streamedCount);
      expect(largest(off)).toBeLessThan(1e-12);
    }
    expect(method.energy(state)).toBeGreaterThan(0);
  });
});

describe("refused, with the reason", () => {
  const box = (min: Vec3, max: Vec3): Partial<SoftBody> => ({ pins: [{ select: { box: { min, max } } }] });
  test.each<[string, Partial<SoftBody>, string]>([
    ["a body that nothing holds", { pins: [] }, "0 of 26 particles on the body's surface are fixed"],
    ["one that turns about an edge", box([-9, -9, -9], [9, 0.001, -0.249]), "3 of 26"],
    ["one that is held as a whole", box([-9, -9, -9], [9, 9, 9]), "it needs one that is not"],
    ["one that is too fine", { mesh: { type: "box", size: [0.5, 0.5, 0.5], cells: [8, 8, 8] } }, "at most 100000"],
  ])("%s", async (_, more, text) => {
    await expect(templateOf(cube(METHOD, more))).rejects.toThrow(text);
  });
});

describe("dense equations", () => {
  test.each([1, 2, 7, 60])("of %d rows have the answer that was put in", (n) => {
    const random = randoms(n);
    const A = Float64Array.from({ length: n * n }, random);
    const X = Float64Array.from({ length: 3 * n }, random);
    const B = new Float64Array(3 * n);
    for (let i = 0; i < n; i++)
      for (let j = 0; j < 3; j++) for (let k = 0; k < n; k++) B[3 * i + j]! += A[n * i + k]! * X[3 * k + j]!;
    expect(solveDense(A, B, n, 3)).toBe(true);
    expect(largest(B.map((value, i) => value - X[i]!))).toBeLessThan(1e-9);
  });

  test("rows are exchanged where the first is 0, and a matrix without an inverse is said", () => {
    const B = Float64Array.of(2, 3);
    expect(solveDense(Float64Array.of(0, 1, 1, 0), B, 2, 1)).toBe(true);
    expect([...B]).toEqual([3, 2]);
    expect(solveDense(Float64Array.of(1, 2, 2, 4), B, 2, 1)).toBe(false);
  });
});
