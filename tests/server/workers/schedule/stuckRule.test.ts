/** When a thread is ended, in virtual time. */
import { describe, expect, test } from "vitest";
import { StuckRule } from "../../../../server/workers/schedule/stuckRule.ts";

const DEADLINE_MS = 5000;
const LOOK_MS = 100;

interface Thread {
  /** CPU time that it gets of each ms. */
  share: number;
  /** CPU time between two steps of progress, ms; Infinity: no progress. */
  progressMs: number;
  executing?: number;
  waits?: boolean;
  /** The thread never reports its CPU time. */
  isSilent?: boolean;
  /** Time between two checks, ms. */
  lookMs?: number;
}

/** @returns the reason for the thread's end, and when, ms */
function watch(thread: Thread, untilMs: number): { reason: string | null; atMs: number; cpuMs: number } {
  const { share, progressMs, executing = 7, waits = false, isSilent = false, lookMs = LOOK_MS } = thread;
  const rule = new StuckRule();
  let cpuMs = 1e6;
  for (let atMs = 0; atMs < untilMs; atMs += lookMs, cpuMs += lookMs * share) {
    const progress = Math.floor((cpuMs - 1e6) / progressMs) || 0;
    const look = { executing, progress, waits, deadlineMs: DEADLINE_MS, cpuMs: isSilent ? undefined : cpuMs };
    const reason = rule.look(look, lookMs);
    if (reason) return { reason, atMs, cpuMs: cpuMs - 1e6 };
  }
  return { reason: null, atMs: untilMs, cpuMs: cpuMs - 1e6 };
}

const HOUR_MS = 3_600_000;

describe("a thread is ended", () => {
  test("after its deadline of CPU time without progress, at the next check", () => {
    const { reason, cpuMs } = watch({ share: 1, progressMs: Infinity }, HOUR_MS);
    expect(reason).toBe("no_progress");
    expect(cpuMs).toBeGreaterThan(DEADLINE_MS);
    expect(cpuMs).toBeLessThanOrEqual(DEADLINE_MS + 3 * LOOK_MS);
  });

  test.each([0.5, 0.1, 0.01])(
    "with only %f of a processor after the same CPU time, however long that takes",
    (share) => {
      const { reason, cpuMs, atMs } = watch({ share, progressMs: Infinity }, HOUR_MS);
      expect(reason).toBe("no_progress");
      expect(cpuMs).toBeLessThanOrEqual(DEADLINE_MS + 3 * LOOK_MS);
      expect(atMs).toBeGreaterThan(DEADLINE_MS / share);
    },
  );

  test.each([false, true])("when it is blocked, after twelve deadlines; silent: %s", (isSilent) => {
    // CPU share of a sleeping thread that wakes fifty times a second.
    const { reason, atMs } = watch({ share: 0.0003, progressMs: Infinity, isSilent }, HOUR_MS);
    expect(reason).toBe("blocked");
    expect(atMs).toBeGreaterThanOrEqual(12 * DEADLINE_MS);
    expect(atMs).toBeLessThanOrEqual(12 * DEADLINE_MS + 3 * LOOK_MS);
  });
});

describe("a thread is not ended", () => {
  test("when its tick takes an hour and makes progress", () => {
    expect(watch({ share: 1, progressMs: DEADLINE_MS - 3 * LOOK_MS }, HOUR_MS).reason).toBeNull();
  });

  test("when it gets very little of a busy machine: 12 s of an hour", () => {
    const { reason, cpuMs } = watch({ share: 1 / 300, progressMs: Infinity }, HOUR_MS / 3);
    expect(cpuMs).toBeLessThan(DEADLINE_MS);
    expect(reason).toBeNull();
  });

  test("when it executes nothing, or helps and waits for the tick's own thread", () => {
    expect(watch({ share: 1, progressMs: Infinity, executing: 0 }, HOUR_MS).reason).toBeNull();
    expect(watch({ share: 0, progressMs: Infinity, waits: true }, HOUR_MS).reason).toBeNull();
  });

  test("while the process is paused or throttled: the time between two checks counts as at most 250 ms", () => {
    // Paused for ten minutes before each check.
    const { reason, atMs } = watch({ share: 0, progressMs: Infinity, lookMs: 600_000 }, 100 * 600_000);
    expect(reason).toBeNull();
    expect(atMs / 600_000).toBe(100);
  });

  test("for the time of the order before", () => {
    const rule = new StuckRule();
    for (let order = 1, cpuMs = 0; order < 1000; order++)
      for (let look = 0; look < 40; look++, cpuMs += LOOK_MS)
        expect(rule.look({ executing: order, progress: 0, deadlineMs: DEADLINE_MS, cpuMs }, LOOK_MS)).toBeNull();
  });
});
