/**
 * Spheres and capsules that are large compared with the bodies' edges. If a surface lies on one, so do its particles,
 * which get friction there (kernel/assembly/colliders/collide.ts). The core mesh then only stops surfaces from passing,
 * and lies as deep as a sheet's edges cut into the round shape:
 *   sag of a chord of length e on a circle of radius R: e^2 / (8 R)
 * A core at the surface itself would push edges and faces of a resting body away from where its particles belong, and
 * apply friction a second time: a sheet over a head never came to rest (0.7 m/s).
 */
import type { Collider } from "../../../shared/scene/scene.ts";
import type { BodyTemplate } from "../body/template.ts";
import { roundMantissa } from "../memory/roundMantissa.ts";
import type { Fineness } from "./coreShapes.ts";

/** Length of the longest edges in mean ones: diagonals, and irregular triangles of a mesh generator. */
const LONGEST = 1.5;
/** Smallest radius in longest edges: smaller shapes fit between the particles. */
const LARGE = 2;

/**
 * Longest edge that a body may lay on a collider, m; 0 without bodies. Rounded: no bit may depend on the room's origin.
 */
export function layingEdge(bodies: readonly Pick<BodyTemplate, "kind" | "meanEdge">[]): number {
  const edges = bodies.filter(({ kind }) => kind !== "ball").map(({ meanEdge }) => meanEdge);
  return edges.length > 0 ? roundMantissa(LONGEST * Math.max(...edges)) : 0;
}

/** Smallest features of bodies that meet the core meshes, rounded like `layingEdge`. */
export function finenessOf(bodies: readonly Pick<BodyTemplate, "kind" | "meanEdge" | "contactRadius">[]): Fineness {
  const met = bodies.filter(({ kind }) => kind !== "ball");
  if (met.length === 0) return { edge: 0, gap: 0 };
  return {
    edge: roundMantissa(Math.min(...met.map(({ meanEdge }) => meanEdge))),
    gap: roundMantissa(Math.min(...met.map(({ contactRadius }) => contactRadius))),
  };
}

/** @param edge result of `layingEdge` */
export function isSmooth(c: Collider, edge: number): c is Extract<Collider, { type: "sphere" | "capsule" }> {
  return (c.type === "sphere" || c.type === "capsule") && edge > 0 && c.radius >= LARGE * edge;
}

/** Depth of a smooth collider's core, m; 0 for other colliders. */
export function insetOf(c: Collider, edge: number): number {
  return isSmooth(c, edge) ? edge ** 2 / (8 * c.radius) : 0;
}
