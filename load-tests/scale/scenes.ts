/**
 * Scenes of the part `scale`: sizes of papers and of other engines' benchmarks, five solves per tick of 5 ms, and a
 * sheet that is folded onto itself.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scene } from "../../shared/scene/scene.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/world/createWorld.ts";
import { foldedSheet } from "../folds/scene.ts";

const STEP = { version: 1, title: "benchmark", tickHz: 200, substeps: 5, iterations: 1 } as const;

/** Five tetrahedra per cell, pinned at one face. */
function block(cells: [number, number, number]): Scene {
  return {
    ...STEP,
    bodies: [
      {
        name: "block",
        kind: "soft",
        mesh: { type: "box", size: [1, 1, 1], cells },
        material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 },
        pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.4999, 1, 1] } } }],
      },
    ],
  };
}

function sheet(cells: number): Scene {
  return {
    ...STEP,
    bodies: [
      {
        name: "sheet",
        kind: "cloth",
        mesh: { type: "grid", size: [2, 2], cells: [cells, cells] },
        material: { density: 300, thickness: 0.001, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-4 },
        pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.9999, 1, 1] } } }],
      },
    ],
  };
}

export interface ScaleScene {
  name: string;
  build(): Promise<CreatedWorld>;
  /** Ticks before the measurement, and measured ticks. */
  settle: number;
  ticks: number;
  /** Target on two threads, ms. */
  target?: number;
}

const here =
  (scene: Scene): (() => Promise<CreatedWorld>) =>
  () =>
    createWorld(scene, { baseDir: "." });

async function folded(n: number): Promise<CreatedWorld> {
  const folder = mkdtempSync(join(tmpdir(), "pliant-scale-"));
  try {
    const { mesh, scene } = foldedSheet(n, "fold.obj");
    writeFileSync(join(folder, "fold.obj"), mesh);
    return await createWorld(scene, { baseDir: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const SCALE_SCENES: ScaleScene[] = [
  { name: "371,700 tetrahedra x 5", build: here(block([59, 36, 35])), settle: 4, ticks: 16, target: 13 },
  { name: "50,400 tetrahedra x 5", build: here(block([24, 21, 20])), settle: 20, ticks: 60 },
  { name: "7,280 tetrahedra x 5", build: here(block([16, 13, 7])), settle: 100, ticks: 300 },
  { name: "80,000 triangles + bending x 5", build: here(sheet(200)), settle: 10, ticks: 40 },
  { name: "folded sheet 101 x 101, 20 substeps", build: () => folded(101), settle: 20, ticks: 30 },
];
