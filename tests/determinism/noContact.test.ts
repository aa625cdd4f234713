/** If no two surfaces of a room can meet, the kernel skips the search for pairs. That must change only the time. */
import { expect, test } from "vitest";
import { createWorld } from "../../server/sim/world/createWorld.ts";
import { openWorld } from "../../server/sim/world.ts";
import type { Body, Scene } from "../../shared/scene/scene.ts";
import { script } from "./run.ts";

const TICKS = 90;
/**
 * A sheet that falls onto a plane, which is not a surface. It stays away from the origin: where a coordinate is smaller
 * than its low word, carrying over may round.
 */
const sheet: Body = {
  name: "sheet",
  kind: "cloth",
  mesh: { type: "grid", size: [1, 1], cells: [15, 15] },
  transform: { translate: [2, 0.3, 2] },
  material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-5 },
  contact: { self: false },
};
/** A distant sheet with self-contact: it makes the kernel search for pairs in the whole room. */
const far: Body = { ...sheet, name: "far", transform: { translate: [50, 0.3, 2] }, contact: { self: true } };
const sceneOf = (bodies: Body[]): Scene => ({
  version: 1,
  title: "a sheet without contacts",
  colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
  bodies,
});

async function run(bodies: Body[]): Promise<{ lists: number; positions: Uint32Array }> {
  const created = await createWorld(sceneOf(bodies), { baseDir: "." });
  const world = openWorld(created.memory, created.layout);
  for (let tick = 1; tick <= TICKS; tick++) world.step(script(tick));
  const streamed = new Float32Array(3 * world.layout.streamedParticles);
  world.readStreamed(streamed);
  return { lists: world.contactCounts().lists, positions: new Uint32Array(streamed.buffer, 0, 3 * 256) };
}

test("a sheet without contacts has the same bits with and without the search for pairs", async () => {
  const alone = await run([sheet]);
  const beside = await run([sheet, far]);
  expect(alone.lists).toBe(0);
  expect(beside.lists).toBeGreaterThan(0);
  expect(alone.positions).toEqual(beside.positions);
});
