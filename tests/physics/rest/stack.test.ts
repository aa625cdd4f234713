/**
 * Stacked bodies: the bundled jelly stack stands for 10 s, in its order, without crossings; a cube thrown at another
 * does not pass through it.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Scene } from "../../../shared/scene/scene.ts";
import { SCENES_FOLDER } from "../../determinism/run.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory } from "../laboratory.ts";
import { heightOf } from "../measures.ts";

test("the jelly stack stands for 10 s, and no cubes cross", async () => {
  const { $schema: _, ...scene } = JSON.parse(readFileSync(`${SCENES_FOLDER}/jelly-stack.json`, "utf8")) as Scene & {
    $schema: string;
  };
  const lab = await laboratory(scene);
  for (let seconds = 1; seconds <= 10; seconds++) {
    expect(lab.run(60)).toEqual([]);
    const heights = lab.created.bodies.map((_, b) => heightOf(lab, b));
    heights.forEach((h, b) => {
      if (b > 0) expect(h - heights[b - 1]!, `cube ${b} over the one below, after ${seconds} s`).toBeGreaterThan(0.1);
    });
    if (seconds % 3 === 1) expect(crossings(lab), `after ${seconds} s`).toBe(0);
  }
});

test.each([2, 10])("a cube that falls on another at %i m/s does not enter it", async (speed) => {
  const cube = (name: string, y: number, velocity: [number, number, number]): Scene["bodies"][number] => ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [4, 4, 4] },
    transform: { translate: [0.02, y, 0.01] },
    velocity,
    material: { density: 400, youngsModulus: 1e5, poissonsRatio: 0.35, friction: 0.8 },
  });
  const lab = await laboratory({
    substeps: 20,
    iterations: 1,
    damping: 1,
    gravity: [0, -9.81, 0],
    bodies: [cube("low", 0.1015, [0, 0, 0]), cube("high", 0.4, [0, -speed, 0])],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.8 }],
  });
  for (let tick = 0; tick < 120; tick++) {
    expect(lab.run(1)).toEqual([]);
    // the slow one stays on top; the fast one bounces and may come down beside it
    if (speed < 5 || tick < 30) expect(heightOf(lab, 1), `tick ${tick}`).toBeGreaterThan(heightOf(lab, 0));
    if (tick % 10 === 9) expect(crossings(lab), `tick ${tick}`).toBe(0);
  }
});
