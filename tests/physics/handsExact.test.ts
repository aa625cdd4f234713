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

test.each(["drape", "flag-on-pole", "bunny"])(
  "%s",
  async (name) => {
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
    // they did pull
    expect(driven.stretch).toBeGreaterThan(1.05);
  },
  240_000,
);
