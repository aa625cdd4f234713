/** From a store's checkpoints and journal to a history: it never claims a tick that it cannot have again. */
import { expect, test } from "vitest";
import { RoomHistory } from "../../../server/persistence/history.ts";
import { fill } from "../../../server/persistence/restore.ts";

const packed = (tick: number) => ({ kept: { tick, stateHash: `hash ${tick}`, packed: new Uint8Array([1]) }, members: null });
const segment = (after: number, until: number) => ({ after, until, records: [{ tick: after + 1, inputs: [], fresh: true }], hashes: [{ tick: until, stateHash: `hash ${until}` }], members: null });

test("a room whose first inputs are gone begins with its first checkpoint, not with its scene", () => {
  const history = new RoomHistory(60, 120);
  expect(fill(history, { checkpoints: [packed(300), packed(600)], segments: [segment(300, 450), segment(450, 600), segment(600, 640)], members: null, damaged: [], foreign: false })).toBe(640);
  expect(history.oldestTick).toBe(300);
  expect(history.records(0).map(({ tick }) => tick)).toEqual([301, 451, 601]);
  expect(history.hashes.map(({ tick }) => tick)).toEqual([450, 600, 640]);
  expect(() => history.rebuild(299)).toThrow("tick 299");
});

test("a room whose journal reaches back to its scene begins with that", () => {
  const history = new RoomHistory(60, 120);
  expect(fill(history, { checkpoints: [], segments: [segment(0, 100), segment(100, 130)], members: null, damaged: [], foreign: false })).toBe(130);
  expect(history.oldestTick).toBe(0);
  expect(history.records(0).map(({ tick }) => tick)).toEqual([1, 101]);
});
