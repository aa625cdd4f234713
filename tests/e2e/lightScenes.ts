/**
 * The project's scenes, of which the stack of jelly, in which most tests of pages pull, has cells of twice the size: a
 * server steps it in a sixth of the time, for as long as a test looks at it.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scene } from "../../shared/scene.ts";
import { SCENES_FOLDER } from "../physics/scenes/checkScene.ts";

/** @returns a folder of scenes, which is gone when the process ends */
export function lightScenes(): string {
  const folder = mkdtempSync(join(tmpdir(), "pliant-scenes-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  cpSync(SCENES_FOLDER, folder, { recursive: true });
  const path = join(folder, "jelly-stack.json");
  const scene = JSON.parse(readFileSync(path, "utf8")) as Scene;
  for (const { mesh } of scene.bodies)
    if (mesh.type === "box") mesh.cells = mesh.cells.map((n) => Math.ceil(n / 2)) as [number, number, number];
  writeFileSync(path, JSON.stringify(scene));
  return folder;
}
