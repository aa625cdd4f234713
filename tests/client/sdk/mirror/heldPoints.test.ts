/** Each grab of another member begins once and ends once, in every way of ending. */
import { expect, test } from "vitest";
import { HeldPoints } from "../../../../client/sdk/mirror/heldPoints.ts";
import type { Grab } from "../../../../shared/protocol/fromServer.ts";

const held = (grab: number, triangle = 7, x = 0): Grab => ({
  grab,
  body: 1,
  triangle,
  u: 0.25,
  v: 0.5,
  target: [x, 0, 0],
});
const hand = (member: number, ...grabs: Grab[]) => ({ member, cursor: undefined, grabs });
const none = { grabbed: [], released: [] };

test("a grab begins, moves without an event, and ends", () => {
  const points = new HeldPoints();
  expect(points.grabsAre([hand(1, held(3)), hand(2)])).toEqual({ grabbed: [{ ...held(3), member: 1 }], released: [] });
  expect(points.grabsAre([hand(1, held(3, 7, 0.5))])).toEqual(none);
  expect(points.grabsAre([hand(2, held(3))])).toEqual({ grabbed: [{ ...held(3), member: 2 }], released: [] });
  expect(points.grabsAre([hand(1)])).toEqual({ grabbed: [], released: [{ ...held(3, 7, 0.5), member: 1 }] });
  expect(points.grabsAre([hand(1)])).toEqual(none);
});

test("the same number at another place is another grab", () => {
  const points = new HeldPoints();
  points.grabsAre([hand(1, held(3))]);
  expect(points.grabsAre([hand(1, held(3, 8))])).toEqual({
    grabbed: [{ ...held(3, 8), member: 1 }],
    released: [{ ...held(3), member: 1 }],
  });
});

test("the grabs of a member who left end, once", () => {
  const points = new HeldPoints();
  points.grabsAre([hand(1, held(3)), hand(2, held(4))]);
  expect(points.membersAre([2])).toEqual({ grabbed: [], released: [{ ...held(3), member: 1 }] });
  expect(points.membersAre([2])).toEqual(none);
});
