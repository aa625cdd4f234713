/** Permissions of the store's file, and detection of dead processes if the system hides them. */
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exists, isCertainlyDead, processName } from "../../../server/store/processName.ts";
import { SqliteStore } from "../../../server/store/sqlite/sqliteStore.ts";
import { testFolder } from "../../support/testFolder.ts";

test("the SQLite file and its log are readable only by their owner, also after they were public", async () => {
  const folder = testFolder("private");
  const path = join(folder, "pliant.sqlite");
  writeFileSync(path, "", { mode: 0o644 });
  const store = new SqliteStore({ path });
  await store.open();
  await store.audit({ at: "now", actor: "a", action: "create", room: null, details: {} });
  const modes = readdirSync(folder).map((file) => [file, (statSync(join(folder, file)).mode & 0o777).toString(8)]);
  expect(modes.length).toBeGreaterThan(1);
  expect(modes).toEqual(modes.map(([file]) => [file, "600"]));
  await store.close();
});

test("a hidden process does not count as dead: only one that cannot be signalled does", () => {
  const fail = (code: string) => (): never => {
    throw Object.assign(new Error(code), { code });
  };
  expect([exists(1, fail("EPERM")), exists(1, fail("ESRCH")), exists(1, () => true)]).toEqual([true, false, true]);
  const name = processName();
  const start = name.split(":")[3]!;
  // Hidden, gone, reused by another process, itself.
  expect([null, "", "1", start].map((seen) => isCertainlyDead(name, () => seen))).toEqual([false, true, true, false]);
  expect(isCertainlyDead(name)).toBe(false);
});
