/**
 * Joining of the latency benchmark's stamps: which tick took an input, which frame carried it, and which picture showed
 * it first.
 */
import { expect, test } from "vitest";
import { chains, firstChange, parseTrace } from "../../load-tests/latency/chain.ts";

const GRAB = 2;
const MOVE = 3;
const DELTA = 66;
const input = (type: string, ms: number, member = 1): string =>
  JSON.stringify({ name: "pliant.input", origin: 1000, room: "r", member, type, ms });
const tick = (n: number, startMs: number, frame: boolean): string =>
  JSON.stringify({
    name: "pliant.tick",
    origin: 1000,
    room: "r",
    tick: n,
    frame,
    startMs,
    steppedMs: startMs + 3,
    sentMs: startMs + 4,
    workerMs: 2,
    encodeMs: 1,
  });
const lines = [
  input("grab", 10),
  input("move", 11, 2),
  tick(5, 12, false),
  input("move", 14),
  tick(6, 28, true),
  tick(7, 44, false),
  tick(8, 60, true),
  '{"name":"pliant.tick","ori',
].join("\n");
const sent = [
  { type: GRAB, ms: 1009, eventMs: 1008 },
  { type: MOVE, ms: 1013, eventMs: 1011 },
];
const frames = [
  { type: DELTA, tick: 6, ms: 1033, decodedMs: 1034 },
  { type: DELTA, tick: 8, ms: 1065, decodedMs: 1066 },
];

test("an input belongs to the first tick that begins after it, and travels in the next frame from there", () => {
  const [grab, move] = chains(sent, frames, parseTrace(lines, "r"), 1);
  expect(grab).toMatchObject({
    grabs: true,
    event: 1008,
    sent: 1009,
    received: 1010,
    tick: 1012,
    frameTick: 1028,
    encoded: 1031,
    handedOver: 1032,
    arrived: 1033,
    decoded: 1034,
  });
  expect(move).toMatchObject({ grabs: false, received: 1014, tick: 1028, frameTick: 1028, decoded: 1034 });
});

test("one input too few or too many makes the measurement invalid", () => {
  expect(() => chains(sent.slice(1), frames, parseTrace(lines, "r"), 1)).toThrow(
    "the page sent 1 grabs and moves, the server had 2",
  );
  expect(() => chains(sent, frames, parseTrace(lines, "another room"), 1)).toThrow("the server had 0");
});

test("the first picture that differs is attributed to the first movement that it can show, or to the grab", () => {
  const pull = chains(sent, frames, parseTrace(lines, "r"), 1);
  const picture = (drawnMs: number, shown: number, changed: boolean) => ({
    startMs: drawnMs - 2,
    drawnMs,
    tick: shown,
    changed,
  });
  const late = firstChange([picture(1000, 3, true), picture(1040, 4.5, false), picture(1056, 5.5, true)], pull, 2);
  expect(late).toMatchObject({ picture: { drawnMs: 1056 }, chain: { grabs: false } });
  expect(firstChange([picture(1040, 4.5, false)], pull, 2)).toBeUndefined();
});
