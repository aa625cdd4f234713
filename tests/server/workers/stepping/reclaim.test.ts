/** When threads are asked to collect the garbage of closed rooms. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Reclaimer } from "../../../../server/workers/stepping/reclaim.ts";

let asked: number;
let reclaimer: Reclaimer;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  asked = 0;
  reclaimer = new Reclaimer({ collectThreads: async () => void asked++ });
});
afterEach(() => {
  reclaimer.close();
  vi.useRealTimers();
});

/** Advances the time, with a room ending every two seconds. */
async function busy(seconds: number, bytes = 0): Promise<void> {
  for (let s = 0; s < seconds; s += 2) {
    reclaimer.ended(bytes);
    await vi.advanceTimersByTimeAsync(2000);
  }
}

test("nothing is collected while no room has ended", async () => {
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked).toBe(0);
});

test("ten seconds after the last room has ended, once", async () => {
  reclaimer.ended(0);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(asked).toBe(0);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked).toBe(1);
});

test("every minute while rooms keep ending, and once more when they have stopped", async () => {
  await busy(58);
  expect(asked).toBe(0);
  await busy(6);
  expect(asked).toBe(1);
  await busy(60);
  expect(asked).toBe(2);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked).toBe(3);
});

test("after growth by an eighth of a gigabyte with ended rooms, but at most every five seconds", async () => {
  const resident = process.memoryUsage.rss();
  const grown = vi.spyOn(process.memoryUsage, "rss").mockReturnValue(resident + 2 ** 29);
  // Collecting cannot free growth without ended rooms.
  await busy(20, 2 ** 20);
  expect(asked).toBe(0);
  await busy(2, 64 * 2 ** 20);
  expect(asked).toBe(1);
  // Memory that remains after a collection is in use: the next growth is measured from it.
  await busy(20, 64 * 2 ** 20);
  expect(asked).toBe(1);
  grown.mockReturnValue(resident + 2 ** 31);
  await busy(2, 64 * 2 ** 20);
  expect(asked).toBe(2);
  grown.mockReturnValue(resident + 2 ** 33);
  await busy(2, 64 * 2 ** 20);
  expect(asked).toBe(2);
  await busy(4, 64 * 2 ** 20);
  expect(asked).toBe(3);
  grown.mockRestore();
});
