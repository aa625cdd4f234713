/**
 * Steps a scene in this thread with one setting at its limit and grabs that pull at full force. Measures the CPU time
 * of a tick, the displacement of bodies, and the events that the room reports.
 */
import { Limits } from "../../shared/protocol/protocol.ts";
import type { Vec3 } from "../../shared/scene/scene.ts";
import type { CreatedWorld } from "../../server/sim/world/createWorld.ts";
import type { Input, SimEvent } from "../../server/sim/types.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { newMemory } from "../../server/sim/memory/memoryMap.ts";
import { openWorld, type SimWorld } from "../../server/sim/world.ts";
import { type Place, positionOf, spread, surfacesOf } from "../hands/circles.ts";
import type { Knob } from "./knobs.ts";

/** Simulated time before the setting is changed, s, unless DriveOptions has another. */
const SETTLE_SECONDS = 0.5;
/**
 * A pull changes its direction after TURN_SECONDS. Its target is AHEAD m away and never reached, so it pulls with the
 * largest force.
 */
const TURN_SECONDS = 0.5;
const AHEAD = 5;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

export interface Driven {
  scene: string;
  knob: string;
  tickHz: number;
  /** CPU time of this thread, ms per tick, after the setting was changed. */
  ticks: number[];
  /** Largest counted work of a tick, as a part of the room's limit. */
  work: number;
  /** Largest displacement of a body's center in a tick, divided by the substeps and the body's size. */
  sizes: number;
  /** Number of values that are not finite. */
  broken: number;
  /** Number of bodies that became unstable or left the world, and the refused inputs. */
  held: number;
  refused: string[];
  /** True if all of the time was stepped. */
  whole: boolean;
  hash: string;
}

/** The parts of a world that a run needs. */
type Built = Pick<CreatedWorld, "memory" | "layout" | "bodies">;

/** Direction in which a grab pulls during one turn. */
function aheadOf(hand: number, turn: number): Vec3 {
  const angle = 2 * Math.PI * GOLDEN * (3 * turn + hand);
  const up = 2 * ((GOLDEN * (hand + 1) + turn / 2) % 1) - 1;
  const flat = Math.sqrt(1 - up * up);
  return [AHEAD * flat * Math.cos(angle), AHEAD * up, AHEAD * flat * Math.sin(angle)];
}

/**
 * Returns the inputs of each tick, in order, from the tick of the grabs on. Each grab belongs to a member of its own.
 */
function pulls(created: Built, world: SimWorld, count: number, wants: boolean): () => Input[] {
  const { layout } = created;
  const surfaces = surfacesOf(created, world);
  const places: Place[] = spread(surfaces, count);
  const starts = places.map((place) => positionOf(surfaces.find(({ body }) => body === place.body)!, place));
  let tick = 0;
  return () => {
    const turn = Math.floor(tick / layout.tickHz / TURN_SECONDS);
    const pushes = wants && tick % Math.ceil(layout.tickHz / Limits.impulsesPerSecond) === 0;
    const first = tick++ === 0;
    return places.flatMap((place, hand): Input[] => {
      const ahead = aheadOf(hand, turn);
      const target = starts[hand]!.map((c, r) => c + ahead[r]!) as Vec3;
      const by = { member: hand + 1, grab: 0, target };
      const impulse = ahead.map((c) => (c / AHEAD) * layout.interaction.maxImpulse * (1 - 1e-6)) as Vec3;
      return [
        first ? { type: "grab", ...place, ...by } : { type: "move", ...by },
        ...(pushes ? [{ type: "impulse", member: hand + 1, ...place, impulse } as const] : []),
      ];
    });
  };
}

function setting(knob: Knob, { layout }: Built): Input[] {
  const tunings = knob.changes.map((change): Input => ({ type: "tune", member: 1, ...change }));
  if (!knob.spawns) return tunings;
  const spawnable = layout.bodies.flatMap(({ spawnable: isSpawnable }, body) => (isSpawnable ? [body] : []));
  const high = 0.9 * layout.worldRadius;
  return spawnable.map((body, n) => ({
    type: "spawn",
    member: 1,
    body,
    position: [layout.bodies[body]!.size * n * 0.1, high, 0],
    heading: [1, 0],
    occupied: "lift",
  }));
}

/** float64[3] per body: the mean of its particles, m. */
function centersOf(created: Built): Float64Array {
  const { layout, memory } = created;
  const x = new Float32Array(memory.buffer, layout.x);
  const centers = new Float64Array(3 * layout.bodyCount);
  layout.bodies.forEach(({ first, count }, b) => {
    for (let i = first; i < first + count; i++)
      for (let r = 0; r < 3; r++) centers[3 * b + r]! += x[4 * i + r]! / count;
  });
  return centers;
}

/**
 * Measures displacements of bodies between two calls, in sizes of the body. Bodies that were spawned or removed are
 * skipped.
 */
function wayGauge(created: Built, world: SimWorld): () => { sizes: number; broken: number } {
  let before = centersOf(created);
  let there = world.absent();
  return () => {
    const now = centersOf(created);
    const absent = world.absent();
    let sizes = 0;
    created.layout.bodies.forEach(({ size }, b) => {
      if (absent[b] || there[b]) return;
      const way = Math.hypot(...[0, 1, 2].map((r) => now[3 * b + r]! - before[3 * b + r]!));
      sizes = Math.max(sizes, way / size);
    });
    const broken = now.reduce((count, c) => count + (Number.isFinite(c) ? 0 : 1), 0);
    [before, there] = [now, absent];
    return { sizes, broken };
  };
}

const refusalOf = (event: SimEvent): string[] =>
  event.type === "inputRejected" ? [`${event.field} ${event.value}: ${event.limit}`] : [];

export interface DriveOptions {
  hands: number;
  /** Simulated time with the setting changed, s. */
  seconds: number;
  /** Ticks before the setting is changed. */
  settleTicks?: number;
  /** Stepping stops after this total CPU time, s. */
  atMostSeconds: number;
}

/** Copies a world's memory, so that a scene is built once for all of its runs. */
function copyOf({ memory, layout, bodies }: Built): Built {
  const pages = memory.buffer.byteLength / 65_536;
  const copy = newMemory(pages);
  new Uint8Array(copy.buffer).set(new Uint8Array(memory.buffer));
  return { memory: copy, layout, bodies };
}

/** Counted work of the last tick, as a part of its limit. */
function workOf({ buffer }: WebAssembly.Memory): number {
  const header = (offset: number): number => new Int32Array(buffer)[(L.HEADER + offset) / 4]!;
  return header(L.H_WORK) / header(L.H_WORK_LIMIT);
}

/** @param template of the scene `name`, never stepped */
export function drive(
  name: string,
  template: Built,
  knob: Knob,
  { hands, seconds, atMostSeconds, settleTicks }: DriveOptions,
): Driven {
  const created = copyOf(template);
  const world = openWorld(created.memory, created.layout, template.memory);
  const { tickHz, substeps } = created.layout;
  for (let tick = 0; tick < (settleTicks ?? SETTLE_SECONDS * tickHz); tick++) world.step([]);
  const pull = pulls(created, world, hands, knob.pushes ?? false);
  const gauge = wayGauge(created, world);
  const driven: Driven = {
    scene: name,
    knob: knob.name,
    tickHz,
    ticks: [],
    work: 0,
    sizes: 0,
    broken: 0,
    held: 0,
    refused: [],
    whole: false,
    hash: "",
  };
  const count = Math.round(seconds * tickHz);
  for (let tick = 0, spent = 0; tick < count && spent < atMostSeconds; tick++) {
    const inputs = [...(tick === 0 ? setting(knob, created) : []), ...pull()];
    const before = process.threadCpuUsage();
    const { events } = world.step(inputs);
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1000;
    driven.ticks.push(ms);
    spent += ms / 1000;
    driven.work = Math.max(driven.work, workOf(created.memory));
    const { sizes, broken } = gauge();
    driven.sizes = Math.max(driven.sizes, sizes / substeps);
    driven.broken += broken;
    driven.held += events.filter(({ type }) => type === "bodyHeld").length;
    driven.refused.push(...events.flatMap(refusalOf));
    driven.whole = tick === count - 1;
  }
  driven.hash = world.stateHash();
  return driven;
}
