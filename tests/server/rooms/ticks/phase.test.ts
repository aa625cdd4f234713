/** Phases of rooms that come and go. */
import { expect, test } from "vitest";
import { Phases } from "../../../../server/rooms/ticks/phase.ts";
import { randomStream } from "../../../parity/kit.ts";

/** Least and largest distance between neighbors, around the circle. */
function gaps(phases: readonly number[]): { least: number; largest: number } {
  const sorted = [...phases].sort((a, b) => a - b);
  const all = sorted.map((phase, n) => (sorted[n + 1] ?? 1 + sorted[0]!) - phase);
  return { least: Math.min(...all), largest: Math.max(...all) };
}

test("phases of 2^n rooms are even; between, no gap is more than twice another", () => {
  const phases = new Phases();
  const taken: number[] = [];
  for (let rooms = 1; rooms <= 64; rooms++) {
    taken.push(phases.take());
    const { least, largest } = gaps(taken);
    expect(largest).toBe((rooms & (rooms - 1)) === 0 ? least : 2 * least);
  }
});

test("after any rooms have ended, new ones fill the gaps that these left", () => {
  const phases = new Phases();
  const random = randomStream(5);
  const taken = Array.from({ length: 40 }, () => phases.take());
  for (let turn = 0; turn < 2000; turn++) {
    phases.free(taken.splice(Math.floor(random() * taken.length), 1)[0]!);
    const { largest } = gaps(taken);
    taken.push(phases.take());
    // The new phase is in the middle of the largest gap, so none of this size is left unless there were two.
    expect(gaps([...taken.slice(0, -1)]).largest).toBe(largest);
    expect(new Set(taken).size).toBe(40);
  }
  // 40 even gaps have 1/40; the middle of the largest gap keeps each at most at twice the mean.
  expect(gaps(taken).largest).toBeLessThanOrEqual(4 / 40);
});
