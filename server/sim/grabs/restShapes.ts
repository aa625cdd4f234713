/** Undeformed shapes of bodies in the room's memory: they show how far a grab stretches a body (applyGrabs.ts). */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { BodyLayout, RestShape } from "../world/worldLayout.ts";
import type { Allocator } from "../memory/memoryMap.ts";
import { isRigid } from "../memory/contact/rigidContacts.ts";

/** An edge: its end particles in a body, and its rest length, m. */
export interface RestEdge {
  a: number;
  b: number;
  rest: number;
}

/**
 * @returns one shape per body, none for points and for rigid bodies, whose edges cannot stretch; `write` fills the
 * memory
 */
export function planRestShapes(
  bodies: readonly BodyTemplate[],
  allocator: Allocator,
): { shapes: (RestShape | undefined)[]; write: (buffer: ArrayBufferLike) => void } {
  const sources = bodies.map((body) =>
    body.tets.length > 0 ? { list: body.tets, corners: 4 as const } : { list: body.triangles, corners: 3 as const },
  );
  const shapes = bodies.map((body, b): RestShape | undefined => {
    const { list, corners } = sources[b]!;
    if (isRigid(body) || list.length === 0) return undefined;
    return {
      elements: allocator.take(4 * list.length),
      elementCount: list.length / corners,
      corners,
      positions: allocator.take(12 * body.particleCount),
    };
  });
  const write = (buffer: ArrayBufferLike): void => {
    shapes.forEach((shape, b) => {
      if (!shape) return;
      new Uint32Array(buffer, shape.elements, sources[b]!.list.length).set(sources[b]!.list);
      new Float32Array(buffer, shape.positions, bodies[b]!.positions.length).set(bodies[b]!.positions);
    });
  };
  return { shapes, write };
}

/**
 * Edges with an end among these particles of a body, each once, in the order of the elements, at most POINT_MAX_EDGES.
 */
export function edgesAt(
  buffer: ArrayBufferLike,
  { rest: shape, count }: BodyLayout,
  particles: Iterable<number>,
): RestEdge[] {
  if (!shape) return [];
  const { corners, elementCount } = shape;
  const held = new Uint8Array(count);
  for (const particle of particles) held[particle] = 1;
  const elements = new Uint32Array(buffer, shape.elements, corners * elementCount);
  const x = new Float32Array(buffer, shape.positions, 3 * count);
  const seen = new Set<number>();
  const edges: RestEdge[] = [];
  for (let e = 0; e < elements.length; e += corners) {
    for (let i = 0; i < corners; i++) {
      for (let j = 0; j < i; j++) {
        const a = Math.min(elements[e + i]!, elements[e + j]!);
        const b = Math.max(elements[e + i]!, elements[e + j]!);
        if ((!held[a] && !held[b]) || seen.has(a * count + b)) continue;
        seen.add(a * count + b);
        const d = [0, 1, 2].map((r) => x[3 * a + r]! - x[3 * b + r]!) as [number, number, number];
        edges.push({ a, b, rest: Math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) });
        if (edges.length === L.POINT_MAX_EDGES) return edges;
      }
    }
  }
  return edges;
}
