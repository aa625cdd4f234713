/**
 * A replay's frames stay encoded and are decoded in any order: the decoded frame does not depend on the order of
 * access.
 */
import { describe, expect, test } from "vitest";
import { ReplayBuffer } from "../../../client/state/replayBuffer.ts";
import { Playhead } from "../../../client/state/playhead.ts";
import type { ReplayHead } from "../../../shared/protocol/protocol.ts";
import { createSnapshotModel, encodeDelta, encodeKeyframe } from "../../../shared/snapshot/index.ts";
import type { Topology } from "../../../shared/topology.ts";

const QUANTUM = 2 ** -10;
const triangles = new Uint32Array([0, 1, 2, 0, 2, 3]);
const body = {
  name: "b",
  kind: "cloth",
  count: 4,
  first: 0,
  quantum: QUANTUM,
  triangles: new Uint8Array(triangles.buffer),
};
/** Two bodies of one square each: the parts of a topology that the replay reads. */
const topology = { particles: 8, tickHz: 60, bodies: [body, { ...body, first: 4 }] } as unknown as Topology;
const head: ReplayHead = {
  format: "pliant-replay-1",
  room: "r",
  scene: "s",
  topology: "",
  tickHz: 60,
  sendHz: 30,
  from: 100,
  until: 160,
};
const model = createSnapshotModel([
  { count: 4, triangles },
  { count: 4, triangles },
]);

/** Grid coordinates of a tick: all different, and steps of all sizes. */
const frameOf = (tick: number): Int32Array =>
  Int32Array.from({ length: 24 }, (_, i) => ((tick * tick * (i + 3)) % 997) - 400);
// Ticks of the frames; the body is at rest from 128 to 140.
const TICKS = Array.from({ length: 31 }, (_, i) => 100 + 2 * i).filter((tick) => tick < 130 || tick >= 140);

function replay(upTo = Infinity): ReplayBuffer {
  const made = new ReplayBuffer(head, topology);
  let last: Int32Array | undefined;
  TICKS.forEach((tick, n) => {
    if (tick > upTo) return;
    const ints = frameOf(tick);
    made.add(
      n % 8 === 0
        ? { type: "keyframe", tick, data: encodeKeyframe(model, ints) }
        : { type: "delta", tick, baseTick: TICKS[n - 1]!, data: encodeDelta(model, last!, ints) },
    );
    last = ints;
  });
  return made;
}
const metres = (ints: Int32Array): number[] => [...ints].map((x) => Math.fround(x * QUANTUM));

test("every frame is decoded again: forwards, backwards and after jumps", () => {
  const made = replay();
  const leaps = TICKS.map((_, n) => TICKS[(n * 11) % TICKS.length]!);
  expect(new Set(leaps).size).toBe(TICKS.length);
  for (const order of [TICKS, [...TICKS].reverse(), leaps]) {
    for (const tick of order) {
      expect(made.show(tick)).toBe(tick);
      expect([...made.ints], `tick ${tick}`).toEqual([...frameOf(tick)]);
      expect([...made.displayed], `tick ${tick}`).toEqual(metres(frameOf(tick)));
    }
  }
});

test("positions between two frames are linear; a rest lasts until its end; nothing is shown beyond the received frames", () => {
  const made = replay();
  const between = (a: number, b: number, alpha: number): number[] =>
    metres(frameOf(a)).map((x, i) => Math.fround(x + (metres(frameOf(b))[i]! - x) * alpha));
  made.show(105);
  expect([...made.displayed]).toEqual(between(104, 106, 0.5));
  made.show(137.9);
  expect([...made.displayed]).toEqual(metres(frameOf(128)));
  made.show(139);
  expect([...made.displayed]).toEqual(between(128, 140, 0.5));
  expect(made.show(50)).toBe(100);
  expect(made.show(1000)).toBe(160);
  expect([...made.displayed]).toEqual(metres(frameOf(160)));
  expect(new ReplayBuffer(head, topology).show(100)).toBeNaN();
});

test("continues when more frames have arrived", () => {
  const whole = replay();
  const made = replay(104);
  expect([made.first, made.last]).toEqual([100, 104]);
  expect(made.show(110)).toBe(104);
  const ints = frameOf(106);
  made.add({ type: "delta", tick: 106, baseTick: 104, data: encodeDelta(model, frameOf(104), ints) });
  expect(made.show(105)).toBe(105);
  whole.show(105);
  expect([...made.displayed]).toEqual([...whole.displayed]);
});

test("a reset jumps, absent bodies are not in any picture between, grabs are those of the moment", () => {
  const made = new ReplayBuffer(head, topology);
  made.add({ type: "spawnable", tick: 100, bodies: [1], member: 0 });
  made.add({ type: "keyframe", tick: 100, data: encodeKeyframe(model, frameOf(100)) });
  const grab = { grab: 1, body: 0, triangle: 0, u: 0, v: 0, target: [0, 1, 0] as [number, number, number] };
  made.add({ type: "grabs", tick: 102, members: [{ member: 7, cursor: undefined, grabs: [grab] }] });
  made.add({ type: "reset", tick: 102, member: 7 });
  made.add({ type: "delta", tick: 102, baseTick: 100, data: encodeDelta(model, frameOf(100), frameOf(102)) });
  made.add({ type: "spawnable", tick: 103, bodies: [], member: 7 });
  made.add({ type: "grabs", tick: 104, members: [{ member: 8, cursor: undefined, grabs: [] }] });
  made.add({ type: "delta", tick: 104, baseTick: 102, data: encodeDelta(model, frameOf(102), frameOf(104)) });
  made.add({ type: "delta", tick: 106, baseTick: 104, data: encodeDelta(model, frameOf(104), frameOf(106)) });
  made.show(101.9);
  expect([...made.displayed]).toEqual(metres(frameOf(100)));
  made.show(102);
  expect([...made.displayed]).toEqual(metres(frameOf(102)));
  for (const [tick, hidden] of [
    [100, [0, 1]],
    [103, [0, 1]],
    [104, [0, 0]],
    [101, [0, 1]],
  ] as const) {
    made.show(tick);
    expect([...made.hidden], `tick ${tick}`).toEqual(hidden);
  }
  expect(made.handsAt(101).size).toBe(0);
  expect(made.handsAt(103).get(7)!.grabs).toEqual([grab]);
  expect([...made.handsAt(200).keys()]).toEqual([7, 8]);
});

describe("the playhead", () => {
  test("advances with the clock and its speed, waits for missing frames, and stops at the end", () => {
    const playhead = new Playhead(60);
    playhead.advance(0, Number.NaN, Number.NaN, 160);
    expect(playhead.tick).toBeNaN();
    playhead.advance(1000, 100, 120, 160);
    playhead.advance(1100, 100, 120, 160);
    expect(playhead.tick).toBeCloseTo(106, 9);
    playhead.speed = 0.5;
    playhead.advance(1200, 100, 120, 160);
    expect(playhead.tick).toBeCloseTo(109, 9);
    // A jump of the clock: a hidden page is shown again.
    playhead.advance(9000, 100, 120, 160);
    expect(playhead.tick).toBeCloseTo(116.5, 9);
    playhead.advance(9250, 100, 120, 160);
    expect([playhead.tick, playhead.playing]).toEqual([120, true]);
    playhead.speed = 2;
    for (const ms of [9450, 9700]) playhead.advance(ms, 100, 160, 160);
    expect([playhead.tick, playhead.playing]).toEqual([160, false]);
    playhead.toggle(100, 160);
    expect([playhead.tick, playhead.playing]).toEqual([100, true]);
  });

  test("stays between the ends, and at a chosen tick that has not arrived yet", () => {
    const playhead = new Playhead(60);
    playhead.seek(5, 100, 160);
    expect(playhead.tick).toBe(100);
    playhead.seek(150, 100, 160);
    playhead.advance(0, 100, 120, 160);
    playhead.advance(1000, 100, 120, 160);
    expect(playhead.tick).toBe(150);
    playhead.seek(500, 100, 160);
    expect(playhead.tick).toBe(160);
  });
});
