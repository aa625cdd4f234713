/** The requirements of every store for a room's stored data: checkpoints, journal, members, quarantined pieces. */
import { beforeAll, describe, expect } from "vitest";
import { type Lease, LeaseLost, type Store, StoreBehind } from "../../../server/store/store.ts";
import { bob, bytes, Conformance, contentsOf, heldRoom } from "./conformanceKit.ts";

const conformance = new Conformance();
const { test } = conformance;

// Two stores that are opened on one database.
let store: Store;
let other: Store;

const held = (): Promise<Lease> => heldRoom(store);
const contents = (room: string): Promise<unknown> => contentsOf(store, room);

test("checkpoints are returned bit for bit, from any buffer; one of the same tick is replaced", async () => {
  const lease = await held();
  const shared = new Uint8Array(new SharedArrayBuffer(64)).fill(9).subarray(8, 24);
  const states = [
    bytes(0, 0),
    bytes(1, 5),
    shared,
    Buffer.from("a slice of node's pool"),
    bytes(3 * 2 ** 20, 4).subarray(1),
  ];
  for (const [i, state] of states.entries())
    await store.writeCheckpoint(lease, { tick: 100 * i, identity: `kernel ${i}`, state });
  expect(await other.checkpointTicks(lease.room)).toEqual(
    states.map((state, i) => ({ tick: 100 * i, bytes: state.length })),
  );
  for (const [i, state] of states.entries()) {
    const read = await other.readCheckpoint(lease.room, 100 * i);
    expect(read).toMatchObject({ tick: 100 * i, identity: `kernel ${i}` });
    expect(Buffer.compare(read?.state as Uint8Array, state)).toBe(0);
  }
  await store.writeCheckpoint(lease, { tick: 100, identity: "new", state: bytes(2, 2) });
  expect((await store.readCheckpoint(lease.room, 100))?.identity).toBe("new");
  expect(await store.checkpointTicks(lease.room)).toHaveLength(states.length);
  expect(await store.readCheckpoint(lease.room, 101)).toBeNull();
});

test("journal segments are returned in order; a repeated append counts once", async () => {
  const lease = await held();
  const segments = [0, 30, 60, 90].map((after) => ({ after, until: after + 30, bytes: bytes(after, after) }));
  for (const segment of segments) await store.appendJournal(lease, segment);
  await store.appendJournal(lease, segments[1]);
  const read = async (after: number): Promise<unknown> =>
    (await other.readJournal(lease.room, after)).map((segment) => ({
      ...segment,
      bytes: Uint8Array.from(segment.bytes),
    }));
  expect(await read(0)).toEqual(segments);
  expect(await read(30)).toEqual(segments.slice(1));
  expect(await read(31)).toEqual(segments.slice(1));
  expect(await read(120)).toEqual([]);
});

test("an append whose answer was lost is in the journal once, even if repeated after later appends", async () => {
  const [lease, neighbor] = [await held(), await held()];
  const segment = (after: number, until: number): { after: number; until: number; bytes: Uint8Array } => ({
    after,
    until,
    bytes: bytes(until - after, until),
  });
  for (const one of [lease, neighbor])
    for (const [after, until] of [
      [0, 30],
      [30, 60],
      [60, 75],
    ] as const)
      await store.appendJournal(one, segment(after, until));
  await store.appendJournal(lease, segment(60, 90)); // The last one again, with later inputs.
  const read = async (room: string): Promise<unknown> =>
    (await other.readJournal(room, 0)).map((one) => ({ ...one, bytes: Uint8Array.from(one.bytes) }));
  expect(await read(lease.room)).toEqual([segment(0, 30), segment(30, 60), segment(60, 90)]);
  await store.appendJournal(lease, segment(30, 100));
  await store.appendJournal(lease, segment(30, 100));
  expect(await read(lease.room)).toEqual([segment(0, 30), segment(30, 100)]);
  expect(await other.readJournal(neighbor.room, 0)).toHaveLength(3);
});

test("a numbered write that arrives after a later one writes nothing, and a claim restarts the numbers", async () => {
  const lease = await held();
  const at = (write: number): Lease => ({ ...lease, write });
  await store.appendJournal(at(1), { after: 0, until: 30, bytes: bytes(3, 1) });
  await store.truncate(at(3), 20);
  await store.appendJournal(at(4), { after: 0, until: 40, bytes: bytes(4, 4) });
  await store.writeCheckpoint(at(5), { tick: 40, identity: "a", state: bytes(4, 5) });
  await store.writeMembers(at(6), bytes(6, 6));
  const before = [await contents(lease.room), await store.readMembers(lease.room)];
  const late = [
    store.appendJournal(at(2), { after: 30, until: 60, bytes: bytes(2, 2) }),
    store.truncate(at(3), 20),
    store.writeCheckpoint(at(5), { tick: 60, identity: "late", state: bytes(1, 1) }),
    store.prune(at(4), [], 1000),
    store.writeSettings(at(2), { late: true }),
    store.writeMembers(at(5), bytes(1, 1)),
    store.countAttempts(at(6), 9),
  ];
  for (const outcome of await Promise.allSettled(late))
    expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(LeaseLost) });
  expect([await contents(lease.room), await store.readMembers(lease.room)]).toEqual(before);
  await store.writeSettings(at(7), { on: "time" });
  await store.release(lease);
  const next = (await other.claim(lease.room, bob)) as Lease;
  await other.writeSettings({ ...next, write: 1 }, { of: "bob" });
  expect(await store.room(lease.room)).toMatchObject({ settings: { of: "bob" } });
});

test("any write that follows a missing one is refused, with the number of the last stored write", async () => {
  const lease = await held();
  const at = (write: number, after: number): Lease => ({ ...lease, write, after });
  await store.appendJournal(at(1, 0), { after: 0, until: 30, bytes: bytes(3, 1) });
  // Write two was given up and may still arrive: a write that follows one ignores it.
  await store.writeCheckpoint(at(3, 1), { tick: 30, identity: "a", state: bytes(4, 5) });
  const before = await contents(lease.room);
  // These writes follow write eight, but the store ends with write three, like a replica after a failover.
  const refused = [
    store.appendJournal(at(9, 8), { after: 60, until: 90, bytes: bytes(2, 2) }),
    store.truncate(at(9, 8), 20),
    store.writeCheckpoint(at(9, 8), { tick: 60, identity: "b", state: bytes(1, 1) }),
    store.prune(at(9, 8), [], 1000),
    store.writeSettings(at(9, 8), { behind: true }),
    store.writeMembers(at(9, 4), bytes(1, 1)),
    store.countAttempts(at(9, 4), 9),
    store.quarantine(at(9, 8), { reason: "steps", since: new Date(0).toISOString(), details: "" }),
  ];
  for (const outcome of await Promise.allSettled(refused)) {
    expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(StoreBehind) });
    expect((outcome as PromiseRejectedResult).reason).toMatchObject({ room: lease.room, has: 3 });
  }
  expect(await contents(lease.room)).toEqual(before);
  const other = await held();
  const stale: Lease = { ...lease, epoch: lease.epoch - 1 };
  expect(await store.readWrites([lease, stale, other, { ...other, process: "cleo" }])).toEqual([3, -1, 0, -1]);
  expect(await store.readWrites([])).toEqual([]);
  // A process that lost the lease is told so, and a write that follows the last stored one is accepted.
  await expect(store.writeSettings({ ...stale, write: 9, after: 8 }, {})).rejects.toBeInstanceOf(LeaseLost);
  await store.writeSettings(at(10, 3), { on: true });
  expect(await store.readWrites([lease])).toEqual([10]);
});

test("removing ticks and storing their replacement is one transaction: no tick is there twice, and none is missing", async () => {
  const lease = await held();
  for (const tick of [0, 30, 60, 90]) {
    await store.appendJournal(lease, { after: tick, until: tick + 30, bytes: bytes(2, tick) });
    await store.writeCheckpoint(lease, { tick: tick + 15, identity: "a", state: bytes(5, tick) });
  }
  const segment = { after: 30, until: 70, bytes: bytes(3, 7) };
  await store.truncate(lease, 50, { segment, checkpoint: { tick: 66, identity: "b", state: bytes(4, 4) } });
  const read = async (): Promise<unknown> => [
    (await other.checkpointTicks(lease.room)).map(({ tick }) => tick),
    (await other.readJournal(lease.room, -Infinity)).map(({ after, until }) => [after, until]),
  ];
  const rewritten = [
    [15, 45, 66],
    [
      [0, 30],
      [30, 70],
    ],
  ];
  expect(await read()).toEqual(rewritten);
  // Repeating it changes nothing, and for a process that does not own the room neither half is done.
  await store.truncate(lease, 50, { segment, checkpoint: { tick: 66, identity: "b", state: bytes(4, 4) } });
  await expect(store.truncate({ ...lease, epoch: lease.epoch - 1 }, 0, { segment })).rejects.toBeInstanceOf(LeaseLost);
  expect(await read()).toEqual(rewritten);
  await store.truncate(lease, -1, { checkpoint: { tick: 80, identity: "c", state: bytes(4, 4) } });
  expect(await read()).toEqual([[80], []]);
});

test("the member list of a room is stored as a whole, and removed with the room", async () => {
  const lease = await held();
  expect(await other.readMembers(lease.room)).toBeNull();
  await store.writeMembers(lease, bytes(300, 1));
  await store.writeMembers(lease, bytes(200, 2));
  expect(Uint8Array.from((await other.readMembers(lease.room)) as Uint8Array)).toEqual(bytes(200, 2));
  await store.removeRoom(lease);
  expect(await other.readMembers(lease.room)).toBeNull();
});

test("quarantined data are removed from the room, unchanged, until they expire or their room is gone", async () => {
  const [lease, neighbor] = [await held(), await held()];
  const limits = { days: 30, bytes: 1000 };
  const at = (day: number): string => new Date(1e12 + day * 24 * 3600 * 1000).toISOString();
  for (const one of [lease, neighbor]) {
    await store.writeCheckpoint(one, { tick: 30, identity: "a", state: bytes(50, 1) });
    await store.appendJournal(one, { after: 0, until: 30, bytes: bytes(10, 2) });
    await store.appendJournal(one, { after: 30, until: 60, bytes: bytes(20, 3) });
    await store.writeMembers(one, bytes(7, 4));
  }
  const untouched = await contents(neighbor.room);
  const pieces = [
    { what: "checkpoint", tick: 30, reason: "checksum" },
    { what: "journal", tick: 60, reason: "«why»" },
    { what: "journal", tick: 61, reason: "is not there" },
    { what: "members", tick: 0, reason: "checksum" },
  ] as const;
  await expect(
    store.quarantinePieces({ ...lease, epoch: lease.epoch - 1 }, pieces, at(0), limits),
  ).rejects.toBeInstanceOf(LeaseLost);
  await expect(store.quarantinePieces({ ...lease, epoch: lease.epoch - 1 }, [], at(0), limits)).rejects.toBeInstanceOf(
    LeaseLost,
  );
  await store.quarantinePieces(lease, pieces, at(0), limits);
  await store.quarantinePieces(lease, pieces, at(1), limits); // Repeating it changes nothing.
  expect(await other.checkpointTicks(lease.room)).toEqual([]);
  expect((await other.readJournal(lease.room, 0)).map(({ until }) => until)).toEqual([30]);
  expect(await other.readMembers(lease.room)).toBeNull();
  const kept = await other.listQuarantinedPieces(lease.room);
  expect(kept).toEqual([
    { id: kept[0]!.id, what: "checkpoint", tick: 30, after: null, reason: "checksum", at: at(0), bytes: 50 },
    { id: kept[1]!.id, what: "journal", tick: 60, after: 30, reason: "«why»", at: at(0), bytes: 20 },
    { id: kept[2]!.id, what: "members", tick: 0, after: null, reason: "checksum", at: at(0), bytes: 7 },
  ]);
  expect(Buffer.compare((await other.readQuarantinedPiece(lease.room, kept[1]!.id))!, bytes(20, 3))).toBe(0);
  expect(await other.readQuarantinedPiece(neighbor.room, kept[1]!.id)).toBeNull();
  expect(await other.removeQuarantinedPiece(neighbor.room, kept[1]!.id)).toBe(false);
  expect(await other.removeQuarantinedPiece(lease.room, kept[1]!.id)).toBe(true);
  expect(await other.removeQuarantinedPiece(lease.room, kept[1]!.id)).toBe(false);
  expect(await contents(neighbor.room)).toEqual(untouched);
  // By size: the oldest of the room are removed. By age: those of all rooms.
  for (const tick of [100, 200, 300]) {
    await store.writeCheckpoint(lease, { tick, identity: "a", state: bytes(400, tick) });
    await store.quarantinePieces(lease, [{ what: "checkpoint", tick, reason: "checksum" }], at(2), limits);
  }
  const ticks = async (room: string): Promise<number[]> =>
    (await other.listQuarantinedPieces(room)).map(({ tick }) => tick);
  expect(await ticks(lease.room)).toEqual([200, 300]);
  await store.quarantinePieces(neighbor, pieces, at(32.5), limits);
  expect(await ticks(lease.room)).toEqual([]);
  expect(await ticks(neighbor.room)).toEqual([30, 60, 0]);
  await store.expireQuarantinedPieces(at(32.4));
  expect(await ticks(neighbor.room)).toEqual([30, 60, 0]);
  await store.removeRoom(neighbor);
  expect(await ticks(neighbor.room)).toEqual([]);
  await store.writeCheckpoint(lease, { tick: 1, identity: "a", state: bytes(4, 1) });
  await store.quarantinePieces(lease, [{ what: "checkpoint", tick: 1, reason: "checksum" }], at(40), limits);
  await store.expireQuarantinedPieces(at(40.1));
  expect(await ticks(lease.room)).toEqual([]);
});

test("pruning removes the past, rewinding the future, and neither affects other rooms", async () => {
  const [lease, neighbor] = [await held(), await held()];
  for (const one of [lease, neighbor]) {
    for (const tick of [0, 100, 200, 300]) {
      await store.writeCheckpoint(one, { tick, identity: "a", state: bytes(5, tick) });
      await store.appendJournal(one, { after: tick, until: tick + 100, bytes: bytes(2, tick) });
    }
  }
  const ticks = async (): Promise<number[]> => (await other.checkpointTicks(lease.room)).map(({ tick }) => tick);
  const untils = async (): Promise<number[]> =>
    (await other.readJournal(lease.room, -Infinity)).map(({ until }) => until);
  await store.prune(lease, [100, 200, 300], 100);
  expect([await ticks(), await untils()]).toEqual([
    [100, 200, 300],
    [200, 300, 400],
  ]);
  await store.truncate(lease, 200);
  expect([await ticks(), await untils()]).toEqual([[100, 200], [200]]);
  await store.prune(lease, [], -Infinity);
  expect([await ticks(), await untils()]).toEqual([[], [200]]);
  expect(await other.checkpointTicks(neighbor.room)).toHaveLength(4);
  expect(await other.readJournal(neighbor.room, -Infinity)).toHaveLength(4);
});

export function dataConformance(stores: () => [Store, Store]): void {
  describe("data of rooms", () => {
    beforeAll(() => {
      [store, other] = stores();
    });
    conformance.run();
  });
}
