/** The buffer never extrapolates, never interpolates across a jump, and keeps a rest until motion really begins. */
import { describe, expect, test } from "vitest";
import { FRAMES_KEPT, SnapshotBuffer } from "../../../client/state/snapshotBuffer.ts";

function push(buffer: SnapshotBuffer, tick: number, value: number): void {
  const frame = buffer.borrow();
  frame.tick = tick;
  frame.ints.fill(value);
  frame.positions.fill(value / 2);
  buffer.push(frame);
}

const filled = (...frames: [number, number][]): SnapshotBuffer => {
  const buffer = new SnapshotBuffer(1);
  for (const [tick, value] of frames) push(buffer, tick, value);
  return buffer;
};

describe("SnapshotBuffer.at", () => {
  test("an empty buffer has nothing to show", () => {
    expect(new SnapshotBuffer(1).at(5, 2)).toBeUndefined();
  });

  test("finds the pair around a moment and the fraction between them", () => {
    const pair = filled([10, 0], [12, 4], [14, 8]).at(12.5, 2)!;
    expect([pair.from.tick, pair.to.tick, pair.alpha]).toEqual([12, 14, 0.25]);
  });

  test("beyond the newest frame it shows the newest, before the oldest the oldest", () => {
    const buffer = filled([10, 0], [12, 4]);
    for (const moment of [12, 12.1, 99])
      expect(buffer.at(moment, 2)).toMatchObject({ from: { tick: 12 }, to: { tick: 12 }, alpha: 0 });
    expect(buffer.at(3, 2)).toMatchObject({ from: { tick: 10 }, alpha: 0 });
  });

  test("a gap after motion is interpolated over its whole length", () => {
    expect(filled([10, 0], [12, 4], [22, 8]).at(17, 2)!.alpha).toBe(0.5);
  });

  test("a gap after a rest shows the rest until one interval before the motion", () => {
    const buffer = filled([10, 4], [12, 4], [40, 9]);
    expect(buffer.at(30, 2)!.alpha).toBe(0);
    expect(buffer.at(38, 2)!.alpha).toBe(0);
    expect(buffer.at(39, 2)!.alpha).toBe(0.5);
  });
});

test("motion after a pause is not spread over the pause, even if no frame reported the rest", () => {
  const buffer = filled([10, 4], [12, 5], [40, 9]);
  buffer.newest!.afterRest = true;
  expect(buffer.at(30, 2)!.alpha).toBe(0);
  expect(buffer.at(39, 2)!.alpha).toBe(0.5);
});

describe("SnapshotBuffer.push", () => {
  test("marks frames without motion, and remembers since when", () => {
    const frames = filled([2, 1], [4, 7], [6, 7], [8, 7], [10, 8]).list();
    expect(frames.map(({ still }) => still)).toEqual([false, false, true, true, false]);
    expect(frames.map(({ changedTick }) => changedTick)).toEqual([2, 4, 4, 4, 10]);
  });

  test("a lower tick empties the buffer: no pair spans a restart", () => {
    const buffer = filled([100, 1], [102, 2], [4, 3]);
    expect(buffer.list().map(({ tick }) => tick)).toEqual([4]);
    expect(buffer.at(50, 2)).toMatchObject({ from: { tick: 4 }, to: { tick: 4 } });
  });

  test("keeps a bounded number of frames and reuses their arrays", () => {
    const buffer = new SnapshotBuffer(1);
    const arrays = new Set<Int32Array>();
    for (let tick = 0; tick < 5 * FRAMES_KEPT; tick++) {
      push(buffer, tick, tick);
      arrays.add(buffer.newest!.ints);
    }
    expect(buffer.length).toBe(FRAMES_KEPT);
    expect(arrays.size).toBeLessThanOrEqual(FRAMES_KEPT + 1);
    expect(buffer.list().map(({ ints }) => ints[0])).toEqual(buffer.list().map(({ tick }) => tick));
  });
});
