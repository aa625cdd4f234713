/**
 * All extremes: every bundled scene with every setting that a visitor can change at both of its limits, one after
 * another (extremes/knobs.ts), under three grabs that pull with the largest force, ten simulated seconds each. Measures
 * CPU time of this thread per tick. The limits are those that server/sim/tuning/motionLimits.ts derives from the scene.
 * All settings of all scenes take two hours. So without `--scenes` each scene has a share of SAMPLE_SECONDS for some of
 * them. Rows are printed as they come.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readScene } from "../../../server/sim/scene/readScene.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { MOST_SIZES } from "../../../server/sim/tuning/motionLimits.ts";
import { type Driven, drive } from "../../extremes/drive.ts";
import { type Knob, knobsOf } from "../../extremes/knobs.ts";
import type { PartOptions, Row } from "../../part.ts";

export const name = "extremes";
export const about =
  "every bundled scene x every setting at both limits x three grabs: worst tick, displacement of a body in a substep, values that are not finite, bodies held";
export const runs = 1;
export const onDemand = true;
export const timeoutSeconds = 6 * 3600;

const SCENES = fileURLToPath(new URL("../../../scenes", import.meta.url));
const HANDS = 3;
const SECONDS = 10;
/** Limit of the CPU time of one row, s, and of one in a sample. */
const AT_MOST_SECONDS = 60;
const AT_MOST_SECONDS_SAMPLED = 4;
/** Time for a sample of all scenes, s. */
const SAMPLE_SECONDS = 540;
const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** Limit of a tick, in periods. */
const BUDGETS = 3;

/** Limit of the counted work of a tick, in limits of the room: the last substep may pass it. */
const MOST_WORK = 1.25;

function rowsOf({ scene, knob, tickHz, ticks, work, sizes, broken, held, refused, whole, hash }: Driven): Row[] {
  const what = `${scene}, ${knob}`;
  const notes = [
    ...(whole ? [] : [`cut off after ${ticks.length} ticks`]),
    ...(held > 0 ? [`${held} bodies held`] : []),
    ...(refused.length > 0 ? [`${refused.length} refused, first ${refused[0]}`] : []),
  ];
  return [
    {
      what: `${what}, worst tick`,
      value: Math.max(...ticks),
      unit: "ms",
      target: { atMost: (BUDGETS * 1000) / tickHz },
      ...(whole && { hash }),
      ...(notes.length > 0 && { note: notes.join("; ") }),
    },
    { what: `${what}, counted work of the worst tick`, value: work, unit: "limits", target: { atMost: MOST_WORK } },
    { what: `${what}, way in a substep`, value: sizes, unit: "sizes", target: { atMost: MOST_SIZES } },
    { what: `${what}, not finite`, value: broken, unit: "", target: { atMost: 0 } },
  ];
}

/** Returns the settings in an order whose first ones are spread over all of them, another one for each scene. */
function shuffled(knobs: readonly Knob[], scene: number): Knob[] {
  const places = new Map(knobs.map((knob, n) => [knob, (GOLDEN * (n + 1) + scene / 7) % 1]));
  return [...knobs].sort((a, b) => places.get(a)! - places.get(b)!);
}

/** @throws RangeError naming an unknown scene */
export async function run({ scenes, hands = [HANDS] }: PartOptions): Promise<Row[]> {
  const all = readdirSync(SCENES)
    .filter((file) => file.endsWith(".json") && file !== "schema.json")
    .map((file) => file.slice(0, -5))
    .sort();
  const unknown = scenes?.find((scene) => !all.includes(scene));
  if (unknown !== undefined) throw new RangeError(`--scenes has ${JSON.stringify(unknown)}, limit: ${all.join(", ")}`);
  const began = performance.now();
  const rows: Row[] = [];
  for (const [n, scene] of (scenes ?? all).entries()) {
    const built = await createWorld(await readScene(join(SCENES, `${scene}.json`)), { baseDir: SCENES, bounded: true });
    const knobs = knobsOf(built.layout);
    const end = scenes ? Infinity : began + (1000 * SAMPLE_SECONDS * (n + 1)) / all.length;
    const atMostSeconds = scenes ? AT_MOST_SECONDS : AT_MOST_SECONDS_SAMPLED;
    for (const [k, knob] of (scenes ? knobs : shuffled(knobs, n)).entries()) {
      if (k && performance.now() > end) break;
      for (const count of hands) {
        const found = rowsOf(drive(scene, built, knob, { hands: count, seconds: SECONDS, atMostSeconds }));
        for (const { what, value, unit, note } of found)
          if (value || unit === "ms")
            console.log(`  ${what}: ${value.toPrecision(3)} ${unit}${note ? ` (${note})` : ""}`);
        rows.push(...found);
      }
    }
  }
  return rows;
}
