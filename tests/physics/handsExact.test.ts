/**
 * Three hands lead a sheet, a flag and a bunny about as the benchmark's do (load-tests/hands): after no tick does
 * anything meet. Time is the benchmark's.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { drive } from "../../load-tests/hands/drive.ts";
import { readScene } from "../../server/sim/readScene.ts";
import { inLong } from "../support/long.ts";
import { SCENES_FOLDER } from "./scenes/checkScene.ts";

/**
 * What hands may stretch a body by: to the scene's `grabMaxStretch`, and by half of what that allows more by what is on
 * its way when their force ends. A sliver of the bunny, of 9 mm among edges of 23, snaps through by as much again.
 * The seconds without hands and with them; the hem of the sheet that goes round is between folds after two.
 */
const MOST: [string, number, number, number][] = [
  ["drape", 2.5, 1, 2.1],
  ["flag-on-pole", 2.5, 0.6, 0.6],
  ["bunny", 3, 0.6, 0.6],
];
/** Ticks from one that is judged to the next: what meets stays so for longer. */
const EVERY = inLong(1, 3);

test.each(MOST)("%s", async (name, most, settleSeconds, seconds) => {
  const scene = await readScene(join(SCENES_FOLDER, `${name}.json`));
  const driven = await drive(scene, SCENES_FOLDER, {
    hands: 3,
    settleSeconds,
    seconds,
    judgeEvery: EVERY,
  });
  expect(driven.events).toEqual([]);
  expect(driven.findings).toBe(0);
  const last = Math.round(settleSeconds * driven.tickHz) + Math.round(seconds * driven.tickHz) - 1;
  expect(driven.judged).toBe(1 + Math.ceil(last / EVERY));
  expect(driven.stretch).toBeLessThan(most);
  // they did pull
  expect(driven.stretch).toBeGreaterThan(1.05);
});
