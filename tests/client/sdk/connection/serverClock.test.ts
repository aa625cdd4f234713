/** Round trip and server tick from pings, and the rate meter, on a simulated clock. */
import { expect, test } from "vitest";
import { Clock } from "../../../../client/sdk/connection/serverClock.ts";
import { backoffMs } from "../../../../client/sdk/connection/roomConnection.ts";
import { RateMeter } from "../../../../client/sdk/connection/rateMeter.ts";

test("before the first pong there are no estimates", () => {
  expect(new Clock(60).rttMs).toBeNaN();
  expect(new Clock(60).serverTick(0)).toBeNaN();
});

test("the server's tick is known to half the asymmetry of the best trip", () => {
  const clock = new Clock(60);
  const tickAt = (ms: number) => Math.floor(((ms + 5000) * 60) / 1000);
  // Trips of 20 ms each way, but some are delayed on the way back: they must not distort the estimate.
  for (let n = 0; n < 10; n++) {
    const sent = 1000 * n;
    const back = n % 3 === 0 ? 20 : 300;
    clock.pong(sent, tickAt(sent + 20), sent + 20 + back);
  }
  expect(Math.abs(clock.serverTick(10_000) - tickAt(10_000))).toBeLessThan(1.5);
  expect(clock.rttMs).toBeGreaterThan(40);
});

test("the round trip follows a change of the connection within a few pings", () => {
  const clock = new Clock(60);
  for (let n = 0; n < 10; n++) clock.pong(1000 * n, 0, 1000 * n + 10);
  expect(clock.rttMs).toBeCloseTo(10, 6);
  for (let n = 10; n < 20; n++) clock.pong(1000 * n, 0, 1000 * n + 90);
  expect(clock.rttMs).toBeGreaterThan(80);
});

test("an echo with a timestamp of the future or of long ago is ignored", () => {
  const clock = new Clock(60);
  clock.pong(500, 1, 400);
  clock.pong(0, 1, 100_000);
  expect(clock.rttMs).toBeNaN();
});

test("waits grow from a quarter second to five, spread by a third either way", () => {
  expect(backoffMs(1, 0.5)).toBe(250);
  expect(backoffMs(3, 0.5)).toBe(1000);
  expect(backoffMs(50, 0.5)).toBe(5000);
  for (const random of [0, 0.3, 0.999]) {
    expect(backoffMs(4, random)).toBeGreaterThanOrEqual(1400);
    expect(backoffMs(4, random)).toBeLessThan(2600);
  }
});

test("the rate meter covers only its last two seconds", () => {
  const meter = new RateMeter();
  for (let ms = 10_000; ms < 12_000; ms += 20) meter.add(125, ms);
  // 125 bytes in 20 ms are 50 kbit/s; the newest of the eight buckets is full at 11,999.
  expect(meter.kbps(11_999)).toBeCloseTo(50, 6);
  expect(meter.messagesPerSecond(11_999)).toBeCloseTo(50, 6);
  expect(meter.kbps(13_000)).toBeLessThan(30);
  expect(meter.kbps(100_000)).toBe(0);
});
