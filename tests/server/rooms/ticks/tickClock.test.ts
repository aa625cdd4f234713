/**
 * The tick policy in virtual time: no drift, at most two catch-up ticks, the rest is skipped and counted, without a
 * spiral.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TickClock } from "../../../../server/rooms/ticks/tickClock.ts";

describe("TickClock", () => {
  test("a million punctual ticks do not drift", () => {
    const clock = new TickClock(60, 1000);
    for (let i = 0; i < 1_000_000; i++) clock.begin(clock.nextDueMs());
    expect(clock.nextDueMs()).toBeCloseTo(1000 + (1_000_000 * 1000) / 60, 6);
    expect(clock.skipped).toBe(0);
  });

  test("ticks that start late do not delay later ticks", () => {
    const clock = new TickClock(50, 0);
    for (let i = 0; i < 100; i++) clock.begin(clock.nextDueMs() + 15);
    expect(clock.nextDueMs()).toBe(2000);
  });

  test("two overdue ticks are caught up, none is skipped", () => {
    const clock = new TickClock(100, 0);
    clock.begin(0);
    // Tick 1 was due at 10; ticks 2 and 3 are due by 30.
    expect(clock.begin(30)).toEqual({ latenessMs: 20, skipped: 0 });
    expect(clock.begin(30)).toEqual({ latenessMs: 10, skipped: 0 });
    expect(clock.begin(30)).toEqual({ latenessMs: 0, skipped: 0 });
    expect(clock.nextDueMs()).toBe(40);
  });

  test("ticks overdue by more than two periods are skipped and counted", () => {
    const clock = new TickClock(100, 0);
    clock.begin(0);
    expect(clock.begin(1000)).toEqual({ latenessMs: 990, skipped: 97 });
    expect(clock.begin(1000).skipped + clock.begin(1000).skipped).toBe(0);
    expect(clock.nextDueMs()).toBe(1010);
  });

  test("an early start is not late and skips nothing", () => {
    const clock = new TickClock(100, 0);
    clock.begin(0);
    expect(clock.begin(9.2)).toEqual({ latenessMs: 0, skipped: 0 });
    expect(clock.nextDueMs()).toBe(20);
  });

  test("a paused room does not count as late", () => {
    const clock = new TickClock(60, 0);
    clock.begin(0);
    clock.resume(1e6);
    expect(clock.begin(1e6)).toEqual({ latenessMs: 0, skipped: 0 });
  });

  test("a resumed clock has its phase within two periods, whatever the time and the ticks before", () => {
    const time = fc.double({ min: 0, max: 1e7, noNaN: true });
    const phases = fc.double({ min: 0, max: 1e4, noNaN: true });
    fc.assert(
      fc.property(time, phases, fc.nat(100), (nowMs, phase, ticks) => {
        const clock = new TickClock(60, 0);
        for (let n = 0; n < ticks; n++) clock.begin(clock.nextDueMs());
        clock.resume(nowMs, phase);
        const dueMs = clock.nextDueMs();
        expect(dueMs).toBeGreaterThan(nowMs - 1e-6);
        expect(dueMs).toBeLessThan(nowMs + 2 * clock.periodMs + 1e-6);
        const turns = (dueMs / clock.periodMs - ticks - phase) / 2;
        expect(turns).toBeCloseTo(Math.round(turns), 6);
      }),
    );
  });

  test("for any step times, begun plus skipped ticks follow the clock, and the backlog stays within the policy", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 500, noNaN: true }), { minLength: 1, maxLength: 300 }),
        (stepMs) => {
          const clock = new TickClock(60, 0);
          let nowMs = 0;
          for (const took of stepMs) {
            nowMs = Math.max(nowMs, clock.nextDueMs());
            const { latenessMs, skipped } = clock.begin(nowMs);
            expect(latenessMs - skipped * clock.periodMs).toBeLessThan(
              (clock.catchUpTicks + 1) * clock.periodMs + 1e-6,
            );
            nowMs += took;
          }
          // Time is either simulated or skipped: the next tick is due at most one period from now, or is overdue
          // already.
          expect(clock.nextDueMs()).toBeLessThanOrEqual(nowMs + clock.periodMs + 1e-6);
          expect(clock.begun).toBe(stepMs.length);
        },
      ),
    );
  });

  test("a room that needs twice its period per tick runs at half speed and no slower", () => {
    const clock = new TickClock(100, 0);
    let nowMs = 0;
    for (let i = 0; i < 1000; i++) {
      nowMs = Math.max(nowMs, clock.nextDueMs());
      clock.begin(nowMs);
      nowMs += 20;
    }
    expect(clock.begun / (clock.begun + clock.skipped)).toBeCloseTo(0.5, 2);
  });
});
