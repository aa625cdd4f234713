/**
 * Prepares a scene for the simulation: meshes its bodies, moves them to the room's own origin and converts masses to
 * its own unit.
 */
import type { Collider, Scene } from "../../../shared/scene/scene.ts";
import type { Reference } from "../../../shared/scene/sceneSettings.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import { MeshError } from "../../meshing/mesh.ts";
import { formOf, loadBody } from "../body/loadBody.ts";
import type { MeshSources } from "../body/meshes.ts";
import type { BodyTemplate } from "../body/template.ts";
import { loadCores } from "../colliders/coreMesh.ts";
import { finenessOf, layingEdge } from "../colliders/smooth.ts";
import { chooseSolvers, type Inexact } from "../scene/chooseSolvers.ts";
import { standIn, type StandIn } from "../scene/standIns.ts";
import { ROOM_MEMORY_MB, SCENE_DEFAULTS } from "../scene/defaults.ts";
import { chooseMassUnit, inMassUnit } from "./massUnit.ts";
import { referenceBody } from "../methods/references/planReference.ts";
import { chooseOrigin, moveBody, moveScene } from "./origin.ts";
import { chooseSteps, divideSteps, type Steps } from "../scene/substeps.ts";

export interface CreateOptions extends MeshSources {
  /** For rooms: a tick ends early once its counted work reaches BUDGETS periods (kernel/assembly/state/work.ts). */
  bounded?: boolean;
  onProgress?: (done: number, stage: string) => void;
  /** Size that the room's memory may grow to while it runs, MiB, if it begins with less; default: ROOM_MEMORY_MB. */
  memoryMb?: number;
}

export interface World {
  /** The given scene in kg and in its own coordinates, with a solver for every body. */
  inWorld: Scene;
  /** Bodies of `inWorld`. */
  far: BodyTemplate[];
  /** Bodies in kg, whatever the unit of mass in memory, in coordinates from the room's origin. */
  here: BodyTemplate[];
  origin: [number, number, number];
  /** Unit of mass, kg. */
  massUnit: number;
  /** This and all fields below: in coordinates from the room's origin and in its unit of mass. */
  scene: Scene;
  bodies: BodyTemplate[];
  colliders: readonly Collider[];
  /** Core meshes by collider; undefined for planes. */
  cores: Awaited<ReturnType<typeof loadCores>>;
  /** Longest edge that bodies lay on colliders, m (colliders/smooth.ts). */
  edge: number;
  /** Number of each body's first particle. */
  firsts: number[];
  /** Meshes of the reference that bodies are compared with, the finer one first. */
  reference: BodyTemplate[] | undefined;
  /** Particle counts: of bodies; of those, the streamed ones; of core meshes; all with padding to whole lanes. */
  counts: { real: number; streamed: number; fixed: number; particles: number };
  steps: Steps;
  /** Size that memory may grow to, MiB. */
  memoryMb: number;
  /** Set if bodies without a named solver would be better off implicit. */
  inexact?: Inexact | undefined;
  /** Bodies that the scene wants implicit, and that are not. */
  standIns: readonly StandIn[];
}

/** @throws SceneError, MeshError */
export async function readWorld(asked: Scene, options: CreateOptions): Promise<World> {
  const { scene: given, standIns } = standIn(asked);
  const asGiven = await loadBodies(given, options);
  const { scene: inWorld, inexact } = chooseSolvers(given, asGiven, chooseSteps(given, asGiven));
  const far = asGiven.map((body, b) => ({ ...body, form: formOf(inWorld.bodies[b]!) }));
  const origin = chooseOrigin(far);
  const massUnit = chooseMassUnit(far);
  const here = far.map((body) => moveBody(body, origin));
  const scene = moveScene(inMassUnit(inWorld, massUnit), origin);
  const bodies =
    massUnit === 1
      ? here
      : (await loadBodies(inMassUnit(inWorld, massUnit), options)).map((body) => moveBody(body, origin));
  const colliders = scene.colliders ?? [];
  const edge = layingEdge(bodies);
  const cores = await loadCores(colliders, options, edge, finenessOf(bodies));
  const firsts: number[] = [];
  let real = 0;
  for (const body of bodies) {
    firsts.push(real);
    real += body.particleCount;
  }
  const streamed = bodies.reduce((n, b) => n + b.streamedCount, 0);
  const fixed = cores.reduce((n, core) => n + (core ? core.positions.length / 3 : 0), 0);
  const counts = { real, streamed, fixed, particles: (real + fixed + L.DUMMIES + 3) & ~3 };
  const steps = divideSteps(chooseSteps(inWorld, far), inWorld, far);
  const loaded = inWorld.reference && (await loadReference(inMassUnit(inWorld, massUnit), inWorld.reference, options));
  const reference = loaded?.map((body) => moveBody(body, origin));
  return {
    inWorld,
    far,
    here,
    origin,
    massUnit,
    scene,
    bodies,
    colliders,
    cores,
    edge,
    firsts,
    reference,
    counts,
    steps,
    memoryMb: options.memoryMb ?? ROOM_MEMORY_MB,
    inexact,
    standIns: standIns.filter(({ body }) => far.some(({ name, form }) => name === body && form !== "implicit")),
  };
}

/** Loads both reference meshes, in world coordinates. */
function loadReference(scene: Scene, reference: Reference, options: CreateOptions): Promise<BodyTemplate[]> {
  const meshes = [1, 2].map((part) => referenceBody(scene, reference, part));
  return Promise.all(meshes.map((body) => loadBody({ ...scene, bodies: [body] }, 0, { baseDir: options.baseDir })));
}

/** Loads all bodies, in world coordinates. */
async function loadBodies(scene: Scene, options: CreateOptions): Promise<BodyTemplate[]> {
  const bodies: BodyTemplate[] = [];
  for (let i = 0; i < scene.bodies.length; i++) {
    const onProgress = options.onProgress;
    const body = loadBody(scene, i, {
      ...options,
      onProgress:
        onProgress &&
        ((done, stage) => onProgress((i + done) / scene.bodies.length, `${scene.bodies[i]!.name}: ${stage}`)),
    });
    bodies.push(
      await body.catch((error: unknown) => {
        // a mesh reader knows its file and line, but not the body
        if (error instanceof MeshError) error.message = `scene /bodies/${i}/mesh: ${error.message}`;
        throw error;
      }),
    );
  }

  const worldRadius = scene.worldRadius ?? SCENE_DEFAULTS.worldRadius;
  bodies.forEach((body, i) => {
    const far = farthest(body.positions);
    if (far > worldRadius)
      throw new SceneError(
        `/bodies/${i}`,
        `${body.name}, ${far} m from the origin`,
        `placed within the scene's worldRadius of ${worldRadius} m`,
      );
  });
  return bodies;
}

/** Distance of the farthest particle from the origin, m. */
function farthest(positions: Float64Array): number {
  let most = 0;
  for (let i = 0; i < positions.length; i += 3)
    most = Math.max(most, positions[i]! ** 2 + positions[i + 1]! ** 2 + positions[i + 2]! ** 2);
  return Math.sqrt(most);
}
