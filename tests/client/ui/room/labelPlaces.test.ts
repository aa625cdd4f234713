/** Places of labels under bodies, beside others and beside the tools. */
import { expect, test } from "vitest";
import { comparedBodies, labelPlaces, leastGap } from "../../../../client/ui/room/layers/labelPlaces.ts";

const label = (x: number, y: number) => ({ x, y, width: 100, height: 40 });
const toolbar = { left: 200, right: 800, top: 500, bottom: 560 };

test("labels stand below their bodies, side by side", () => {
  const places = labelPlaces([label(200, 100), label(320, 100)], [], 1000);
  expect(places).toEqual([
    { left: 150, top: 109 },
    { left: 270, top: 109 },
  ]);
});

test("labels without room side by side stand one below the other", () => {
  const [first, second] = labelPlaces([label(200, 100), label(240, 100)], [], 1000);
  expect(second!.top).toBe(first!.top + 40);
});

test("a label stays whole inside the window", () => {
  const [left, right] = labelPlaces([label(10, 100), label(990, 100)], [], 1000);
  expect(left!.left).toBe(0);
  expect(right!.left).toBe(900);
});

test("a label that would reach into the tools moves up to them", () => {
  expect(labelPlaces([label(400, 480)], [toolbar], 1000)).toEqual([{ left: 350, top: 460 }]);
  // Beside the tools there is room.
  expect(labelPlaces([label(100, 480)], [toolbar], 1000)).toEqual([{ left: 50, top: 489 }]);
});

test("the label of a body behind the tools is above them, without room there hidden", () => {
  expect(labelPlaces([label(400, 520), label(400, 555)], [toolbar], 1000)).toEqual([
    { left: 350, top: 460 },
    { left: 350, top: 564 },
  ]);
  const bar = { ...toolbar, top: 20, bottom: 60 };
  expect(labelPlaces([label(400, 30), label(400, 60)], [bar], 1000)).toEqual([undefined, { left: 350, top: 69 }]);
});

test("a label that others push into the tools moves above them", () => {
  const places = labelPlaces([label(400, 440), label(410, 440)], [toolbar], 1000);
  expect(places).toEqual([
    { left: 350, top: 449 },
    { left: 360, top: 409 },
  ]);
});

test("a label stands below a body without a name that it would cover, unless that is far from its own", () => {
  const ball = { left: 180, right: 240, top: 90, bottom: 130 };
  expect(labelPlaces([label(200, 100)], [], 1000, [ball])).toEqual([{ left: 150, top: 130 }]);
  // Pushed below the ball, it meets another one there.
  const next = { left: 120, right: 160, top: 150, bottom: 175 };
  expect(labelPlaces([label(200, 100)], [], 1000, [next, ball])).toEqual([{ left: 150, top: 175 }]);
  expect(labelPlaces([label(200, 100)], [], 1000, [{ ...ball, bottom: 400 }])).toEqual([{ left: 150, top: 109 }]);
});

test("a lesson names the bodies that it compares, and not the balls that act on them", () => {
  const kinds = (...all: ("soft" | "cloth" | "ball" | "points")[]) => comparedBodies(all.map((kind) => ({ kind })));
  expect(kinds("soft", "ball", "soft", "ball")).toEqual([0, 2]);
  expect(kinds("ball", "ball")).toEqual([0, 1]);
  expect(kinds("cloth", "ball")).toEqual([]);
  expect(kinds("soft")).toEqual([]);
  expect(kinds(...Array<"soft">(8).fill("soft"), "ball")).toHaveLength(8);
  expect(kinds(...Array<"soft">(9).fill("soft"))).toEqual([]);
});

test("only labels side by side make each other narrow", () => {
  const [cube, ball] = [
    { x: 300, y: 500 },
    { x: 310, y: 400 },
  ];
  expect(leastGap([cube, ball, { x: 450, y: 490 }])).toBe(150);
  expect(leastGap([cube, ball])).toBe(Infinity);
});
