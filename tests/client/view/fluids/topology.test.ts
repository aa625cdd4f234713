/** The topology says which points are a fluid, and where a gas takes up smoke. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createWorld } from "../../../../server/sim/world/createWorld.ts";
import type { Scene } from "../../../../shared/scene/scene.ts";
import type { TopologyBody } from "../../../../shared/topology.ts";

async function fluidsOf(scene: string): Promise<TopologyBody["fluid"][]> {
  const file = new URL(`../../../../scenes/${scene}.json`, import.meta.url);
  const { topology } = await createWorld(JSON.parse(readFileSync(file, "utf8")) as Scene, { baseDir: "scenes" });
  return topology.bodies.map(({ fluid }) => fluid);
}

test("smoothed particles are a liquid, elastic bodies are not", async () => {
  expect(await fluidsOf("tank")).toEqual([{ type: "liquid" }, undefined, undefined]);
});

test("the smoke of a plume begins in the middle of the bottom of the box", async () => {
  const [gas] = await fluidsOf("smoke");
  if (gas?.type !== "gas" || !gas.source) throw new Error("no source");
  expect(gas.source.radius).toBe(0.12);
  // 20 cells of 0.05 m around the middle at 0.55 m.
  [0, 0.05, 0].forEach((c, r) => expect(gas.source!.center[r]).toBeCloseTo(c, 5));
});
