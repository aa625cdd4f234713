/**
 * The hem of `drape` folds in waves that its mesh resolves. A hanging sheet folds at its gravity length (B / (rho t
 * g))^(1/3) (order of magnitude: Cerda, Mahadevan, Pasini 2004). If that is shorter than a cell, folds are one cell
 * wide: the hem turns back from edge to edge and looks jagged.
 */
import { expect, test } from "vitest";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { readScene } from "../../../server/sim/scene/readScene.ts";
import { openWorld } from "../../../server/sim/world.ts";
import type { ClothBody } from "../../../shared/scene/scene.ts";

const GRAVITY = 9.81;

test("no edge of the hem turns back against the edge before it", async () => {
  const scene = await readScene("scenes/drape.json");
  const sheet = scene.bodies[0] as ClothBody;
  const { density, thickness, bendingStiffness } = sheet.material as unknown as Record<string, number>;
  const cell = 1.5 / 60;
  expect((bendingStiffness! / (density! * thickness! * GRAVITY)) ** (1 / 3)).toBeGreaterThan(1.5 * cell);

  const { memory, layout } = await createWorld(scene, { baseDir: "scenes" });
  const world = openWorld(memory, layout);
  for (let tick = 0; tick < 240; tick++) world.step([]);
  const row = 61;
  const line = (from: number, step: number): number[] => Array.from({ length: row }, (_, n) => from + n * step);
  let sharpest = 1;
  for (const hem of [line(0, 1), line(row * 60, 1), line(0, row), line(60, row)]) {
    const edges = hem.slice(1).map((p, n) => {
      const [a, b] = [world.position(0, hem[n]!), world.position(0, p)];
      return [0, 1, 2].map((r) => b[r]! - a[r]!);
    });
    const dot = (a: number[], b: number[]): number => a.reduce((sum, x, r) => sum + x * b[r]!, 0);
    edges.slice(1).forEach((edge, n) => {
      const before = edges[n]!;
      sharpest = Math.min(sharpest, dot(edge, before) / Math.sqrt(dot(edge, edge) * dot(before, before)));
    });
  }
  expect(sharpest).toBeGreaterThan(0);
});
