/**
 * Measurements of boundary elements for their test and the report: uniform stress, a cube against finite elements of
 * separate code (tests/statics), grabs that come and go.
 */
import type { SoftBody } from "../../../shared/scene/scene.ts";
import type { BodyTemplate } from "../../../server/sim/body/template.ts";
import { BoundarySolid, type BoundaryMesh } from "../../../server/sim/methods/boundary/boundarySolid.ts";
import { RigidGrabs, type HeldPoint } from "../../../server/sim/reference/implicit/heldPoints.ts";
import { densityOf } from "../../statics/materials.ts";
import { elasticHessian, solidMesh } from "../../statics/solidMesh.ts";
import { blockMatrix, factorize, solveFactored } from "../../statics/sparse.ts";
import { cube, largest, opened, outside, POISSON, templateOf, YOUNG } from "./kit.ts";

export const METHOD = { type: "boundary-elements" } as const;
export const ISOTROPIC = { shearModulus: YOUNG / 2 / (1 + POISSON), poissonsRatio: POISSON };
export const cells = (n: number): SoftBody =>
  cube(METHOD, { mesh: { type: "box", size: [0.5, 0.5, 0.5], cells: [n, n, n] } });

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

/** A ball of radius 1: a subdivided octahedron. */
export function ball(divisions: number): BoundaryMesh {
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

/** Relative error on the surface and inside of a body under a uniform stress, fixed at its exact displacements. */
export function uniformError(mesh: BoundaryMesh, stress: readonly [number, number, number]): number {
  const trace = stress[0] + stress[1] + stress[2];
  const exact = mesh.positions.map((value, k) => (((1 + POISSON) * stress[k % 3]! - POISSON * trace) / YOUNG) * value);
  const [u] = new BoundarySolid(mesh, ISOTROPIC).solve([
    { displacement: exact.subarray(0, 3 * mesh.fixed.length), traction: tractionsOf(mesh, stress) },
  ]);
  return largest(u!.map((value, k) => value - exact[k]!)) / largest(exact);
}

export const cubeOf = async (n: number): Promise<BoundaryMesh> => meshOf(await templateOf(cells(n)));

export const weight = ({ mass }: BodyTemplate): Float64Array =>
  Float64Array.from({ length: 3 * mass.length }, (_, k) => (k % 3 === 1 ? -9.81 * mass[Math.floor(k / 3)]! : 0));

/** Displacements of a cube of n cells an edge under its own weight. One step is enough, because there is no damping. */
export async function rested(n: number): Promise<Float64Array> {
  const { template, of, method, state } = await opened(cells(n));
  method.step(state, outside(of, weight(template)));
  return state.x.map((value, k) => value - template.positions[k]!);
}

/** Stresses on the cube's top, Pa. The third load is its own weight. */
const STRESSES = [
  [0, 1600, 0],
  [800, 0, 400],
] as const;
export const LOADS = ["pulled up by its top", "pushed aside by its top", "under its own weight"];
/** Most cells an edge with weight: the matrices for forces inside have to fit into a room. */
const MOST_WITH_WEIGHT = 4;

const onTop = (x: Float64Array, corners: readonly number[]): boolean => corners.every((p) => x[3 * p + 1]! > 0.4999);

/** Converts the load to nodal forces: a third of each triangle's force at each of its corners. */
function forces({ positions, triangles, particleCount }: BodyTemplate, stress: readonly number[]): Float64Array {
  const force = new Float64Array(3 * particleCount);
  const all = Array.from({ length: triangles.length / 3 }, (_, t) => [...triangles.subarray(3 * t, 3 * t + 3)]);
  const top = all.filter((corners) => onTop(positions, corners));
  for (const p of top.flat()) for (let r = 0; r < 3; r++) force[3 * p + r]! += (0.25 * stress[r]!) / (3 * top.length);
  return force;
}

/** Displacements of the cube under each load. @returns float64[3N] m */
async function boundary(template: BodyTemplate, n: number): Promise<Float64Array[]> {
  const mesh = meshOf(template);
  const loads = STRESSES.map((stress) => {
    const traction = new Float64Array(3 * mesh.triangles.length);
    for (let t = 0; t < mesh.triangles.length; t += 3)
      if (onTop(mesh.positions, [...mesh.triangles.subarray(t, t + 3)]))
        for (let k = 0; k < 9; k++) traction[3 * t + k] = stress[k % 3]!;
    return { displacement: new Float64Array(3 * mesh.fixed.length), traction };
  });
  const u = new BoundarySolid(mesh, ISOTROPIC).solve(loads);
  return n > MOST_WITH_WEIGHT ? u : [...u, await rested(n)];
}

/** Displacements of the load cases by linear finite elements. @returns float64[3N] m */
function elements(template: BodyTemplate): Float64Array[] {
  const { positions, tets, pinned } = template;
  const A = blockMatrix(tets, pinned);
  elasticHessian(solidMesh(positions, tets), densityOf("stvk", YOUNG, POISSON), positions, A, false);
  const factor = factorize(A)!;
  return [...STRESSES.map((stress) => forces(template, stress)), weight(template)].map((force) => {
    const x = new Float64Array(3 * A.count);
    A.place.forEach((row, p) => {
      for (let r = 0; row >= 0 && r < 3; r++) x[3 * row + r] = force[3 * p + r]!;
    });
    solveFactored(factor, x);
    return Float64Array.from(positions, (_, k) => {
      const row = A.place[Math.floor(k / 3)]!;
      return row < 0 ? 0 : x[3 * row + (k % 3)]!;
    });
  });
}

/**
 * Compares a cube of each of `coarse` cells an edge, which divide `fine`, with finite elements of `fine` cells.
 * @returns by load: (triangles, largest error of its corners and of points inside relative to the largest displacement)
 */
export async function cubeErrors(coarse: readonly number[], fine: number): Promise<[number, number][][]> {
  const place = (x: Float64Array, p: number): string => [0, 1, 2].map((r) => x[3 * p + r]!.toFixed(6)).join();
  const reference = await templateOf({ ...cells(fine), method: { type: "finite-elements" } });
  const exact = elements(reference);
  const at = new Map(Array.from(reference.mass.keys(), (p) => [place(reference.positions, p), p]));
  const rows: [number, number][][] = LOADS.map(() => []);
  for (const n of coarse) {
    const template = await templateOf(cells(n));
    for (const [load, u] of (await boundary(template, n)).entries()) {
      const off = u.map((value, k) => {
        const p = at.get(place(template.positions, Math.floor(k / 3)))!;
        return value - exact[load]![3 * p + (k % 3)]!;
      });
      rows[load]!.push([template.triangles.length / 3, largest(off) / largest(exact[load]!)]);
    }
  }
  return rows;
}

export const held = (particles: number[], weights: number[], target: [number, number, number]): HeldPoint => ({
  particles,
  weights,
  target,
  compliance: 1e-4,
  maxForce: Infinity,
});

/** A cube of 2 cells an edge under grabs. @param forceOf float64[3N] N */
export async function bench(forceOf: (template: BodyTemplate) => Float64Array) {
  const { template, of, constants, method, state } = await opened(cells(2));
  const force = forceOf(template);
  // the huge coefficient removes the limit by inertia: only the compliance counts
  const points = new RigidGrabs({ mass: of.mass, coefficient: 1e12 });
  return {
    template,
    state,
    stiffness: constants.stiffness as Float64Array,
    free: constants.free as Uint32Array,
    step(list: readonly HeldPoint[]): void {
      points.hold(list);
      method.step(state, { ...outside(of, force), points });
    },
  };
}

/**
 * A grab that pulls at the top of a cube under its weight for five steps, and lets go.
 * @returns the largest displacement meanwhile, m, and the number of coordinates that differ at the end
 */
export async function handAndGone(): Promise<{ moved: number; changed: number }> {
  const { state, step, template } = await bench(weight);
  step([]);
  const before = state.x.slice();
  const top = template.positions.findIndex((y, k) => k % 3 === 1 && y > 0.499);
  for (let n = 0; n < 5; n++) step([held([(top - 1) / 3], [1], [0.3, 0.9, 0.1])]);
  const moved = largest(state.x.map((value, k) => value - before[k]!));
  step([]);
  return { moved, changed: state.x.filter((value, k) => !Object.is(value, before[k])).length };
}
