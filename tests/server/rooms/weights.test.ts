/** How rooms are weighed where threads are too few: by members, and not by how many rooms one address makes. */
import { expect, test } from "vitest";
import { RoomWeights, type WeighedRoom } from "../../../server/rooms/weights.ts";

const sum = (rooms: readonly WeighedRoom[], creator: string): number => {
  const weights = new RoomWeights(() => rooms);
  return rooms.filter((room) => room.creator === creator).reduce((total, room) => total + weights.weightOf(room, 0), 0);
};

test("a room weighs what its members are, an empty one as one", () => {
  const weights = new RoomWeights(() => []);
  expect([0, 1, 5, 16].map((members) => weights.weightOf({ creator: "a", members }, 0))).toEqual([1, 1, 5, 16]);
});

test("the rooms of one address weigh no more together than one full room, whatever it opens", () => {
  const rooms: WeighedRoom[] = Array.from({ length: 32 }, () => ({ creator: "a", members: 2 }));
  rooms.push({ creator: "b", members: 3 }, { creator: "c", members: 64 });
  expect(sum(rooms, "a")).toBeCloseTo(16, 9);
  expect(sum(rooms, "b")).toBe(3);
  expect(sum(rooms, "c")).toBe(16);
});

test("who comes and goes is counted again within a second; an operator's rooms are not limited", () => {
  let rooms: WeighedRoom[] = [{ creator: "a", members: 4 }];
  const weights = new RoomWeights(() => rooms);
  expect(weights.weightOf(rooms[0]!, 0)).toBe(4);
  rooms = Array.from({ length: 8 }, () => ({ creator: "a", members: 4 }));
  expect(weights.weightOf(rooms[0]!, 1000)).toBe(2);
  expect(weights.weightOf({ creator: null, members: 100 }, 1000)).toBe(100);
});
