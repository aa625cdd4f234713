/**
 * Loaded before the server (`--import`): a process that dies over one room, POISON_ROOM. POISON_AT: `restore`, while it
 * reads the room's data from the store; `ticks`, shortly after it has recorded the attempt, when the room is about to
 * tick.
 */
import { SqliteStore } from "../../../server/store/sqlite/sqliteStore.ts";

const { POISON_ROOM: poison, POISON_AT: at } = process.env;
const die = (): void => void process.kill(process.pid, "SIGKILL");

const { readJournal, countAttempts } = SqliteStore.prototype;
SqliteStore.prototype.readJournal = async function (room, after) {
  if (room === poison && at === "restore") die();
  return readJournal.call(this, room, after);
};
SqliteStore.prototype.countAttempts = async function (lease, attempts) {
  await countAttempts.call(this, lease, attempts);
  if (lease.room === poison && at === "ticks" && attempts > 0) setTimeout(die, 30);
};
