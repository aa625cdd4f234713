/** SQLite files that are deleted or replaced under a running store: acknowledged writes are in the new files. */
import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { SqliteStore } from "../../../../server/store/sqlite/sqliteStore.ts";
import type { FilesChange } from "../../../../server/store/sqlite/sqliteRescue.ts";
import { StoreUnavailable } from "../../../../server/store/store.ts";
import { testFolder } from "../../../support/testFolder.ts";

const stores: SqliteStore[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close().catch(() => {});
});

const newPath = (): string => join(testFolder("rescue"), "data", "rooms.sqlite");

interface Opened {
  store: SqliteStore;
  changes: FilesChange[];
  make: (name: string) => Promise<void>;
  names: () => Promise<string[]>;
}

async function opened(path: string): Promise<Opened> {
  const changes: FilesChange[] = [];
  const store = new SqliteStore({ path, onFilesChanged: (change) => changes.push(change) });
  stores.push(store);
  await store.open();
  const holder = { process: `p${stores.length}`, url: "http://a" };
  return {
    store,
    changes,
    make: async (name) => {
      const record = { name, scene: "cube", pool: "shared" as const, createdAt: "2026-01-01", settings: {} };
      expect(await store.createRoom(record, holder)).toMatchObject({ created: true });
    },
    names: async () => (await store.rooms()).map(({ name }) => name).sort(),
  };
}

const codes = ({ changes }: Opened): string[] => changes.map(({ code }) => code);

test.each([
  ["the database", [""]],
  ["its log", ["-wal"]],
  ["the log's index", ["-shm"]],
  ["all of them", ["", "-wal", "-shm", "-beat"]],
])("%s deleted: every acknowledged write is in the new files, before the next one is acknowledged", async (_, lost) => {
  const path = newPath();
  const first = await opened(path);
  await first.make("before");
  await first.store.ping();
  for (const suffix of lost) rmSync(path + suffix);
  await first.make("after");
  // Read by another store from the files alone, as after a kill.
  const next = await opened(path);
  expect(await next.names()).toEqual(["after", "before"]);
  await first.store.ping();
  expect(codes(first)).toEqual(["STORE_FILES_REWRITTEN"]);
  expect(first.changes[0]).toMatchObject({ keptAs: path, reason: expect.stringContaining(path + lost[0]) as string });
  await first.make("later");
  expect(await next.names()).toEqual(["after", "before", "later"]);
  expect(codes(next)).toEqual([]);
});

test("the folder deleted: it is created again, with the files", async () => {
  const path = newPath();
  const first = await opened(path);
  await first.make("before");
  rmSync(dirname(path), { recursive: true });
  await first.store.ping();
  expect(codes(first)).toEqual(["STORE_FILES_REWRITTEN"]);
  expect(await (await opened(path)).names()).toEqual(["before"]);
});

test("a second process follows to the new files; its writes to the old ones were not acknowledged", async () => {
  const path = newPath();
  const [first, second] = [await opened(path), await opened(path)];
  await first.make("before");
  expect(await second.names()).toEqual(["before"]);
  await second.store.ping();
  rmSync(path);
  await first.make("first");
  await expect(second.make("lost")).rejects.toThrow(StoreUnavailable);
  expect(await second.names()).toEqual(["before", "first"]);
  await second.make("second");
  expect(await first.names()).toEqual(["before", "first", "second"]);
  await Promise.all([first.store.ping(), second.store.ping()]);
  expect([codes(first), codes(second)]).toEqual([["STORE_FILES_REWRITTEN"], ["STORE_FILES_FOLLOWED"]]);
});

test("another database under the name is not changed, ours is kept beside it, and nothing is acknowledged", async () => {
  const path = newPath();
  const otherPath = newPath();
  const other = await opened(otherPath);
  await other.make("other");
  await other.store.close();
  const first = await opened(path);
  await first.make("ours");
  rmSync(path);
  copyFileSync(otherPath, path);
  await expect(first.make("late")).rejects.toThrow("was replaced");
  await expect(first.store.rooms()).rejects.toThrow(StoreUnavailable);
  await expect(first.store.ping()).rejects.toThrow(StoreUnavailable);
  expect(codes(first)).toEqual(["STORE_FILE_REPLACED"]);
  await first.store.close();
  expect(await (await opened(path)).names()).toEqual(["other"]);
  expect(await (await opened(first.changes[0]!.keptAs!)).names()).toContain("ours");
});

test("an older copy of the same database counts as another one", async () => {
  const path = newPath();
  const before = await opened(path);
  await before.make("old");
  await before.store.close();
  const copy = `${path}.copy`;
  copyFileSync(path, copy);
  const first = await opened(path);
  await first.store.ping();
  await first.make("new");
  rmSync(path);
  copyFileSync(copy, path);
  await expect(first.store.rooms()).rejects.toThrow("was replaced");
  expect(await (await opened(path)).names()).toEqual(["old"]);
});

test("while the files cannot be written again nothing is acknowledged", async () => {
  const path = newPath();
  const first = await opened(path);
  await first.make("before");
  const inTheWay = `${path}.rewritten`;
  mkdirSync(inTheWay);
  rmSync(path);
  for (let i = 0; i < 3; i++) await expect(first.make(`lost ${i}`)).rejects.toThrow("was deleted");
  await expect(first.store.ping()).rejects.toThrow(StoreUnavailable);
  expect(codes(first)).toEqual(["STORE_FILES_GONE"]);
  expect(existsSync(path)).toBe(false);
  rmSync(inTheWay, { recursive: true });
  await expect
    .poll(
      () =>
        first.store.ping().then(
          () => true,
          () => false,
        ),
      { timeout: 60_000 },
    )
    .toBe(true);
  expect(await (await opened(path)).names()).toContain("before");
  expect(codes(first)).toEqual(["STORE_FILES_GONE", "STORE_FILES_REWRITTEN"]);
});
