/** How rooms are weighed where threads are too few: by addresses, and not by how many rooms or sockets one opens. */
import { expect, test } from "vitest";
import { RoomWeights, type WeighedRoom } from "../../../server/rooms/weights.ts";

const weigh = (rooms: readonly WeighedRoom[]): number[] => {
  const weights = new RoomWeights(() => rooms);
  return rooms.map(({ name }) => weights.weightOf(name, 0));
};

test("a room weighs as many as addresses are in it, an empty one as one; more sockets are not more addresses", () => {
  const weights = weigh([
    { name: "empty", addresses: [] },
    { name: "one", addresses: ["a"] },
    { name: "five", addresses: ["b", "c", "d", "e", "f"] },
    { name: "sockets", addresses: Array.from({ length: 48 }, () => "g") },
  ]);
  expect(weights).toEqual([1, 1, 5, 1]);
});

test("the rooms of one address weigh as much together as one room, however many it opens", () => {
  const own = Array.from({ length: 32 }, (_, i) => ({ name: `own-${i}`, addresses: ["a", "a"] }));
  const weights = weigh([...own, { name: "shared", addresses: ["a", "b"] }]);
  expect(weights.slice(0, 32).reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(32 / 33, 9);
  expect(weights[32]).toBeCloseTo(1 + 1 / 33, 9);
});

test("who comes and goes is counted again within a second, a room that is new within a tenth", () => {
  const rooms: WeighedRoom[] = [{ name: "first", addresses: ["a", "b"] }];
  const weights = new RoomWeights(() => rooms);
  expect(weights.weightOf("first", 0)).toBe(2);
  rooms.push({ name: "second", addresses: ["b", "c"] });
  expect(weights.weightOf("second", 50)).toBe(1);
  expect(weights.weightOf("first", 99)).toBe(2);
  expect(weights.weightOf("second", 100)).toBe(1.5);
  expect(weights.weightOf("first", 999)).toBe(1.5);
  rooms.pop();
  expect(weights.weightOf("first", 1099)).toBe(1.5);
  expect(weights.weightOf("first", 1100)).toBe(2);
});
