/** The lease of a room that cannot be taken over. A real SQLite store, which fails on command. */
import { join } from "node:path";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LeaseKeeper } from "../../../server/cluster/leaseKeeper.ts";
import { Takeover } from "../../../server/cluster/takeover.ts";
import { ClusterMetrics } from "../../../server/metrics/cluster.ts";
import { Maker } from "../../../server/metrics/maker.ts";
import { SqliteStore } from "../../../server/store/sqlite/sqliteStore.ts";
import type { Holder, Store } from "../../../server/store/store.ts";
import { testFolder } from "../../support/testFolder.ts";

const holder = { process: "here", url: "http://here" };
const other = { process: "there", url: "http://there" };
const quarantined = { reason: "version" as const, since: new Date(0).toISOString(), details: "why", identity: "i" };
let store: SqliteStore;
let folder: string;
beforeAll(async () => {
  folder = testFolder("takeover");
  store = new SqliteStore({ path: join(folder, "store.sqlite") });
  await store.open();
});
afterAll(() => store.close());

test("a quarantined room is released at once if its mark cannot be removed after the claim", async () => {
  const record = { scene: "s", pool: "shared" as const, createdAt: new Date(0).toISOString(), settings: {} };
  const made = await store.createRoom({ name: "quarantined", ...record }, other);
  if (!made.created) throw new Error("the name was taken");
  await store.quarantine(made.lease, quarantined);
  let asked = 0;
  const endQuarantine = (): Promise<void> => {
    asked += 1;
    return Promise.reject(new Error("disk I/O error"));
  };
  const failing: Store = new Proxy(store, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (name === "endQuarantine") return endQuarantine;
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
  const metrics = new ClusterMetrics(new Maker(new Registry()));
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const rooms = {
    serves: () => false,
    names: () => [],
    members: () => 0,
    drop: () => Promise.resolve(),
    takeOver: () => Promise.reject(new Error("it was taken over nevertheless")),
  };
  const keeper = new LeaseKeeper({ store: failing, holder, rooms, metrics, log });
  const successors = (): Promise<Map<string, Holder>> => Promise.resolve(new Map());
  const takeover = new Takeover({ store: keeper.store, holder, rooms, maxRooms: 9, successors, metrics, log });
  takeover.start();
  const listing = (await store.room("quarantined"))!;
  expect(await takeover.take(listing)).toBe(false);
  await takeover.stop();
  expect(asked).toBe(1);
  expect(keeper.lease("quarantined")).toBeUndefined();
  expect(await store.room("quarantined")).toMatchObject({ owner: null, quarantined });
  expect(await store.claim("quarantined", other, { quarantined: true })).toMatchObject({ process: "there" });
  keeper.close();
});
