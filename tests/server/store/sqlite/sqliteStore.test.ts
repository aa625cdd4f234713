/**
 * The embedded store: the conformance suite, and its special cases: several processes on one file, a process that is
 * killed during a write, and damaged files.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { STORE_FILE, openStore } from "../../../../server/store/openStore.ts";
import { isCertainlyDead, processName } from "../../../../server/store/processName.ts";
import { SqliteStore } from "../../../../server/store/sqlite/sqliteStore.ts";
import { MIGRATIONS } from "../../../../server/store/sqlite/sqliteFile.ts";
import { type Lease, StoreRefused, StoreUnavailable } from "../../../../server/store/store.ts";
import { storeConformance } from "../conformance.ts";
import { AUDIT_ENTRIES, TERM } from "../conformanceKit.ts";
import { testFolder } from "../../../support/testFolder.ts";

const children: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

storeConformance("SQLite", async () => {
  const path = join(testFolder("store"), "conformance.sqlite");
  return {
    open: async () => {
      const store = new SqliteStore({ path, leaseSeconds: TERM, auditEntries: AUDIT_ENTRIES });
      await store.open();
      return store;
    },
  };
});

const record = (name: string) => ({
  name,
  scene: "bunny",
  pool: "shared" as const,
  createdAt: new Date(0).toISOString(),
  settings: {},
});
const ann = { process: "ann", url: "http://ann" };

/** Another process; `lines` is its output. */
function startChild(
  path: string,
  what: string,
): {
  child: ChildProcessWithoutNullStreams;
  lines: unknown[];
  errors: () => string;
  said: (count: number) => Promise<void>;
} {
  const child = spawn(process.execPath, [fileURLToPath(new URL("../storeChild.ts", import.meta.url)), path, what]);
  children.push(child);
  const lines: unknown[] = [];
  let errors = "";
  child.stderr.on("data", (data: Buffer) => (errors += data.toString()));
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line)));
  const said = async (count: number): Promise<void> => {
    while (lines.length < count) {
      if (child.exitCode !== null) throw new Error(`the process ended with ${child.exitCode}: ${errors}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  return { child, lines, errors: () => errors, said };
}

describe("several processes", () => {
  test("of four that claim the same rooms each room goes to exactly one", async () => {
    const path = join(testFolder("store"), "shared.sqlite");
    const store = new SqliteStore({ path });
    await store.open();
    const rooms = Array.from({ length: 25 }, (_, i) => `room-${i}`);
    for (const name of rooms) {
      const answer = await store.createRoom(record(name), ann);
      await store.release((answer as { lease: Lease }).lease);
    }
    const processes = Array.from({ length: 4 }, () => startChild(path, "claims"));
    await Promise.all(processes.map(({ said }) => said(1)));
    for (const { child } of processes) child.stdin.write(`${rooms.join("\n")}\n`);
    await Promise.all(processes.map(({ said }) => said(1 + rooms.length)));
    const winners = processes.flatMap(({ lines }) => lines.slice(1).filter((claim) => claim !== null)) as Lease[];
    expect(winners.map(({ room }) => room).sort()).toEqual([...rooms].sort());
    expect(new Set(winners.map(({ epoch }) => epoch)).size).toBe(rooms.length);
    // stderr is empty: not even a warning of the runtime about node:sqlite.
    expect(processes.map(({ errors }) => errors())).toEqual(["", "", "", ""]);
    await store.close();
  });

  test("killed during a write: all acknowledged writes are there, none is torn, and its leases end at once", async () => {
    const path = join(testFolder("store"), "killed.sqlite");
    const { child, lines, said } = startChild(path, "journal");
    await said(300);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("close", resolve)); // All its output has been read.
    const acknowledged = lines.at(-1) as number;
    const { room, process: dead } = lines[0] as Lease;

    const store = new SqliteStore({ path });
    await store.open();
    const journal = await store.readJournal(room, 0);
    // The last append may have been committed without its line on stdout.
    expect([acknowledged, acknowledged + 1]).toContain(journal.length);
    for (const [i, { after, until, bytes }] of journal.entries()) {
      expect([after, until]).toEqual([i, i + 1]);
      expect(bytes.length === 5000 && bytes.every((byte) => byte === (until & 255))).toBe(true);
    }
    expect(await store.claim(room, ann)).toBeNull();
    expect(isCertainlyDead(dead)).toBe(true);
    expect(await store.endLeases(dead)).toEqual([room]);
    expect(await store.claim(room, ann)).not.toBeNull();
    await store.close();
  });

  test("a living or paused process does not count as dead, nor does one that cannot be inspected", async () => {
    const { child, lines, said } = startChild(join(testFolder("store"), "held.sqlite"), "hold");
    await said(1);
    const { process: name } = lines[0] as Lease;
    expect(isCertainlyDead(name)).toBe(false);
    child.kill("SIGSTOP");
    expect(isCertainlyDead(name)).toBe(false);
    const [boot, space, pid, start] = name.split(":");
    // The id now belongs to another process.
    expect(isCertainlyDead(`${boot}:${space}:${pid}:${Number(start) + 1}:x`)).toBe(true);
    expect(isCertainlyDead(`another-boot:${space}:${pid}:${Number(start) + 1}:x`)).toBe(false);
    expect(isCertainlyDead(`${boot}:1:${pid}:${Number(start) + 1}:x`)).toBe(false);
    expect(isCertainlyDead("")).toBe(false);
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    expect(isCertainlyDead(name)).toBe(true);
    expect(processName()).not.toBe(processName());
  });
});

test("while another program locks the file, requests fail after two seconds and take no effect later", async () => {
  const path = join(testFolder("store"), STORE_FILE);
  const store = new SqliteStore({ path });
  await store.open();
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  const settled: string[] = [];
  // Each of them waits for the lock, for four seconds.
  const writes = ["first", "second"].map((action) =>
    store
      .audit({ at: new Date(0).toISOString(), actor: "ann", action, room: null, details: {} })
      .catch(() => {})
      .finally(() => settled.push(action)),
  );
  const requests = [store.rooms(), store.createRoom(record("late"), ann), store.objects.listSaved(1)];
  for (const request of requests) await expect(request).rejects.toThrow(StoreUnavailable);
  expect(settled).not.toContain("second");
  other.exec("rollback");
  await Promise.all(writes);
  expect(await store.rooms()).toEqual([]);
  other.close();
  await store.close();
});

describe("an unusable file", () => {
  /** A closed store with some content. */
  const filled = async (): Promise<{ folder: string; path: string }> => {
    const folder = testFolder("store");
    const path = join(folder, STORE_FILE);
    const store = new SqliteStore({ path });
    await store.open();
    for (let i = 0; i < 40; i++) {
      const answer = await store.createRoom(record(`room-${i}`), ann);
      await store.writeCheckpoint((answer as { lease: Lease }).lease, {
        tick: 1,
        identity: "a",
        state: new Uint8Array(9000).fill(i),
      });
    }
    await store.close();
    return { folder, path };
  };
  const journaled = (): {
    lines: { details: object; text: string }[];
    log: { info: () => void; error: (details: object, text: string) => void };
  } => {
    const lines: { details: object; text: string }[] = [];
    return { lines, log: { info: () => {}, error: (details, text) => lines.push({ details, text }) } };
  };

  test.each([
    ["its first page is random bytes", (file: Buffer) => file.fill(0xa5, 0, 4096)],
    ["a page of its tables is random bytes", (file: Buffer) => file.fill(0xa5, 4096, 5 * 4096)],
    ["it is truncated", (file: Buffer) => file.subarray(0, Math.floor(file.length / 8192) * 4096)],
  ])("%s: it is moved aside whole, reported, and an empty store begins", async (_what, damage) => {
    const { folder, path } = await filled();
    const damaged = damage(readFileSync(path));
    writeFileSync(path, damaged);
    const { lines, log } = journaled();
    const store = await openStore({ store: "sqlite", dataDir: folder }, log);
    expect(await store?.rooms()).toEqual([]);
    expect((await store?.createRoom(record("new"), ann))?.created).toBe(true);
    expect(lines).toHaveLength(1);
    expect(lines[0].text).toContain("damaged");
    const { keptAs, code } = lines[0].details as { keptAs: string; code: string };
    expect(code).toBe("STORE_DAMAGED");
    expect(Buffer.compare(readFileSync(keptAs), damaged)).toBe(0);
    expect(readdirSync(folder).filter((name) => name.includes("damaged"))).toHaveLength(1);
    await store?.close();
    // The repaired file opens again without messages.
    const again = journaled();
    const reopened = await openStore({ store: "sqlite", dataDir: folder }, again.log);
    expect(await reopened?.rooms()).toHaveLength(1);
    expect(again.lines).toEqual([]);
    await reopened?.close();
  });

  test("tables of a newer program: refused and not changed", async () => {
    const { folder, path } = await filled();
    const database = new DatabaseSync(path);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length + 3}`);
    database.close();
    const before = readFileSync(path);
    const opening = openStore({ store: "sqlite", dataDir: folder }, journaled().log);
    await expect(opening).rejects.toBeInstanceOf(StoreRefused);
    await expect(opening).rejects.toThrow(
      `version ${MIGRATIONS.length + 3}, this program knows up to ${MIGRATIONS.length}`,
    );
    expect(Buffer.compare(readFileSync(path), before)).toBe(0);
  });

  test("another program's database: refused and not changed", async () => {
    const folder = testFolder("store");
    const path = join(folder, STORE_FILE);
    const database = new DatabaseSync(path);
    database.exec("CREATE TABLE photographs (id INTEGER)");
    database.close();
    const before = readFileSync(path);
    await expect(openStore({ store: "sqlite", dataDir: folder }, journaled().log)).rejects.toBeInstanceOf(StoreRefused);
    expect(Buffer.compare(readFileSync(path), before)).toBe(0);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test("a folder that cannot be created: an error that names it", async () => {
    const file = join(testFolder("store"), "a-file");
    writeFileSync(file, "");
    const store = new SqliteStore({ path: join(file, "x.sqlite") });
    await expect(store.open()).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.open()).rejects.toThrow(file);
    await store.close();
  });
});

test("none: there is no store, and nothing is written", async () => {
  const folder = testFolder("store");
  expect(
    await openStore({ store: "none", dataDir: join(folder, "data") }, { info: () => {}, error: () => {} }),
  ).toBeNull();
  expect(readdirSync(folder)).toEqual([]);
});
