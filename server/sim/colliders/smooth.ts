/**
 * Spheres and capsules that are large beside the bodies' edges: wherever a surface lies on one its particles do, and
 * rub there (kernel/assembly/colliders/collide.ts). The core mesh then only sees to it that nothing passes, and lies as
 * deep as a sheet's edges cut into the round:
 *   sag of a chord of length e on a circle of radius R: e^2 / (8 R)
 * A core at the surface itself would push edges and faces of what rests on it out of where its particles belong, and
 * rub against them a second time: a sheet over a head never came to rest (0.7 m/s).
 */
import type { Collider } from "../../../shared/scene.ts";
import type { BodyTemplate } from "../body/template.ts";
import { rough } from "../memory/rough.ts";

/** An edge of this many mean ones is among the longest: diagonals, and what a mesh generator leaves. */
const LONGEST = 1.5;
/** Of the longest edge: smaller radii have room between the particles. */
const LARGE = 2;

/**
 * Longest edge that a body may lay on a collider, m: 0 without bodies. Rounded: where the room's origin is must not be
 * seen in a single bit.
 */
export function layingEdge(bodies: readonly Pick<BodyTemplate, "kind" | "meanEdge">[]): number {
  const edges = bodies.filter(({ kind }) => kind !== "ball").map(({ meanEdge }) => meanEdge);
  return edges.length > 0 ? rough(LONGEST * Math.max(...edges)) : 0;
}

/** @param edge as `layingEdge` says */
export function isSmooth(c: Collider, edge: number): c is Extract<Collider, { type: "sphere" | "capsule" }> {
  return (c.type === "sphere" || c.type === "capsule") && edge > 0 && c.radius >= LARGE * edge;
}

/** How deep the core of a smooth collider lies, m; 0 of others. */
export function insetOf(c: Collider, edge: number): number {
  return isSmooth(c, edge) ? edge ** 2 / (8 * c.radius) : 0;
}
