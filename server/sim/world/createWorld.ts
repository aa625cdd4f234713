/**
 * Builds a room's whole state from a scene, in one shared WebAssembly.Memory. Rooms, tests, benchmarks and the headless
 * run all use it.
 *
 *   scene -> body templates (mesh, masses, constraints) -> colors -> memory map -> memory, layout, topology
 */
import type { Scene } from "../../../shared/scene/scene.ts";
import type { Topology } from "../../../shared/topology.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { Inexact } from "../scene/chooseSolvers.ts";
import type { StandIn } from "../scene/standIns.ts";
import { describeWorld } from "./describeWorld.ts";
import { withdrawAll, sceneMeets } from "../spawn/spawnableBodies.ts";
import type { SimLayout } from "./worldLayout.ts";
import { newMemory } from "../memory/memoryMap.ts";
import { planWorld } from "../memory/planWorld.ts";
import { writeWorld } from "../memory/writeWorld.ts";
import { readWorld, type CreateOptions } from "./readWorld.ts";
import { buildTopology } from "./describeTopology.ts";
import { RoomTuning } from "../tuning/applyTuning.ts";
import type { BuiltWorld } from "../types.ts";

/**
 * Largest counted work of a tick, because other rooms wait for the thread: in periods of the room's clock, and in
 * seconds.
 */
const BUDGETS = 3;
const MOST_SECONDS = 0.05;

/** Largest counted work of a tick, in units of counted work. */
function workLimit(tickHz: number): number {
  return Math.round(Math.min(BUDGETS / tickHz, MOST_SECONDS) / L.WORK_UNIT_SECONDS);
}

export interface CreatedWorld extends BuiltWorld {
  layout: SimLayout;
  /** Templates in kg, whatever the unit of mass in memory. */
  bodies: BodyTemplate[];
  inexact?: Inexact | undefined;
  standIns: readonly StandIn[];
}

/**
 * @param inWorld already validated (shared/scene/sceneValidator.ts)
 * @throws SceneError, MeshError
 * The same scene and meshes give the same bytes on any machine.
 */
export async function createWorld(inWorld: Scene, options: CreateOptions): Promise<CreatedWorld> {
  const world = await readWorld(inWorld, options);
  const plan = planWorld(world);
  const memory = newMemory(plan.memoryMap.pages);
  writeWorld(world, plan, memory);
  const layout = describeWorld(world, plan);
  const views = { f32: new Float32Array(memory.buffer), i32: new Int32Array(memory.buffer) };
  if (options.bounded) views.i32[(L.HEADER + L.H_WORK_LIMIT) / 4] = workLimit(layout.tickHz);
  new RoomTuning(views, layout).begin();
  if (world.bodies.some((b) => b.spawnable)) {
    layout.sceneMeets = sceneMeets(memory, layout);
    withdrawAll(views, layout);
  }
  let topology: Topology | undefined;
  return {
    memory,
    layout,
    bodies: world.here,
    inexact: world.inexact,
    standIns: world.standIns,
    get topology() {
      return (topology ??= buildTopology(world.scene, world.here, world.cores, layout));
    },
  };
}
