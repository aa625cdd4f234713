/**
 * Where rooms live, in virtual time: those that cannot keep their rate apart from the others, each group evenly, and
 * nobody moves without gain.
 */
import { expect, test } from "vitest";
import { Placement, type Resident } from "../../../server/workers/placement.ts";

const PERIOD_SECONDS = 1 / 60;
const resident = (demand: number, overruns = false): Resident => ({
  home: -1,
  overruns,
  demand,
  tickSeconds: demand * PERIOD_SECONDS * (overruns ? 3 : 1),
  activeMs: 0,
  movedMs: -Infinity,
});

/** So many seconds of steps, ten a second. @returns how often a room moved */
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
const many = (count: number, demand: number, overruns = false): Resident[] =>
  Array.from({ length: count }, () => resident(demand, overruns));

test("rooms that keep their rate are spread evenly, and stay where they are", () => {
  const placement = new Placement(4);
  const rooms = many(40, 0.02);
  live(placement, rooms, 3);
  const counts = [0, 1, 2, 3].map((thread) => rooms.filter(({ home }) => home === thread).length);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
  expect(live(placement, rooms, 60, 3000)).toBe(0);
});

test("no room lives beside one that overruns, where there are two threads or more and room for it elsewhere", () => {
  for (const threads of [2, 3, 8]) {
    for (const heavyRooms of [1, 2, 20]) {
      const placement = new Placement(threads);
      const light = many(10, 0.03);
      const overrunning = many(heavyRooms, 1, true);
      live(placement, [...light, ...overrunning], 5);
      for (const home of homes(light)) expect(homes(overrunning)).not.toContain(home);
    }
  }
});

test("a room that overruns moves away within a second, and comes back when it keeps its rate again", () => {
  const placement = new Placement(2);
  const rooms = many(10, 0.02);
  live(placement, rooms, 3);
  rooms[0]!.overruns = true;
  rooms[0]!.demand = 1;
  live(placement, rooms, 1.2, 3000);
  expect(rooms[0]!.home).toBe(1);
  live(placement, rooms, 2, 4200);
  expect(homes(rooms.slice(1))).toEqual(new Set([0]));
  rooms[0]!.overruns = false;
  rooms[0]!.demand = 0.02;
  live(placement, rooms, 3, 6200);
  expect(homes(rooms).size).toBe(2);
});

test("rooms that keep their rate share all threads by what they ask for, however long their ticks are", () => {
  const placement = new Placement(2);
  const long = many(2, 0.7);
  const short = many(4, 0.05);
  live(placement, [...long, ...short], 5);
  expect(homes(long).size).toBe(2);
  expect(homes(short).size).toBe(2);
});

test("beside a room that overruns the others have the other thread, as long as it has time for all of them", () => {
  const placement = new Placement(2);
  const keeping = [resident(0.45), resident(0.25), resident(0.05)];
  const overrunning = resident(1, true);
  live(placement, [...keeping, overrunning], 5);
  expect(homes(keeping)).toEqual(new Set([0]));
  expect(overrunning.home).toBe(1);
});

test("where their own threads are full, those with the longest ticks go beside the ones that overrun", () => {
  const placement = new Placement(2);
  const short = many(5, 0.1);
  const middle = resident(0.25);
  const long = resident(0.4);
  live(placement, [long, middle, ...short, resident(1, true)], 5);
  expect(homes([...short, middle])).toEqual(new Set([0]));
  expect(long.home).toBe(1);
});

test("rooms that are alike do not change places at the threads' limit", () => {
  const placement = new Placement(2);
  const rooms = [...many(12, 0.1), resident(1, true)];
  live(placement, rooms, 5);
  let moves = 0;
  for (let second = 5; second < 60; second++) {
    // The average of ticks goes up and down by a tenth.
    for (const [i, room] of rooms.entries()) room.tickSeconds *= (i + second) % 2 ? 1.1 : 1 / 1.1;
    moves += live(placement, rooms, 1, 1000 * second);
  }
  expect(moves).toBe(0);
});

test("rooms that keep their rate get more threads when they ask for more, but the others keep one", () => {
  const placement = new Placement(4);
  const keeping = many(40, 0.05);
  const overrunning = many(8, 1, true);
  live(placement, [...keeping, ...overrunning], 10);
  expect(homes(keeping)).toEqual(new Set([0, 1, 2]));
  expect(homes(overrunning)).toEqual(new Set([3]));
});

test("more than all threads can do: as much goes beside those that overrun as finds a share there, the rest evenly", () => {
  const placement = new Placement(4);
  const keeping = many(80, 0.0625);
  const overrunning = many(8, 1, true);
  live(placement, [...keeping, ...overrunning], 10);
  const counts = [0, 1, 2, 3].map((thread) => keeping.filter(({ home }) => home === thread).length);
  expect(counts[3]).toBe(8);
  expect(Math.max(...counts.slice(0, 3)) - Math.min(...counts.slice(0, 3))).toBeLessThanOrEqual(2);
});

test("who waits for a step for long still has its thread", () => {
  const placement = new Placement(2);
  const [waits, ...others] = [resident(1, true), ...many(3, 0.1)];
  placement.place(waits!, 0);
  live(placement, others, 20);
  expect(homes(others)).toEqual(new Set([0]));
});

test("who asks for nothing any more takes no place", () => {
  const placement = new Placement(2);
  const [gone, stays, comes] = [resident(0.5), resident(0.3), resident(0.3)];
  live(placement, [gone, stays], 2);
  live(placement, [stays], 3, 2000);
  live(placement, [stays, comes], 3, 5000);
  expect(stays.home).not.toBe(comes.home);
});
