/** A room's statistics in virtual time: slow motion shows from its first second on, with or without ticks. */
import { expect, test } from "vitest";
import { TickStats } from "../../../../server/rooms/ticks/tickStats.ts";
import type { StepResult } from "../../../../server/workers/messages.ts";

const result = (wholeSeconds: number): StepResult =>
  ({ wholeSeconds, seconds: { encode: 0 }, methods: [], errors: [] }) as unknown as StepResult;

/** A room that wants 60 ticks a second and gets `hz`. */
function after(seconds: number, hz: number): TickStats {
  const stats = new TickStats(60);
  stats.runs(true, 0);
  for (let second = 0, tick = 1; second < seconds; second++) {
    for (; tick / hz <= second + 1; tick++) stats.stepped(result(0.001));
    if (second + 1 < seconds) stats.take(1, 0, 1000 * (second + 1));
  }
  return stats;
}

test("a room in real time is at 1", () => {
  for (const seconds of [1, 2, 5]) expect(after(seconds, 60).dilation(1000 * seconds)).toBe(1);
});

test("a room at half speed is at a half after its first second", () => {
  for (const seconds of [1, 2, 5]) expect(after(seconds, 30).dilation(1000 * seconds)).toBeCloseTo(0.5, 1);
});

test("a room whose first tick never completes is reported at once", () => {
  const stats = new TickStats(60);
  stats.runs(true, 0);
  expect(stats.dilation(100)).toBe(1);
  expect(stats.dilation(500)).toBeLessThan(0.04);
  expect(stats.take(1, 0, 1000).timeDilation).toBeLessThan(0.02);
  expect(stats.take(1, 0, 2000).timeDilation).toBeLessThan(0.01);
});

test("a room's share of a thread covers the last seconds; a paused room takes nothing", () => {
  const stats = after(3, 60);
  expect(stats.share(3000)).toBeCloseTo(0.06, 2);
  stats.runs(false, 3000);
  expect(stats.share(3001)).toBe(0);
  stats.runs(true, 9000);
  for (let i = 0; i < 30; i++) stats.stepped(result(0.01));
  expect(stats.share(9500)).toBeCloseTo(0.6, 10);
});

test("a paused room does not count as slow", () => {
  const stats = after(2, 60);
  stats.runs(false, 2000);
  expect(stats.dilation(60_000)).toBe(1);
  stats.runs(true, 60_000);
  expect(stats.dilation(60_100)).toBe(1);
});

test("lateness and rates are those of the window", () => {
  const stats = new TickStats(60);
  stats.runs(true, 0);
  stats.begun(3);
  stats.begun(400);
  expect(stats.take(2, 125_000, 1000)).toMatchObject({ tickLatenessMs: 400, clients: 2, kbpsOut: 1000 });
  expect(stats.take(2, 0, 2000)).toMatchObject({ tickLatenessMs: 0, kbpsOut: 0 });
});

test("the step time of a method is the mean over the window's ticks that had any", () => {
  const stats = new TickStats(60);
  stats.runs(true, 0);
  const methods = (...steps: [number, number][]): StepResult => ({
    ...result(0.01),
    methods: steps.map(([body, stepSeconds]) => ({ body, stepSeconds })),
  });
  stats.stepped(methods([1, 0.001], [3, 0.004]));
  stats.stepped(methods([1, 0.003]));
  expect(stats.take(1, 0, 1000).methods).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(stats.take(1, 0, 2000).methods).toEqual([]);
});

test("errors are those of the last tick", () => {
  const stats = new TickStats(60);
  stats.runs(true, 0);
  stats.stepped({ ...result(0.01), errors: [{ body: 2, error: 0.1 }] });
  stats.stepped({
    ...result(0.01),
    errors: [
      { body: 2, error: 0.2 },
      { body: 3, error: null },
    ],
  });
  expect(stats.take(1, 0, 1000).errors).toEqual([
    [2, 0.2],
    [3, null],
  ]);
});
