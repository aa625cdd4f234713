/** Leases when the store fails in the middle of an operation. A real SQLite store, which fails on command. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../../server/config.ts";
import { type RegistryOptions, RoomRegistry } from "../../../server/rooms/registry.ts";
import { SqliteStore } from "../../../server/store/sqlite/sqliteStore.ts";
import { testFolder } from "../../support/testFolder.ts";

const holder = { process: "here", url: "http://here" };
let store: SqliteStore;
let folder: string;
beforeAll(async () => {
  folder = testFolder("registry");
  store = new SqliteStore({ path: join(folder, "store.sqlite") });
  await store.open();
});
afterAll(() => store.close());

/**
 * A registry of a store that fails to remove rooms. @param templates results of building the scene, one for each call
 */
function registryOf(templates: (() => Promise<unknown>)[] = []): RoomRegistry {
  const failing = new Proxy(store, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (name === "removeRoom") return () => Promise.reject(new Error("disk I/O error"));
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
  return new RoomRegistry({
    persistence: { store: failing, holder },
    config: readConfig({}),
    library: { template: () => templates.shift()!() },
  } as unknown as RegistryOptions);
}

test("a room that is open nowhere, and that could not be removed, is released at once", async () => {
  const made = await store.createRoom(
    { name: "unloved", scene: "s", pool: "shared", createdAt: new Date(0).toISOString(), settings: {} },
    holder,
  );
  if (!made.created) throw new Error("the name was taken");
  await store.release(made.lease);
  await expect(registryOf().remove("unloved")).rejects.toThrow("disk I/O error");
  expect(await store.room("unloved")).toMatchObject({ owner: null });
});

test("a room that failed to open, and that could not be removed, is released at once", async () => {
  const registry = registryOf([() => Promise.resolve({}), () => Promise.reject(new Error("its file is missing"))]);
  await expect(registry.create({ scene: "s", name: "unopened" })).rejects.toThrow("its file is missing");
  expect(await store.room("unopened")).toMatchObject({ owner: null });
});
