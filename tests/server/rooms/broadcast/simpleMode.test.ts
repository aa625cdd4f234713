/** When a member in simple mode gets a frame, in ticks. */
import { expect, test } from "vitest";
import { simpleModeOf } from "../../../../server/rooms/broadcast/simpleMode.ts";
import { Limits } from "../../../../shared/protocol/protocol.ts";

const TICK_HZ = 60;

/** @returns send ticks up to `until` at which it gets a frame of this size */
function taken(hz: number | undefined, until: number, bytes: number): number[] {
  const mode = simpleModeOf({ mode: "simple", ...(hz !== undefined && { hz }) })!;
  const ticks: number[] = [];
  for (let tick = 1000; tick <= until; tick += 2) {
    if (!mode.asks(tick)) continue;
    expect(mode.hasAsked(tick)).toBe(true);
    mode.sent(tick, bytes, TICK_HZ);
    ticks.push(tick);
  }
  return ticks;
}

test("only members that request the mode are in it", () => {
  expect(simpleModeOf({})).toBeNull();
  expect(simpleModeOf({ hz: 5 })).toBeNull();
});

test.each([
  [undefined, 20],
  [20, 20],
  [10, 10],
  [7, 7],
  [1, 1],
])("hz %s gives %i frames a second, although frames come at 30", (hz, expected) => {
  const ticks = taken(hz, 1000 + 60 * TICK_HZ, 1000);
  expect(ticks[0]).toBe(1000);
  expect(Math.abs(ticks.length - 60 * expected)).toBeLessThanOrEqual(2);
  // No burst: in any second at most two more than requested.
  for (const tick of ticks)
    expect(ticks.filter((other) => other >= tick && other < tick + TICK_HZ).length).toBeLessThanOrEqual(expected + 2);
});

test("large frames come less often: the bytes a second are limited", () => {
  const bytes = Limits.simpleBytes / 4;
  expect(Math.abs(taken(20, 1000 + 60 * TICK_HZ, bytes).length - 4 * 60)).toBeLessThanOrEqual(2);
});

test("after a long wait a member gets one frame at once, not all missed ones", () => {
  const mode = simpleModeOf({ mode: "simple", hz: 1 })!;
  const at = (tick: number): boolean => {
    const due = mode.asks(tick);
    if (due) mode.sent(tick, 100, TICK_HZ);
    return due;
  };
  expect([at(100), at(102), at(900), at(902), at(958), at(960)]).toEqual([true, false, true, false, false, true]);
});

test("after an undo frames of earlier ticks are sent", () => {
  const mode = simpleModeOf({ mode: "simple", hz: 10 })!;
  expect(mode.asks(5000)).toBe(true);
  mode.sent(5000, 100, TICK_HZ);
  expect(mode.asks(5002)).toBe(false);
  expect(mode.asks(3000)).toBe(true);
});
