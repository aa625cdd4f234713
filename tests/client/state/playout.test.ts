/**
 * The playhead with realistic connections: steady, with jitter, stalled, dilated, sleeping. Time is simulated, so the
 * tests do not wait.
 */
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

/** Plays a connection at 60 pictures a second and records playhead and newest frame at each. */
function play({ arrival, frameMs = (n) => n * INTERVAL, seconds }: Line): {
  playout: Playout;
  shown: { ms: number; playhead: number; newest: number }[];
} {
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

  test("on a steady connection the delay is two intervals and the motion runs at real speed", () => {
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

  test("jitter of one interval deepens the buffer, to at most three and a half intervals, and it never runs empty", () => {
    const { playout, shown } = play({ arrival: (n) => 20 + n * INTERVAL + INTERVAL * noise(n), seconds: 20 });
    expect(playout.delayMs).toBeGreaterThan(2.1 * INTERVAL);
    expect(playout.delayMs).toBeLessThan(3.6 * INTERVAL);
    const starvedAt = shown.slice(120).filter(({ playhead, newest }) => playhead >= newest).length;
    expect(starvedAt).toBeLessThanOrEqual(2);
  });

  test("the playhead never goes back and never passes the newest frame", () => {
    const { shown } = play({
      arrival: (n) => 20 + n * INTERVAL + (n % 50 > 40 ? 200 : 0) + 60 * noise(n),
      seconds: 12,
    });
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
    expect(Math.max(...steps)).toBeLessThan((2 * (0.6 * 1000)) / 60);
  });

  test("motion after a rest is shown soon; from there the normal delay is reached without a stop", () => {
    const playout = new Playout({ intervalMs: INTERVAL });
    for (let n = 0; n < 60; n++) playout.arrived(n * INTERVAL, n * INTERVAL, Number.NaN);
    // At rest a frame comes every 250 ms; the last one is 240 ms old when motion begins.
    playout.arrived(2250, 2250, 59 * INTERVAL);
    playout.advance(2480);
    playout.arrived(2490, 2490, 59 * INTERVAL);
    expect(2490 - playout.advance(2490)).toBeCloseTo(1.25 * INTERVAL, 6);
    const { starvations } = playout;
    let lead = 0;
    for (let n = 1; n <= 60; n++) {
      const frameMs = 2490 + n * INTERVAL;
      // Every other frame is late, by less than the available quarter of an interval.
      const nowMs = frameMs + (n % 2 ? 0.2 * INTERVAL : 0);
      playout.arrived(frameMs, nowMs, Number.NaN);
      lead = frameMs - playout.advance(nowMs);
    }
    expect(playout.starvations).toBe(starvations);
    expect(Math.abs(lead - playout.delayMs)).toBeLessThan(0.15 * INTERVAL);
  });

  test("a single still frame between moving ones ahead of the picture does not count as rest, and causes no jump", () => {
    const playout = new Playout({ intervalMs: INTERVAL });
    for (let n = 0; n < 60; n++) playout.arrived(n * INTERVAL, n * INTERVAL, Number.NaN);
    // Three frames come late and together; the second of them equals the first.
    const before = playout.advance(63 * INTERVAL);
    for (const n of [60, 61]) playout.arrived(n * INTERVAL, 63 * INTERVAL, Number.NaN);
    for (const n of [62, 63, 64]) playout.arrived(n * INTERVAL, 63 * INTERVAL, 61 * INTERVAL);
    expect(playout.advance(63 * INTERVAL)).toBe(before);
  });

  /** Arrivals over TCP: order is kept, and behind a lost segment everything waits. */
  const tcp = (jitterMs: number, lost: (n: number) => number): ((n: number) => number) => {
    const arrivals: number[] = [];
    return (n) => {
      for (let k = arrivals.length; k <= n; k++)
        arrivals.push(Math.max(arrivals[k - 1] ?? 0, 50 + k * INTERVAL + jitterMs * noise(k) + lost(k)));
      return arrivals[n]!;
    };
  };

  /**
   * Even jitter of up to J <= one interval I keeps frames apart, so the smoothing sees |u - u'| J: mean J/3, deviation
   * 0.236 J, smoothed over 1/16: 0.042 J. The delay is 1.75 I + 3 times that: 1.75 I + J, plus or minus 4 * 3 * 0.042 J
   * = 0.51 J. Frames are late by at most J/2 more than on average, so I + J/2 <= 1.5 I would suffice.
   */
  test.each([0.25, 0.5, 0.75, 1])(
    "even jitter of %f intervals: two to three intervals deep, and never empty",
    (part) => {
      const jitterMs = part * INTERVAL;
      const { playout, shown } = play({ arrival: tcp(jitterMs, () => 0), seconds: 120 });
      expect(playout.delayMs).toBeGreaterThanOrEqual(Math.max(2 * INTERVAL, 1.75 * INTERVAL + 0.49 * jitterMs));
      expect(playout.delayMs).toBeLessThanOrEqual(Math.max(2 * INTERVAL, 1.75 * INTERVAL + 1.51 * jitterMs));
      expect(shown.slice(60).filter(({ playhead, newest }) => playhead >= newest).length).toBe(0);
    },
  );

  test("after a lost packet the picture stops at the newest frame, then catches up at no more than 1.3 times the speed", () => {
    const { playout, shown } = play({ arrival: tcp(10, (n) => (n % 100 === 99 ? 200 : 0)), seconds: 30 });
    // A delay of two intervals cannot bridge the 200 ms of a retransmission.
    expect(playout.starvations).toBeGreaterThan(5);
    for (const [i, { playhead, newest, ms }] of shown.entries()) {
      if (i === 0 || Number.isNaN(shown[i - 1]!.playhead)) continue;
      expect(playhead).toBeLessThanOrEqual(newest);
      const step = playhead - shown[i - 1]!.playhead;
      expect(step).toBeGreaterThanOrEqual(0);
      expect(step).toBeLessThanOrEqual(1.3 * (ms - shown[i - 1]!.ms) + 1e-6);
    }
  });

  test("a connection that was stalled for longer is followed with one jump, which is reported", () => {
    const playout = new Playout({ intervalMs: INTERVAL });
    for (let n = 0; n < 60; n++) expect(playout.arrived(n * INTERVAL, n * INTERVAL, Number.NaN)).toBe(false);
    const back = 59 * INTERVAL + 1500;
    const before = playout.advance(back);
    const jumps: boolean[] = [];
    for (let n = 60; n * INTERVAL <= back; n++) jumps.push(playout.arrived(n * INTERVAL, back, Number.NaN));
    expect(jumps).toContain(true);
    expect(playout.advance(back) - before).toBeGreaterThan(400);
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
