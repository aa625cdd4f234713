/**
 * The store's content after each action of a room: going back, a store that is away for a while, a room that was stored
 * before. A real SQLite store; the room consists of its history only.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Metrics } from "../../../server/metrics/metrics.ts";
import { RoomHistory } from "../../../server/persistence/history.ts";
import { CheckpointPolicy } from "../../../server/persistence/checkpointPolicy.ts";
import { fill, findRoom } from "../../../server/persistence/restore.ts";
import { JournalWriter, type JournaledRoom } from "../../../server/persistence/journalWriter.ts";
import { decodeRecording, encodeRecording, recordingOf } from "../../../server/persistence/recording.ts";
import type { Input } from "../../../server/sim/types.ts";
import { SqliteStore } from "../../../server/store/sqlite/sqliteStore.ts";
import type { Lease, Store } from "../../../server/store/store.ts";
import { emptyMetrics } from "../../support/emptyMetrics.ts";
import { testFolder } from "../../support/testFolder.ts";

const HOLDER = { process: "p", url: "http://127.0.0.1:1" };
let store: SqliteStore;
let folder: string;
let metrics: Metrics;
let rooms = 0;
beforeAll(async () => {
  folder = testFolder("journalWriter");
  store = new SqliteStore({ path: join(folder, "store.sqlite") });
  await store.open();
  metrics = emptyMetrics();
});
afterAll(async () => {
  metrics.close();
  await store.close();
});

const log = { info: () => {}, warn: () => {}, error: () => {} } as never;
const input = (member: number): Input => ({ type: "releaseAll", member });

class Played implements JournaledRoom {
  readonly checkpointPolicy = new CheckpointPolicy(60, 3600);
  readonly identity = "i";
  readonly tickHz = 60;
  lost = false;
  onProbation = false;
  readonly who: string[];
  readonly name: string;

  constructor(name: string) {
    this.name = name;
    this.who = [name];
  }

  settings(): Record<string, unknown> {
    return { of: this.name };
  }

  memberRecords(): unknown {
    return { sessions: [...this.who] };
  }

  leaseLost(): void {
    this.lost = true;
  }

  /** Every tick has an input with its number and `telling`; a state every hundred ticks. */
  async play(until: number, telling = 0): Promise<void> {
    const { history } = this.checkpointPolicy;
    for (let tick = history.tick + 1; tick <= until; tick++) {
      history.stepped(tick, [input(1000 * telling + tick)]);
      if (tick % 100 === 0)
        await this.checkpointPolicy.saved({
          tick,
          state: new TextEncoder().encode(`state ${tick} of telling ${telling}`) as Uint8Array<ArrayBuffer>,
          stateHash: `${telling}:${tick}`,
          seconds: 0,
        });
    }
  }
}

async function begin(through: Store = store): Promise<{ room: Played; journalWriter: JournalWriter; lease: Lease }> {
  rooms += 1;
  const name = `told-${rooms}`;
  const made = await store.createRoom(
    { name, scene: "s", pool: "shared", createdAt: new Date(0).toISOString(), settings: {} },
    HOLDER,
  );
  if (!made.created) throw new Error("the name was taken");
  const room = new Played(name);
  const journalWriter = new JournalWriter({ store: through, metrics, log, flushMs: 3_600_000 });
  journalWriter.hold(room, made.lease);
  return { room, journalWriter, lease: made.lease };
}

/** The store, with one method replaced. */
const answering = (method: keyof Store, answer: (...args: never[]) => Promise<void>): Store =>
  new Proxy(store, {
    get: (target, name) => {
      if (name === method) return answer;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  }) as Store;

/** The store, with an action between each append and its answer. */
const afterAppends = (happen: () => Promise<void>): Store =>
  answering("appendJournal", async (...args: Parameters<Store["appendJournal"]>) => {
    await store.appendJournal(...args);
    await happen();
  });

/** The result of a restart: the history, and the members in its inputs from `from` on. */
async function found(
  room: string,
): Promise<{ history: RoomHistory; inputs: (from: number) => number[]; members: unknown }> {
  const all = await findRoom(store, room, "i");
  const history = new RoomHistory(60, 3600);
  fill(history, all);
  return {
    history,
    members: all.members,
    inputs: (from) =>
      history
        .records(from)
        .flatMap(({ inputs }) => inputs)
        .map(({ member }) => member),
  };
}

test("every tick is in the store after a flush, and none twice", async () => {
  const { room, journalWriter } = await begin();
  for (const until of [40, 41, 333, 480]) {
    await room.play(until);
    await journalWriter.flush(room.name);
    const { history, inputs, members } = await found(room.name);
    expect(history.tick).toBe(until);
    expect(inputs(0)).toEqual(Array.from({ length: until }, (_, i) => i + 1));
    expect(members).toEqual({ sessions: [room.name] });
  }
  await journalWriter.close();
});

test("a room that went back is restored from there, without the undone ticks", async () => {
  const { room, journalWriter } = await begin();
  await room.play(640);
  await journalWriter.flush(room.name);
  room.checkpointPolicy.history.rewind(450);
  await journalWriter.flush(room.name);
  expect((await found(room.name)).history.tick).toBe(450);
  // Twice before the next flush, the second time further back.
  await room.play(700, 1);
  room.checkpointPolicy.history.rewind(600);
  await room.play(720, 2);
  room.checkpointPolicy.history.rewind(420);
  await room.play(760, 3);
  await journalWriter.flush(room.name);
  const { history, inputs } = await found(room.name);
  expect(history.tick).toBe(760);
  const from = history.oldestTick;
  expect(from).toBeLessThanOrEqual(420);
  expect(inputs(from)).toEqual([
    ...Array.from({ length: 420 - from }, (_, i) => from + 1 + i),
    ...Array.from({ length: 340 }, (_, i) => 3421 + i),
  ]);
  expect(history.states.filter(({ tick }) => tick > 420).every(({ stateHash }) => stateHash.startsWith("3:"))).toBe(
    true,
  );
  // A new history replaces the stored one.
  room.checkpointPolicy.history.begin();
  await room.play(130, 4);
  await journalWriter.flush(room.name);
  expect((await found(room.name)).inputs(0)).toEqual(Array.from({ length: 130 }, (_, i) => 4001 + i));
  await journalWriter.close();
});

test("a room that goes back during a journal write has no state in the store that its journal does not lead to", async () => {
  let meanwhile = async (): Promise<void> => {};
  const { room, journalWriter } = await begin(afterAppends(() => meanwhile()));
  const { checkpointPolicy } = room;
  await room.play(50);
  meanwhile = async () => {
    checkpointPolicy.history.rewind(30);
    const state = new TextEncoder().encode("state 30") as Uint8Array<ArrayBuffer>;
    await checkpointPolicy.saved({ tick: 30, state, stateHash: "0:30", seconds: 0 });
  };
  await journalWriter.flush(room.name);
  expect(await store.checkpointTicks(room.name)).toEqual([]);
  expect((await found(room.name)).history.tick).toBe(50);
  await journalWriter.flush(room.name);
  expect((await store.checkpointTicks(room.name)).map(({ tick }) => tick)).toEqual([30]);
  expect((await found(room.name)).history.tick).toBe(30);
  await journalWriter.close();
});

test("failed writes are stored when the store is back, and at most two calls are pending at once", async () => {
  let away = false;
  let asked = 0;
  let most = 0;
  const through = new Proxy(store, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      return async (...args: unknown[]): Promise<unknown> => {
        asked += 1;
        most = Math.max(most, asked);
        try {
          if (away) {
            await new Promise((resolve) => setTimeout(resolve, 20));
            throw new Error("away");
          }
          return await (value as (...a: unknown[]) => Promise<unknown>).apply(target, args);
        } finally {
          asked -= 1;
        }
      };
    },
  }) as Store;
  const { room, journalWriter } = await begin(through);
  await room.play(50);
  await journalWriter.flush(room.name);
  away = true;
  const flushes: Promise<void>[] = [];
  for (let until = 60; until <= 300; until += 30) {
    await room.play(until);
    flushes.push(journalWriter.flush(room.name));
  }
  await Promise.all(flushes);
  expect((await found(room.name)).history.tick).toBe(50);
  away = false;
  await journalWriter.flush(room.name);
  expect((await found(room.name)).inputs(0)).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
  expect(most).toBe(1);
  await journalWriter.close();
});

test("after appends without an answer every tick is in the store once, and its recording replays", async () => {
  let lost = 0;
  const through = afterAppends(async () => {
    if (++lost % 3 !== 0) throw new Error("done, but the answer is lost");
  });
  const { room, journalWriter } = await begin(through);
  for (const until of [40, 55, 90, 130, 131, 190, 260, 333]) {
    await room.play(until);
    await journalWriter.flush(room.name);
  }
  expect(lost).toBe(8);
  const segments = await store.readJournal(room.name, 0);
  expect(segments[0]!.after).toBe(0);
  for (const [i, { after }] of segments.entries()) if (i > 0) expect(after).toBe(segments[i - 1]!.until);
  const { history, inputs } = await found(room.name);
  expect(inputs(0)).toEqual(Array.from({ length: 333 }, (_, i) => i + 1));
  const about = { room: room.name, scene: "s", sceneText: "{}", identity: "i", topology: "t", tickHz: 60 };
  const recording = recordingOf(history, { ...about, recordedAt: new Date(0).toISOString() });
  expect(decodeRecording(encodeRecording(recording)).records).toHaveLength(333);
  await journalWriter.close();
});

/** A store that can return to a copied state, like a replica that lacks the last transactions. */
function replicated(): { copy: () => void; failOver: () => void } {
  const file = new DatabaseSync(join(folder, "store.sqlite"));
  file.exec("PRAGMA busy_timeout = 4000");
  const tables = ["rooms", "members", "checkpoints", "journal"];
  const all = (work: (table: string) => string): void =>
    file.exec(`BEGIN IMMEDIATE; ${tables.map(work).join("; ")}; COMMIT`);
  return {
    copy: () =>
      all((table) => `DROP TABLE IF EXISTS copy_of_${table}; CREATE TABLE copy_of_${table} AS SELECT * FROM ${table}`),
    failOver: () => all((table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM copy_of_${table}`),
  };
}

test("after a failover the lost ticks are in the store again with the next flush", async () => {
  const { copy, failOver } = replicated();
  const { room, journalWriter } = await begin();
  await room.play(250);
  await journalWriter.flush(room.name);
  copy();
  room.who.push("since then");
  await room.play(480);
  await journalWriter.settingsChanged(room.name);
  await room.play(610);
  await journalWriter.flush(room.name);
  failOver();
  expect((await found(room.name)).history.tick).toBe(250);
  await room.play(620);
  await journalWriter.durable(room.name);
  const again = await found(room.name);
  expect(again.inputs(0)).toEqual(Array.from({ length: 620 }, (_, i) => i + 1));
  expect(again.members).toEqual({ sessions: [room.name, "since then"] });
  expect(await store.room(room.name)).toMatchObject({ settings: { of: room.name } });
  // Later ticks are stored as before.
  await room.play(700);
  await journalWriter.durable(room.name);
  expect((await found(room.name)).inputs(0)).toHaveLength(700);
  await journalWriter.close();
});

test("after a failover that lost an undo, the undone ticks are removed from the store again", async () => {
  const { copy, failOver } = replicated();
  const { room, journalWriter } = await begin();
  await room.play(340);
  await journalWriter.flush(room.name);
  copy();
  room.checkpointPolicy.history.rewind(230);
  await room.play(240, 1);
  await journalWriter.durable(room.name);
  failOver();
  await room.play(250, 1);
  await journalWriter.durable(room.name);
  const { history, inputs } = await found(room.name);
  expect(history.tick).toBe(250);
  expect(inputs(200)).toEqual([
    ...Array.from({ length: 30 }, (_, i) => 201 + i),
    ...Array.from({ length: 20 }, (_, i) => 1231 + i),
  ]);
  await journalWriter.close();
});

test("if memory does not reach back to the replica's state, the room continues from its newest state, and reports it", async () => {
  const { copy, failOver } = replicated();
  const { room, journalWriter } = await begin();
  await room.play(150);
  await journalWriter.flush(room.name);
  copy();
  await room.play(1000);
  await journalWriter.flush(room.name);
  failOver();
  room.checkpointPolicy.history.forgetBefore(700);
  await room.play(1010);
  await journalWriter.durable(room.name);
  const { history, inputs } = await found(room.name);
  expect([history.oldestTick, history.tick]).toEqual([1000, 1010]);
  expect(inputs(1000)).toEqual(Array.from({ length: 10 }, (_, i) => 1001 + i));
  const lines = (await metrics.registry.metrics()).split("\n");
  expect(lines).toContain('pliant_store_sent_again_total{what="state"} 1');
  expect(lines).toContain('pliant_store_sent_again_total{what="whole"} 2');
  await journalWriter.close();
});

test("a room without new data also notices a failover", async () => {
  const { copy, failOver } = replicated();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const { room, journalWriter } = await begin();
    copy();
    await room.play(50);
    await journalWriter.settingsChanged(room.name);
    failOver();
    expect((await found(room.name)).history.tick).toBe(0);
    await vi.advanceTimersByTimeAsync(2000);
    await vi.waitUntil(async () => (await found(room.name)).history.tick === 50, { timeout: 50_000 });
    expect(await store.room(room.name)).toMatchObject({ settings: { of: room.name } });
    await journalWriter.close();
  } finally {
    vi.useRealTimers();
  }
});

test("members of the room are stored with the next flush, even without a tick", async () => {
  const { room, journalWriter } = await begin();
  expect((await found(room.name)).members).toBeNull();
  await journalWriter.durable(room.name);
  expect((await found(room.name)).members).toEqual({ sessions: [room.name] });
  room.who.push("somebody else");
  await journalWriter.durable(room.name);
  expect((await found(room.name)).members).toEqual({ sessions: [room.name, "somebody else"] });
  await journalWriter.close();
});

test("a takeover counts as an attempt during probation, and not after it", async () => {
  const { room, journalWriter, lease } = await begin();
  const attempts = async (): Promise<number> => (await store.room(room.name))!.attempts;
  await store.release(lease);
  const claimed = (await store.claim(room.name, HOLDER))!;
  journalWriter.hold(room, claimed);
  room.onProbation = true;
  await journalWriter.durable(room.name);
  expect(await attempts()).toBe(1);
  room.onProbation = false;
  await journalWriter.durable(room.name);
  expect(await attempts()).toBe(0);
  room.onProbation = true; // Its members are back, and it is about to tick.
  await journalWriter.durable(room.name);
  expect(await attempts()).toBe(1);
  await journalWriter.release(room.name); // A process that releases the room has survived its attempt.
  expect(await attempts()).toBe(0);
  await journalWriter.close();
});

test("a quarantined room has all its ticks in the store, and no process writes for it any more", async () => {
  const { room, journalWriter } = await begin();
  await room.play(250);
  await journalWriter.quarantine(room.name, { reason: "steps", since: new Date(0).toISOString(), details: "why" });
  expect(await store.room(room.name)).toMatchObject({ quarantined: { reason: "steps" }, owner: null });
  await room.play(300);
  await journalWriter.flushAll();
  const { inputs } = await found(room.name);
  expect(inputs(0)).toEqual(Array.from({ length: 250 }, (_, i) => i + 1));
  expect(room.lost).toBe(false);
  await journalWriter.close();
});

test("a room whose quarantine failed is released at once", async () => {
  const { room, journalWriter } = await begin(
    answering("quarantine", () => Promise.reject(new Error("disk I/O error"))),
  );
  await room.play(250);
  const quarantined = journalWriter.quarantine(room.name, {
    reason: "steps",
    since: new Date(0).toISOString(),
    details: "why",
  });
  await expect(quarantined).rejects.toThrow("disk I/O error");
  expect(await store.room(room.name)).toMatchObject({ quarantined: null, owner: null });
  expect((await found(room.name)).history.tick).toBe(250);
  await journalWriter.close();
});

test("a stored room continues after the store's last tick, and a process that lost the lease writes nothing", async () => {
  const { room, journalWriter, lease } = await begin();
  await room.play(250);
  await journalWriter.flush(room.name);
  await journalWriter.release(room.name);
  const next = new Played(room.name);
  const all = await findRoom(store, room.name, "i");
  const claimed = (await store.claim(room.name, HOLDER))!;
  fill(next.checkpointPolicy.history, all);
  // The room has ticked on before any process holds its lease.
  await next.play(260);
  const other = new JournalWriter({ store, metrics, log, flushMs: 3_600_000 });
  other.hold(next, claimed, {
    tick: 250,
    checkpoints: all.checkpoints.map(({ checkpoint }) => checkpoint.tick),
    segments: all.segments.map(({ until }) => until),
  });
  await next.play(333);
  await other.flush(room.name);
  expect((await found(room.name)).inputs(0)).toEqual(Array.from({ length: 333 }, (_, i) => i + 1));
  // The first journalWriter again, with the old lease.
  journalWriter.hold(room, lease, { tick: 250, checkpoints: [], segments: [250] });
  await room.play(280, 9);
  await journalWriter.flush(room.name);
  expect(room.lost).toBe(true);
  expect((await found(room.name)).inputs(250)).toEqual(Array.from({ length: 83 }, (_, i) => 251 + i));
  await Promise.all([journalWriter.close(), other.close()]);
});

test("for a room that is given up, lost or not held yet no change is acknowledged, not even to earlier callers", async () => {
  const { room, journalWriter } = await begin();
  await room.play(10);
  await journalWriter.settingsChanged(room.name);
  const away = { code: "STORE_AWAY" };
  const flushed = journalWriter.flush(room.name);
  const asked = journalWriter.settingsChanged(room.name);
  journalWriter.drop(room.name);
  await flushed;
  await expect(asked).rejects.toMatchObject(away);
  await expect(journalWriter.settingsChanged(room.name)).rejects.toMatchObject(away);
  const other = await begin();
  const released = other.journalWriter.release(other.room.name);
  const late = other.journalWriter.durable(other.room.name);
  await expect(released).resolves.toBe(true);
  await late;
  await expect(other.journalWriter.durable(other.room.name)).rejects.toMatchObject(away);
  await expect(journalWriter.durable("not-held")).rejects.toMatchObject(away);
  await Promise.all([journalWriter.close(), other.journalWriter.close()]);
});

test("a room that is being given up is not reported as removed", async () => {
  const { room, journalWriter } = await begin();
  await room.play(50);
  const released = journalWriter.release(room.name);
  await released;
  await expect(journalWriter.remove(room.name)).rejects.toMatchObject({ code: "STORE_AWAY" });
  expect(await store.room(room.name)).not.toBeNull();
  await journalWriter.close();
});

test("a room that the store could not remove is removed when the store is back", async () => {
  let away = true;
  const through = new Proxy(store, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      return name === "removeRoom" && away
        ? () => Promise.reject(new Error("away"))
        : (value as (...all: unknown[]) => unknown).bind(target);
    },
  });
  const { room, journalWriter } = await begin(through);
  await room.play(50);
  await journalWriter.flushAll();
  await expect(journalWriter.remove(room.name)).rejects.toMatchObject({ code: "STORE_AWAY" });
  await journalWriter.flushAll();
  expect(await store.room(room.name)).not.toBeNull();
  away = false;
  await journalWriter.flushAll();
  expect(await store.room(room.name)).toBeNull();
  await journalWriter.close();
});
