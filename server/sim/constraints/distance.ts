/**
 * Distances between two particles (Mueller et al. 2007; Rodero Gomez, section 3.2; kernel/assembly/constraints/
 * distance.ts), by compliance (Macklin et al. 2016) or by stiffness k'.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { vectorAt, type Particles } from "../reference/particles.ts";
import { norm, scale, subtract } from "../reference/vector.ts";
import type { Constraint, Pace } from "./constraint.ts";
import {
  held,
  padGeometric,
  project,
  stored,
  writeGeometric,
  type Geometric,
  type Held,
  type Value,
} from "./geometric.ts";

/** n distances between two particles: rest length in m, compliance in m/N. */
export interface DistanceElements extends Geometric {
  kind: "distance";
  /** uint32[2n] */
  particles: Uint32Array;
  /**
   * float64[3n] unit vector from the second particle to the first, at rest: separation direction if both are at one
   * place
   */
  direction: Float64Array;
}

/**
 * Every edge of triangles or tetrahedra, once, ends ascending, in the order of the elements.
 * @param corners of an element
 */
export function edgesOf(elements: Uint32Array, corners: 3 | 4): Uint32Array {
  const seen = new Set<number>();
  const edges: number[] = [];
  for (let e = 0; e < elements.length; e += corners) {
    for (let i = 0; i < corners; i++) {
      for (let j = i + 1; j < corners; j++) {
        const a = Math.min(elements[e + i]!, elements[e + j]!);
        const b = Math.max(elements[e + i]!, elements[e + j]!);
        const key = a * 2 ** 26 + b; // fewer than 2^26 particles fit in a room
        if (seen.has(key)) continue;
        seen.add(key);
        edges.push(a, b);
      }
    }
  }
  return Uint32Array.from(edges);
}

/** Lengths of edges. Math.hypot is not used: its rounding depends on the engine. */
export function lengthsOf(X: Float64Array, edges: Uint32Array): Float64Array {
  return Float64Array.from({ length: edges.length / 2 }, (_, i) => {
    const a = 3 * edges[2 * i]!;
    const b = 3 * edges[2 * i + 1]!;
    const d = [0, 1, 2].map((r) => X[a + r]! - X[b + r]!) as [number, number, number];
    return Math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  });
}

/** float64[3n] unit vectors from the second end of each edge to the first. */
function directionsOf(X: Float64Array, edges: Uint32Array, lengths: Float64Array): Float64Array {
  return Float64Array.from({ length: 3 * lengths.length }, (_, k) => {
    const i = Math.floor(k / 3);
    const r = k % 3;
    return (X[3 * edges[2 * i]! + r]! - X[3 * edges[2 * i + 1]! + r]!) / lengths[i]!;
  });
}

/**
 * @param X float64[3N] m, undeformed positions
 * @param edges uint32[2n]
 */
export function distanceElements(X: Float64Array, edges: Uint32Array, asked: Held, pace: Pace): DistanceElements {
  const rest = lengthsOf(X, edges);
  return { kind: "distance", particles: edges, direction: directionsOf(X, edges, rest), ...held(rest, asked, pace) };
}

/**
 * Springs along edges.
 * @param constants spring constant of each edge, N/m
 */
export function springElements(X: Float64Array, edges: Uint32Array, constants: readonly number[]): DistanceElements {
  const springs = distanceElements(X, edges, { compliance: 1 }, { substeps: 1, iterations: 1 });
  return { ...springs, alpha: Float64Array.from(constants, (k) => 1 / k) };
}

/** |x0 - x1| - rest. If both particles coincide, the gradient is along the rest direction. */
export function distanceValue(x: Float64Array, e: DistanceElements, i: number): Value {
  const d = subtract(vectorAt(x, e.particles[2 * i]!), vectorAt(x, e.particles[2 * i + 1]!));
  const length = norm(d);
  const n = length > 0 ? scale(1 / length, d) : vectorAt(e.direction, i);
  return { C: length - e.rest[i]!, gradient: [n, scale(-1, n)] };
}

/**
 * One step of distance i.
 * @param L float64[n] multipliers, inout
 */
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

function distanceEnergy(x: Float64Array, e: DistanceElements, i: number): number {
  const { C } = distanceValue(x, e, i);
  return e.unilateral && C < 0 ? 0 : stored(C, e.alpha[i]!);
}

export const distance: Constraint<DistanceElements> = {
  corners: 2,
  ofSolid: ({ material, X, tets, pace }) =>
    material.model === "pbd" && material.distance
      ? [distanceElements(X, edgesOf(tets, 4), material.distance, pace)]
      : [],
  ofSheet: ({ material, X, triangles, pace }) =>
    material.model === "pbd" ? [distanceElements(X, edgesOf(triangles, 3), material.distance!, pace)] : [],
  bytes: L.DISTANCE_BYTES,
  phase: L.KIND_DISTANCE,
  stage: L.STAGE_DISTANCES,
  remembers: { rows: L.DISTANCE_KEPT_BYTES / 16, apart: true },
  write: (f32, at, e, i) => {
    writeGeometric(f32, at + L.DISTANCE_REST / 4, e, i, Infinity);
    for (let r = 0; r < 3; r++) f32[at + L.DISTANCE_DIRECTION / 4 + 4 * r] = e.direction[3 * i + r]!;
  },
  pad: (f32, at) => padGeometric(f32, at + L.DISTANCE_REST / 4),
  twin: { memory: 1, solve: solveDistance },
  energy: distanceEnergy,
  compliance: L.DISTANCE_REST + L.GEOMETRIC_ALPHA,
};
