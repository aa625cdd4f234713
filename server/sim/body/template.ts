/**
 * A body of the scene, ready to simulate: placed particles, masses, forces, constraints, surface, detail mesh.
 * Immutable.
 */
import type { Body, Look, Vec3 } from "../../../shared/scene/scene.ts";
import type { Plasticity } from "../../../shared/scene/sceneMaterials.ts";
import type { Method } from "../../../shared/scene/sceneMethodTypes.ts";
import type { SurfaceMesh } from "../../meshing/mesh.ts";
import type { Elements } from "../constraints/kinds.ts";
import type { EnclosedVolume } from "../constraints/geometric.ts";
import type { Drawing } from "./objectMeshes.ts";
import type { Placement } from "./transform.ts";
import type { Schedule } from "../memory/sweeps.ts";
import type { Form } from "../constraints/constraint.ts";

/** Shape matching (kernel/assembly/constraints/shape.ts). */
export interface ShapeMatching {
  mode: "rigid" | "linear";
  /** Spring rate over mass, 1/s^2; infinite: particles are moved to their goals at once. */
  rate: number;
  /** Share of linear deformation in the goals: beta of Mueller et al. 2005 */
  linearity: number;
  /** Radius of a smooth ball, m; absent: the body collides by its particles */
  radius?: number;
  plasticity?: Plasticity;
}

/** Contact properties of a surface besides its dynamic friction and its thickness. */
export interface Touch {
  /** Coulomb coefficient of static friction, at least the dynamic one */
  staticFriction: number;
  /** share of the approach speed that remains */
  restitution: number;
  /** names of bodies and colliders that it passes through */
  ignore: readonly string[];
  /** whether it may touch itself */
  self: boolean;
}

export interface BodyTemplate {
  name: string;
  kind: Body["kind"];
  look: Look;
  particleCount: number;
  /** Number of particles, from the first, that clients receive: the surface of a soft body, all of a cloth. */
  streamedCount: number;
  /**
   * float64[3N] m, as placed; from the world's origin while the body is loaded, from the room's (origin.ts) in a built
   * world
   */
  positions: Float64Array;
  /** float64[3N] m in the body's own axes, and their placement. Absent: only `positions` are known. */
  own?: Float64Array;
  placement?: Placement;
  /** uint32[N]: each particle's number in the mesh file, from 0 */
  origin: Uint32Array;
  /** Numbers in the mesh file of vertices that are part of another particle: from each to that one's number. */
  merged?: SurfaceMesh["merged"];
  /** float64[N] kg */
  mass: Float64Array;
  /** uint8[N]: 1 if pinned */
  pinned: Uint8Array;
  /** float64[3N] N, constant */
  force: Float64Array;
  velocity: Vec3;
  /** initial deformation, unless undeformed: start.ts */
  start?: "flattened" | "mirrored";
  /** True for a spawnable body that is inactive at first (spawnableBodies.ts). */
  spawnable: boolean;
  /** Damping, 1/s. */
  damping: number;
  /** Retardation time of the material, viscosity over modulus, s; 0: none */
  retardationTime: number;
  /** dynamic Coulomb coefficient */
  friction: number;
  /** m: half of the thickness, or a small part of the surface's edges */
  contactRadius: number;
  touch: Touch;
  /** mean edge of the surface, or spacing of points, m */
  meanEdge: number;
  elements: Elements[];
  /** Form of the constraints, and the order in which they are solved. */
  form: Form;
  /** For form "method": the method and its settings. */
  method?: Method;
  /** For form "method": whether its surface meets others in the kernel's substeps (methods/joins.ts). */
  joins?: boolean;
  /** For form "method": material of the scene, in the memory's unit of mass. */
  material?: Body["material"];
  schedule: Schedule;
  /** One constraint over the whole surface: the volume inside it. */
  enclosed?: EnclosedVolume;
  /** all particles follow one moved copy of the rest shape */
  shape?: ShapeMatching;
  /** uint32[3T] simulation surface (of streamed particles), normals outward */
  triangles: Uint32Array;
  /** uint32[4n] tetrahedra, empty for cloth */
  tets: Uint32Array;
  /** drawn mesh, placed like `positions` and in the body's own axes; absent: the simulation surface itself */
  detail?: SurfaceMesh & { own?: Float64Array };
  /** for an object: its picture, whose vertices lie on those of `detail` (objectMeshes.ts) */
  picture?: Pick<Drawing, "object" | "vertices" | "scale" | "offset">;
}

/** Parts of a template that differ by the kind of the body. */
export interface Shape {
  own: Float64Array;
  positions: Float64Array;
  placement: Placement;
  triangles: Uint32Array;
  tets: Uint32Array;
  origin: Uint32Array;
  merged?: SurfaceMesh["merged"];
  streamedCount: number;
  /** float64[N] kg */
  mass: Float64Array;
  elements: BodyTemplate["elements"];
  enclosed?: EnclosedVolume | undefined;
  detail?: SurfaceMesh & { own: Float64Array };
  picture?: BodyTemplate["picture"];
  shape?: ShapeMatching;
  /** Spacing of points, m. */
  spacing?: number;
}

/** Whether the body has its own step, which also moves its grabs and attachments to places. */
export function ownStep({ form }: Pick<BodyTemplate, "form">): boolean {
  return form === "implicit" || form === "method";
}

/** Whether the kernel's substeps do not move its particles. */
export function isApart(body: Pick<BodyTemplate, "form" | "joins">): boolean {
  return ownStep(body) && !body.joins;
}

/**
 * Bodies that may be left out of a tick: spawnable ones and, if there are several bodies, all, since they may sleep.
 */
export function leftOutOf(
  bodies: readonly Pick<BodyTemplate, "spawnable">[],
): (body: { spawnable: boolean }) => boolean {
  return ({ spawnable }) => spawnable || bodies.length > 1;
}
