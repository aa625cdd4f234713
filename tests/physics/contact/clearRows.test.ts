/**
 * The contact response leaves every listed pair clear. It skips pairs that their particles' paths cannot have brought
 * too near (kernel/assembly/contact/verify/movedParticles.ts): a path that is too short would leave pairs unresolved.
 */
import { expect, test } from "vitest";
import { STONES } from "../../../load-tests/hands/stones.ts";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { closestOf } from "../../../server/sim/reference/contacts.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { packedPairs } from "../../parity/contact/contactLists.ts";
import { testFolder } from "../../support/testFolder.ts";

const TICKS = 24;
/** The check rounds in float32: 2^-21 of the largest edges (contactCheck.ts). */
const ROUNDING = 1e-7;

test("sheets that hit needles: no listed pair is nearer than its least distance, or than at the substep's start", async () => {
  const folder = testFolder("needles");
  const needles = STONES.find(({ name }) => name.startsWith("needles"))!;
  const { memory, layout } = await createWorld(validateScene(needles.build(folder)), { baseDir: folder });
  const world = openWorld(memory, layout);
  const word = (offset: number): number => new Int32Array(memory.buffer)[(L.HEADER + offset) / 4]!;
  let tight = 0;
  for (let tick = 0; tick < TICKS; tick++) {
    world.step([]);
    const f32 = new Float32Array(memory.buffer);
    const read = (at: number): Float64Array =>
      Float64Array.from({ length: 3 * layout.particleCount }, (_, k) => f32[at / 4 + 4 * Math.floor(k / 3) + (k % 3)]!);
    const [end, safe] = [read(layout.x), read(word(L.H_SAFE))];
    const keeps = (block: number, lane: number): number =>
      f32[(word(L.H_CONTACT_BLOCKS) + block * L.CONTACT_BLOCK_BYTES + L.CONTACT_BLOCK_KEEP) / 4 + lane]!;
    const short = packedPairs(memory).filter((pair) => {
      const apart = closestOf(pair, end).distance;
      const least = keeps(pair.block, pair.lane);
      if (apart < 2 * least) tight++;
      return apart < least - ROUNDING && apart < closestOf(pair, safe).distance * (1 - 2 / 1024) - ROUNDING;
    });
    expect(short, `tick ${tick}`).toEqual([]);
  }
  expect(word(L.H_COUNT_IMPULSES)).toBeGreaterThan(1000);
  expect(tight).toBeGreaterThan(100);
});
