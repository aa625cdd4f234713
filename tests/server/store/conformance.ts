/**
 * The requirements of every store (server/store/store.ts), written once and run against each implementation. Several
 * stores opened on one database represent several processes. Leases are short here, so that a test can wait for their
 * end. Waits exceed the term by a margin.
 */
import { afterAll, beforeAll, describe, expect, vi } from "vitest";
import { readReport } from "../../../server/store/processReport.ts";
import {
  type Holder,
  type Lease,
  LeaseLost,
  type ListedProcess,
  type ProcessReport,
  type Store,
} from "../../../server/store/store.ts";
import {
  afterTerm,
  ann,
  bob,
  bytes,
  cleo,
  Conformance,
  contentsOf,
  heldRoom,
  type Provider,
  record,
  takenRoom,
  TERM,
} from "./conformanceKit.ts";
import { auditConformance } from "./conformanceAudit.ts";
import { dataConformance } from "./conformanceData.ts";
import { objectConformance } from "./conformanceObjects.ts";

const conformance = new Conformance();
const { test } = conformance;

// The implementation under test.
let provider: Provider;
let store: Store;
let other: Store;

const held = (): Promise<Lease> => heldRoom(store);
const taken = (lease: Lease): Promise<Lease> => takenRoom(store, other, lease);
const contents = (room: string): Promise<unknown> => contentsOf(store, room);

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
  const of = async (process: string): Promise<ListedProcess> =>
    readReport((await other.processes()).find((one) => one.process === process)!) as ListedProcess;
  await store.report(report);
  await store.report({ ...report, process: "eve", publicUrl: null });
  await store.report({ ...report, state: "ready", given: [] });
  const { secondsLeft, ...said } = await of("dan");
  expect(said).toEqual({ ...report, state: "ready", given: [] });
  expect(secondsLeft).toBeGreaterThan(0);
  expect(secondsLeft).toBeLessThanOrEqual(TERM);
  // A dead process's announcement expires at once; other announcements stay.
  await other.endLeases("dan");
  expect((await of("dan")).secondsLeft).toBeLessThanOrEqual(0);
  expect((await of("eve")).secondsLeft).toBeGreaterThan(0);
  await afterTerm();
  expect((await of("eve")).secondsLeft).toBeLessThanOrEqual(0);
  await store.report(report);
  expect((await of("dan")).secondsLeft).toBeGreaterThan(0);
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

    dataConformance(() => [store, other]);
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
