/**
 * Three grabs lead a sheet, a flag and a bunny around as the benchmark does (load-tests/hands): after no tick does
 * anything intersect. The duration is the benchmark's.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { drive } from "../../../load-tests/hands/drive.ts";
import { readScene } from "../../../server/sim/scene/readScene.ts";
import { inLong } from "../../support/run/long.ts";
import { SCENES_FOLDER } from "../scenes/checkScene.ts";

/**
 * Largest stretch, and the seconds without grabs and with them. Grabs stretch up to the scene's `grabMaxStretch`;
 * motion on its way when their force ends adds half of the allowed excess. A sliver of the bunny, 9 mm among edges of
 * 23 mm, snaps through by as much again. After two seconds the hem of the moving sheet is between folds.
 */
const MOST: [string, number, number, number][] = [
  ["drape", 2.5, 1, inLong(2.1, 1)],
  ["flag-on-pole", 2.5, 0.6, 0.6],
  ["bunny", 3, 0.6, 0.6],
];
/** Ticks between checks: an intersection lasts longer. */
const EVERY = inLong(1, 3);

test.each(MOST)("%s: grabs cause no intersections", async (name, most, settleSeconds, seconds) => {
  const scene = await readScene(join(SCENES_FOLDER, `${name}.json`));
  const driven = await drive(scene, SCENES_FOLDER, { hands: 3, settleSeconds, seconds, judgeEvery: EVERY });
  expect(driven.events).toEqual([]);
  expect(driven.findings).toBe(0);
  const last = Math.round(settleSeconds * driven.tickHz) + Math.round(seconds * driven.tickHz) - 1;
  expect(driven.judged).toBe(1 + Math.ceil(last / EVERY));
  expect(driven.stretch).toBeLessThan(most);
  // they did pull
  expect(driven.stretch).toBeGreaterThan(1.05);
});
