/** When threads are asked to collect what rooms have left. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Reclaimer } from "../../../server/workers/reclaim.ts";

let asked: number;
let reclaimer: Reclaimer;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  asked = 0;
  reclaimer = new Reclaimer({ collectThreads: () => asked++ });
});
afterEach(() => {
  reclaimer.close();
  vi.useRealTimers();
});

/** Lets time pass, a room ending every two seconds. */
function busy(seconds: number): void {
  for (let s = 0; s < seconds; s += 2) {
    reclaimer.ended();
    vi.advanceTimersByTime(2000);
  }
}

test("nothing is collected while no room has ended", () => {
  vi.advanceTimersByTime(600_000);
  expect(asked).toBe(0);
});

test("ten seconds after the last room has ended, once", () => {
  reclaimer.ended();
  vi.advanceTimersByTime(9_000);
  expect(asked).toBe(0);
  vi.advanceTimersByTime(3_000);
  expect(asked).toBe(1);
  vi.advanceTimersByTime(600_000);
  expect(asked).toBe(1);
});

test("every minute while rooms go on ending, and once more when they have stopped", () => {
  busy(58);
  expect(asked).toBe(0);
  busy(6);
  expect(asked).toBe(1);
  busy(60);
  expect(asked).toBe(2);
  vi.advanceTimersByTime(600_000);
  expect(asked).toBe(3);
});

test("as soon as the process has grown by an eighth of a gigabyte, but not more often than every five seconds", () => {
  const resident = process.memoryUsage.rss();
  const grown = vi.spyOn(process.memoryUsage, "rss").mockReturnValue(resident + 2 ** 29);
  busy(4);
  expect(asked).toBe(0);
  busy(4);
  expect(asked).toBe(1);
  // What is left after a collection is in use: it is what the next growth is measured from.
  busy(20);
  expect(asked).toBe(1);
  grown.mockRestore();
});
