/** States that a history keeps, thins out and forgets. States are plain bytes here; tests of rooms use real ones. */
import { expect, test } from "vitest";
import { HistoryError, RoomHistory } from "../../../server/persistence/history.ts";
import type { Input } from "../../../server/sim/types.ts";

const HZ = 60;
const push = (member: number): Input => ({ type: "releaseAll", member });
const bytes = (tick: number): Uint8Array => new TextEncoder().encode(`state of ${tick}`);

/** Ticks to `until`, an input every tenth, a state every `every` ticks. */
async function run(history: RoomHistory, until: number, every: number): Promise<void> {
  for (let tick = history.tick + 1; tick <= until; tick++) {
    history.stepped(tick, tick % 10 === 0 ? [push(tick)] : []);
    if (tick % every === 0) {
      history.marked();
      await history.keep(tick, `hash ${tick}`, bytes(tick));
    }
  }
}

test("any tick can be reproduced from the state before it and the inputs since", async () => {
  const history = new RoomHistory(HZ, 60);
  await run(history, 130, 50);
  const { state, from, until, records } = history.rebuild(125);
  expect(new TextDecoder().decode(state)).toBe("state of 100");
  expect([from, until]).toEqual([100, 125]);
  // The tick after a state is marked: its pair list is rebuilt.
  expect(records).toEqual([
    { tick: 101, inputs: [], fresh: true },
    { tick: 110, inputs: [push(110)], fresh: false },
    { tick: 120, inputs: [push(120)], fresh: false },
  ]);
  expect(history.rebuild(49)).toMatchObject({ state: undefined, from: 0, until: 49 });
  expect(() => history.rebuild(131)).toThrow(HistoryError);
});

test("a state saved after the last tick marks the next tick", async () => {
  const history = new RoomHistory(HZ, 60);
  await run(history, 50, 50);
  expect(history.rebuild(50).fresh).toBe(true);
  history.stepped(51, []);
  expect(history.rebuild(51)).toMatchObject({ fresh: false, records: [{ tick: 51, inputs: [], fresh: true }] });
});

test("after going back to a tick with a state the following tick is marked", async () => {
  const history = new RoomHistory(HZ, 60);
  await run(history, 130, 50);
  history.rewind(100);
  history.stepped(101, []);
  expect(history.records(100)).toEqual([{ tick: 101, inputs: [], fresh: true }]);
  history.rewind(70);
  history.stepped(71, []);
  expect(history.records(70)).toEqual([]);
});

test("it reaches back for the requested time, with some states, and no further", async () => {
  const history = new RoomHistory(HZ, 120);
  await run(history, 600 * HZ, 5 * HZ);
  const ticks = history.states.map(({ tick }) => tick / HZ);
  expect(history.oldestTick).toBeLessThanOrEqual(480 * HZ);
  expect(history.oldestTick).toBeGreaterThanOrEqual(440 * HZ);
  expect(ticks.slice(-8)).toEqual([565, 570, 575, 580, 585, 590, 595, 600]);
  for (let i = 1; i < ticks.length; i++) expect(ticks[i]! - ticks[i - 1]!).toBeLessThanOrEqual(35);
  // Eight recent ones, and 80 s at 30 s each with one more before.
  expect(ticks.length).toBeLessThanOrEqual(8 + 4);
  expect(history.records(0)[0]!.tick).toBe(history.oldestTick + 1);
});

test("undone ticks are removed, even if their state arrives late", async () => {
  const history = new RoomHistory(HZ, 60);
  await run(history, 100, 30);
  history.marked();
  const late = history.keep(100, "hash 100", bytes(100));
  history.rewind(70);
  expect(await late).toBeNull();
  expect(history.tick).toBe(70);
  expect(history.states.map(({ tick }) => tick)).toEqual([0, 30, 60]);
  expect(history.records(60)).toEqual([
    { tick: 61, inputs: [], fresh: true },
    { tick: 70, inputs: [push(70)], fresh: false },
  ]);
  expect(history.rewinds).toEqual([70]);
  history.begin();
  expect([history.tick, history.oldestTick, history.rewinds]).toEqual([0, 0, [70, -1]]);
});

test("an undo to the last tick while its state is being packed: the following tick is still marked", async () => {
  const history = new RoomHistory(HZ, 60);
  await run(history, 100, 30);
  history.marked();
  const late = history.keep(100, "hash 100", bytes(100));
  history.rewind(100);
  expect(await late).toBeNull();
  history.stepped(101, []);
  expect(history.records(100)).toEqual([{ tick: 101, inputs: [], fresh: true }]);
});
