/** Faults in the server itself, each of which the histories have to find. */
import type { Mutation } from "./load.ts";

export const MUTATIONS: readonly Mutation[] = [
  {
    name: "a write is not compared with the room's epoch",
    file: "server/store/sqliteWork.ts",
    find: "throw new LeaseLost(lease);",
    replace: "void LeaseLost;",
  },
  {
    name: "a claim does not ask whether somebody's lease runs",
    file: "server/store/sqliteWork.ts",
    find: "secondsLeft(row) > 0",
    replace: "false",
  },
  {
    name: "a room is taken by who cannot read it, though others can",
    file: "server/cluster/balance.ts",
    find: "if (last.version === own.version) return null;",
    replace: "if (last.version !== null) return null;",
    faults: ["versions", "handover"],
  },
  {
    name: "epochs do not grow",
    file: "server/store/sqliteWork.ts",
    find: "UPDATE counter SET epoch = epoch + 1 RETURNING epoch",
    replace: "UPDATE counter SET epoch = 1 RETURNING epoch",
  },
  {
    name: "the key of a request is forgotten",
    file: "server/rooms/registry.ts",
    find: "      holder,\n      key,\n    );",
    replace: "      holder,\n    );",
  },
  {
    name: "a room steps on when its lease has ended",
    file: "server/cluster/leaseKeeper.ts",
    find: "return this.#held.get(room)?.untilMs ?? -Infinity;",
    replace: "return this.#held.has(room) ? Infinity : -Infinity;",
  },
  {
    name: "a lease is believed for longer than its term",
    file: "server/cluster/leaseKeeper.ts",
    find: "return askedMs + this.#termMs * (1 - MARGIN);",
    replace: "return askedMs + this.#termMs * (1 + 5 * MARGIN);",
  },
  {
    name: "acknowledged before it is durable",
    file: "server/persistence/journalWriter.ts",
    find: "    if (entry) await this.#flush(entry);\n    // Nobody",
    replace: "    if (entry) void this.#flush(entry);\n    // Nobody",
  },
  {
    name: "a failed write is acknowledged",
    file: "server/persistence/journalWriter.ts",
    find: "if (!entry || entry.failure !== null) throw",
    replace: "if (!entry) throw",
  },
  {
    name: "an undo does not reach the store",
    file: "server/persistence/journalWriter.ts",
    find: "    await this.#truncate(entry);\n",
    replace: "",
  },
  {
    name: "settings are not written",
    file: "server/persistence/journalWriter.ts",
    find: "    if (!entry.settingsChanged) return;\n",
    replace: "    if (entry.settingsChanged || !entry.settingsChanged) return;\n",
  },
  {
    name: "the journal goes on although an append has failed",
    file: "server/persistence/journalWriter.ts",
    find: "  async #write(entry: Entry): Promise<void> {\n",
    replace:
      "  async #write(entry: Entry): Promise<void> {\n    if (entry.failure) entry.writtenTick = entry.room.checkpointPolicy.history.tick;\n",
  },
  {
    name: "inputs of a tick are recorded twice",
    file: "server/persistence/history.ts",
    find: "this.#records.push({ tick, inputs, fresh: this.#fresh });",
    replace: "this.#records.push({ tick, inputs: [...inputs, ...inputs], fresh: this.#fresh });",
  },
  {
    name: "a tick behind a saved state is not marked",
    file: "server/persistence/history.ts",
    find: "  marked(): void {\n    this.#fresh = true;",
    replace: "  marked(): void {\n    this.#fresh = false;",
  },
  {
    name: "a room is handed over without its last ticks",
    file: "server/persistence/journalWriter.ts",
    find: "    await this.#flush(entry);\n    this.#entries.delete(room);\n    await this.#options.store.release(entry.lease);",
    replace: "    this.#entries.delete(room);\n    await this.#options.store.release(entry.lease);",
  },
  {
    name: "a room that is deleted stays in the store",
    file: "server/persistence/journalWriter.ts",
    find: "      await this.#options.store.removeRoom(entry.lease);",
    replace: "      await this.#options.store.release(entry.lease);",
  },
  {
    name: "a room that was given up is still acknowledged for",
    file: "server/persistence/journalWriter.ts",
    find: "if (!entry || entry.failure !== null) throw",
    replace: "if (entry && entry.failure !== null) throw",
    faults: ["end", "handover", "pause"],
    seed: 301,
  },
  {
    name: "a state that is being packed leaves no mark when the room goes back to its tick",
    file: "server/persistence/history.ts",
    find: "const marked = this.#fresh && tick === this.#tick;",
    replace: "const marked = false;",
    faults: ["kill"],
    seed: 301,
  },
  {
    name: "a room that the store did not take is served",
    file: "server/rooms/registry.ts",
    find: '      await room.dispose(CloseCode.restarting, "the store did not take it");\n      throw error;',
    replace: "      void error;\n      return;",
    faults: ["errors", "kill"],
  },
  {
    name: "what lies behind a gap of the journal is taken for what comes next",
    file: "server/persistence/restore.ts",
    find: "    if (segment.after > until) break;\n",
    replace: "",
  },
];
