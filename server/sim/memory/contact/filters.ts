/**
 * Decides which bodies and colliders pass through each other (`ignore` in the scene): for surfaces, and for bodies
 * against analytic colliders.
 */
import type { Collider } from "../../../../shared/scene/scene.ts";
import type { BodyTemplate } from "../../body/template.ts";
import type { Allocator } from "../memoryMap.ts";
import type { Meets } from "./surfaceRows.ts";

type FilteredBody = Pick<BodyTemplate, "name" | "touch" | "form" | "joins">;

/** Whether its particles meet surfaces: those of a method that is apart from the substeps meet shapes only. */
const meetsSurfaces = (body: FilteredBody): boolean => body.form !== "method" || body.joins === true;

/** Returns true if either one ignores the other. */
export function passThrough(a: FilteredBody, b: FilteredBody | Collider): boolean {
  if ("touch" in b) return a.touch.ignore.includes(b.name) || b.touch.ignore.includes(a.name);
  return (b.name !== undefined && a.touch.ignore.includes(b.name)) || (b.ignore?.includes(a.name) ?? false);
}

/** @param others colliders with a surface, in the order of their surfaces, which follow the bodies' */
export function surfaceFilter(bodies: readonly FilteredBody[], others: readonly Collider[]): Meets {
  const surface = (n: number): FilteredBody | Collider => bodies[n] ?? others[n - bodies.length]!;
  const meetsAny = (n: number): boolean => !bodies[n] || meetsSurfaces(bodies[n]);
  // colliders do not meet each other
  return (a, b) => a < bodies.length && meetsAny(a) && meetsAny(b) && !passThrough(bodies[a]!, surface(b));
}

/**
 * Whether each body's particles meet any collider, and any moving one: all colliders but meshes that it does not pass
 * through.
 */
export function metColliders(
  bodies: readonly FilteredBody[],
  colliders: readonly Collider[],
): { any: boolean; moving: boolean }[] {
  return bodies.map((body) => {
    const met = colliders.filter((c) => c.type !== "mesh" && !passThrough(body, c));
    return { any: met.length > 0, moving: met.some(({ motion }) => motion !== undefined) };
  });
}

/** Whether each body may touch a surface: another body's, a collider's core mesh, or its own. */
export function touchesSurfaces(bodies: readonly FilteredBody[], colliders: readonly Collider[]): boolean[] {
  const others = colliders.filter(({ type }) => type !== "plane");
  const meets = surfaceFilter(bodies, others);
  return bodies.map(
    (body, n) =>
      (meetsSurfaces(body) && body.touch.self) ||
      [...bodies, ...others].some((_, m) => m !== n && meets(Math.min(m, n), Math.max(m, n))),
  );
}

export interface PlannedFilters {
  /** For each body: address of one byte for each collider, 1 if they may touch; 0: the body touches all. */
  tables: number[];
  write: (buffer: ArrayBufferLike) => void;
}

/** Allocates memory for the bodies that pass through some collider; the result's `write` fills it later. */
export function planFilters(
  bodies: readonly FilteredBody[],
  colliders: readonly Collider[],
  allocator: Allocator,
): PlannedFilters {
  const rows = bodies.map((body) => colliders.map((c) => (passThrough(body, c) ? 0 : 1)));
  const tables = rows.map((row) => (row.includes(0) ? allocator.take(row.length) : 0));
  return {
    tables,
    write: (buffer) => rows.forEach((row, b) => tables[b] && new Uint8Array(buffer).set(row, tables[b])),
  };
}
