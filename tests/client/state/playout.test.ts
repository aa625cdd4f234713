/** The playhead under the lines that exist: steady, jittery, stalled, dilated, sleeping. Time is simulated, so nothing here waits. */
import { describe, expect, test } from "vitest";
import { Playout } from "../../../client/state/playout.ts";

const INTERVAL = 1000 / 30;

interface Line {
  /** Local arrival of the n-th frame, ms. */
  arrival: (n: number) => number;
  /** Server time of the n-th frame, ms. */
  frameMs?: (n: number) => number;
  seconds: number;
}

/** Plays a line at 60 pictures a second and notes playhead and newest frame at each. */
function play({ arrival, frameMs = (n) => n * INTERVAL, seconds }: Line): { playout: Playout; shown: { ms: number; playhead: number; newest: number }[] } {
  const playout = new Playout({ intervalMs: INTERVAL });
  const shown: { ms: number; playhead: number; newest: number }[] = [];
  let n = 0;
  let newest = Number.NaN;
  for (let ms = 0; ms < seconds * 1000; ms += 1000 / 60) {
    while (arrival(n) <= ms) {
      newest = frameMs(n);
      playout.arrived(newest, arrival(n), Number.NaN);
      n++;
    }
    shown.push({ ms, playhead: playout.advance(ms), newest });
  }
  return { playout, shown };
}

/** Deterministic noise in 0..1. */
const noise = (n: number): number => {
  const x = Math.sin(n * 127.1) * 43758.5453;
  return x - Math.floor(x);
};

describe("Playout", () => {
  test("shows nothing before the first frame", () => {
    expect(new Playout({ intervalMs: INTERVAL }).advance(100)).toBeNaN();
  });

  test("on a steady line the delay is two intervals and the motion runs at real speed", () => {
    const { playout, shown } = play({ arrival: (n) => 20 + n * INTERVAL, seconds: 5 });
    expect(playout.delayMs).toBeCloseTo(2 * INTERVAL, 6);
    const tail = shown.slice(120);
    const speed = (tail.at(-1)!.playhead - tail[0]!.playhead) / (tail.at(-1)!.ms - tail[0]!.ms);
    expect(speed).toBeCloseTo(1, 2);
    const lag = tail.map(({ ms, playhead }) => ms - 20 - playhead);
    expect(Math.max(...lag)).toBeLessThan(3 * INTERVAL);
    expect(Math.min(...lag)).toBeGreaterThan(1.5 * INTERVAL);
    expect(playout.starvations).toBe(0);
  });

  test("jitter of one interval deepens the buffer, to at most three intervals and a half, and nothing starves", () => {
    const { playout, shown } = play({ arrival: (n) => 20 + n * INTERVAL + INTERVAL * noise(n), seconds: 20 });
    expect(playout.delayMs).toBeGreaterThan(2.1 * INTERVAL);
    expect(playout.delayMs).toBeLessThan(3.6 * INTERVAL);
    const starvedAt = shown.slice(120).filter(({ playhead, newest }) => playhead >= newest).length;
    expect(starvedAt).toBeLessThanOrEqual(2);
  });

  test("the playhead never goes back and never passes the newest frame", () => {
    const { shown } = play({ arrival: (n) => 20 + n * INTERVAL + (n % 50 > 40 ? 200 : 0) + 60 * noise(n), seconds: 12 });
    const known = shown.filter(({ playhead }) => !Number.isNaN(playhead));
    for (let i = 1; i < known.length; i++) {
      expect(known[i]!.playhead).toBeLessThanOrEqual(known[i]!.newest);
      // A jump forward after a stall is allowed; back is not.
      expect(known[i]!.playhead).toBeGreaterThanOrEqual(known[i - 1]!.playhead - 1e-9);
    }
  });

  test("a server at 60 % of real time is followed smoothly", () => {
    const { shown } = play({ arrival: (n) => 20 + (n * INTERVAL) / 0.6, seconds: 10 });
    const tail = shown.slice(300);
    const steps = tail.slice(1).map(({ playhead }, i) => playhead - tail[i]!.playhead);
    expect((tail.at(-1)!.playhead - tail[0]!.playhead) / (tail.at(-1)!.ms - tail[0]!.ms)).toBeCloseTo(0.6, 1);
    expect(Math.max(...steps)).toBeLessThan(2 * (0.6 * 1000) / 60);
  });

  test("what moves after a rest is shown after the ordinary delay, not after the rest's last silence", () => {
    const playout = new Playout({ intervalMs: INTERVAL });
    for (let n = 0; n < 60; n++) playout.arrived(n * INTERVAL, n * INTERVAL, Number.NaN);
    // At rest a frame comes every 250 ms; the last one is 240 ms old when something moves.
    playout.arrived(2250, 2250, 59 * INTERVAL);
    playout.advance(2480);
    playout.arrived(2490, 2490, 59 * INTERVAL);
    expect(2490 - playout.advance(2490)).toBeLessThanOrEqual(playout.delayMs + 1);
  });

  test("a restarted time line is followed at once", () => {
    const playout = new Playout({ intervalMs: INTERVAL });
    for (let n = 0; n < 30; n++) playout.arrived(5000 + n * INTERVAL, n * INTERVAL, Number.NaN);
    playout.arrived(100, 1010, Number.NaN);
    const playhead = playout.advance(1010);
    expect(playhead).toBeLessThanOrEqual(100);
    expect(playhead).toBeGreaterThan(0);
  });
});
