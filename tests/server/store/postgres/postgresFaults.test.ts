/**
 * The PostgreSQL store under faults of a real server and its connection. Each kind of write loses its connection at
 * each of its messages: it has then happened as a whole or not at all, and its repetition leads to the same data as a
 * write without faults.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PostgresStore } from "../../../../server/store/postgres/postgresStore.ts";
import { type Lease, LeaseLost, StoreUnavailable } from "../../../../server/store/store.ts";
import { findPostgres, PostgresServer } from "../../../support/postgres.ts";
import { lacks } from "../../../support/run/tools.ts";

const bin = findPostgres();
const AT = new Date(1e12).toISOString();
const LATER = new Date(1e12 + 1e6).toISOString();
const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(7);
const ann = { process: "ann", url: "http://ann" };
const record = (name: string) => ({ name, scene: "o-scene", pool: "shared" as const, createdAt: AT, settings: {} });

type Cut = { atMessage: number; lost: "request" | "answer" };

/** A line to the database that is cut once, at a message of the client: before the message, or before its answer. */
class CutLine {
  cut: Cut | null = null;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number) {
    this.#server = createServer((near) => {
      const far = connect(target, "127.0.0.1");
      let muted = false;
      const end = (): void => void [near, far].forEach((socket) => socket.destroy());
      for (const socket of [near, far]) this.#sockets.add(socket.on("error", () => {}).on("close", end));
      near.on("data", (data: Buffer) => {
        if (this.cut !== null && --this.cut.atMessage === 0) {
          muted = this.cut.lost === "answer";
          this.cut = null;
          if (!muted) return void end();
        }
        far.write(data);
      });
      far.on("data", (data: Buffer) => (muted ? end() : near.write(data)));
    });
  }

  static async open(target: number): Promise<CutLine> {
    const line = new CutLine(target);
    await new Promise<void>((resolve) => line.#server.listen(0, "127.0.0.1", resolve));
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** A room with a checkpoint, a segment, members and a quarantined row, and an object with a scene and a saved scene. */
async function fill(store: PostgresStore): Promise<Lease> {
  const { objects } = store;
  await objects.putObject(object("object"), { shape: bytes(10), picture: bytes(10) }, OBJECTS);
  await objects.putScene({ id: "o-scene", text: "{}", objects: ["object"] }, AT, { count: 99, bytes: 1e9 });
  await objects.putSaved(saved("saved"), { text: "{}", objects: ["object"], picture: bytes(10) }, SAVED);
  const answer = await store.createRoom(record("room"), ann);
  if (!answer.created) throw new Error("the database was not empty");
  const { lease } = answer;
  await store.writeCheckpoint(lease, { tick: 10, identity: "i", state: bytes(1000) });
  await store.appendJournal(lease, { after: 0, until: 20, bytes: bytes(100) });
  await store.writeMembers(lease, bytes(100));
  await store.writeCheckpoint(lease, { tick: 5, identity: "i", state: bytes(10) });
  await store.quarantinePieces(lease, [{ what: "checkpoint", tick: 5, reason: "r" }], AT, { days: 9, bytes: 1e9 });
  return lease;
}

const OBJECTS = { count: 99, bytes: 1e9, countPerAddress: 99 };
const SAVED = { count: 99, countPerAddress: 99 };
const object = (id: string) => ({ id, name: "n", about: {}, bytes: 20, address: "10.0.0.1", createdAt: AT });
const saved = (id: string) => ({
  id,
  title: "t",
  scene: "o-scene",
  origin: "cube",
  address: "10.0.0.1",
  bytes: 2,
  createdAt: AT,
  changedAt: AT,
});

type Write = (store: PostgresStore, lease: Lease) => Promise<unknown>;

/** Every kind of write. Those of a room are numbered, as the journal writer does: a repetition has the next number. */
let number = 0;
const numbered = (lease: Lease): Lease => ({ ...lease, write: ++number, after: 0 });
const WRITES: Record<string, Write> = {
  createRoom: (store) => store.createRoom(record("another"), ann, "a-key"),
  countAttempts: (store, lease) => store.countAttempts(numbered(lease), 0),
  quarantine: (store, lease) => store.quarantine(lease, { reason: "version", since: AT, details: "d" }),
  endQuarantine: (store, lease) => store.endQuarantine(numbered(lease)),
  renew: (store, lease) => store.renew(ann, [{ ...lease, members: 3 }]),
  release: (store, lease) => store.release(lease),
  endLeases: (store) => store.endLeases("ann"),
  removeRoom: (store, lease) => store.removeRoom(lease),
  changeScene: (store, lease) => store.changeScene(lease, "drape"),
  writeSettings: (store, lease) => store.writeSettings(numbered(lease), { locked: true }),
  writeMembers: (store, lease) => store.writeMembers(numbered(lease), bytes(200)),
  writeCheckpoint: (store, lease) =>
    store.writeCheckpoint(numbered(lease), { tick: 20, identity: "i", state: bytes(300_000) }),
  appendJournal: (store, lease) => store.appendJournal(numbered(lease), { after: 20, until: 30, bytes: bytes(9) }),
  prune: (store, lease) => store.prune(numbered(lease), [10], 20),
  truncate: (store, lease) =>
    store.truncate(numbered(lease), 12, {
      segment: { after: 0, until: 12, bytes: bytes(5) },
      checkpoint: { tick: 12, identity: "i", state: bytes(7) },
    }),
  quarantinePieces: (store, lease) =>
    store.quarantinePieces(numbered(lease), [{ what: "members", tick: 0, reason: "r" }], AT, { days: 9, bytes: 1e9 }),
  removeQuarantinedPiece: async (store) =>
    store.removeQuarantinedPiece("room", (await store.listQuarantinedPieces("room"))[0]?.id ?? 0),
  expireQuarantinedPieces: (store) => store.expireQuarantinedPieces(LATER),
  putObject: ({ objects }) => objects.putObject(object("b"), { shape: bytes(9), picture: bytes(9) }, OBJECTS),
  removeObject: ({ objects }) => objects.removeObject("object"),
  putScene: ({ objects }) =>
    objects.putScene({ id: "o-b", text: "{}", objects: ["object"] }, AT, { count: 99, bytes: 1e9 }),
  expireObjects: ({ objects }) => objects.expireObjects(LATER, LATER),
  putSaved: ({ objects }) => objects.putSaved(saved("b"), { text: "{}", objects: [], picture: null }, SAVED),
  renameSaved: ({ objects }) =>
    objects.renameSaved("saved", { title: "u", scene: "o-u", bytes: 2, changedAt: LATER, text: "{}", objects: [] }),
  removeSaved: ({ objects }) => objects.removeSaved("saved"),
};

/** The database under test, with a connection of its own that keeps a copy of all rows. */
class Rows {
  readonly #client: pg.Client;
  #tables: string[] = [];

  constructor(url: string) {
    this.#client = new pg.Client({ connectionString: url });
  }

  /** Keeps a copy of all rows. */
  async keep(): Promise<void> {
    await this.#client.connect();
    const { rows } = await this.#client.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
    );
    this.#tables = rows.map(({ name }) => name);
    const copies = this.#tables.map((name) => `CREATE TABLE kept.${name} AS TABLE ${name};`);
    await this.#client.query(`CREATE SCHEMA kept; ${copies.join(" ")}`);
  }

  /** Brings the kept rows back. */
  async reset(): Promise<void> {
    const back = (name: string): string =>
      `DELETE FROM ${name}; INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT * FROM kept.${name};`;
    await this.#client.query(`BEGIN; ${this.#tables.map(back).join(" ")} COMMIT`);
  }

  /** All rows, without times of the database, numbers of writes, epochs and generated ids. */
  async look(): Promise<Record<string, unknown[]>> {
    const found: Record<string, unknown[]> = {};
    for (const name of this.#tables) {
      const { rows } = await this.#client.query<{ row: Record<string, unknown> }>(
        `SELECT to_jsonb(t) AS row FROM ${name} t`,
      );
      found[name] = rows
        .map(({ row: { lease_until: _, writes: __, epoch: ___, ...row } }) => ({
          ...row,
          ...(name === "pliant_set_aside" && { id: 0 }),
        }))
        .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
    }
    return found;
  }

  /** Does a connection of the store wait for a lock? */
  async storeWaits(): Promise<boolean> {
    const { rows } = await this.#client.query(
      "SELECT 1 FROM pg_stat_activity WHERE application_name = 'pliant' AND wait_event_type = 'Lock'",
    );
    return rows.length > 0;
  }

  end(): Promise<void> {
    return this.#client.end();
  }
}

describe.skipIf(lacks("PostgreSQL", bin))("PostgreSQL", () => {
  let server: PostgresServer;
  let url: string;
  let lease: Lease;
  let rows: Rows;
  let line: CutLine;
  beforeAll(async () => {
    server = await PostgresServer.start(bin as string);
    url = await server.database();
    const store = new PostgresStore({ url });
    await store.open();
    lease = await fill(store);
    await store.close();
    rows = new Rows(url);
    await rows.keep();
    line = await CutLine.open(server.port);
  });
  afterAll(async () => {
    line?.close();
    await rows?.end();
    await server?.stop();
  });

  /** Runs a write whose connection is cut there. @returns false: it has fewer messages, and was not cut */
  async function cutAt(write: Write, cut: Cut, before: object, after: object): Promise<boolean> {
    await rows.reset();
    const store = new PostgresStore({ url: Object.assign(new URL(url), { port: String(line.port) }).href });
    // Opens the connection, so that the cut hits the write.
    await store.ping();
    line.cut = { ...cut };
    const error = await write(store, lease).catch((thrown: Error) => thrown);
    const reached = line.cut === null;
    line.cut = null;
    if (reached) {
      expect(error).toBeInstanceOf(StoreUnavailable);
      expect([before, after]).toContainEqual(await rows.look());
      const again = await write(store, lease).catch((thrown: Error) => thrown);
      if (again instanceof Error) expect(again).toBeInstanceOf(LeaseLost);
      expect(await rows.look()).toEqual(after);
    }
    await store.close();
    return reached;
  }

  test.each(Object.keys(WRITES))(
    "%s loses its connection at any message: all or nothing, and a repetition completes it",
    async (name) => {
      const write = WRITES[name]!;
      await rows.reset();
      const before = await rows.look();
      const undisturbed = new PostgresStore({ url });
      await write(undisturbed, lease);
      await undisturbed.close();
      const after = await rows.look();
      let cuts = 0;
      for (const lost of ["request", "answer"] as const)
        for (let atMessage = 1; await cutAt(write, { atMessage, lost }, before, after); atMessage++) cuts += 1;
      expect(cuts).toBeGreaterThanOrEqual(2);
    },
  );

  /** Opens a store of its own on the database, and closes it after the work. */
  async function withStore(work: (store: PostgresStore) => Promise<void>): Promise<void> {
    await rows.reset();
    const store = new PostgresStore({ url });
    try {
      await work(store);
    } finally {
      await store.close();
    }
  }

  test("a database in read-only mode, as a replica is, does not count as healthy, and heals by new connections", () =>
    withStore(async (store) => {
      const client = new pg.Client({ connectionString: server.url("postgres") });
      await client.connect();
      const name = new URL(url).pathname.slice(1);
      await store.ping();
      await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      // As after a failover: the connections of before are gone.
      await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pliant'");
      // The first query may find a connection that was ended.
      await store.room("room").catch(() => {});
      // Reads succeed and keep their connections.
      await Promise.all(Array.from({ length: 5 }, () => store.room("room")));
      await expect(store.ping()).rejects.toThrow("read-only transaction");
      await expect(store.writeSettings(lease, {})).rejects.toThrow("read-only transaction");
      await Promise.all(Array.from({ length: 5 }, () => store.room("room")));
      await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = off`);
      // The connections of the reads are still read-only: a write leaves them for a new one.
      await store.ping();
      await store.writeSettings(lease, { locked: true });
      await client.end();
    }));

  test("a full disk ends renewals, claims and health until a large write succeeds, and no row of the probe stays", () =>
    withStore(async (store) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const refuse = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`;
      await client.query(refuse);
      await client.query(
        "CREATE TRIGGER full_disk BEFORE INSERT ON pliant_journal FOR EACH STATEMENT EXECUTE FUNCTION refuse()",
      );
      // Writes that need no new page succeed.
      await store.ping();
      expect(await store.renew(ann, [{ ...lease, members: 1 }])).toEqual([]);
      const before = await rows.look();
      const append = (): Promise<unknown> =>
        store.appendJournal(numbered(lease), { after: 20, until: 30, bytes: bytes(9) });
      await expect(append()).rejects.toThrow("the disk of the PostgreSQL store");
      expect(await rows.look()).toEqual(before);
      const renew = (): Promise<string[]> => store.renew(ann, [{ ...lease, members: 1 }]);
      for (const refused of [() => store.ping(), renew, () => store.claim("room", ann)])
        await expect(refused()).rejects.toThrow(/disk .* is full: could not extend file: No space left on device/);
      // Reads still succeed.
      expect(await store.room("room")).toMatchObject({ name: "room" });
      await client.query("DROP FUNCTION refuse CASCADE");
      await store.ping();
      expect(await rows.look()).toEqual(before);
      expect(await renew()).toEqual([]);
      await append();
      await client.end();
    }));

  test("a health check waits for no claim that is under way, and no claim for it", () =>
    withStore(async (store) => {
      const other = new pg.Client({ connectionString: url });
      await other.connect();
      await other.query("BEGIN; UPDATE pliant_counter SET epoch = epoch + 1 WHERE id = 1");
      await store.ping();
      await other.query("ROLLBACK; BEGIN; SELECT epoch FROM pliant_counter WHERE id = 1 FOR KEY SHARE");
      await store.release(lease);
      expect(await store.claim("room", ann)).toMatchObject({ room: "room" });
      await other.query("ROLLBACK");
      await other.end();
    }));

  test("the deletion of old objects holds no lock while it waits for its turn, so it is in no deadlock with uploads", () =>
    withStore(async (store) => {
      const other = new pg.Client({ connectionString: url });
      await other.connect();
      await other.query("BEGIN; SELECT id FROM pliant_schema WHERE id = 1 FOR UPDATE");
      const expiring = store.objects.expireObjects(LATER, AT);
      await vi.waitUntil(() => rows.storeWaits(), { timeout: 60_000 });
      await other.query("SELECT id FROM pliant_scenes FOR UPDATE NOWAIT");
      await other.query("SELECT id FROM pliant_objects FOR UPDATE NOWAIT");
      await other.query("COMMIT");
      await expect(expiring).resolves.toEqual({ scenes: 0, objects: 0 });
      await other.end();
    }));

  test("a write that waits longer than its time limit ends with nothing written, and is repeated", () =>
    withStore(async (store) => {
      const other = new pg.Client({ connectionString: url });
      await other.connect();
      await other.query("BEGIN; SELECT name FROM pliant_rooms WHERE name = 'room' FOR UPDATE");
      const before = await rows.look();
      await expect(store.writeSettings(lease, { locked: true })).rejects.toThrow("statement timeout");
      expect(await rows.look()).toEqual(before);
      await other.query("COMMIT");
      await store.writeSettings(lease, { locked: true });
      await other.end();
    }));

  test("texts that a database cannot store are refused alone: the next write of the same connection succeeds", () =>
    withStore(async (store) => {
      const { objects } = store;
      const hostile = [
        "a\u0000b",
        "'; DROP TABLE pliant_rooms; --",
        "\ud800",
        "x".repeat(100_000),
        '$1 %s \\ "',
        "\u202e",
      ];
      for (const [i, text] of hostile.entries()) {
        const put = objects.putSaved(
          { ...saved(`h${i}`), title: text },
          { text: "{}", objects: [], picture: null },
          SAVED,
        );
        if (text.includes("\u0000")) await expect(put).rejects.toBeInstanceOf(StoreUnavailable);
        else expect(await put).toBe("stored");
        await store.writeSettings(lease, { text });
        expect((await store.room("room"))?.settings).toEqual({ text });
        await store.audit({ at: AT, actor: "a", action: text.replaceAll("\u0000", ""), room: null, details: { text } });
      }
      expect((await objects.listSaved(99)).length).toBe(hostile.length);
    }));

  test("a new, empty server on the same port is refused by every write, and the old one's data is used again", async () => {
    const own = await PostgresServer.start(bin as string);
    const there = await own.database();
    const first = new PostgresStore({ url: there });
    await first.open();
    const theirs = await fill(first);
    await own.halt();
    const empty = await PostgresServer.start(bin as string, own.port);
    await empty.database();
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(first.writeSettings(theirs, { locked: true })).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(first.ping()).rejects.toThrow('relation "pliant_counter" does not exist');
    await empty.stop();
    await own.resume();
    await first.writeSettings(theirs, { locked: true });
    expect((await first.room("room"))?.settings).toEqual({ locked: true });
    await first.close();
    await own.stop();
  });
});
