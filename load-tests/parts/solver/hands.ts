/**
 * Grabs on every bundled scene: 0, 1, 2, 3 and 8 targets on horizontal circles of 0.3 m at 1 Hz, 0 to 0.6 m above the
 * grabbed points (hands/circles.ts). First in this thread, in CPU time, which does not depend on other load: a tick,
 * the share of real time that one thread can keep, the deformation of bodies, and intersections in the frames, by the
 * exact checker. Then on the real server, in wall time: the time between frames. Finally the scenes of hands/stones.ts,
 * which are difficult without grabs.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { readScene } from "../../../server/sim/scene/readScene.ts";
import { type Driven, drive } from "../../hands/drive.ts";
import { frameGaps } from "../../hands/frameGaps.ts";
import { STONES } from "../../hands/stones.ts";
import { type PartOptions, quantile, type Row } from "../../part.ts";
import { startServer } from "../../measuredServer.ts";

export const name = "hands";
export const about =
  "every bundled scene under 0, 1, 2, 3 and 8 hands: CPU time a tick, real time on one thread, stretch, intersections, gaps between frames; scenes that are hard without any";
export const runs = 1;
export const onDemand = true;
export const timeoutSeconds = 4 * 3600;

const SCENES = fileURLToPath(new URL("../../../scenes", import.meta.url));
const HANDS = [0, 1, 2, 3, 8];
/** Simulated time, s: before the grabs begin, and with them. */
const SETTLE_SECONDS = 1;
const SECONDS = 3;
/** Limit of the total time of one row's ticks, s: a scene far from real time is measured by its first ticks. */
const AT_MOST_SECONDS = 20;
/** Every fourth tick is checked, because a check takes as long as a tick. */
const JUDGE_EVERY = 4;
const GAP_SECONDS = 4;
/** Limits of a tick: BUDGETS periods, and STONE_MS ms for a scene of hands/stones.ts. */
const BUDGETS = 3;
const STONE_MS = 50;
/**
 * The force of a grab ends when an edge is twice as long as at rest (grabMaxStretch); bodies in motion overshoot by
 * half.
 */
const MOST_STRETCH = 2.5;
/** Smallest allowed ratio of simulated to wall time, with eight grabs on one thread. */
const EIGHT_HANDS = 0.5;

/** Limits in ms by scene and grabs; two scenes may use only a part of the budget. */
const TARGETS: Record<string, { median?: number; p99: number }> = {
  "drape, 0 hands": { p99: 14 },
  "drape, 3 hands": { median: 12, p99: 20 },
  "bunny, 3 hands": { p99: 12 },
  "flag-on-pole, 3 hands": { p99: 12 },
  "tangled-hands, 3 hands": { p99: 12 },
  "dragon, 0 hands": { p99: 7 },
  "dragon, 3 hands": { p99: 14 },
  "hundred-bodies, 0 hands": { p99: 30 },
  "cloth-through-funnel, 0 hands": { median: 6, p99: 14 },
};

const bundled = (): string[] =>
  readdirSync(SCENES)
    .filter((file) => file.endsWith(".json") && file !== "schema.json")
    .map((file) => file.slice(0, -5))
    .sort();

/** Rows of every scene. @param mostMs limit of one tick */
function rowsOf(what: string, driven: Driven, mostMs: number): Row[] {
  const { ticks, simulated, tickHz, whole, hash, findings, judged, stretch, inverted, events } = driven;
  const target = TARGETS[what];
  // The last tick of a run that was cut off depends on the machine, so its hash says nothing.
  const shared = { ...(whole && { hash }), ...(!whole && { note: `cut off after ${ticks.length} ticks` }) };
  const mean = ticks.reduce((sum, ms) => sum + ms, 0) / simulated;
  return [
    {
      what: `${what}, median tick`,
      value: quantile(ticks, 0.5),
      unit: "ms",
      ...shared,
      ...(target?.median && { target: { atMost: target.median } }),
    },
    {
      what: `${what}, p99 tick`,
      value: quantile(ticks, 0.99),
      unit: "ms",
      ...shared,
      ...(target && { target: { atMost: target.p99 } }),
    },
    { what: `${what}, worst tick`, value: Math.max(...ticks), unit: "ms", ...shared, target: { atMost: mostMs } },
    {
      what: `${what}, budget over mean tick`,
      value: 1000 / tickHz / mean,
      unit: "x",
      ...shared,
      ...(what.endsWith(", 8 hands") && { target: { atLeast: EIGHT_HANDS } }),
    },
    {
      what: `${what}, intersections`,
      value: findings,
      unit: "",
      target: { atMost: 0 },
      note: `${judged} frames${events.length > 0 ? `; ${events.length} events, first ${events[0]}` : ""}`,
    },
    {
      what: `${what}, largest stretch of an edge`,
      value: stretch,
      unit: "x",
      ...(/ [1-9]\d* hands$/.test(what) && { target: { atMost: MOST_STRETCH } }),
    },
    { what: `${what}, inverted elements, most`, value: 100 * inverted, unit: "%" },
  ];
}

async function sceneRows(scene: string, counts: readonly number[]): Promise<Row[]> {
  const rows: Row[] = [];
  const parsed = await readScene(join(SCENES, `${scene}.json`));
  for (const hands of counts) {
    const driven = await drive(parsed, SCENES, {
      hands,
      settleSeconds: SETTLE_SECONDS,
      seconds: SECONDS,
      judgeEvery: JUDGE_EVERY,
      atMostSeconds: AT_MOST_SECONDS,
    });
    rows.push(...rowsOf(`${scene}, ${hands} hands`, driven, (BUDGETS * 1000) / driven.tickHz));
  }
  return rows;
}

/** Starts a server of its own for every scene, so that scenes do not affect each other. */
async function gapRows(scene: string, counts: readonly number[]): Promise<Row[]> {
  const pulling = counts.filter((hands) => hands > 0);
  if (pulling.length === 0) return [];
  const server = await startServer({ env: { PLIANT_WORKERS: "1", PLIANT_PREWARM: scene } });
  try {
    const rows: Row[] = [];
    for (const hands of pulling) {
      const { gaps, realTime } = await frameGaps(server.url, scene, hands, GAP_SECONDS);
      const row = (q: string, value: number): Row => ({
        what: `${scene}, ${hands} hands, frame gap ${q}`,
        value,
        unit: "ms",
        absolute: true,
      });
      rows.push(row("p50", quantile(gaps, 0.5)), row("p99", quantile(gaps, 0.99)));
      rows.push({ what: `${scene}, ${hands} hands, real time on the server`, value: realTime, unit: "x" });
    }
    return rows;
  } finally {
    await server.stop();
  }
}

async function stoneRows(stone: (typeof STONES)[number]): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "pliant-stone-"));
  try {
    const scene = validateScene(stone.build(folder));
    return rowsOf(
      stone.name,
      await drive(scene, folder, {
        hands: 0,
        settleSeconds: 0,
        seconds: stone.seconds,
        judgeEvery: JUDGE_EVERY,
        atMostSeconds: AT_MOST_SECONDS,
      }),
      STONE_MS,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws RangeError naming an unknown scene */
export async function run({ scenes, hands = HANDS }: PartOptions): Promise<Row[]> {
  const all = bundled();
  const unknown = scenes?.find((scene) => !all.includes(scene) && !STONES.some((stone) => stone.name === scene));
  if (unknown !== undefined)
    throw new RangeError(
      `--scenes has ${JSON.stringify(unknown)}, but must be one of: ${[...all, ...STONES.map((stone) => stone.name)].join(", ")}`,
    );
  const chosen = (scene: string): boolean => scenes === undefined || scenes.includes(scene);
  const rows: Row[] = [];
  for (const scene of all.filter(chosen))
    rows.push(...(await sceneRows(scene, hands)), ...(await gapRows(scene, hands)));
  for (const stone of STONES.filter((one) => chosen(one.name))) rows.push(...(await stoneRows(stone)));
  return rows;
}
