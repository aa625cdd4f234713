/**
 * All extremes: every bundled scene with every setting that a visitor can change at both of its limits, one after
 * another (extremes/knobs.ts), under three grabs that pull with the largest force, ten simulated seconds each. Measures
 * CPU time of this thread per tick. The limits are those that server/sim/tuning/motionLimits.ts derives from the scene.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readScene } from "../../../server/sim/scene/readScene.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { MOST_SIZES } from "../../../server/sim/tuning/motionLimits.ts";
import { type Driven, drive } from "../../extremes/drive.ts";
import { knobsOf } from "../../extremes/knobs.ts";
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
/** Limit of the CPU time of one row, s. */
const AT_MOST_SECONDS = 60;
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

/** @throws RangeError naming an unknown scene */
export async function run({ scenes, hands = [HANDS] }: PartOptions): Promise<Row[]> {
  const all = readdirSync(SCENES)
    .filter((file) => file.endsWith(".json") && file !== "schema.json")
    .map((file) => file.slice(0, -5))
    .sort();
  const unknown = scenes?.find((scene) => !all.includes(scene));
  if (unknown !== undefined) throw new RangeError(`--scenes has ${JSON.stringify(unknown)}, limit: ${all.join(", ")}`);
  const rows: Row[] = [];
  for (const scene of scenes ?? all) {
    const parsed = await readScene(join(SCENES, `${scene}.json`));
    const built = await createWorld(parsed, { baseDir: SCENES, bounded: true });
    for (const knob of knobsOf(built.layout))
      for (const count of hands)
        rows.push(
          ...rowsOf(drive(scene, built, knob, { hands: count, seconds: SECONDS, atMostSeconds: AT_MOST_SECONDS })),
        );
  }
  return rows;
}
