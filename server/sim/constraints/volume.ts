/**
 * Volumes of tetrahedra (Mueller et al. 2007; Rodero Gomez, section 3.2; kernel/assembly/constraints/volume.ts), by
 * compliance (Macklin et al. 2016) or by stiffness k'.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { vectorAt, type Particles } from "../reference/particles.ts";
import { add, cross, dot, scale, subtract, type Vector } from "../reference/vector.ts";
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
import { sixVolumes } from "./polyhedron.ts";

/** Volumes of n tetrahedra: six times the rest volume in m^3, compliance in m^3/Pa. */
export interface VolumeElements extends Geometric {
  kind: "volume";
  /** uint32[4n] */
  particles: Uint32Array;
}

/**
 * @param X float64[3N] m, undeformed positions
 * @param tets uint32[4n], of positive volume
 */
export function volumeElements(X: Float64Array, tets: Uint32Array, asked: Held, pace: Pace): VolumeElements {
  const rest = Float64Array.from({ length: tets.length / 4 }, (_, e) => {
    const [a, b, c, d] = tets.subarray(4 * e, 4 * e + 4) as unknown as [number, number, number, number];
    return sixVolumes(X, [[a, b, c]], d);
  });
  return { kind: "volume", particles: tets, ...held(rest, asked, pace) };
}

/** det(x0 - x3, x1 - x3, x2 - x3)/6 - rest. */
export function volumeValue(x: Float64Array, e: VolumeElements, i: number): Value {
  const corners = [0, 1, 2, 3].map((k) => vectorAt(x, e.particles[4 * i + k]!)) as [Vector, Vector, Vector, Vector];
  const [a, b, c] = [0, 1, 2].map((k) => subtract(corners[k]!, corners[3])) as [Vector, Vector, Vector];
  const g = [cross(b, c), cross(c, a), cross(a, b)].map((v) => scale(1 / 6, v)) as [Vector, Vector, Vector];
  return { C: (dot(a, cross(b, c)) - e.rest[i]!) / 6, gradient: [...g, scale(-1, add(g[0], add(g[1], g[2])))] };
}

/**
 * One step of volume i.
 * @param L float64[n] multipliers, inout
 */
function solveVolume(p: Particles, e: VolumeElements, i: number, L: Float64Array, h: number): void {
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

function volumeEnergy(x: Float64Array, e: VolumeElements, i: number): number {
  const { C } = volumeValue(x, e, i);
  return e.unilateral && C > 0 ? 0 : stored(C, e.alpha[i]!);
}

export const volume: Constraint<VolumeElements> = {
  corners: 4,
  // "body" volumes are in enclosedVolume.ts
  ofSolid: ({ material, X, tets, pace }) =>
    material.model === "pbd" && material.volume && material.volume.of !== "body"
      ? [volumeElements(X, tets, material.volume, pace)]
      : [],
  bytes: L.VOLUME_BYTES,
  phase: L.KIND_VOLUME,
  stage: L.STAGE_VOLUMES,
  remembers: { rows: 1, offset: L.VOLUME_REST + L.GEOMETRIC_LAMBDA },
  write: (f32, at, e, i) => writeGeometric(f32, at + L.VOLUME_REST / 4, e, i, -Infinity),
  pad: (f32, at) => padGeometric(f32, at + L.VOLUME_REST / 4),
  twin: { memory: 1, solve: solveVolume },
  energy: volumeEnergy,
};
