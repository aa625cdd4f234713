/**
 * Loaded into a server before everything else (`--import`): writes every tick that begins, with room, number and the machine's monotonic time, into the file that WITNESS_FILE names.
 * Synchronously, so that what was stepped before a SIGKILL is there.
 */
import { subscribe } from "node:diagnostics_channel";
import { openSync, writeSync } from "node:fs";
import type { TickTrace } from "../../server/rooms/trace.ts";

const file = openSync(process.env["WITNESS_FILE"]!, "a");
subscribe("pliant.tick", (message) => {
  const { room, tick, startMs } = message as TickTrace;
  const ms = Number(process.hrtime.bigint()) / 1e6 - (performance.now() - startMs);
  writeSync(file, `${JSON.stringify([room, tick, Math.round(ms * 100) / 100])}\n`);
});
