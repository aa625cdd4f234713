/**
 * Loaded into a server before everything else (`--import`). Writes every tick that begins, with room, number and the
 * machine's monotonic time, into the file that WITNESS_FILE names. Writes synchronously, so that ticks before a SIGKILL
 * are in the file.
 *
 * SIGUSR2 makes the process's time of day jump to the real time plus the offset in the file WITNESS_FILE.clock, ms. A
 * log line reports the jump.
 */
import { subscribe } from "node:diagnostics_channel";
import { openSync, readFileSync, writeSync } from "node:fs";
import type { TickTrace } from "../../server/rooms/trace.ts";

const file = openSync(process.env.WITNESS_FILE!, "a");
subscribe("pliant.tick", (message) => {
  const { room, tick, startMs } = message as TickTrace;
  const ms = Number(process.hrtime.bigint()) / 1e6 - (performance.now() - startMs);
  writeSync(file, `${JSON.stringify([room, tick, Math.round(ms * 100) / 100])}\n`);
});

let shiftMs = 0;
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + shiftMs);
    else super(...(given as [number]));
  }
  static override now(): number {
    return RealDate.now() + shiftMs;
  }
} as DateConstructor;
process.on("SIGUSR2", () => {
  shiftMs = Number(readFileSync(`${process.env.WITNESS_FILE!}.clock`, "utf8"));
  process.stdout.write(`${JSON.stringify({ level: 30, time: Date.now(), msg: "clock jumped", shiftMs })}\n`);
});
