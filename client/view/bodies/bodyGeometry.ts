/** Geometries of bodies: vertex attributes that the skinning shader reads. */
import { BufferAttribute, type BufferGeometry, InstancedBufferGeometry } from "three";
import { float32Of, uint32Of } from "../../../shared/bytes.ts";
import { createSkin, evaluateSkinInto } from "../../../shared/skinning/index.ts";
import type { TopologyBody } from "../../../shared/topology.ts";
import { flatCoordinates } from "./flatCoordinates.ts";
import { hollowAndThinLight } from "./cavities.ts";
import type { RoundedEdges } from "./roundedEdges.ts";
import { sheetOf } from "./sheetShell.ts";
import type { SmoothingGroups } from "./surfaceNormals.ts";

/**
 * Squares with corners at -1 and 1, one for each point of a cloud. The shaders turn them to the eye and draw spheres.
 */
export function sprites(count: number): InstancedBufferGeometry {
  const geometry = new InstancedBufferGeometry();
  geometry.instanceCount = count;
  geometry.setIndex([0, 1, 2, 2, 1, 3]);
  geometry.setAttribute("position", new BufferAttribute(Float32Array.of(-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0), 3));
  nameNormals(geometry, 4);
  return geometry;
}

export function detailAttributes(
  geometry: BufferGeometry,
  detail: NonNullable<TopologyBody["detail"]>,
  rest: Float32Array,
  triangles: Uint32Array,
): void {
  const detailTriangles = uint32Of(detail.triangles);
  const attachTriangle = uint32Of(detail.attachTriangle);
  const attachCoords = float32Of(detail.attachCoords);
  const skin = createSkin({ rest, triangles, detailTriangles, attachTriangle, attachCoords });
  const { corners, covectors } = skin;
  const positions = new Float32Array(attachCoords.length);
  const normals = new Float32Array(attachCoords.length);
  evaluateSkinInto(skin, rest, positions, normals);
  const light = hollowAndThinLight(positions, normals, detailTriangles);
  geometry.setIndex(new BufferAttribute(detailTriangles, 1));
  geometry.setAttribute("pliantCorners", new BufferAttribute(corners, 3));
  geometry.setAttribute("pliantCoords", new BufferAttribute(attachCoords, 3));
  geometry.setAttribute("pliantCovector", new BufferAttribute(Float32Array.from(covectors), 3));
  geometry.setAttribute("pliantLight", new BufferAttribute(light, 2, true));
  nameNormals(geometry, attachTriangle.length);
}

/** The surface of a solid. */
export function directAttributes(
  geometry: BufferGeometry,
  triangles: Uint32Array,
  { slots, count }: SmoothingGroups,
  edges: RoundedEdges | undefined,
): void {
  const particles = particlesOf(triangles, slots, count);
  if (edges) pairUp(geometry, edges.normalCount, (v) => [edges.pairs[2 * v]!, edges.pairs[2 * v + 1]!]);
  else pairUp(geometry, count, (slot) => [particles[slot]!, slot]);
  geometry.setIndex(new BufferAttribute(edges ? edges.triangles : slots, 1));
}

/**
 * The shell of a cloth.
 * @returns distance of its printed grid's lines, m; 0: it is not flat at rest
 */
export function sheetAttributes(
  geometry: BufferGeometry,
  triangles: Uint32Array,
  { slots, count }: SmoothingGroups,
  rest: Float32Array,
): number {
  const particles = particlesOf(triangles, slots, count);
  const shell = sheetOf(slots, count);
  const flat = flatCoordinates(rest, triangles);
  const at = new Float32Array(2 * shell.vertices.length);
  if (flat)
    shell.vertices.forEach((slot, v) =>
      at.set(flat.at.subarray(2 * particles[slot]!, 2 * particles[slot]! + 2), 2 * v),
    );
  pairUp(geometry, shell.vertices.length, (vertex) => {
    const slot = shell.vertices[vertex]!;
    return [particles[slot]!, slot];
  });
  geometry.setIndex(new BufferAttribute(shell.triangles, 1));
  geometry.setAttribute("pliantSide", new BufferAttribute(shell.sides, 2));
  geometry.setAttribute("pliantFlat", new BufferAttribute(at, 2));
  return flat?.grid ?? 0;
}

/** Particle of each normal slot. */
function particlesOf(triangles: Uint32Array, slots: Uint32Array, count: number): Uint32Array {
  const particles = new Uint32Array(count);
  triangles.forEach((particle, corner) => (particles[slots[corner]!] = particle));
  return particles;
}

/** @param pair particle and normal slot of a vertex */
function pairUp(geometry: BufferGeometry, count: number, pair: (vertex: number) => [number, number]): void {
  const pairs = new Uint32Array(2 * count);
  for (let vertex = 0; vertex < count; vertex++) pairs.set(pair(vertex), 2 * vertex);
  geometry.setAttribute("pliantSlots", new BufferAttribute(pairs, 2));
  nameNormals(geometry, count);
}

/** Adds a dummy normal attribute: three.js shades geometries without one flat. The shader computes the real normals. */
function nameNormals(geometry: BufferGeometry, count: number): void {
  geometry.setAttribute("normal", new BufferAttribute(new Int8Array(3 * count), 3, true));
}

/** Mean edge length of the rest shape, m. */
export function meanEdge(rest: Float32Array, triangles: Uint32Array): number {
  let sum = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t]!;
    const b = 3 * triangles[t + 1]!;
    sum += Math.hypot(rest[a]! - rest[b]!, rest[a + 1]! - rest[b + 1]!, rest[a + 2]! - rest[b + 2]!);
  }
  return (3 * sum) / Math.max(1, triangles.length);
}
