/**
 * Ten sheets in a press (load-tests/hands/stones.ts): the floor and the plate hold particles of many pairs. The press
 * throws nothing, and half of the ticks are real time at the least, in counted work.
 */
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { STONES } from "../../../load-tests/hands/stones.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { openWorld } from "../../../server/sim/world.ts";

/** Simulated time until the plate is down, s. */
const DOWN = 1.1;
/** Speed that nothing in the press exceeds, m/s: the plate lowers with 0.13 m/s. */
const FAST = 6;

test("a press squeezes ten sheets without throwing a particle, at half of real time", async () => {
  const press = STONES.find(({ name }) => name === "press of ten sheets")!;
  const { memory, layout } = await createWorld(press.build(tmpdir()), { baseDir: tmpdir(), bounded: true });
  const world = openWorld(memory, layout);
  const count = layout.bodies.reduce((sum, body) => sum + body.count, 0);
  let calls = 0;
  let fastest = 0;
  for (; world.stepped < DOWN * layout.tickHz && calls < 3 * DOWN * layout.tickHz; calls++) {
    world.step([]);
    const v = new Float32Array(memory.buffer, layout.v, 4 * count);
    for (let n = 0; n < count; n++) fastest = Math.max(fastest, Math.hypot(v[4 * n]!, v[4 * n + 1]!, v[4 * n + 2]!));
  }
  expect(fastest).toBeLessThan(FAST);
  expect(world.contactCounts().full).toBe(0);
  expect(world.stepped / calls).toBeGreaterThan(0.5);
}, 120_000);
