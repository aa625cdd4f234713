/**
 * A store whose process was killed, and whose log was deleted, truncated or damaged since. SQLite does not report that,
 * so the store does. Real processes that write until they are killed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { openStore, STORE_FILE } from "../../../../server/store/openStore.ts";
import { SqliteStore } from "../../../../server/store/sqlite/sqliteStore.ts";
import type { StoreLoss } from "../../../../server/store/sqlite/sqliteFile.ts";
import { testFolder } from "../../../support/testFolder.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

function newPath(): { folder: string; path: string; log: string } {
  const folder = testFolder("log");
  const path = join(folder, STORE_FILE);
  return { folder, path, log: `${path}-wal` };
}

/**
 * A process that creates a room and appends to its journal until it is killed, after this number of lines. @returns the
 * room
 */
async function killedAfter(path: string, lines: number): Promise<string> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("../storeChild.ts", import.meta.url)), path, "journal"]);
  children.push(child);
  let said = 0;
  let first = "";
  for await (const line of createInterface({ input: child.stdout })) {
    first ||= line;
    if (++said === lines) break;
  }
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
  return (JSON.parse(first) as { room: string }).room;
}

const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;

/** Number of frames in the log since its last restart: their salts equal the header's. */
function ownFrames(path: string): number {
  const log = readFileSync(path);
  let count = 0;
  for (let at = HEADER_BYTES; at + FRAME_BYTES <= log.length; at += FRAME_BYTES, count++)
    if (log.compare(log, 16, 24, at + 8, at + 16) !== 0) break;
  return count;
}

/** Results of a start on this folder. */
async function opened(folder: string): Promise<{
  losses: StoreLoss[];
  said: string[];
  segments: (room: string) => Promise<number>;
  close: () => Promise<void>;
}> {
  const losses: StoreLoss[] = [];
  const said: string[] = [];
  const log = {
    info: () => {},
    error: (details: object, text: string) => said.push(`${JSON.stringify(details)} ${text}`),
  };
  const store = (await openStore({ store: "sqlite", dataDir: folder }, log, { onLoss: (loss) => losses.push(loss) }))!;
  return {
    losses,
    said,
    segments: async (room) => (await store.readJournal(room, 0)).length,
    close: () => store.close(),
  };
}

test("killed without later changes: nothing is reported; an incomplete frame is no damage", async () => {
  for (const lines of [3, 40, 90]) {
    const { folder, path, log } = newPath();
    const room = await killedAfter(path, lines);
    // State after a kill between the two writes of a frame: its header, as the frame before has it, and no page.
    if (lines === 40) appendFileSync(log, readFileSync(log).subarray(32, 32 + 24));
    const store = await opened(folder);
    expect([store.losses, store.said]).toEqual([[], []]);
    expect(await store.segments(room)).toBeGreaterThanOrEqual(lines - 1);
    await store.close();
    expect(readdirSync(folder)).toEqual([STORE_FILE]);
    await (await opened(folder)).close();
  }
});

test("a missing log is reported with its code, and rooms are as in the file", async () => {
  const { folder, path, log } = newPath();
  const first = new SqliteStore({ path });
  await first.open();
  await first.createRoom(
    { name: "older", scene: "s", pool: "shared", createdAt: new Date(0).toISOString(), settings: {} },
    { process: "p", url: "http://p" },
  );
  await first.close();
  await killedAfter(path, 20);
  rmSync(log);
  const store = await opened(folder);
  expect(store.losses).toMatchObject([{ code: "STORE_LOG_DELETED", keptAs: null, rooms: 1 }]);
  expect(store.said[0]).toContain("the store's log is gone");
  await store.close();
  const again = await opened(folder);
  expect(again.losses).toEqual([]);
  await again.close();
});

test.each([
  [
    "a frame in its middle is random bytes",
    (log: Buffer) => log.fill(0xa5, Math.floor(log.length / 2), Math.floor(log.length / 2) + 200),
  ],
  ["its header is random bytes", (log: Buffer) => log.fill(0xa5, 0, 32)],
  ["it is truncated within its header", (log: Buffer) => log.subarray(0, 20)],
])("%s: reported with its code, the log is kept, and its readable part is in the store", async (_what, damage) => {
  const { folder, path, log } = newPath();
  const room = await killedAfter(path, 60);
  const damaged = damage(readFileSync(log));
  writeFileSync(log, damaged);
  const store = await opened(folder);
  expect(store.losses).toMatchObject([{ code: "STORE_LOG_DAMAGED" }]);
  expect(store.said[0]).toContain("the store's log is damaged");
  expect(Buffer.compare(readFileSync(store.losses[0]!.keptAs!), damaged)).toBe(0);
  const middle = _what.includes("middle");
  expect(store.losses[0]!.rooms).toBe(middle ? 1 : 0);
  if (middle) {
    expect(await store.segments(room)).toBeGreaterThan(5);
    expect(await store.segments(room)).toBeLessThan(59);
  }
  await store.close();
});

test("a log that became shorter: the missing end is reported", async () => {
  // Frames that are in the file already are not missing. Only those after SQLite's last checkpoint, at 1,000 frames,
  // count. If a process may have restarted its log just before its kill, another one is tried.
  let left = newPath();
  const isKnown = (frames: number): boolean => frames >= 60 && frames < 1000;
  for (await killedAfter(left.path, 60); !isKnown(ownFrames(left.log)); await killedAfter(left.path, 60))
    left = newPath();
  const { folder, log } = left;
  truncateSync(log, HEADER_BYTES + 4 * FRAME_BYTES);
  const store = await opened(folder);
  expect(store.losses).toMatchObject([
    { code: "STORE_LOG_DAMAGED", reason: expect.stringContaining("last noted beat") },
  ]);
  await store.close();
});

test("another program that has copied the log into the file and removed it has lost nothing", async () => {
  const { folder, path, log } = newPath();
  const room = await killedAfter(path, 30);
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  rmSync(log, { force: true });
  const store = await opened(folder);
  expect(store.losses).toEqual([]);
  expect(await store.segments(room)).toBeGreaterThanOrEqual(29);
  await store.close();
});

test("the file follows its log: without the log rooms are as some seconds ago", async () => {
  const { folder, path, log } = newPath();
  const child = spawn(process.execPath, [fileURLToPath(new URL("../storeChild.ts", import.meta.url)), path, "hold"]);
  children.push(child);
  await once(child.stdout, "data");
  // A copy without the log has the room once the file has followed.
  const copy = join(folder, "copy.sqlite");
  const rooms = (): number => {
    copyFileSync(path, copy);
    const database = new DatabaseSync(copy);
    try {
      return Number(database.prepare("SELECT count(*) AS n FROM rooms").get()!.n);
    } catch {
      return 0; // There are no tables yet.
    } finally {
      database.close();
    }
  };
  expect(rooms()).toBe(0);
  await expect.poll(rooms, { timeout: 55_000, interval: 250 }).toBe(1);
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
  rmSync(copy);
  rmSync(log);
  const store = await opened(folder);
  expect(store.losses).toEqual([]);
  await store.close();
});

test("two processes, one killed and one closed: nothing is reported, and no file remains beside the database", async () => {
  const { folder, path } = newPath();
  const other = new SqliteStore({ path });
  await other.open();
  await killedAfter(path, 20);
  const third = await opened(folder);
  expect(third.losses).toEqual([]);
  await third.close();
  expect(existsSync(`${path}-beat`)).toBe(true);
  await other.close();
  expect(readdirSync(folder)).toEqual([STORE_FILE]);
  const last = await opened(folder);
  expect(last.losses).toEqual([]);
  await last.close();
});
