/** A client's copy of a room: the changes and events of each message, and frames before the topology. */
import { beforeEach, expect, test } from "vitest";
import { RoomMirror } from "../../../../client/sdk/mirror/roomMirror.ts";
import type { ServerEvent } from "../../../../shared/protocol/fromServer.ts";
import type { Topology } from "../../../../shared/topology.ts";
import { delta, keyframe, topology, welcome } from "../../quad.ts";

let mirror: RoomMirror;
let fetches: { hash: string; arrives: (topology: Topology) => void; fails: (error: Error) => void }[];
/** Errors of the requests for a keyframe; undefined: no frame was wrong. */
let asked: unknown[];
let told: [string, unknown][];

beforeEach(() => {
  fetches = [];
  asked = [];
  told = [];
  mirror = new RoomMirror({
    fetchTopology: (hash) => new Promise((arrives, fails) => fetches.push({ hash, arrives, fails })),
    needKeyframe: (error) => asked.push(error),
  });
  for (const name of ["frame", "grabbed", "released", "spawned", "removed", "scene", "topologyFailed"] as const)
    mirror.add(name, (event) => told.push([name, event]));
});

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

async function join(): Promise<void> {
  mirror.receive(welcome(), 0);
  fetches[0]!.arrives(topology);
  await settle();
}

const grab = { grab: 5, body: 0, triangle: 0, u: 0, v: 0, target: [1, 2, 3] as [number, number, number] };
const hands = (tick: number, grabs: (typeof grab)[]): ServerEvent => ({
  type: "grabs",
  tick,
  members: [{ member: 2, cursor: undefined, grabs }],
});

test("grabs and bodies that were there before the first frame fire no events, later changes do", async () => {
  await join();
  mirror.receive({ type: "spawnable", tick: 1, bodies: [3], member: 2 }, 0);
  mirror.receive(hands(1, [grab]), 0);
  mirror.receive(keyframe(2, 100), 0);
  expect(told).toEqual([["frame", { tick: 2 }]]);
  mirror.receive({ type: "spawnable", tick: 3, bodies: [4], member: 2 }, 0);
  mirror.receive(hands(3, []), 0);
  expect(mirror.spawnable).toEqual([4]);
  expect(told.slice(1)).toEqual([
    ["spawned", { tick: 3, body: 3, member: 2 }],
    ["removed", { tick: 3, body: 4, member: 2 }],
    ["released", { ...grab, member: 2, tick: 3 }],
  ]);
});

test("the first lines after a welcome are earlier ones, also after a lost connection", async () => {
  const said: boolean[] = [];
  mirror.add("said", ({ earlier }) => said.push(earlier));
  await join();
  const lines: ServerEvent = { type: "said", lines: [] };
  mirror.receive(lines, 0);
  mirror.receive(lines, 0);
  mirror.receive(welcome(), 0);
  mirror.receive(lines, 0);
  expect(said).toEqual([true, false, true]);
});

test("frames before the topology are decoded once it has arrived, without a request for a keyframe", async () => {
  mirror.receive(welcome(), 0);
  mirror.receive(keyframe(2, 100), 1);
  mirror.receive(delta(4, 100, 104), 2);
  const times: number[] = [];
  mirror.add("decoded", () => times.push(mirror.receivedMs));
  fetches[0]!.arrives(topology);
  await settle();
  expect(mirror.frames!.ints[0]).toBe(104);
  expect(times).toEqual([1, 2]);
  expect(asked).toEqual([]);
});

test("too many frames before the topology drop the keyframe, and another is requested", async () => {
  mirror.receive(welcome(), 0);
  mirror.receive(keyframe(2, 100), 0);
  for (let tick = 4; tick <= 604; tick += 2) mirror.receive(delta(tick, 100, 100), 0);
  fetches[0]!.arrives(topology);
  await settle();
  expect(mirror.frames!.tick).toBeUndefined();
  expect(asked).toEqual([undefined]);
  mirror.receive(keyframe(606, 7), 0);
  expect(mirror.frames!.ints[0]).toBe(7);
});

test("after a failed download the next welcome loads the topology again", async () => {
  mirror.receive(welcome(), 0);
  const error = new Error("no answer");
  fetches[0]!.fails(error);
  await settle();
  expect(told).toEqual([["topologyFailed", error]]);
  mirror.receive(welcome(), 0);
  expect(fetches.map(({ hash }) => hash)).toEqual(["hash", "hash"]);
  fetches[1]!.arrives(topology);
  await settle();
  expect(mirror.frames!.topology).toBe(topology);
});

test("another scene keeps the old frames until its topology has arrived, and decodes no frame with the old one", async () => {
  await join();
  mirror.receive(keyframe(2, 100), 0);
  mirror.receive(welcome("two", "other"), 0);
  mirror.receive(keyframe(1, 5), 0);
  expect([mirror.frames!.tick, mirror.frames!.ints[0]]).toEqual([2, 100]);
  fetches[1]!.arrives({ ...topology, title: "Other" });
  await settle();
  expect(mirror.frames!.topology.title).toBe("Other");
  expect(told.slice(1)).toEqual([
    ["scene", { scene: "s" }],
    ["frame", { tick: 1 }],
  ]);
});

test("a topology that arrives after the end is ignored", async () => {
  mirror.receive(welcome(), 0);
  mirror.end();
  fetches[0]!.arrives(topology);
  await settle();
  expect(mirror.frames).toBeUndefined();
});
