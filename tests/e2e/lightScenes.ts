/**
 * The project's scenes, of which the two that most tests of pages pull at are coarser: a server steps the stack of
 * jelly in a sixth of the time, the bunny in a third, for as long as a test looks at them.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scene } from "../../shared/scene.ts";
import { SCENES_FOLDER } from "../physics/scenes/checkScene.ts";

const COARSER: Record<string, (scene: Scene) => void> = {
  "jelly-stack": ({ bodies }) => {
    for (const { mesh } of bodies)
      if (mesh.type === "box") mesh.cells = mesh.cells.map((n) => Math.ceil(n / 2)) as [number, number, number];
  },
  bunny: (scene) => {
    scene.substeps = 8;
    for (const body of scene.bodies)
      if (body.kind === "soft" && body.tetrahedralize) body.tetrahedralize.spacing = 0.05;
  },
};

/** @returns a folder of scenes, which is gone when the process ends */
export function lightScenes(): string {
  const folder = mkdtempSync(join(tmpdir(), "pliant-scenes-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  cpSync(SCENES_FOLDER, folder, { recursive: true });
  for (const [name, change] of Object.entries(COARSER)) {
    const path = join(folder, `${name}.json`);
    const scene = JSON.parse(readFileSync(path, "utf8")) as Scene;
    change(scene);
    writeFileSync(path, JSON.stringify(scene));
  }
  return folder;
}
