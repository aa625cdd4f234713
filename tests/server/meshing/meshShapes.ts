/**
 * Shapes with known volume and topology, mesh files written from random meshes, and the checks of every tetrahedral
 * mesh.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { joinFaces, surfaceTopology } from "../../../server/meshing/surface/boundary.ts";
import type { SurfaceTopology } from "../../../server/meshing/surface/boundary.ts";
import type { SurfaceMesh, TetMesh } from "../../../server/meshing/mesh.ts";
import { MeshError } from "../../../server/meshing/mesh.ts";
import type { MeshFault } from "../../../server/meshing/mesh.ts";
import { tetQuality } from "../../../server/meshing/tetrahedra/tetrahedronQuality.ts";
import type { TetQuality } from "../../../server/meshing/tetrahedra/tetrahedronQuality.ts";

/** Torus around y: `around` x `across` quads, two triangles each, outward. */
export function torus(radius: number, tube: number, around = 64, across = 32): SurfaceMesh {
  const positions = new Float64Array(3 * around * across);
  const triangles: number[] = [];
  for (let i = 0; i < around; i++) {
    for (let j = 0; j < across; j++) {
      const u = (2 * Math.PI * i) / around;
      const v = (2 * Math.PI * j) / across;
      const r = radius + tube * Math.cos(v);
      positions.set([r * Math.cos(u), tube * Math.sin(v), r * Math.sin(u)], 3 * (i * across + j));
      const at = (p: number, q: number): number => ((i + p) % around) * across + ((j + q) % across);
      triangles.push(at(0, 0), at(0, 1), at(1, 1), at(0, 0), at(1, 1), at(1, 0));
    }
  }
  return { positions, triangles: Uint32Array.from(triangles) };
}

/** Twelve triangles of an axis-aligned box, outward. */
export function boxSurface(low: readonly number[], high: readonly number[]): SurfaceMesh {
  const positions = new Float64Array(24);
  for (let corner = 0; corner < 8; corner++)
    for (let k = 0; k < 3; k++) positions[3 * corner + k] = (corner >> k) & 1 ? high[k]! : low[k]!;
  return {
    positions,
    triangles: Uint32Array.from([
      0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5,
    ]),
  };
}

/** Two surfaces as one. */
export function together(a: SurfaceMesh, b: SurfaceMesh): SurfaceMesh {
  const offset = a.positions.length / 3;
  return {
    positions: Float64Array.from([...a.positions, ...b.positions]),
    triangles: Uint32Array.from([...a.triangles, ...b.triangles.map((v) => v + offset)]),
  };
}

/** A surface without the triangles whose centroid is within `radius` of a point. */
export function withHole(surface: SurfaceMesh, center: readonly number[], radius: number): SurfaceMesh {
  const { positions: x, triangles } = surface;
  const kept: number[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    const corners = [...triangles.subarray(t, t + 3)];
    const distance = Math.hypot(
      ...[0, 1, 2].map((k) => corners.reduce((sum, v) => sum + x[3 * v + k]! / 3, 0) - center[k]!),
    );
    if (distance > radius) kept.push(...corners);
  }
  return { positions: x, triangles: Uint32Array.from(kept) };
}

/** Volume inside a closed surface, m^3. */
export function enclosedVolume(surface: SurfaceMesh): number {
  const { triangles } = surface;
  // Relative to the first vertex, so that a shape far from the origin keeps its digits.
  const x = surface.positions.map((value, i) => value - surface.positions[i % 3]!);
  let six = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => [...x.subarray(3 * triangles[t + k]!, 3 * triangles[t + k]! + 3)]) as [
      number[],
      number[],
      number[],
    ];
    six +=
      a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) +
      a[1]! * (b[2]! * c[0]! - b[0]! * c[2]!) +
      a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!);
  }
  return six / 6;
}

/**
 * Checks the guarantees of all our meshes: positive elements, matching faces, a closed manifold boundary that encloses
 * their volume, no unused vertex.
 */
export function expectSound(mesh: TetMesh): { quality: TetQuality; topology: SurfaceTopology } {
  const quality = tetQuality(mesh);
  const { boundary, faulty } = joinFaces(mesh.tets);
  const topology = surfaceTopology(boundary);
  expect(quality.minVolume).toBeGreaterThan(0);
  expect(faulty).toBe(0);
  expect(topology).toMatchObject({ openEdges: 0, crossedEdges: 0, pinched: [] });
  expect(enclosedVolume({ positions: mesh.positions, triangles: boundary }) / quality.volume).toBeCloseTo(1, 9);
  expect(new Set(mesh.tets).size).toBe(mesh.positions.length / 3);
  return { quality, topology };
}

/** Details of the MeshError of a call. Fails if there is none. */
export function faultOf(call: () => unknown): MeshFault {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(MeshError);
    const { fault, message } = error as MeshError;
    for (const part of [
      fault.file,
      fault.field,
      String(fault.value),
      fault.limit,
      ...(fault.line ? [`:${fault.line}:`] : []),
    ])
      expect(message).toContain(part);
    return fault;
  }
  throw new Error("no MeshError was thrown");
}

/**
 * Random surfaces that use all their vertices, in order, with three different corners each; coordinates are exact in
 * float32.
 */
export const anySurface: fc.Arbitrary<SurfaceMesh> = fc.integer({ min: 1, max: 12 }).chain((count) =>
  fc.record({
    positions: fc
      .array(fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }), {
        minLength: 9 * count,
        maxLength: 9 * count,
      })
      .map((values) => Float64Array.from(values, (value) => value + 0)),
    triangles: fc
      .shuffledSubarray(
        Array.from({ length: 3 * count }, (_, v) => v),
        { minLength: 3 * count, maxLength: 3 * count },
      )
      .map((values) => Uint32Array.from(values)),
  }),
);
