/**
 * The requirements of every store (server/store/store.ts), written once and run against each implementation. Several
 * stores opened on one database represent several processes. Leases are short here, so that a test can wait for their
 * end. Waits exceed the term by a margin.
 */
import { afterAll, beforeAll, describe, expect, vi } from "vitest";
import {
  type Holder,
  type Lease,
  LeaseLost,
  type ListedProcess,
  type ProcessReport,
  type Store,
  StoreBehind,
} from "../../../server/store/store.ts";
import { afterTerm, ann, bob, bytes, cleo, Conformance, type Provider, record, TERM } from "./conformanceKit.ts";
import { auditConformance } from "./conformanceAudit.ts";
import { objectConformance } from "./conformanceObjects.ts";

const conformance = new Conformance();
const { test } = conformance;

// The implementation under test.
let provider: Provider;
let store: Store;
let other: Store;

/** A new room that Ann owns. */
const held = async (): Promise<Lease> => {
  const answer = await store.createRoom(record(), ann);
  if (!answer.created) throw new Error("the name was taken");
  return answer.lease;
};
/** The same room, now owned by Bob. */
const taken = async (lease: Lease): Promise<Lease> => {
  await store.release(lease);
  return (await other.claim(lease.room, bob)) as Lease;
};
const contents = async (room: string): Promise<unknown> => [
  await store.room(room).then((found) => found?.settings),
  await store.checkpointTicks(room),
  await store.readJournal(room, -Infinity),
  await store.readMembers(room),
];

test("answers", async () => {
  await store.ping();
  expect(store.leaseSeconds).toBe(TERM);
});

test("a created room belongs to its creator and is listed everywhere", async () => {
  const room = { ...record(), settings: { password: "«ü'\"\\ \u0001 😀", roles: [1, null, { deep: true }] } };
  const answer = await store.createRoom(room, ann);
  expect(answer).toMatchObject({ created: true, lease: { room: room.name, process: "ann" } });
  const found = await other.room(room.name);
  expect(found).toMatchObject({ ...room, members: 0, owner: ann });
  expect(found?.owner?.epoch).toBe((answer as { lease: Lease }).lease.epoch);
  expect(found?.owner?.secondsLeft).toBeGreaterThan(0);
  expect(found?.owner?.secondsLeft).toBeLessThanOrEqual(TERM);
  expect((await other.rooms()).filter((listing) => listing.name === room.name)).toHaveLength(1);
  expect(await other.room("no-such-room")).toBeNull();
});

test("a name in use returns its room and changes nothing", async () => {
  const lease = await held();
  const answer = await other.createRoom({ ...record(lease.room), scene: "cloth" }, bob);
  expect(answer).toMatchObject({
    created: false,
    room: { name: lease.room, scene: "bunny", owner: { process: "ann", epoch: lease.epoch } },
  });
});

test("a repeated request gets the room that it created, under any name, until that is gone", async () => {
  const [first, second] = [record(), record()];
  const answer = await store.createRoom(first, ann, `key of ${first.name}`);
  expect(answer.created).toBe(true);
  expect(await other.createRoom(second, bob, `key of ${first.name}`)).toMatchObject({
    created: false,
    room: { name: first.name },
  });
  expect(await store.room(second.name)).toBeNull();
  await store.removeRoom((answer as { lease: Lease }).lease);
  expect(await other.createRoom(second, bob, `key of ${first.name}`)).toMatchObject({
    created: true,
    lease: { room: second.name },
  });
});

test("of many that create one room at once exactly one succeeds, and all get the same room", async () => {
  for (const keyed of [false, true]) {
    const { name: shared } = record();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        (i % 2 ? store : other).createRoom(
          keyed ? record() : record(shared),
          [ann, bob, cleo][i % 3],
          keyed ? `key of ${shared}` : undefined,
        ),
      ),
    );
    const makers = answers.flatMap((answer) => (answer.created ? [answer.lease] : []));
    expect(makers).toHaveLength(1);
    for (const answer of answers)
      if (!answer.created)
        expect(answer.room).toMatchObject({ name: makers[0].room, owner: { process: makers[0].process } });
  }
});

test("announcements of processes are visible to all, in their latest form, and expire", async () => {
  const report: ProcessReport = {
    process: "dan",
    url: "http://dan:8080",
    publicUrl: "https://dan.play.example",
    version: "«1» 😀",
    state: "starting",
    load: 0.25,
    rooms: 3,
    maxRooms: 64,
    members: 7,
    memoryBytes: 2 ** 40,
    given: [{ room: "one", to: null, secondsAgo: 0.5 }],
  };
  const of = async (process: string): Promise<ListedProcess | undefined> =>
    (await other.processes()).find((one) => one.process === process);
  await store.report(report);
  await store.report({ ...report, process: "eve", publicUrl: null });
  await store.report({ ...report, state: "ready", given: [] });
  const { secondsLeft, ...said } = (await of("dan"))!;
  expect(said).toEqual({ ...report, state: "ready", given: [] });
  expect(secondsLeft).toBeGreaterThan(0);
  expect(secondsLeft).toBeLessThanOrEqual(TERM);
  // A dead process's announcement expires at once; other announcements stay.
  await other.endLeases("dan");
  expect((await of("dan"))!.secondsLeft).toBeLessThanOrEqual(0);
  expect((await of("eve"))!.secondsLeft).toBeGreaterThan(0);
  await afterTerm();
  expect((await of("eve"))!.secondsLeft).toBeLessThanOrEqual(0);
  await store.report(report);
  expect((await of("dan"))!.secondsLeft).toBeGreaterThan(0);
});

test("a room cannot be claimed while its lease runs; a release ends it at once", async () => {
  const lease = await held();
  expect(await other.claim(lease.room, bob)).toBeNull();
  expect(await store.claim(lease.room, ann)).toBeNull();
  expect(await store.claim("no-such-room", ann)).toBeNull();
  await store.release(lease);
  expect(await store.room(lease.room)).toMatchObject({ owner: null, expired: null });
  const next = (await other.claim(lease.room, bob)) as Lease;
  expect(next.epoch).toBeGreaterThan(lease.epoch);
  await store.release(lease); // A late message of the owner before.
  expect(await store.room(lease.room)).toMatchObject({ owner: { process: "bob", epoch: next.epoch } });
});

test("a lease expires by the store's clock, whatever the caller's time of day", async () => {
  const lease = await held();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3600e3 });
  try {
    expect(await other.claim(lease.room, bob)).toBeNull();
    vi.setSystemTime(Date.now() - 7200e3);
    await afterTerm();
    expect(await other.room(lease.room)).toMatchObject({ owner: null, expired: "ann" });
    expect(await other.claim(lease.room, bob)).toMatchObject({ process: "bob" });
  } finally {
    vi.useRealTimers();
  }
});

test("renewing keeps a room beyond its term and stores its number of members", async () => {
  const lease = await held();
  for (let i = 0; i < 4; i++) {
    await new Promise((resolve) => setTimeout(resolve, 400 * TERM));
    expect(await store.renew(ann, [{ ...lease, members: i }])).toEqual([]);
    expect(await other.claim(lease.room, bob)).toBeNull();
  }
  expect(await other.room(lease.room)).toMatchObject({ members: 3 });
  expect(await store.renew(ann, [])).toEqual([]);
});

test("renewing names exactly the lost rooms: taken by other processes, released, removed", async () => {
  const [kept, lost, released, removed] = [await held(), await held(), await held(), await held()];
  await taken(lost);
  await store.release(released);
  await store.removeRoom(removed);
  const answer = await store.renew(
    ann,
    [kept, lost, released, removed].map((lease) => ({ ...lease, members: 1 })),
  );
  expect([...answer].sort()).toEqual([lost, released, removed].map(({ room }) => room).sort());
  expect(await store.room(lost.room)).toMatchObject({ owner: { process: "bob" }, members: 0 });
});

test("an expired lease still writes while no process has claimed the room, and can be renewed", async () => {
  const lease = await held();
  await afterTerm();
  await store.writeCheckpoint(lease, { tick: 5, identity: "a", state: bytes(3, 1) });
  expect(await store.renew(ann, [{ ...lease, members: 0 }])).toEqual([]);
  expect(await other.claim(lease.room, bob)).toBeNull();
  expect((await store.room(lease.room))?.owner).toMatchObject({ process: "ann", epoch: lease.epoch });
});

test("of many that claim one room at once exactly one gets it, each time with a higher epoch", async () => {
  let lease = await held();
  // On a busy machine a round may outlast a lease. Then a second claim may win, and the round does not count.
  for (let judged = 0, round = 0; judged < 12; round++) {
    expect(round).toBeLessThan(120);
    await store.release(lease);
    const startMs = performance.now();
    const claims = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? store : other).claim(lease.room, [ann, bob, cleo][i % 3])),
    );
    const winners = claims.filter((claim) => claim !== null).sort((a, b) => a.epoch - b.epoch);
    expect(winners[0]!.epoch).toBeGreaterThan(lease.epoch);
    if (performance.now() - startMs < 1000 * TERM) {
      expect(winners).toHaveLength(1);
      judged++;
    }
    lease = winners.at(-1)!;
  }
});

test("when a lease has expired, either its holder renews it or another takes it, never both", async () => {
  const leases = await Promise.all(Array.from({ length: 12 }, held));
  await afterTerm();
  const outcomes = await Promise.all(
    leases.map(async (lease) => {
      const [lost, claim] = await Promise.all([
        store.renew(ann, [{ ...lease, members: 0 }]),
        other.claim(lease.room, bob),
      ]);
      return { room: lease.room, lost, claim };
    }),
  );
  for (const { room, lost, claim } of outcomes) {
    expect(lost).toEqual(claim === null ? [] : [room]);
    expect((await store.room(room))?.owner).toMatchObject({ process: claim === null ? "ann" : "bob" });
  }
});

test("a stale lease writes nothing at all", async () => {
  const lease = await held();
  const next = await taken(lease);
  await other.writeSettings(next, { by: "bob" });
  await other.writeCheckpoint(next, { tick: 10, identity: "b", state: bytes(9, 2) });
  await other.appendJournal(next, { after: 10, until: 20, bytes: bytes(4, 3) });
  const before = await contents(lease.room);
  const writes = [
    store.writeSettings(lease, { by: "ann" }),
    store.writeMembers(lease, bytes(1, 1)),
    store.countAttempts(lease, 0),
    store.quarantine(lease, { reason: "steps", since: new Date(0).toISOString(), details: "" }),
    store.endQuarantine(lease),
    store.writeCheckpoint(lease, { tick: 10, identity: "a", state: bytes(1, 1) }),
    store.writeCheckpoint(lease, { tick: 11, identity: "a", state: bytes(1, 1) }),
    store.appendJournal(lease, { after: 10, until: 20, bytes: bytes(1, 1) }),
    store.prune(lease, [], 1000),
    store.truncate(lease, 0),
    store.removeRoom(lease),
    // Another process with the right number, and the right process with a future number.
    other.writeSettings({ ...next, process: "cleo" }, {}),
    other.writeSettings({ ...next, epoch: next.epoch + 1 }, {}),
  ];
  for (const outcome of await Promise.allSettled(writes))
    expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(LeaseLost) });
  expect(await contents(lease.room)).toEqual(before);
});

test("once a claim has been answered nothing of the previous owner is written, even if its writes run concurrently", async () => {
  for (let round = 0; round < 6; round++) {
    const lease = await held();
    const accepted: number[] = [];
    let going = true;
    const writer = (async () => {
      for (let tick = 1; going; tick++) {
        await store.writeCheckpoint(lease, { tick, identity: "ann", state: bytes(2000, tick) });
        accepted.push(tick);
      }
    })().catch((error: unknown) => error);
    while (accepted.length < 3) await new Promise((resolve) => setTimeout(resolve, 1));
    await other.release(lease);
    const next = await other.claim(lease.room, bob);
    const atClaim = (await other.checkpointTicks(lease.room)).map(({ tick }) => tick);
    expect(await writer).toBeInstanceOf(LeaseLost);
    going = false;
    expect(next).not.toBeNull();
    const atEnd = (await other.checkpointTicks(lease.room)).map(({ tick }) => tick);
    expect(atEnd).toEqual(atClaim);
    expect(atEnd).toEqual(accepted); // And nothing that was acknowledged is missing.
  }
});

test("epochs continue after a room is removed and another of its name is created: a late write of the first does not reach the second", async () => {
  const lease = await held();
  await store.writeCheckpoint(lease, { tick: 1, identity: "a", state: bytes(8, 1) });
  await store.removeRoom(lease);
  const again = await store.createRoom(record(lease.room), ann);
  expect(again).toMatchObject({ created: true });
  expect((again as { lease: Lease }).lease.epoch).toBeGreaterThan(lease.epoch);
  await expect(store.writeCheckpoint(lease, { tick: 2, identity: "a", state: bytes(8, 1) })).rejects.toBeInstanceOf(
    LeaseLost,
  );
  expect(await store.checkpointTicks(lease.room)).toEqual([]);
});

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

test("claims are counted before the room is served, until it has settled; a release does not reset the count", async () => {
  let lease = await held();
  expect(await store.room(lease.room)).toMatchObject({ attempts: 0, quarantined: null });
  for (const attempts of [1, 2, 3]) {
    await store.release(lease);
    lease = (await other.claim(lease.room, ann)) as Lease;
    expect(lease.attempts).toBe(attempts);
    expect(await other.room(lease.room)).toMatchObject({ attempts });
  }
  await store.countAttempts(lease, 0);
  expect(await other.room(lease.room)).toMatchObject({ attempts: 0 });
  await afterTerm();
  expect(await other.claim(lease.room, bob)).toMatchObject({ attempts: 1 });
});

test("a quarantined room keeps all its data, has no owner and cannot be claimed until it is released from quarantine", async () => {
  const lease = await held();
  await store.appendJournal(lease, { after: 0, until: 30, bytes: bytes(3, 1) });
  const before = await contents(lease.room);
  const quarantined = {
    reason: "version",
    since: new Date(0).toISOString(),
    details: "«why»",
    identity: "abc",
  } as const;
  await store.quarantine(lease, quarantined);
  expect(await other.room(lease.room)).toMatchObject({ quarantined, owner: null, expired: null });
  expect((await other.rooms()).find(({ name }) => name === lease.room)).toMatchObject({ quarantined });
  expect(await other.claim(lease.room, bob)).toBeNull();
  expect(await store.renew(ann, [{ ...lease, members: 1 }])).toEqual([lease.room]);
  await expect(store.quarantine(lease, quarantined)).rejects.toBeInstanceOf(LeaseLost);
  expect(await contents(lease.room)).toEqual(before);
  const operators = (await other.claim(lease.room, bob, { quarantined: true })) as Lease;
  expect(operators).toMatchObject({ process: "bob", attempts: 0 });
  expect(await store.claim(lease.room, ann, { quarantined: true })).toBeNull();
  await other.endQuarantine(operators);
  expect(await other.room(lease.room)).toMatchObject({ quarantined: null, attempts: 0, owner: { process: "bob" } });
  await other.release(operators);
  expect(await store.claim(lease.room, ann)).toMatchObject({ attempts: 1 });
  expect(await contents(lease.room)).toEqual(before);
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

test("a removed room leaves nothing, also with writes in progress", async () => {
  for (let round = 0; round < 8; round++) {
    const lease = await held();
    await store.writeCheckpoint(lease, { tick: 0, identity: "a", state: bytes(50, 1) });
    const writes = Array.from({ length: 6 }, (_, i) => [
      other.writeCheckpoint(lease, { tick: i, identity: "a", state: bytes(20_000, i) }),
      other.appendJournal(lease, { after: i, until: i + 1, bytes: bytes(500, i) }),
    ]).flat();
    const removed = store.removeRoom(lease);
    for (const outcome of await Promise.allSettled(writes))
      if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(LeaseLost);
    await removed;
    expect(await store.room(lease.room)).toBeNull();
    expect(await contents(lease.room)).toEqual([undefined, [], [], null]);
    await expect(store.removeRoom(lease)).rejects.toBeInstanceOf(LeaseLost);
  }
});

test("a room gets another scene and loses its past in one step, keeps its members, and only under its lease", async () => {
  const lease = await held();
  await store.writeMembers(lease, bytes(9, 1));
  await store.writeCheckpoint(lease, { tick: 5, identity: "a", state: bytes(50, 1) });
  await store.appendJournal(lease, { after: 5, until: 9, bytes: bytes(50, 2) });
  await other.changeScene(lease, "o-another");
  expect(await store.room(lease.room)).toMatchObject({ scene: "o-another" });
  expect(await store.checkpointTicks(lease.room)).toEqual([]);
  expect(await store.readJournal(lease.room, -Infinity)).toEqual([]);
  expect(await store.readMembers(lease.room)).toEqual(expect.objectContaining({ length: 9 }));
  await store.release(lease);
  await expect(store.changeScene(lease, "o-late")).rejects.toBeInstanceOf(LeaseLost);
  expect(await store.room(lease.room)).toMatchObject({ scene: "o-another" });
});

test("the leases of a dead process are ended together", async () => {
  const doomed: Holder = { process: `doomed-${record().name}`, url: "http://doomed" };
  const rooms = [record(), record()];
  for (const room of rooms) await store.createRoom(room, doomed);
  const alive = await held();
  expect([...(await other.endLeases(doomed.process))].sort()).toEqual(rooms.map(({ name }) => name).sort());
  expect(await other.claim(rooms[0].name, bob)).toMatchObject({ process: "bob" });
  expect(await other.claim(alive.room, bob)).toBeNull();
  expect(await other.endLeases(doomed.process)).toEqual([]);
});

test("a renewal does not wait for queued writes, neither of another room nor of its own", async () => {
  const lease = await held();
  const busy = await held();
  let done = 0;
  const segment = bytes(20_000, 1);
  const flood = Array.from({ length: 1500 }, (_, i) =>
    store
      .appendJournal(i % 2 ? lease : busy, { after: i, until: i + 1, bytes: segment })
      // If more are queued than a store handles in some seconds it refuses them; this test is about those that do not
      // wait.
      .catch(() => {})
      .then(() => void (done += 1)),
  );
  const before: number[] = [];
  for (let i = 0; i < 5; i++) {
    expect(await store.renew(ann, [{ ...lease, members: i }])).toEqual([]);
    before.push(done);
  }
  // All five came after all writes. One that waited behind the writes of its room, or of all rooms, would finish after
  // the last of them; five that waited behind a fifth of them would, too.
  expect(before[4]).toBeLessThan(flood.length);
  await Promise.all(flood);
});

test("all data remain after the store was closed and opened again", async () => {
  const lease = await held();
  await store.writeCheckpoint(lease, { tick: 7, identity: "a", state: bytes(100, 7) });
  const before = await contents(lease.room);
  await store.close();
  await other.close();
  [store, other] = [await provider.open(), await provider.open()];
  expect(await contents(lease.room)).toEqual(before);
  await store.writeSettings(lease, { still: "mine" });
});

export function storeConformance(name: string, provide: () => Promise<Provider>): void {
  describe(`store: ${name}`, () => {
    beforeAll(async () => {
      provider = await provide();
      [store, other] = [await provider.open(), await provider.open()];
    });
    afterAll(async () => {
      await store?.close();
      await other?.close();
    });

    conformance.run();
    auditConformance(() => [store, other]);
    objectConformance(
      () => [store.objects, other.objects],
      async (scene) => {
        const answer = await other.createRoom({ ...record(), scene }, bob);
        return () => store.removeRoom((answer as { lease: Lease }).lease);
      },
    );
  });
}
