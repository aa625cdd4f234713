/**
 * Effect of a heavy room on the frames of other rooms, in virtual time: placement and schedule together, on any number
 * of threads. Requirement: the 99th percentile of other members' frame gaps stays within 20 % of its value without the
 * heavy room.
 */
import { expect, test } from "vitest";
import { readConfig } from "../../../server/config.ts";
import { FairSchedule, Flow } from "../../../server/workers/schedule/fairSchedule.ts";
import { Placement, type Resident } from "../../../server/workers/schedule/threadPlacement.ts";

const PERIOD_MS = 1000 / 60;
const HEAVY_MS = 4;
const LIGHT_ROOMS = 3;
const LENGTH_MS = 60_000;
/** Time until all rooms are on their final threads. */
const SETTLED_MS = 5000;

interface VirtualRoom {
  flow: Flow;
  resident: Resident;
  tickMs: number;
  originMs: number;
  tick: number;
  framesMs: number[];
}

/**
 * @param heavyMs tick length of the heavy room; 0: no such room. @returns p99 of the gaps between light rooms' frames,
 * ms
 */
function gapBeside(heavyMs: number, threads: number): number {
  const placement = new Placement(threads);
  const schedules = Array.from({ length: threads }, () => new FairSchedule<VirtualRoom>());
  const clocks = new Array<number>(threads).fill(0);
  const room = (tickMs: number, originMs: number): VirtualRoom => ({
    flow: new Flow(PERIOD_MS),
    resident: {
      home: -1,
      heavy: tickMs > HEAVY_MS,
      demand: Math.min(1, tickMs / PERIOD_MS),
      activeMs: 0,
      movedMs: -Infinity,
    },
    tickMs,
    originMs,
    tick: 1,
    framesMs: [],
  });
  const submit = (one: VirtualRoom, nowMs: number): void => {
    let dueMs = one.originMs + one.tick * PERIOD_MS;
    // As rooms/ticks/tickClock.ts: two overdue ticks at most.
    if (nowMs - dueMs > 2 * PERIOD_MS) one.originMs += nowMs - dueMs - 2 * PERIOD_MS;
    dueMs = one.originMs + one.tick * PERIOD_MS;
    schedules[placement.place(one.resident, nowMs)]!.submit(one.flow, dueMs, one);
  };
  const light = Array.from({ length: LIGHT_ROOMS }, (_, i) => room(1, (i * PERIOD_MS) / LIGHT_ROOMS));
  for (const one of [...light, ...(heavyMs > 0 ? [room(heavyMs, 3)] : [])]) submit(one, 0);
  for (;;) {
    const thread = clocks.indexOf(Math.min(...clocks));
    const nowMs = clocks[thread]!;
    if (nowMs > LENGTH_MS) break;
    const next = schedules[thread]!.next(nowMs);
    if ("againMs" in next) {
      // Another thread may move a room here earlier.
      clocks[thread] = Math.min(Math.max(nowMs + 1e-6, next.againMs), nowMs + 1);
      continue;
    }
    const { flow, item: one } = next;
    const endMs = nowMs + one.tickMs;
    clocks[thread] = endMs;
    schedules[thread]!.done(flow, one.tickMs / 1000, endMs);
    if (one.tick % 2 === 0 && endMs > SETTLED_MS) one.framesMs.push(endMs);
    one.tick += 1;
    placement.done(one.resident, endMs);
    submit(one, endMs);
  }
  const gaps = light
    .flatMap(({ framesMs }) => framesMs.slice(1).map((ms, i) => ms - framesMs[i]!))
    .sort((a, b) => a - b);
  return gaps[Math.ceil(0.99 * gaps.length) - 1]!;
}

const calmMs = gapBeside(0, 1);

test.each([10, 20, 30, 50, 80, 150, 300])(
  "beside ticks of %i ms the frames of other rooms do not change on two threads",
  (ms) => {
    expect(gapBeside(ms, 2)).toBeLessThan(1.2 * calmMs);
  },
);

test("on a single thread they do, which is why a server has two by default", () => {
  expect(gapBeside(30, 1)).toBeLessThan(1.2 * calmMs);
  expect(gapBeside(80, 1)).toBeGreaterThan(1.2 * calmMs);
  expect(readConfig({}).workers).toBeGreaterThanOrEqual(2);
});
