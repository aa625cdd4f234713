/**
 * The project's scenes, with coarser variants of those that most page tests grab in. The variants come to rest in a
 * third of the time. The server steps the jelly stack in a sixth of the time, the cloth in a quarter, the bunny in a
 * tenth. (The coarse bunny would otherwise be integrated implicitly.) The tank has an eighth of the water, and smoke
 * above it: one page draws both kinds of fluid.
 */
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scene } from "../../shared/scene/scene.ts";
import { SCENES_FOLDER } from "../physics/scenes/checkScene.ts";

/** 1/s. The original scenes have about 1. */
const DAMPING = 6;

const COARSER: Record<string, (scene: Scene) => void> = {
  "jelly-stack": (scene) => {
    scene.damping = DAMPING;
    halve(scene);
  },
  bunny: (scene) => {
    scene.damping = DAMPING;
    scene.substeps = 8;
    for (const body of scene.bodies)
      if (body.kind === "soft" && body.tetrahedralize) {
        body.tetrahedralize.spacing = 0.05;
        body.solver = "compliant";
      }
  },
  drape: halve,
  tank: (scene) => {
    halve(scene);
    scene.bodies.find(({ name }) => name === "water")!.contact = { ignore: ["smoke"] };
    scene.bodies.push({
      name: "smoke",
      kind: "points",
      mesh: { type: "lattice", arrangement: "cubic", cells: [4, 4, 3], spacing: 0.1 },
      transform: { translate: [0, 1.2, 0] },
      material: { density: 1.2, friction: 0 },
      method: { type: "eulerian-fluid", steps: 1, cells: [6, 6, 5], edge: 0.1 },
      contact: { ignore: ["water", "cube", "sheet"] },
    });
  },
};

/** Halves the cells along every edge. */
function halve({ bodies }: Scene): void {
  for (const { mesh } of bodies) {
    if (mesh.type !== "box" && mesh.type !== "grid" && mesh.type !== "lattice") continue;
    mesh.cells = mesh.cells.map((n) => Math.ceil(n / 2)) as typeof mesh.cells;
    if (mesh.type === "lattice") mesh.spacing *= 2;
  }
}

/** Writes the scenes into a new folder and returns it. */
export function lightScenes(): string {
  const folder = mkdtempSync(join(tmpdir(), "pliant-scenes-"));
  cpSync(SCENES_FOLDER, folder, { recursive: true });
  for (const [name, change] of Object.entries(COARSER)) {
    const path = join(folder, `${name}.json`);
    const scene = JSON.parse(readFileSync(path, "utf8")) as Scene;
    change(scene);
    writeFileSync(path, JSON.stringify(scene));
  }
  return folder;
}
