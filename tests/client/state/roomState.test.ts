/**
 * From socket events to displayed positions, with the real codec: waiting for the topology, the chain, its break, a
 * resumed connection.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { RoomState } from "../../../client/state/roomState.ts";
import { encodeDelta } from "../../../shared/snapshot/index.ts";
import type { Topology } from "../../../shared/topology.ts";
import { delta, keyframe, model, shape, topology, welcome } from "../quad.ts";

let state: RoomState;
let asked: number;
let deliver: (topology: Topology) => void;
let fetches: number;

beforeEach(() => {
  asked = fetches = 0;
  state = new RoomState({
    fetchTopology: () => {
      fetches++;
      return new Promise((resolve) => {
        deliver = resolve;
      });
    },
    needKeyframe: () => asked++,
  });
});

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
const frames = () => state.buffer!.list().map(({ tick, ints }) => [tick, ints[0]]);

async function join(): Promise<void> {
  state.receive(welcome(), 0);
  deliver(topology);
  await settle();
}

describe("RoomState", () => {
  test("positions are the integers times the quantum, interpolated between frames", async () => {
    await join();
    state.receive(keyframe(2, 100), 0);
    for (let n = 1; n <= 12; n++) state.receive(delta(2 + 2 * n, 98 + 2 * n, 100 + 2 * n), (1000 * n) / 30);
    const sampled = state.sample(400)!;
    expect(sampled.moved).toBe(true);
    // Two intervals behind the newest frame: tick 22 and a little more.
    expect(sampled.tick).toBeGreaterThan(20);
    expect(sampled.tick).toBeLessThan(24);
    expect(state.displayed[0]).toBeCloseTo((98 + sampled.tick) * 0.001, 4);
  });

  test("a page that is shown again begins with its last picture, and fades to the current state", async () => {
    await join();
    state.receive(keyframe(2, 100), 0);
    for (let n = 1; n <= 60; n++) {
      const nowMs = (1000 * n) / 30;
      state.receive(delta(2 + 2 * n, 98 + 2 * n, 100 + 2 * n), nowMs);
      if (n === 12) state.sample(nowMs);
    }
    const before = [...state.displayed];
    state.returned();
    expect(state.sample(2001)!.moved).toBe(true);
    expect([...state.displayed]).toEqual(before);
    state.sample(2001 + 300);
    state.sample(2001 + 310);
    expect(state.crossFading).toBe(false);
    expect(state.displayed[0]! - before[0]!).toBeGreaterThan(0.05);
  });

  test.each([
    [
      "frames in a burst while the page was busy",
      () => {
        for (let tick = 4; tick <= 120; tick += 2) state.receive(delta(tick, 96 + tick, 98 + tick), 1000);
      },
    ],
    ["a reset", () => state.receive({ type: "reset", tick: 2, member: 1 }, 1000)],
    [
      "a lost connection",
      () => {
        state.receive(welcome(), 1000);
        state.receive(keyframe(90, 100), 1000);
      },
    ],
  ])("before the first picture there is nothing to fade from: %s", async (_, happens) => {
    await join();
    state.receive(keyframe(2, 100), 0);
    happens();
    state.sample(1001);
    expect(state.crossFading).toBe(false);
    expect(state.displayed[0]).toBeGreaterThan(0.0999);
  });

  test("a delta of another base requests a keyframe once, and that repairs the chain", async () => {
    await join();
    state.receive(keyframe(2, 100), 0);
    const warn = console.warn;
    console.warn = () => {};
    try {
      state.receive(delta(8, 104, 106), 100);
      state.receive(delta(10, 106, 108), 133);
    } finally {
      console.warn = warn;
    }
    expect(asked).toBe(1);
    expect(frames()).toEqual([[2, 100]]);
    state.receive(keyframe(12, 110), 166);
    state.receive(delta(14, 110, 111), 200);
    expect(frames().slice(-2)).toEqual([
      [12, 110],
      [14, 111],
    ]);
  });

  test("a keyframe for another member at a known tick changes nothing", async () => {
    await join();
    state.receive(keyframe(2, 100), 0);
    state.receive(delta(4, 100, 101), 33);
    state.receive(keyframe(4, 101), 34);
    state.receive(delta(6, 101, 102), 66);
    expect(frames()).toEqual([
      [2, 100],
      [4, 101],
      [6, 102],
    ]);
  });

  test("a resumed connection keeps the picture, does not fetch again, and fades into the new state", async () => {
    await join();
    for (let n = 0; n < 5; n++) state.receive(n === 0 ? keyframe(2, 100) : delta(2 + 2 * n, 100, 100), 33 * n);
    state.sample(200);
    expect(state.displayed[0]).toBeCloseTo(0.1, 6);
    state.receive(welcome(), 1000);
    expect(fetches).toBe(1);
    state.receive(delta(90, 1, 2), 1001);
    expect(state.displayed[0]).toBeCloseTo(0.1, 6);
    state.receive(keyframe(92, 500), 1010);
    state.sample(1011);
    expect(state.displayed[0]).toBeLessThan(0.11);
    state.sample(1140);
    expect(state.displayed[0]).toBeGreaterThan(0.2);
    expect(state.displayed[0]).toBeLessThan(0.45);
    state.sample(1400);
    expect(state.displayed[0]).toBeCloseTo(0.5, 6);
  });

  test("after frames omitted without motion: the motion begins one interval before its frame, not with the pause", async () => {
    await join();
    state.receive(keyframe(2, 100), 0);
    for (let n = 1; n <= 10; n++) state.receive(delta(2 + 2 * n, 98 + 2 * n, 100 + 2 * n), 33 * n);
    // No motion for six intervals, and then motion, without a heartbeat in between.
    for (let ms = 350; ms < 560; ms += 16) state.sample(ms);
    state.receive({ type: "delta", tick: 36, baseTick: 22, data: encodeDelta(model, shape(120), shape(130)) }, 564);
    const shown = [];
    for (let ms = 565; ms < 700; ms += 8) shown.push({ ...state.sample(ms)!, x: state.displayed[0]! });
    const early = shown.filter(({ tick }) => tick <= 34);
    expect(early.length).toBeGreaterThan(0);
    for (const { x } of early) expect(x).toBeCloseTo(0.12, 6);
    expect(shown.at(-1)!.x).toBeCloseTo(0.13, 6);
  });

  test("after a stall of a second that ends in a burst the picture fades into the new state", async () => {
    await join();
    state.receive(keyframe(2, 100), 0);
    for (let n = 1; n <= 60; n++) state.receive(delta(2 + 2 * n, 98 + 2 * n, 100 + 2 * n), (1000 * n) / 30);
    const back = 2000 + 1500;
    for (let ms = 1900; ms < back; ms += 16) state.sample(ms);
    let last = state.displayed[0]!;
    for (let n = 61; n <= 105; n++) state.receive(delta(2 + 2 * n, 98 + 2 * n, 100 + 2 * n), back);
    expect(state.crossFading).toBe(true);
    let travelled = 0;
    for (let ms = back + 8; ms < back + 400; ms += 8) {
      state.sample(ms);
      const step = state.displayed[0]! - last;
      last = state.displayed[0]!;
      travelled += step;
      // 45 frames of 2 mm in a smoothstep of 260 ms: at most 1.5 / 260 ms of them, and the motion itself, 60 mm/s at
      // 1.3 times its speed.
      expect(step).toBeGreaterThanOrEqual(0);
      expect(step).toBeLessThanOrEqual((1.5 * 0.09 * 8) / 260 + 1.3 * 0.06 * 0.008 + 1e-6);
    }
    expect(travelled).toBeGreaterThan(0.07);
    expect(state.crossFading).toBe(false);
  });

  test("acknowledgements of the member's own grabs are kept, those of other members are ignored", async () => {
    await join();
    const grab = { grab: 5, body: 0, triangle: 0, u: 0, v: 0, target: [1, 2, 3] as [number, number, number] };
    state.receive({ type: "grabs", tick: 10, members: [{ member: 2, cursor: undefined, grabs: [grab] }] }, 0);
    const out = new Float64Array(3);
    expect(state.acknowledged.at(5, 10, 2, out, undefined)).toBe("before");
    state.receive({ type: "grabs", tick: 12, members: [{ member: 1, cursor: undefined, grabs: [grab] }] }, 0);
    expect(state.acknowledged.at(5, 12, 2, out, undefined)).toBe("held");
    expect([...out]).toEqual([1, 2, 3]);
  });

  test("at rest no body counts as moved", async () => {
    await join();
    state.receive(keyframe(2, 100), 0);
    for (let n = 1; n < 10; n++) state.receive(delta(2 + 2 * n, 100, 100), 33 * n);
    state.sample(300);
    state.sample(316);
    expect(state.sample(333)!.moved).toBe(false);
  });

  test("grabs and cursors of members who left are forgotten", async () => {
    await join();
    state.receive(
      {
        type: "grabs",
        tick: 1,
        members: [
          { member: 2, cursor: [0, 0, 0], grabs: [] },
          { member: 3, cursor: [0, 0, 0], grabs: [] },
        ],
      },
      0,
    );
    state.receive(
      {
        type: "members",
        members: [
          { member: 2, name: "a", color: "#000000", connected: true, role: "player" },
          { member: 3, name: "b", color: "#000000", connected: false, role: "player" },
        ],
      },
      0,
    );
    expect([...state.grabsByMember.keys()]).toEqual([2]);
  });
});
