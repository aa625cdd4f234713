/**
 * Placement of rooms on threads, in virtual time: heavy ones apart from light ones, each group evenly, and no move
 * without gain.
 */
import { expect, test } from "vitest";
import { Placement, type Resident } from "../../../../server/workers/schedule/threadPlacement.ts";

const resident = (demand: number, heavy = false): Resident => ({
  home: -1,
  heavy,
  demand,
  activeMs: 0,
  movedMs: -Infinity,
});

/** Runs this many seconds of steps, ten a second. @returns the number of moves */
function live(placement: Placement, rooms: readonly Resident[], seconds: number, fromMs = 0): number {
  let moves = 0;
  for (let nowMs = fromMs; nowMs < fromMs + 1000 * seconds; nowMs += 100) {
    for (const room of rooms) {
      const { home } = room;
      if (placement.place(room, nowMs) !== home) moves += 1;
      placement.done(room, nowMs);
    }
  }
  return moves;
}

const homes = (rooms: readonly Resident[]): Set<number> => new Set(rooms.map(({ home }) => home));
const many = (count: number, demand: number, heavy = false): Resident[] =>
  Array.from({ length: count }, () => resident(demand, heavy));

test("light rooms are spread evenly, and stay where they are", () => {
  const placement = new Placement(4);
  const rooms = many(40, 0.02);
  live(placement, rooms, 3);
  const counts = [0, 1, 2, 3].map((thread) => rooms.filter(({ home }) => home === thread).length);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
  expect(live(placement, rooms, 60, 3000)).toBe(0);
});

test("with two threads or more no light room is beside a heavy one", () => {
  for (const threads of [2, 3, 8]) {
    for (const heavyRooms of [1, 2, 20]) {
      const placement = new Placement(threads);
      const light = many(10, 0.03);
      const heavy = many(heavyRooms, 1, true);
      live(placement, [...light, ...heavy], 5);
      for (const home of homes(light)) expect(homes(heavy)).not.toContain(home);
    }
  }
});

test("a room that becomes heavy moves away within a second, and comes back when it is light again", () => {
  const placement = new Placement(2);
  const rooms = many(10, 0.02);
  live(placement, rooms, 3);
  rooms[0]!.heavy = true;
  rooms[0]!.demand = 1;
  live(placement, rooms, 1.2, 3000);
  expect(rooms[0]!.home).toBe(1);
  live(placement, rooms, 2, 4200);
  expect(homes(rooms.slice(1))).toEqual(new Set([0]));
  rooms[0]!.heavy = false;
  rooms[0]!.demand = 0.02;
  live(placement, rooms, 3, 6200);
  expect(homes(rooms).size).toBe(2);
});

test("heavy rooms that do not fit on their thread are beside light ones, if those leave time", () => {
  const placement = new Placement(2);
  const light = many(3, 0.05);
  const [huge, first, second] = [resident(1, true), resident(0.4, true), resident(0.4, true)];
  const all = [...light, huge!, first!, second!];
  live(placement, all, 5);
  expect(homes(light)).toEqual(new Set([0]));
  expect(huge!.home).toBe(1);
  // One of them fits: 0.15 + 0.4, not 0.15 + 0.8.
  expect([first!.home, second!.home].sort()).toEqual([0, 1]);
  expect(live(placement, all, 60, 5000)).toBe(0);
  // When the huge one has gone there is time for both on the heavy thread.
  live(placement, [...light, first!, second!], 5, 65_000);
  expect([first!.home, second!.home]).toEqual([1, 1]);
});

test("light rooms get more threads when they need more, but heavy rooms keep one", () => {
  const placement = new Placement(4);
  const light = many(100, 0.05);
  const heavy = many(8, 1, true);
  live(placement, [...light, ...heavy], 10);
  expect(homes(light)).toEqual(new Set([0, 1, 2]));
  expect(homes(heavy)).toEqual(new Set([3]));
});

test("an idle room takes no place", () => {
  const placement = new Placement(2);
  const [gone, stays, comes] = [resident(0.5), resident(0.3), resident(0.3)];
  live(placement, [gone, stays], 2);
  live(placement, [stays], 3, 2000);
  live(placement, [stays, comes], 3, 5000);
  expect(stays.home).not.toBe(comes.home);
});

test("a room that waits long for a step still has its thread", () => {
  const placement = new Placement(2);
  const [waits, ...others] = [resident(1, true), ...many(3, 0.1)];
  placement.place(waits!, 0);
  live(placement, others, 60);
  expect(homes(others)).toEqual(new Set([0]));
  placement.done(waits!, 60_000);
  live(placement, others, 5, 60_000);
  expect(homes(others)).toEqual(new Set([0, 1]));
});
