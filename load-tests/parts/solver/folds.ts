/**
 * Whole ticks of a sheet that lies on the floor, folded onto itself: the cost of contact at rest per tick and per
 * contact, and its growth. Contacts are pairs near enough to be solved in a substep. Nothing sleeps. The sheet settles
 * first; the median tick excludes disturbances of the machine.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { StepWorkers } from "../../../server/sim/threads/stepWorkers.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { foldedSheet, SUBSTEPS } from "../../folds/scene.ts";
import { quantile, type Row } from "../../part.ts";

export const name = "folds";
export const about =
  "a sheet folded on itself, 20 substeps at 60 Hz: ms a tick on one and two threads, ns a contact and substep, and its growth";
export const runs = 1;

const SETTLE = 40;
const TICKS = 40;
const GROWTH = [24, 50, 101, 159, 225];

interface Measured {
  triangles: number;
  /** Median of the whole tick, s. */
  seconds: number;
  contacts: number;
  hash: string;
}

async function measure(n: number, threads: number, settle: number, ticks: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "pliant-fold-"));
  try {
    const { mesh, scene } = foldedSheet(n, "fold.obj");
    writeFileSync(join(folder, "fold.obj"), mesh);
    const { memory, layout } = await createWorld(scene, { baseDir: folder });
    const world = openWorld(memory, layout);
    const workers = await StepWorkers.start(world, memory, threads);
    world.mayRest = false;
    const seconds: number[] = [];
    for (let tick = 0; tick < settle + ticks; tick++) {
      const before = performance.now();
      workers.step([]);
      if (tick >= settle) seconds.push((performance.now() - before) / 1000);
    }
    const i32 = new Int32Array(memory.buffer);
    const word = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
    const capacity = word(L.H_CONTACT_BLOCK_CAPACITY);
    const vertices = word(L.H_VERTEX_CONTACT_BLOCKS);
    const edges = word(L.H_EDGE_CONTACT_BLOCKS);
    let contacts = 0;
    for (let block = 0; block < capacity; block++) {
      if (block >= vertices && block < capacity - edges) continue;
      for (let lane = 0; lane < 4; lane++)
        if (i32[(word(L.H_CONTACT_BLOCKS) + block * L.CONTACT_BLOCK_BYTES + L.CONTACT_BLOCK_NEAR) / 4 + lane])
          contacts++;
    }
    const hash = world.stateHash();
    await workers.stop();
    return { triangles: 2 * (n - 1) ** 2, seconds: quantile(seconds, 0.5), contacts, hash };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [n, threads, atMost] of [
    [60, 1, 6],
    [60, 2],
    [101, 1],
    [101, 2, 1000 / 60],
  ] as [number, number, number?][]) {
    const { seconds, hash } = await measure(n, threads, SETTLE, TICKS);
    rows.push({
      what: `${n} x ${n}, ${threads} thread${threads > 1 ? "s" : ""}, median tick`,
      value: 1000 * seconds,
      unit: "ms",
      hash,
      ...(atMost !== undefined && { target: { atMost } }),
    });
  }
  const all: Measured[] = [];
  for (const n of GROWTH) {
    const measured = await measure(n, 1, SETTLE / 4, TICKS / 5);
    all.push(measured);
    rows.push({
      what: `${measured.triangles} triangles, per contact and substep, all of the tick`,
      value: (1e9 * measured.seconds) / measured.contacts / SUBSTEPS,
      unit: "ns",
      hash: measured.hash,
      note: `${measured.contacts} contacts`,
    });
  }
  // Least squares through the logarithms.
  const points = all.map(({ seconds, triangles }) => [Math.log(triangles), Math.log(seconds)] as const);
  const mean = [0, 1].map((k) => points.reduce((sum, p) => sum + p[k]!, 0) / points.length) as [number, number];
  rows.push({
    what: "median tick, slope on a log-log plot",
    value:
      points.reduce((sum, p) => sum + (p[0] - mean[0]) * (p[1] - mean[1]), 0) /
      points.reduce((sum, p) => sum + (p[0] - mean[0]) ** 2, 0),
    unit: "",
    target: { atMost: 1.15 },
  });
  return rows;
}
