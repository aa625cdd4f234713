/** Rooms share threads by their addresses, not by the number of rooms or sockets of one address. */
import { expect, test } from "vitest";
import { RoomShares, type WeighedRoom } from "../../../../server/rooms/ticks/weights.ts";

const sharesOf = (rooms: readonly WeighedRoom[]) => {
  const shares = new RoomShares(() => rooms);
  return rooms.map(({ name }) => shares.shareOf(name, 0));
};

test("a room's weight is its number of addresses, at least one; more sockets are not more addresses", () => {
  const shares = sharesOf([
    { name: "empty", addresses: [] },
    { name: "one", addresses: ["a"] },
    { name: "five", addresses: ["b", "c", "d", "e", "f"] },
    { name: "sockets", addresses: Array.from({ length: 48 }, () => "g") },
  ]);
  expect(shares.map(({ weight }) => weight)).toEqual([1, 1, 5, 1]);
  expect(new Set(shares.map(({ account }) => account)).size).toBe(4);
});

test("all rooms of one address together have the weight of one room, on one account", () => {
  const own = Array.from({ length: 32 }, (_, i) => ({ name: `own-${i}`, addresses: ["a", "a"] }));
  const shares = sharesOf([...own, { name: "shared", addresses: ["a", "b"] }]);
  expect(shares.slice(0, 32).reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(32 / 33, 9);
  expect(shares[32]!.weight).toBeCloseTo(1 + 1 / 33, 9);
  expect(new Set(shares.map(({ account }) => account)).size).toBe(2);
});

test("joins and leaves are counted within a second, a new room within a tenth", () => {
  const rooms: WeighedRoom[] = [{ name: "first", addresses: ["a", "b"] }];
  const shares = new RoomShares(() => rooms);
  const weightOf = (room: string, nowMs: number): number => shares.shareOf(room, nowMs).weight;
  expect(weightOf("first", 0)).toBe(2);
  rooms.push({ name: "second", addresses: ["b", "c"] });
  expect(weightOf("second", 50)).toBe(1);
  expect(weightOf("first", 99)).toBe(2);
  expect(weightOf("second", 100)).toBe(1.5);
  expect(weightOf("first", 999)).toBe(1.5);
  rooms.pop();
  expect(weightOf("first", 1099)).toBe(1.5);
  expect(weightOf("first", 1100)).toBe(2);
});
