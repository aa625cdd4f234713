/** Announcements of other members' grabs, for members who cannot see them. */
import { expect, test } from "vitest";
import { GrabWatch } from "../../../client/state/grabNews.ts";

const hand = (...bodies: number[]) => ({
  grabs: bodies.map((body, grab) => ({
    grab,
    body,
    triangle: 0,
    u: 0,
    v: 0,
    target: [0, 0, 0] as [number, number, number],
  })),
});

test("each change of a grab is announced once, the member's own not at all, and a missing grab counts as released", () => {
  const watch = new GrabWatch();
  expect(
    watch.look(
      new Map([
        [1, hand(0)],
        [2, hand(3)],
        [3, hand()],
      ]),
      1,
    ),
  ).toEqual([{ member: 2, body: 3 }]);
  expect(
    watch.look(
      new Map([
        [1, hand()],
        [2, hand(3)],
        [3, hand()],
      ]),
      1,
    ),
  ).toEqual([]);
  expect(
    watch.look(
      new Map([
        [2, hand(3, 4)],
        [3, hand(0)],
      ]),
      1,
    ),
  ).toEqual([
    { member: 2, body: 4 },
    { member: 3, body: 0 },
  ]);
  expect(watch.look(new Map([[2, hand()]]), 1)).toEqual([
    { member: 2, body: undefined },
    { member: 3, body: undefined },
  ]);
  const [held] = hand(4).grabs;
  expect(watch.look(new Map([[2, { grabs: [{ ...held!, together: true }] }]]), 1)).toEqual([
    { member: 2, body: "all" },
  ]);
});
