/**
 * Twins of kernel/assembly/constraints/{distance,volume,hexahedron,enclosedVolume}.ts: geometric constraints (Mueller
 * et al. 2007; Rodero Gomez, sections 3.2 and 4.2) with compliance (Macklin et al. 2016) or stiffness k'.
 *
 *   dL = (-k' C - aT L)/(W + aT),   W = sum_j w_j |grad_j C|^2,   dx_j = w_j grad_j C dL
 */
import type { DistanceElements, Hold, HexahedronElements, VolumeElements } from "../constraints/elements.ts";
import { FALLING, RISING, triplesOf } from "../constraints/polyhedron.ts";
import { addAt, vectorAt, type Particles } from "./particles.ts";
import { add, cross, dot, norm, scale, subtract, ZERO, type Vector } from "./vector.ts";

/** A constraint's value and its gradient by each corner, at one place. */
interface Value {
  C: number;
  gradient: Vector[];
}

/** |x0 - x1| - rest; along its direction at rest where both are in one place. */
export function distanceValue(x: Float64Array, e: DistanceElements, i: number): Value {
  const d = subtract(vectorAt(x, e.particles[2 * i]!), vectorAt(x, e.particles[2 * i + 1]!));
  const length = norm(d);
  const n = length > 0 ? scale(1 / length, d) : vectorAt(e.direction, i);
  return { C: length - e.rest[i]!, gradient: [n, scale(-1, n)] };
}

/** det(x0 - x3, x1 - x3, x2 - x3)/6 - rest. */
export function volumeValue(x: Float64Array, e: VolumeElements, i: number): Value {
  const corners = [0, 1, 2, 3].map((k) => vectorAt(x, e.particles[4 * i + k]!)) as [Vector, Vector, Vector, Vector];
  const [a, b, c] = [0, 1, 2].map((k) => subtract(corners[k]!, corners[3])) as [Vector, Vector, Vector];
  const g = [cross(b, c), cross(c, a), cross(a, b)].map((v) => scale(1 / 6, v)) as [Vector, Vector, Vector];
  return { C: (dot(a, cross(b, c)) - e.rest[i]!) / 6, gradient: [...g, scale(-1, add(g[0], add(g[1], g[2])))] };
}

/**
 * Volume inside a closed surface, and its gradient.
 * @param points corners, triangles their numbers, outward; six the sixfold rest volume
 */
function polyhedron(
  points: readonly Vector[],
  triangles: Iterable<readonly [number, number, number]>,
  six: number,
): Value {
  const local = points.map((p) => subtract(p, points[0]!));
  const gradient = points.map(() => ZERO);
  let volume = 0;
  for (const [a, b, c] of triangles) {
    const bc = cross(local[b]!, local[c]!);
    volume += dot(local[a]!, bc);
    gradient[a] = add(gradient[a]!, bc);
    gradient[b] = add(gradient[b]!, cross(local[c]!, local[a]!));
    gradient[c] = add(gradient[c]!, cross(local[a]!, local[b]!));
  }
  return { C: (volume - six) / 6, gradient: gradient.map((g) => scale(1 / 6, g)) };
}

/** Volume of hexahedron i less its rest. @param cut 0: faces cut along rising diagonals, 1: along falling ones */
export function hexahedronValue(x: Float64Array, e: HexahedronElements, i: number, cut: 0 | 1): Value {
  const points = Array.from({ length: 8 }, (_, k) => vectorAt(x, e.particles[8 * i + k]!));
  return polyhedron(points, cut === 0 ? RISING : FALLING, e.rest[2 * i + cut]!);
}

/** @param bounds of the multiplier. @returns the new multiplier */
function project(
  p: Particles,
  corners: readonly number[],
  { C, gradient }: Value,
  hold: Pick<Hold, "stiffness" | "keeps">,
  alpha: number,
  old: number,
  bounds: [number, number],
  h: number,
): number {
  // guard, gradient
  const W = corners.reduce((sum, c, j) => sum + p.w[c]! * dot(gradient[j]!, gradient[j]!), 0);
  const alphaTilde = alpha / (h * h);
  const L = hold.keeps ? old : 0;
  // lambda
  const dL = W > 0 ? -(hold.stiffness * C + alphaTilde * L) / (W + alphaTilde) : 0;
  const now = Math.min(Math.max(L + dL, bounds[0]), bounds[1]);
  // apply
  corners.forEach((c, j) => addAt(p.x, c, scale(p.w[c]! * (now - L), gradient[j]!)));
  return now;
}

/** What a distance or a volume remembers: its multiplier. */
export const GEOMETRIC_MEMORY = 1;

/** One step of distance i. @param L float64[n] multipliers, inout */
export function solveDistance(p: Particles, e: DistanceElements, i: number, L: Float64Array, h: number): void {
  L[i] = project(
    p,
    [...e.particles.subarray(2 * i, 2 * i + 2)],
    distanceValue(p.x, e, i),
    e,
    e.alpha[i]!,
    L[i]!,
    [-Infinity, e.unilateral ? 0 : Infinity],
    h,
  );
}

/** One step of volume i. @param L float64[n] multipliers, inout */
export function solveVolume(p: Particles, e: VolumeElements, i: number, L: Float64Array, h: number): void {
  L[i] = project(
    p,
    [...e.particles.subarray(4 * i, 4 * i + 4)],
    volumeValue(p.x, e, i),
    e,
    e.alpha[i]!,
    L[i]!,
    [e.unilateral ? 0 : -Infinity, Infinity],
    h,
  );
}

/** The multipliers of both triangulations. */
export const HEXAHEDRON_MEMORY = 2;

/** One step of hexahedron i, in one triangulation after the other. @param L float64[2n] multipliers, inout */
export function solveHexahedron(p: Particles, e: HexahedronElements, i: number, L: Float64Array, h: number): void {
  for (const cut of [0, 1] as const) {
    const hold = { stiffness: 1, keeps: true };
    L[2 * i + cut] = project(
      p,
      [...e.particles.subarray(8 * i, 8 * i + 8)],
      hexahedronValue(p.x, e, i, cut),
      hold,
      e.alpha[i]!,
      L[2 * i + cut]!,
      [-Infinity, Infinity],
      h,
    );
  }
}

/** The volume that a closed surface of a room's particles encloses. */
export interface ReferenceEnclosed extends Hold {
  /** The surface's particles are first .. first + count. */
  first: number;
  count: number;
  /** uint32[3T] particle numbers of the room, outward */
  triangles: Uint32Array;
  /** six times the wanted volume, m^3 */
  rest: number;
  /** m^3/Pa */
  alpha: number;
  lambda: number;
}

export function solveEnclosedVolumes(p: Particles, e: ReferenceEnclosed, h: number): void {
  const corners = Array.from({ length: e.count }, (_, i) => e.first + i);
  const triangles = triplesOf(e.triangles.map((c) => c - e.first));
  e.lambda = project(
    p,
    corners,
    polyhedron(
      corners.map((c) => vectorAt(p.x, c)),
      triangles,
      e.rest,
    ),
    e,
    e.alpha,
    e.lambda,
    [e.unilateral ? 0 : -Infinity, Infinity],
    h,
  );
}
