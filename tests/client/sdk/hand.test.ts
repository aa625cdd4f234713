/** The grabs of a member: ids, and the rate at which moves are sent, on a virtual clock. */
import { decode } from "@msgpack/msgpack";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OwnGrabs } from "../../../client/sdk/calls/ownGrabs.ts";
import type { Point } from "../../../shared/protocol/fromServer.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";

const AT = { body: 0, triangle: 1, u: 0.2, v: 0.3 };
let sent: unknown[];
let grabs: OwnGrabs;

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  grabs = new OwnGrabs(
    (bytes) => sent.push(decode(bytes)),
    (_, to) => to as Point,
  );
});
afterEach(() => {
  vi.useRealTimers();
});

const move = (grab: number, x: number): unknown => [ClientMessage.move, grab, x, 0, 0];

test("the first move is sent at once, and then the newest target in each interval", () => {
  const hand = grabs.begin(AT, [0, 0, 0], {});
  expect(sent).toEqual([[ClientMessage.grab, 1, 0, 1, 0.2, 0.3, 0, 0, 0]]);
  for (const x of [1, 2, 3]) hand.move([x, 0, 0]);
  expect(sent.slice(1)).toEqual([move(1, 1)]);
  vi.advanceTimersByTime(33);
  expect(sent.slice(1)).toEqual([move(1, 1), move(1, 3)]);
  vi.advanceTimersByTime(1000);
  expect(sent).toHaveLength(3);
});

test("after the first move of each, four grabs together send 48 moves a second", () => {
  const hands = Array.from({ length: 4 }, () => grabs.begin(AT, [0, 0, 0], {}));
  expect(hands.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  for (const hand of hands) hand.move([-1, 0, 0]);
  sent = [];
  for (let ms = 0; ms < 1000; ms++) {
    for (const hand of hands) hand.move([ms, 0, 0]);
    vi.advanceTimersByTime(1);
  }
  expect(sent).toHaveLength(48);
});

test("a release sends the last target first; an end by the server sends nothing", () => {
  const [released, ended] = [grabs.begin(AT, [0, 0, 0], { together: true }), grabs.begin(AT, [0, 0, 0], {})];
  for (const hand of [released, ended]) for (const x of [1, 2]) hand.move([x, 0, 0]);
  sent = [];
  released.release();
  ended.end();
  ended.move([9, 0, 0]);
  vi.advanceTimersByTime(1000);
  expect(sent).toEqual([move(1, 2), [ClientMessage.release, 1]]);
  expect(grabs.live.size).toBe(0);
});
