/**
 * Another process on the same SQLite file, for tests: `node storeChild.ts <file> <what>`; writes one line of JSON to
 * stdout for each action.
 * `journal`: creates a room and appends to its journal until it is killed. `claims`: for each line of stdin claims the
 * room named in it. `hold`: creates a room and waits.
 */
import { createInterface } from "node:readline";
import { processName } from "../../../server/store/processName.ts";
import { SqliteStore } from "../../../server/store/sqlite/sqliteStore.ts";

const [path, what] = process.argv.slice(2);
const holder = { process: processName(), url: `http://127.0.0.1:${process.pid}` };
const say = (value: unknown): boolean => process.stdout.write(`${JSON.stringify(value)}\n`);

const store = new SqliteStore({ path });
await store.open();

if (what === "claims") {
  say("ready");
  for await (const room of createInterface({ input: process.stdin })) say(await store.claim(room, holder));
} else {
  const answer = await store.createRoom(
    { name: `of-${process.pid}`, scene: "bunny", pool: "shared", createdAt: new Date().toISOString(), settings: {} },
    holder,
  );
  if (!answer.created) throw new Error("the name was taken");
  say(answer.lease);
  if (what === "hold") setInterval(() => {}, 1000);
  // At least 500 KB a second, so that checkpoints of SQLite's log happen meanwhile, too.
  for (let until = 1; what === "journal"; until++) {
    if (until % 10 === 0) await store.ping();
    await store.appendJournal(answer.lease, { after: until - 1, until, bytes: new Uint8Array(5000).fill(until & 255) });
    say(until);
  }
}
