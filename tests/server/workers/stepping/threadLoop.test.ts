/**
 * The order of work on a thread: the real loop, and a clock that only its orders advance. The next step is always
 * requested before the thread checks again.
 */
import { MessageChannel } from "node:worker_threads";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ByKey, StepTask, ThreadOrder } from "../../../../server/workers/messages.ts";
import { toProcessMs } from "../../../../server/workers/processClock.ts";
import { type Done, ThreadLoop } from "../../../../server/workers/stepping/threadLoop.ts";
import { ThreadWords } from "../../../../server/workers/stepping/threadWords.ts";
import { StepsRunning } from "../../../../server/workers/stepping/stepsRunning.ts";

/** Time that a room may be ahead of its share, ms (SLACK_SECONDS in fairSchedule.ts), and the rounding of the clock. */
const SLACK_MS = 4;
const ROUNDING_MS = 1e-3;

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

interface Room {
  stepMs: number;
  /** Time between due times of two steps; 0: the next one is due as soon as one is over. */
  periodMs: number;
  /** Length of a piece after which its steps may be preempted. */
  pieceMs?: number;
}

interface Ran {
  /** For every room: its time on the thread, and when each of its steps was due and began, ms. */
  rooms: { ms: number; steps: { dueMs: number; startMs: number }[] }[];
  /** Time of the other orders, ms. */
  othersMs: number;
}

/**
 * Runs one thread until `untilMs`.
 * @param others number and length, ms, of orders that are always queued
 */
async function run(rooms: readonly Room[], others: { count: number; ms: number }, untilMs: number): Promise<Ran> {
  const ran: Ran = { rooms: rooms.map(() => ({ ms: 0, steps: [] })), othersMs: 0 };
  const { port1, port2 } = new MessageChannel();
  const wake = new Int32Array(new SharedArrayBuffer(4));
  const running = new StepsRunning();
  const words = new ThreadWords();
  let id = 0;
  const post = (order: Partial<ThreadOrder>): void => {
    port1.postMessage([{ ...order, id: ++id }]);
    wake[0]! += 1;
  };
  const submit = (room: number, dueMs: number): void => {
    const share = { account: String(room), weight: 1 };
    const periodMs = rooms[room]!.periodMs || 1;
    const turn = { dueMs: toProcessMs(dueMs), untilMs: Infinity, periodMs, share, expectedSeconds: 0, ticks: 0 };
    post({ name: "step", task: { room: { key: String(room) } } as ByKey<StepTask>, turn });
    ran.rooms[room]!.steps.push({ dueMs, startMs: Infinity });
  };
  /** A result that cannot be sent ends the loop. */
  const done = (): Done => ({ result: performance.now() < untilMs ? null : () => {}, transfer: [] });
  const loop = new ThreadLoop(
    { port: port2, wake, running: running.words, slot: 3, words: words.words },
    {
      step: ({ room: { key } }, { preempt }) => {
        expect(running.count).toBe(1);
        const { stepMs, periodMs, pieceMs = stepMs } = rooms[Number(key)]!;
        const seen = ran.rooms[Number(key)]!;
        const step = seen.steps.at(-1)!;
        step.startMs = performance.now();
        for (let own = 0; own < stepMs; own += pieceMs) {
          if (own > 0) preempt?.();
          vi.advanceTimersByTime(pieceMs);
        }
        seen.ms += stepMs;
        submit(Number(key), periodMs ? step.dueMs + periodMs : performance.now());
        return done();
      },
      other: () => {
        vi.advanceTimersByTime(others.ms);
        ran.othersMs += others.ms;
        post({ name: "replay", task: null });
        return done();
      },
    },
  );
  for (let i = 0; i < others.count; i++) post({ name: "replay", task: null });
  rooms.forEach((_, room) => submit(room, 0));
  await expect(loop.run()).rejects.toThrow("could not be cloned");
  expect(running.count).toBe(0);
  port1.close();
  return ran;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

test.each([1, 10])(
  "steps get a quarter of the time while orders wait, %i at once, and the orders three quarters",
  async (count) => {
    const greedy = [1, 2, 3].map((stepMs) => ({ stepMs, periodMs: 0 }));
    const { rooms, othersMs } = await run(greedy, { count, ms: 8 }, 5000);
    const stepsMs = sum(rooms.map(({ ms }) => ms));
    // Neither side is ahead by more than the order that put it there.
    expect(stepsMs - othersMs / 3).toBeLessThanOrEqual(3 + ROUNDING_MS);
    expect(othersMs / 3 - stepsMs).toBeLessThanOrEqual(8 / 3 + ROUNDING_MS);
  },
);

test("rooms that never pause get equal time on the thread, for any length of their steps", async () => {
  const { rooms } = await run(
    [1, 2, 3, 3].map((stepMs) => ({ stepMs, periodMs: 0 })),
    { count: 0, ms: 0 },
    5000,
  );
  const had = rooms.map(({ ms }) => ms);
  expect(Math.max(...had) - Math.min(...had)).toBeLessThanOrEqual(SLACK_MS + 3 + ROUNDING_MS);
});

test("no step of a heavy room begins while a light room's is due, and light ones begin during its steps", async () => {
  const light = { stepMs: 1, periodMs: 50 };
  const { rooms } = await run([{ stepMs: 20, periodMs: 0, pieceMs: 1 }, light, light], { count: 0, ms: 0 }, 10_000);
  const [greedy, ...lights] = rooms.map(({ steps }) => steps.filter(({ startMs }) => startMs < Infinity));
  let inTheMiddle = 0;
  for (const { dueMs, startMs } of lights.flat()) {
    const begun = greedy!.map((step) => step.startMs);
    expect(begun.filter((ms) => ms > dueMs && ms < startMs)).toEqual([]);
    if (begun.some((ms) => ms < startMs && startMs < ms + 20)) inTheMiddle++;
  }
  expect(inTheMiddle).toBeGreaterThan(lights[0]!.length / 2);
});
