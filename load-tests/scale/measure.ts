/**
 * Measurements of the part `scale`: the pieces of a tick on one thread, and the time for a store to be seen by another
 * core.
 */
import { Worker } from "node:worker_threads";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { HOST_STAGES, type SimWorld } from "../../server/sim/world.ts";
import type { Piece } from "./model.ts";

/** Labels of a program's serial phases; all other phases are constraints of a color, or particles. */
const LABELS: Record<number, string> = {
  [L.KIND_SAFE]: "safe positions",
  [L.KIND_VERIFY]: "verification",
  [L.KIND_CONTACTS]: "contact forces",
  [L.KIND_POINTS]: "hands and attachments",
  [L.KIND_SHAPE]: "shapes",
  [L.KIND_RIGID]: "rigid bodies",
  [L.KIND_BALANCE]: "balance",
  [L.KIND_RESTORE]: "balance",
  [L.KIND_MOVE]: "colliders",
  [L.KIND_COLLIDE]: "colliders",
  [L.KIND_CORE_MESHES]: "colliders",
  [L.KIND_PREDICT]: "particles",
  [L.KIND_VELOCITY]: "particles",
};
const HOST: Record<number, string> = {
  [HOST_STAGES.inputs]: "inputs",
  [HOST_STAGES.guard]: "guard",
  [HOST_STAGES.rest]: "rest",
};

/**
 * Pieces of the shortest of `ticks` ticks. One thread performs them all as the orchestrator does; work that is shared
 * in the middle of a phase is a piece of its own.
 */
export function piecesOf(memory: WebAssembly.Memory, world: SimWorld, ticks: number): Piece[] {
  const i32 = new Int32Array(memory.buffer);
  const word = (offset: number): number => (L.HEADER + offset) / 4;
  const phases = i32[word(L.H_PHASES)]!;
  const program = i32[word(L.H_PROGRAM)]!;
  const row = (phase: number, field: number): number => i32[(program + phase * L.PHASE_BYTES + field) / 4]!;
  let pieces: Piece[] = [];
  let last = 0;
  let sharing = false;
  const mark = (label: string, chunks: number): void => {
    const now = performance.now();
    pieces.push({ label, seconds: (now - last) / 1000, chunks });
    last = performance.now();
  };
  let within = "list of pairs";
  world.watchPhases((phase) => {
    if (phase < 0) mark(HOST[phase]!, 1);
    else if (phase >= phases) {
      // Called twice for each share: before and after.
      mark(sharing ? "shared" : within, sharing ? row(phase, L.PHASE_CHUNKS) : 1);
      sharing = !sharing;
    } else {
      mark(LABELS[row(phase, L.PHASE_KIND)] ?? "constraints", row(phase, L.PHASE_CHUNKS));
      within = "contact";
    }
  });
  i32[word(L.H_WATCH)]! |= L.WATCH_SHARES;
  // Pretend that a helper is present, so that the orchestrator shares work, although no helper takes any.
  world.helpers = true;
  i32[word(L.H_HELPERS_INSIDE)] = 1;
  let best: Piece[] = [];
  let least = Infinity;
  for (let tick = 0; tick < ticks; tick++) {
    pieces = [];
    sharing = false;
    within = "list of pairs";
    const begin = performance.now();
    last = begin;
    world.step([]);
    const seconds = performance.now() - begin;
    if (seconds < least) [best, least] = [pieces, seconds];
  }
  i32[word(L.H_WATCH)] = 0;
  i32[word(L.H_HELPERS_INSIDE)] = 0;
  world.helpers = false;
  return best;
}

const PING = `const { workerData: words } = require("node:worker_threads");
for (let n = 1; ; n += 2) { let seen; while ((seen = Atomics.load(words, 0)) < n) { if (seen < 0) process.exit(0); } Atomics.store(words, 0, n + 1); }`;

/** Time until another core sees a store, s: half of a round trip, the shortest of several. */
export async function lineSeconds(): Promise<number> {
  const words = new Int32Array(new SharedArrayBuffer(64));
  const other = new Worker(PING, { eval: true, workerData: words });
  await new Promise((resolve) => other.once("online", resolve));
  const TURNS = 2000;
  let least = Infinity;
  for (let run = 0, n = 1; run < 20; run++) {
    const begin = performance.now();
    for (let turn = 0; turn < TURNS; turn++, n += 2) {
      Atomics.store(words, 0, n);
      while (Atomics.load(words, 0) === n);
    }
    least = Math.min(least, (performance.now() - begin) / 1000 / TURNS / 2);
  }
  Atomics.store(words, 0, -1);
  await new Promise((resolve) => other.once("exit", resolve));
  return least;
}
