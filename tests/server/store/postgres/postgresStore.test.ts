/**
 * The PostgreSQL store against a real server: the conformance suite, at two levels of isolation, and its special case:
 * a server that goes away and comes back.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "../../../../server/store/openStore.ts";
import { PostgresStore } from "../../../../server/store/postgres/postgresStore.ts";
import { PostgresClient, shownUrl } from "../../../../server/store/postgres/postgresClient.ts";
import { MIGRATIONS } from "../../../../server/store/postgres/postgresSchema.ts";
import { LeaseLost, StoreRefused, StoreUnavailable } from "../../../../server/store/store.ts";
import { PostgresServer, findPostgres } from "../../../support/postgres.ts";
import { lacks } from "../../../support/run/tools.ts";
import { storeConformance } from "../conformance.ts";
import { AUDIT_ENTRIES, TERM } from "../conformanceKit.ts";

const bin = findPostgres();

describe.skipIf(lacks("PostgreSQL", bin))("PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start(bin as string);
  });
  afterAll(() => server?.stop());

  const provider = (url: string) => ({
    open: async () => {
      const store = new PostgresStore({ url, leaseSeconds: TERM, auditEntries: AUDIT_ENTRIES });
      await store.open();
      return store;
    },
  });
  storeConformance("PostgreSQL", async () => provider(await server.database()));
  // As in distributed databases: a transaction in conflict with another fails with 40001 and has to be repeated.
  storeConformance("PostgreSQL, serializable", async () =>
    provider(`${await server.database()}?options=-c%20default_transaction_isolation%3Dserializable`),
  );

  const record = {
    name: "a-room",
    scene: "bunny",
    pool: "shared" as const,
    createdAt: new Date(0).toISOString(),
    settings: {},
  };
  const ann = { process: "ann", url: "http://ann" };

  test("processes that start at once on an empty database all find its tables", async () => {
    const url = await server.database();
    const stores = Array.from({ length: 6 }, () => new PostgresStore({ url }));
    await Promise.all(stores.map((store) => store.open()));
    await Promise.all(stores.map((store) => store.ping()));
    await Promise.all(stores.map((store) => store.close()));
  });

  test("tables of a newer program are refused and not changed", async () => {
    const url = await server.database();
    const first = new PostgresStore({ url });
    await first.open();
    const client = new PostgresClient(url);
    await client.query("UPDATE pliant_schema SET version = $1", [MIGRATIONS.length + 1]);
    const second = new PostgresStore({ url });
    await expect(second.open()).rejects.toBeInstanceOf(StoreRefused);
    await expect(second.open()).rejects.toThrow(
      `version ${MIGRATIONS.length + 1}, this program knows up to ${MIGRATIONS.length}`,
    );
    expect((await client.query("SELECT version FROM pliant_schema"))[0].version).toBe(MIGRATIONS.length + 1);
    await Promise.all([first, second].map((store) => store.close()));
    await client.end();
  });

  test("a server that goes away and comes back: errors meanwhile, no acknowledged write is missing, the lease is still valid", async () => {
    const own = await PostgresServer.start(bin as string);
    const store = new PostgresStore({ url: await own.database() });
    try {
      await store.open();
      const answer = await store.createRoom(record, ann);
      if (!answer.created) throw new Error("the database was not empty");
      await store.writeCheckpoint(answer.lease, { tick: 1, identity: "a", state: new Uint8Array(1000) });
      await own.halt();
      const asked = [
        store.ping(),
        store.renew(ann, [{ ...answer.lease, members: 0 }]),
        store.appendJournal(answer.lease, { after: 0, until: 1, bytes: new Uint8Array(1) }),
      ].map((ask) =>
        ask.then(
          () => new Error("the database answered"),
          (thrown: Error) => thrown,
        ),
      );
      // Handlers for all errors, in any order.
      for (const error of await Promise.all(asked)) {
        expect(error).toBeInstanceOf(StoreUnavailable);
        expect(error.message).toContain(`127.0.0.1:${own.port}`);
        expect(`${error.message}${error.stack}`).not.toContain("hush-hush");
      }
      await own.resume();
      expect(await store.checkpointTicks("a-room")).toEqual([{ tick: 1, bytes: 1000 }]);
      expect(await store.renew(ann, [{ ...answer.lease, members: 0 }])).toEqual([]);
      await store.removeRoom(answer.lease);
      await expect(store.removeRoom(answer.lease)).rejects.toBeInstanceOf(LeaseLost);
    } finally {
      await store.close();
      await own.stop();
    }
  });

  test("is opened for a postgres:// URL, and the password is not in the log", async () => {
    const lines: string[] = [];
    const log = {
      info: (details: object, text: string) => lines.push(JSON.stringify(details) + text),
      error: () => {},
    };
    const store = await openStore({ store: await server.database(), dataDir: "unused" }, log);
    await store?.close();
    expect(store?.kind).toBe("postgres");
    expect(lines.join()).toContain(`127.0.0.1:${server.port}`);
    expect(lines.join()).not.toContain("hush-hush");
  });
});

test("a URL is shown without its password, in every form", () => {
  expect(shownUrl("postgres://me:hush@db.example:5432/pliant?sslmode=require")).toBe(
    "postgres://me:***@db.example:5432/pliant?sslmode=require",
  );
  expect(shownUrl("postgres://db.example/pliant?user=me&password=hush&sslkey=hush")).not.toContain("hush");
  expect(shownUrl("postgres://me:hu:sh@[broken")).not.toContain("hu");
});
