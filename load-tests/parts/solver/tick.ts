/**
 * Whole ticks of the bundled scenes on one thread, as a room's worker performs them: inputs (one member with a circling
 * grab), step, quantization, and a delta every second tick (30 Hz). Times are of the worker's own clock; the part
 * `rooms` includes sockets.
 */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSnapshotModel, encodeDelta, quantizeInto } from "../../../shared/snapshot/index.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { readScene } from "../../../server/sim/scene/readScene.ts";
import type { Input } from "../../../server/sim/types.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { quantile, type Row } from "../../part.ts";

export const name = "tick";
export const about = "ten seconds of every bundled scene, pulled by one member: whole tick in ms, bytes on the wire";
export const runs = 3;

const SCENES = join(dirname(fileURLToPath(import.meta.url)), "../../../scenes");
const TICKS = 600;
/** Ticks for compilation and first touch of memory, not measured. */
const WARM_UP = 60;
const TARGETS: Record<string, number> = { dragon: 8 };

/** One member grabs a point in second 3, moves it in a circle for four seconds and releases it. */
function inputs(tick: number, at: readonly [number, number, number]): Input[] {
  const from = 180;
  const to = 420;
  if (tick < from || tick > to) return [];
  const angle = ((tick - from) * 2 * Math.PI) / 120;
  const target: [number, number, number] = [
    at[0] + 0.15 * Math.sin(angle),
    at[1] + 0.15 * (1 - Math.cos(angle)),
    at[2],
  ];
  if (tick === from) return [{ type: "grab", member: 1, grab: 0, body: 0, triangle: 0, u: 0.3, v: 0.3, target }];
  return [tick === to ? { type: "release", member: 1, grab: 0 } : { type: "move", member: 1, grab: 0, target }];
}

async function measure(scene: string): Promise<Row[]> {
  const path = join(SCENES, `${scene}.json`);
  const { memory, layout, topology } = await createWorld(await readScene(path), { baseDir: SCENES });
  const world = openWorld(memory, layout);
  const model = createSnapshotModel(
    topology.bodies.map((b) => ({
      count: b.count,
      triangles: new Uint32Array(b.triangles.buffer, b.triangles.byteOffset, b.triangles.byteLength / 4),
    })),
  );
  const quanta = topology.bodies.map((b) => b.quantum);
  const positions = new Float32Array(3 * topology.particles);
  let frame = new Int32Array(3 * topology.particles);
  let next = new Int32Array(3 * topology.particles);
  const corner = new Uint32Array(topology.bodies[0]!.triangles.slice(0, 4).buffer)[0]!;
  const ticks: number[] = [];
  let bytes = 0;
  let frames = 0;
  let at: [number, number, number] = [0, 0, 0];
  for (let tick = 0; tick < TICKS; tick++) {
    if (tick === 180) at = world.position(0, corner);
    const before = performance.now();
    world.step(inputs(tick, at));
    if (tick % 2 === 1) {
      world.readStreamed(positions);
      quantizeInto(model, positions, quanta, next);
      const delta = encodeDelta(model, frame, next);
      if (tick > 1 && delta.byteLength > 0 && !world.resting) {
        bytes += delta.byteLength;
        frames++;
      }
      [frame, next] = [next, frame];
    }
    if (tick >= WARM_UP) ticks.push(performance.now() - before);
  }
  const hash = world.stateHash();
  const target = TARGETS[scene];
  return [
    { what: `${scene}, median tick`, value: quantile(ticks, 0.5), unit: "ms", hash },
    {
      what: `${scene}, p99 tick`,
      value: quantile(ticks, 0.99),
      unit: "ms",
      hash,
      ...(target && { target: { atMost: target } }),
    },
    {
      what: `${scene}, wire while awake (${topology.particles} particles, 30 Hz, ${1000 * quanta[0]!} mm)`,
      value: bytes / frames / topology.particles,
      unit: "bytes per particle and frame",
      hash,
      ...(scene === "drape" && { target: { atMost: 1.3 } }),
    },
  ];
}

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const file of readdirSync(SCENES)
    .filter((f) => f.endsWith(".json") && f !== "schema.json")
    .sort())
    rows.push(...(await measure(file.slice(0, -5))));
  return rows;
}
