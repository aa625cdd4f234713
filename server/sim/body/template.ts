/**
 * A body as the scene describes it, made ready: placed particles, masses, forces, constraints, surface, detail mesh.
 * Immutable.
 */
import type { Body, Look, Method, Plasticity, Vec3 } from "../../../shared/scene.ts";
import type { SurfaceMesh } from "../../meshing/mesh.ts";
import type { Elements } from "../constraints/kinds.ts";
import type { EnclosedVolume } from "../constraints/enclosedVolume.ts";
import type { Drawing } from "./objectMeshes.ts";
import type { Placement } from "./transform.ts";
import type { Schedule } from "../memory/sweeps.ts";
import type { Form } from "../memory/writeBlocks.ts";

/** Shape matching (kernel/assembly/constraints/shape.ts). */
export interface ShapeMatching {
  mode: "rigid" | "linear";
  /** Spring rate over mass, 1/s^2; infinite: the particles are put where they belong. */
  rate: number;
  /** beta */
  linearity: number;
  /** m: of a smooth ball; absent: the particles are what touches */
  radius?: number;
  plasticity?: Plasticity;
}

/** How a surface behaves where it touches another, beside its dynamic friction and its thickness. */
export interface Touch {
  /** Coulomb coefficient up to which it sticks, at least the dynamic one */
  staticFriction: number;
  /** share of the speed of approach that is left */
  restitution: number;
  /** names of what it passes through */
  ignore: readonly string[];
  /** it may touch itself */
  self: boolean;
}

export interface BodyTemplate {
  name: string;
  kind: Body["kind"];
  look: Look;
  particleCount: number;
  /** The first so many particles are sent to clients: the surface of a soft body, all of a cloth. */
  streamedCount: number;
  /**
   * float64[3N] m, as placed; from the world's origin while the body is loaded, from the room's (origin.ts) in a built
   * world
   */
  positions: Float64Array;
  /** float64[3N] m in the body's own axes, and what places them. Absent: only `positions` are known. */
  own?: Float64Array;
  placement?: Placement;
  /** uint32[N]: each particle's place in the mesh file, from 0 */
  origin: Uint32Array;
  /** float64[N] kg */
  mass: Float64Array;
  /** uint8[N]: 1 if pinned */
  pinned: Uint8Array;
  /** float64[3N] N, constant */
  force: Float64Array;
  velocity: Vec3;
  /** how it begins, unless undeformed: start.ts */
  start?: "flattened" | "mirrored";
  /** It takes no part until somebody puts it in (inactive.ts). */
  waits: boolean;
  /** 1/s */
  damping: number;
  /** s, of the material: viscosity over modulus; 0: it has none */
  retardationTime: number;
  /** dynamic Coulomb coefficient */
  friction: number;
  /** m: half thickness, or a small part of the surface's edges */
  contactRadius: number;
  touch: Touch;
  /** mean edge of the surface, of points their spacing, m */
  meanEdge: number;
  elements: Elements[];
  /** How and in which order they are solved. */
  form: Form;
  /** Of form "method": which, and its settings. */
  method?: Method;
  /** As the scene says, in the unit of mass of the memory; of form "method". */
  material?: Body["material"];
  schedule: Schedule;
  /** One constraint over the whole surface: the volume inside it. */
  enclosed?: EnclosedVolume;
  /** all particles follow one moved copy of the rest shape */
  shape?: ShapeMatching;
  /** uint32[3T] simulation surface (of streamed particles), outward */
  triangles: Uint32Array;
  /** uint32[4n] tetrahedra, empty for cloth */
  tets: Uint32Array;
  /** what is drawn, placed like `positions` and in the body's own axes; absent: the simulation surface itself */
  detail?: SurfaceMesh & { own?: Float64Array };
  /** of an object: its picture, whose vertices lie on those of `detail` (objectMeshes.ts) */
  picture?: Pick<Drawing, "object" | "vertices" | "scale" | "offset">;
}

/** Whether the kernel's substeps leave its particles alone. */
export function ownStep({ form }: Pick<BodyTemplate, "form">): boolean {
  return form === "implicit" || form === "method";
}

/** Which of a room's bodies may be left out of a tick: those that wait, and beside others all, for they may sleep. */
export function leftOutOf(bodies: readonly Pick<BodyTemplate, "waits">[]): (body: { waits: boolean }) => boolean {
  return ({ waits }) => waits || bodies.length > 1;
}
