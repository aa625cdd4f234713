/**
 * Three hands lead a sheet, a flag and a bunny about as the benchmark's do (load-tests/hands): after no tick does
 * anything meet. Time is the benchmark's.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { drive } from "../../load-tests/hands/drive.ts";
import { readScene } from "../../server/sim/readScene.ts";
import { SCENES_FOLDER } from "./scenes/checkScene.ts";

const SETTLE_SECONDS = 0.6;
const SECONDS = 0.6;

/**
 * What hands may stretch a body by: to the scene's `grabMaxStretch`, and by half of what that allows more by what is on
 * its way when their force ends. A sliver of the bunny, of 9 mm among edges of 23, snaps through by as much again.
 */
const MOST: [string, number][] = [
  ["drape", 2.5],
  ["flag-on-pole", 2.5],
  ["bunny", 3],
];

test.each(MOST)(
  "%s",
  async (name, most) => {
    const scene = await readScene(join(SCENES_FOLDER, `${name}.json`));
    const driven = await drive(scene, SCENES_FOLDER, {
      hands: 3,
      settleSeconds: SETTLE_SECONDS,
      seconds: SECONDS,
      judgeEvery: 1,
    });
    expect(driven.events).toEqual([]);
    expect(driven.findings).toBe(0);
    expect(driven.judged).toBe(Math.round(SETTLE_SECONDS * driven.tickHz) + Math.round(SECONDS * driven.tickHz));
    expect(driven.stretch).toBeLessThan(most);
    // they did pull
    expect(driven.stretch).toBeGreaterThan(1.05);
  },
  240_000,
);
