/** Restoring a room from the store, with intact and damaged data. A real SQLite store; states are plain bytes here. */
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  decodeCheckpoint,
  decodeSegment,
  encodeCheckpoint,
  encodeMembers,
  encodeSegment,
} from "../../../server/persistence/format.ts";
import { DamagedError } from "../../../server/persistence/checksummed.ts";
import { type Checkpoint, RoomHistory } from "../../../server/persistence/history.ts";
import { fill, findRoom, type Found } from "../../../server/persistence/restore.ts";
import { SqliteStore } from "../../../server/store/sqlite/sqliteStore.ts";
import type { Lease } from "../../../server/store/store.ts";
import type { TickRecord } from "../../../server/workers/messages.ts";
import { testFolder } from "../../support/testFolder.ts";

const IDENTITY = "this program and scene";
let store: SqliteStore;
let folder: string;
let rooms = 0;
beforeAll(async () => {
  folder = testFolder("restore");
  store = new SqliteStore({ path: join(folder, "store.sqlite") });
  await store.open();
});
afterAll(() => store.close());

const state = (tick: number): Checkpoint => ({
  tick,
  stateHash: `hash ${tick}`,
  packed: new Uint8Array(zstdCompressSync(Buffer.from(`state of ${tick}`))),
});
const record = (tick: number): TickRecord => ({
  tick,
  inputs: [{ type: "releaseAll", member: tick }],
  fresh: tick % 100 === 1,
});
const segment = (after: number, until: number, members: unknown = null): Uint8Array =>
  encodeSegment({
    after,
    until,
    records: Array.from({ length: until - after }, (_, i) => record(after + 1 + i)),
    hashes: [{ tick: until, stateHash: `hash ${until}` }],
    members,
  });

async function newRoom(): Promise<{ name: string; lease: Lease }> {
  rooms += 1;
  const name = `room-${rooms}`;
  const made = await store.createRoom(
    { name, scene: "s", pool: "shared", createdAt: new Date(0).toISOString(), settings: {} },
    { process: "p", url: "http://127.0.0.1:1" },
  );
  if (!made.created) throw new Error("the name was taken");
  return { name, lease: made.lease };
}

/**
 * Segments of 30 ticks to `until`, checkpoints at the given ticks; `spoil` may change bytes before they are written.
 */
async function write(
  lease: Lease,
  from: number,
  until: number,
  checkpoints: readonly number[],
  spoil: (bytes: Uint8Array, what: "checkpoint" | "journal", tick: number) => Uint8Array = (bytes) => bytes,
): Promise<void> {
  for (let after = from; after < until; after += 30)
    await store.appendJournal(lease, {
      after,
      until: after + 30,
      bytes: spoil(segment(after, after + 30, after === from ? { who: "first" } : null), "journal", after),
    });
  for (const tick of checkpoints)
    await store.writeCheckpoint(lease, {
      tick,
      identity: IDENTITY,
      state: spoil(encodeCheckpoint({ checkpoint: state(tick), members: { who: tick } }), "checkpoint", tick),
    });
}

const flip = (bytes: Uint8Array): Uint8Array => bytes.map((byte, i) => (i === bytes.length >> 1 ? byte ^ 4 : byte));

function filled(found: Found): { until: number; history: RoomHistory } {
  const history = new RoomHistory(60, 3600);
  return { until: fill(history, found), history };
}

test("bytes are unchanged, or reported as damaged", () => {
  const checkpoint = state(77);
  const members = { sessions: [1] };
  expect(decodeCheckpoint(encodeCheckpoint({ checkpoint, members }))).toEqual({ checkpoint, members });
  const bytes = segment(0, 5, members);
  expect(decodeSegment(bytes)).toMatchObject({ after: 0, until: 5, members, records: [1, 2, 3, 4, 5].map(record) });
  for (let i = 0; i < bytes.length; i++)
    expect(() => decodeSegment(bytes.map((byte, k) => (k === i ? byte ^ 16 : byte)))).toThrow(DamagedError);
  expect(() => decodeSegment(bytes.subarray(0, 4))).toThrow(DamagedError);
});

test("a complete room: the newest state, the ticks after it, and the reach of its past", async () => {
  const { name, lease } = await newRoom();
  await write(lease, 0, 330, [100, 200, 300]);
  const found = await findRoom(store, name, IDENTITY);
  const { until, history } = filled(found);
  expect(found).toMatchObject({ damaged: [], otherVersion: false, members: { who: 300 } });
  expect(until).toBe(330);
  expect(history.oldestTick).toBe(0);
  expect(history.rebuild(330)).toMatchObject({
    from: 300,
    until: 330,
    records: Array.from({ length: 30 }, (_, i) => record(301 + i)),
  });
  expect(history.rebuild(150)).toMatchObject({ from: 100 });
});

test("a room that was lost just after a state marks the following tick, as the lost journal would have", async () => {
  const { name, lease } = await newRoom();
  await write(lease, 0, 300, [100, 200, 300]);
  const { until, history } = filled(await findRoom(store, name, IDENTITY));
  expect(until).toBe(300);
  history.stepped(301, []);
  expect(history.records(300)).toEqual([{ tick: 301, inputs: [], fresh: true }]);
});

test("without the first ticks the scene's start leads nowhere", async () => {
  const { name, lease } = await newRoom();
  await write(lease, 90, 330, [100, 200, 300]);
  const { history } = filled(await findRoom(store, name, IDENTITY));
  expect(history.oldestTick).toBe(100);
  expect(history.records(0)[0]).toEqual(record(101));
});

test("a damaged checkpoint: the one before, and the journal since", async () => {
  const { name, lease } = await newRoom();
  await write(lease, 0, 330, [100, 200, 300], (bytes, what, tick) =>
    what === "checkpoint" && tick === 300 ? flip(bytes) : bytes,
  );
  const found = await findRoom(store, name, IDENTITY);
  const { until, history } = filled(found);
  expect(found.damaged).toEqual([
    { what: "checkpoint", tick: 300, reason: expect.stringMatching(/checksum/) as string },
  ]);
  expect(until).toBe(330);
  expect(history.rebuild(330)).toMatchObject({ from: 200, records: { length: 130 } });
});

test("a damaged journal segment: up to the gap", async () => {
  const { name, lease } = await newRoom();
  // The segment from 240 to 270 is not needed for 300; the one from 300 on comes next.
  await write(lease, 0, 360, [100, 300], (bytes, what, tick) =>
    what === "journal" && (tick === 240 || tick === 330) ? flip(bytes) : bytes,
  );
  const found = await findRoom(store, name, IDENTITY);
  const { until, history } = filled(found);
  expect(found.damaged.map(({ what, tick }) => [what, tick])).toEqual([
    ["journal", 270],
    ["journal", 360],
  ]);
  expect(found.unreached).toEqual([]);
  expect(until).toBe(330);
  // 100 does not lead to 300 any more.
  expect(history.oldestTick).toBe(300);
});

test("only a journal: from the scene's start; with a gap at its beginning: the start itself", async () => {
  const one = await newRoom();
  await write(one.lease, 0, 90, []);
  expect(filled(await findRoom(store, one.name, IDENTITY)).history.rebuild(90)).toMatchObject({
    state: undefined,
    from: 0,
    records: { length: 90 },
  });
  const two = await newRoom();
  await write(two.lease, 0, 90, [], (bytes, what, tick) => (what === "journal" && tick === 0 ? flip(bytes) : bytes));
  const { until, history } = filled(await findRoom(store, two.name, IDENTITY));
  expect([until, history.oldestTick]).toEqual([0, 0]);
  const { damaged, unreached } = await findRoom(store, two.name, IDENTITY);
  expect(damaged.map(({ what, tick }) => [what, tick])).toEqual([["journal", 30]]);
  // Intact, and after the gap.
  expect(unreached.map(({ what, tick }) => [what, tick])).toEqual([
    ["journal", 60],
    ["journal", 90],
  ]);
});

test("overlapping segments, as in an old store: every tick once", async () => {
  const { name, lease } = await newRoom();
  await write(lease, 0, 90, []);
  const pieces = await store.readJournal(name, 0);
  const overlapping = [
    ...pieces,
    { after: 30, until: 75, bytes: segment(30, 75) },
    { after: 60, until: 120, bytes: segment(60, 120) },
  ];
  overlapping.sort((a, b) => a.until - b.until);
  for (const base of [undefined, 50, 80]) {
    const found = await findRoom(
      Object.assign(Object.create(store) as SqliteStore, {
        readJournal: () => Promise.resolve(overlapping),
        checkpointTicks: () => Promise.resolve(base === undefined ? [] : [{ tick: base, bytes: 1 }]),
        readCheckpoint: (_: string, tick: number) =>
          Promise.resolve({
            tick,
            identity: IDENTITY,
            state: encodeCheckpoint({ checkpoint: state(tick), members: null }),
          }),
        readMembers: () => Promise.resolve(null),
      }),
      name,
      IDENTITY,
    );
    const { until, history } = filled(found);
    expect(until).toBe(120);
    expect(history.records(0)).toEqual(Array.from({ length: 120 }, (_, i) => record(1 + i)));
  }
});

test("members as last written; if damaged, those of the newest state, with a report", async () => {
  const { name, lease } = await newRoom();
  await write(lease, 0, 330, [300]);
  await store.writeMembers(lease, encodeMembers({ who: "last" }));
  expect(await findRoom(store, name, IDENTITY)).toMatchObject({ members: { who: "last" }, damaged: [] });
  await store.writeMembers(lease, flip(encodeMembers({ who: "last" })));
  expect(await findRoom(store, name, IDENTITY)).toMatchObject({
    members: { who: 300 },
    damaged: [{ what: "members", tick: 0 }],
  });
});

test("for inspection a room of any program is found whole", async () => {
  const { name, lease } = await newRoom();
  await write(lease, 0, 330, [300]);
  const found = await findRoom(store, name, null);
  expect(found).toMatchObject({ otherVersion: false, identity: IDENTITY });
  expect(filled(found).until).toBe(330);
});

test("a room that another program or scene has stepped is not continued", async () => {
  const { name, lease } = await newRoom();
  await write(lease, 0, 330, [300]);
  expect(await findRoom(store, name, "another")).toMatchObject({
    otherVersion: true,
    identity: IDENTITY,
    checkpoints: [],
    segments: [],
  });
});
