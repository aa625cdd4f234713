/** Contact figures: layers at rest, a sheet under grabs, many bodies as they land. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readScene } from "../../server/sim/scene/readScene.ts";
import { foldedSheet } from "../folds/scene.ts";
import { circles } from "../hands/circles.ts";
import type { Figure } from "./figure.ts";
import { ticksOf } from "./ticks.ts";

const SCENES = fileURLToPath(new URL("../../scenes", import.meta.url));
const scene = (name: string): ReturnType<typeof readScene> => readScene(join(SCENES, `${name}.json`));

/** The sheet of the part `folds`, with 30 x 30 particles. */
export const folded: Figure["measure"] = async (how) => {
  const folder = mkdtempSync(join(tmpdir(), "pliant-quick-"));
  try {
    const { mesh, scene } = foldedSheet(30, "fold.obj");
    writeFileSync(join(folder, "fold.obj"), mesh);
    return await ticksOf(scene, { baseDir: folder, settle: 24, ticks: 10 }, how);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** `drape` under three grabs: their first ten ticks. The part `peers` compares the same load with another engine. */
export const hands: Figure["measure"] = async (how) =>
  ticksOf(
    await scene("drape"),
    { baseDir: SCENES, settle: 60, ticks: 10, inputs: (created, world) => circles(created, world, 3) },
    how,
  );

/** `hundred-bodies` around its worst ticks, in which most bodies land. */
export const hundred: Figure["measure"] = async (how) =>
  ticksOf(await scene("hundred-bodies"), { baseDir: SCENES, settle: 16, ticks: 4 }, how);
