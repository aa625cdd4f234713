/** Which room moves where, computed from the processes' announcements: no store, no time, no network. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BusyWatch, successorOf, movesOf, placeOf, spread } from "../../../server/cluster/balance.ts";
import { BALANCE } from "../../../server/cluster/balanceRules.ts";
import type { RoomLoad } from "../../../server/cluster/rooms.ts";
import type { ListedProcess } from "../../../server/store/store.ts";

const listed = (process: string, changes: Partial<ListedProcess> = {}): ListedProcess => ({
  process,
  url: `http://${process}`,
  publicUrl: null,
  version: "1",
  state: "ready",
  load: 0,
  rooms: 0,
  maxRooms: 64,
  members: 0,
  memoryBytes: 0,
  given: [],
  secondsLeft: 5,
  ...changes,
});
const room = (name: string, share: number, changes: Partial<RoomLoad> = {}): RoomLoad => ({
  name,
  share,
  residentMs: BALANCE.residenceMs,
  movable: true,
  ...changes,
});
const busy = listed("a", { load: 0.9, rooms: 3 });
const rooms = [room("small", 0.05), room("large", 0.3), room("huge", 0.55)];
const names = (moves: readonly { room: string; to: { process: string } }[]): string[] =>
  moves.map((move) => `${move.room} to ${move.to.process}`);

describe("a running room", () => {
  test("moves to the least busy process; the largest room moves that leaves its target less busy than its giver", () => {
    const table = [busy, listed("b", { load: 0.4 }), listed("c", { load: 0.2 })];
    expect(names(movesOf(busy, 1, table, rooms, BALANCE))).toEqual(["large to c"]);
    // On two threads each of these rooms takes half as large a share of the process.
    expect(names(movesOf(busy, 2, table, rooms, BALANCE))).toEqual(["huge to c"]);
  });

  test.each<[string, Partial<ListedProcess>]>([
    ["of another version", { version: "2" }],
    ["that is draining", { state: "draining" }],
    ["that is not ready", { state: "starting" }],
    ["that has ended", { state: "gone" }],
    ["without an announcement", { secondsLeft: -0.1 }],
    ["that is full", { rooms: 64 }],
    ["that is only slightly less busy", { load: 0.9 - BALANCE.gap + 0.01 }],
  ])("moves to no process %s", (_what, changes) => {
    expect(movesOf(busy, 1, [busy, listed("b", changes)], rooms, BALANCE)).toEqual([]);
  });

  test.each<[string, Partial<RoomLoad>]>([
    ["that is being undone, on probation or handed over", { movable: false }],
    ["that has just arrived", { residentMs: BALANCE.residenceMs - 1 }],
    ["with almost no load", { share: BALANCE.leastShare / 2 }],
    ["that would make the other as busy", { share: 0.8 }],
  ])("stays: one %s", (_what, changes) => {
    expect(movesOf(busy, 1, [busy, listed("b")], [room("one", 0.3, changes)], BALANCE)).toEqual([]);
  });

  test("moves with few other rooms, and rooms on their way to a process count as there", () => {
    const many = Array.from({ length: 9 }, (_, i) => room(`r${i}`, 0.1));
    const two = movesOf(busy, 1, [busy, listed("b"), listed("c", { load: 0.05 })], many, BALANCE);
    expect(names(two)).toEqual(["r0 to b", "r1 to c"]);
    const given = Array.from({ length: 12 }, (_, i) => ({ room: `other${i}`, to: "b", secondsAgo: 1 }));
    const told = [listed("d", { given }), listed("b"), listed("c", { load: 0.5 })];
    expect(names(movesOf(busy, 1, told, many, BALANCE))[0]).toBe("r0 to d");
  });

  test("from any loads, every move makes them more even, and moving ends", () => {
    const worlds = fc.array(fc.array(fc.double({ min: 0.005, max: 0.5, noNaN: true }), { maxLength: 12 }), {
      minLength: 2,
      maxLength: 5,
    });
    fc.assert(
      fc.property(worlds, (shares) => {
        const at = new Map(
          shares.flatMap((own, p) =>
            own.map((share, r): [string, { share: number; p: number }] => [`${p}-${r}`, { share, p }]),
          ),
        );
        const loadOf = (p: number): number =>
          [...at.values()].reduce((sum, one) => sum + (one.p === p ? one.share : 0), 0);
        const squares = (): number => shares.reduce((sum, _own, p) => sum + loadOf(p) ** 2, 0);
        for (let moved = true, round = 0; moved; round++) {
          moved = false;
          expect(round).toBeLessThan(1000);
          for (const p of shares.keys()) {
            const table = shares.map((_own, q) => listed(String(q), { load: loadOf(q), rooms: 0 }));
            const own = [...at].filter(([, one]) => one.p === p).map(([name, { share }]) => room(name, share));
            if (loadOf(p) < BALANCE.busy) continue;
            for (const { room: name, to } of movesOf(table[p]!, 1, table, own, BALANCE)) {
              const before = squares();
              const one = at.get(name)!;
              one.p = Number(to.process);
              expect(squares()).toBeLessThan(before);
              moved = true;
            }
          }
        }
      }),
      { numRuns: 500, seed: 1 },
    );
  });
});

describe("a new room", () => {
  test("is created at the least busy process, if that is less busy by a margin", () => {
    const own = listed("a", { load: 0.3 });
    expect(placeOf(own, [own, listed("b", { load: 0.2 })], BALANCE)).toBeNull();
    expect(placeOf(own, [own, listed("b", { load: 0.2 }), listed("c", { load: 0.1 })], BALANCE)?.process).toBe("c");
    const full = listed("a", { rooms: 30 });
    expect(placeOf(full, [full, listed("b", { rooms: 10 })], BALANCE)?.process).toBe("b");
  });

  test("is created elsewhere if this process is full, ending or not ready", () => {
    const theirs = listed("b", { load: 0.9 });
    for (const changes of [{ rooms: 64 }, { state: "draining" }, { state: "starting" }] as const) {
      const own = listed("a", changes);
      expect(placeOf(own, [own, theirs], BALANCE)?.process).toBe("b");
      expect(placeOf(own, [own, { ...theirs, version: "2" }], BALANCE)).toBeNull();
    }
  });
});

test("rooms of an ending process are distributed by their loads", () => {
  const table = [busy, listed("b", { load: 0.4 }), listed("c"), listed("d", { version: "2" })];
  expect(spread(busy, 1, table, rooms, BALANCE)).toEqual(
    new Map([
      ["huge", "c"],
      ["large", "b"],
      ["small", "c"],
    ]),
  );
  expect(spread(busy, 1, [busy], rooms, BALANCE)).toEqual(new Map());
});

describe("a room without an owner", () => {
  const own = listed("own");
  const given = (to: string | null, secondsAgo: number, by = "a", version = "1"): ListedProcess =>
    listed(by, { state: "gone", version, given: [{ room: "x", to, secondsAgo }] });
  const successor = (table: ListedProcess[], expired: string | null = null): string | undefined =>
    successorOf({ name: "x", expired }, own, [own, ...table], BALANCE)?.process;

  test("goes to the process that it was given to, for a while, if that is alive", () => {
    expect(successor([given("b", 1), listed("b")])).toBe("b");
    expect(successor([given("b", BALANCE.offerSeconds), listed("b")])).toBeUndefined();
    expect(successor([given("b", 1), listed("b", { secondsLeft: -1 })])).toBeUndefined();
    expect(successor([given("b", 1), listed("b", { state: "draining" })])).toBeUndefined();
    expect(successor([given("own", 1)])).toBeUndefined();
    // The last hand-over counts.
    expect(successor([given("b", 2), given("c", 1, "z"), listed("b"), listed("c")])).toBe("c");
  });

  test("goes to processes of its last owner's version, while any of them has a place", () => {
    const others = [listed("b", { version: "2", load: 0.5 }), listed("c", { version: "2", load: 0.1 })];
    expect(successor([given(null, 30, "a", "2"), ...others])).toBe("c");
    expect(successor([given(null, 30, "a", "2")])).toBeUndefined();
    expect(successor([given(null, 30, "a", "2"), listed("b", { version: "2", rooms: 64 })])).toBeUndefined();
    expect(successor([given(null, 30, "a", "1"), ...others])).toBeUndefined();
    // Its lease has expired, and it is known to have another version.
    const dead = listed("a", { version: "2", secondsLeft: -3 });
    expect(successor([dead, ...others], "a")).toBe("c");
    expect(successor([dead], "a")).toBeUndefined();
    expect(successor(others, "never heard of")).toBeUndefined();
  });
});

test("a process becomes busy after a while, stays so until it is calm, and checks again some time after each move", () => {
  const watch = new BusyWatch(BALANCE);
  const { busy: high, calm, sustainedMs, pauseMs } = BALANCE;
  expect(watch.look(high, 0)).toBe(false);
  expect(watch.look(high, sustainedMs - 1)).toBe(false);
  expect(watch.look(high - 0.01, sustainedMs)).toBe(false); // One calm moment restarts the count.
  expect(watch.look(high, sustainedMs + 1)).toBe(false);
  expect(watch.look(high, 2 * sustainedMs + 1)).toBe(true);
  expect(watch.look(calm, 2 * sustainedMs + 2)).toBe(true);
  watch.moved(2 * sustainedMs + 2);
  expect(watch.look(1, 2 * sustainedMs + 1 + pauseMs)).toBe(false);
  expect(watch.look(1, 2 * sustainedMs + 2 + pauseMs)).toBe(true);
  expect(watch.look(calm - 0.01, 1e9)).toBe(false);
  expect(watch.look(calm, 1e9 + 1)).toBe(false);
});
