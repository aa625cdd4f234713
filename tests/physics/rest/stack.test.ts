/**
 * Stacked bodies: the bundled jelly stack stands for 10 s, in its order, with no particle inside another body; a cube
 * thrown at another does not pass through it.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Scene } from "../../../shared/scene/scene.ts";
import { SCENES_FOLDER } from "../../determinism/run.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { heightOf } from "../measures.ts";

/** Winding number of a closed surface around a point: 1 inside, 0 outside (van Oosterom & Strackee 1983). */
function winding(p: readonly number[], x: Float64Array, triangles: Uint32Array): number {
  let sum = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => [0, 1, 2].map((r) => x[3 * triangles[t + k]! + r]! - p[r]!)) as [
      number[],
      number[],
      number[],
    ];
    const dot = (u: number[], v: number[]): number => u[0]! * v[0]! + u[1]! * v[1]! + u[2]! * v[2]!;
    const [la, lb, lc] = [a, b, c].map((u) => Math.sqrt(dot(u, u))) as [number, number, number];
    const det =
      a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) -
      a[1]! * (b[0]! * c[2]! - b[2]! * c[0]!) +
      a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!);
    sum += 2 * Math.atan2(det, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
  }
  return sum / (4 * Math.PI);
}

/** Number of surface particles of any body inside any other. */
function inside(lab: Laboratory): number {
  const { bodies } = lab.created;
  const places = bodies.map((_, b) => lab.positions(b));
  let count = 0;
  bodies.forEach((a, i) =>
    bodies.forEach((b, j) => {
      if (i === j || b.kind !== "soft") return;
      for (let k = 0; k < a.streamedCount; k++)
        if (winding(places[i]!.subarray(3 * k, 3 * k + 3) as unknown as number[], places[j]!, b.triangles) > 0.5)
          count++;
    }),
  );
  return count;
}

test("the jelly stack stands for 10 s, and no cube is inside another", async () => {
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
    if (seconds % 3 === 1) expect(inside(lab), `after ${seconds} s`).toBe(0);
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
    if (tick % 10 === 9) expect(inside(lab), `tick ${tick}`).toBe(0);
  }
});
