/** Uploaded objects on the main thread: each picture is in memory only once. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { Metrics } from "../../server/metrics/metrics.ts";
import { Objects } from "../../server/objects/objects.ts";
import { SqliteStore } from "../../server/store/sqlite/sqliteStore.ts";
import { testFolder } from "../support/testFolder.ts";

test("a picture is in memory once for any number of slow readers, also when it is too large for the cache", async () => {
  const folder = testFolder("pictures");
  const store = new SqliteStore({ path: join(folder, "pliant.sqlite") });
  await store.open();
  const limits = { count: 10, bytes: 1e12, countPerAddress: 10 };
  const log = { info: () => {}, warn: () => {}, error: () => {} } as never;
  const { objects: metrics } = new Metrics({} as never);
  const objects = new Objects({ store: store.objects, limits, keepHours: 1, read: null as never, metrics, log });
  const put = async (digit: string, bytes: number): Promise<string> => {
    const id = digit.repeat(64);
    const record = { id, name: "pot.glb", about: {}, bytes, address: null, createdAt: new Date().toISOString() };
    await store.objects.putObject(record, { shape: new Uint8Array(8), picture: new Uint8Array(1000).fill(7) }, limits);
    return id;
  };
  for (const id of [await put("a", 2000), await put("b", 1e9)]) {
    const [first, second] = await Promise.all([objects.picture(id), objects.picture(id)]);
    const third = await objects.picture(id);
    expect(third).toEqual(new Uint8Array(1000).fill(7));
    expect([second.buffer === first.buffer, third.buffer === first.buffer]).toEqual([true, true]);
  }
  objects.close();
  await store.close();
});
