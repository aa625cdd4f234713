/**
 * Loaded before the server (--import): what the main thread does, from inside. Into the file ATTACK_PROBE, a line each:
 *
 *     work <at> <ms>                                 a piece of work of 4 ms or more without looking up, by its own CPU
 *                                                    time, so that what else the machine does is not in it
 *     frame <at> <room> <waited> <stepped> <sent>    a frame is with the sockets: ms from its tick's being handed over
 *                                                    to the thread until it was back, without what the thread took for
 *                                                    it; what the thread took; from then until it was written
 */
import { appendFileSync } from "node:fs";
import { subscribe } from "node:diagnostics_channel";
import { isMainThread } from "node:worker_threads";
import type { TickTrace } from "../../server/rooms/trace.ts";

const LOOK_MS = 2;
const LEAST_MS = 4;
const WRITE_MS = 500;

const file = process.env.ATTACK_PROBE;
if (isMainThread && file !== undefined) {
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
  let last = cpuMs();
  let lines: string[] = [];
  setInterval(() => {
    const now = cpuMs();
    if (now - last >= LEAST_MS) lines.push(`work ${monotonicMs()} ${now - last}\n`);
    last = now;
  }, LOOK_MS).unref();
  subscribe("pliant.tick", (message) => {
    const { frame, room, startMs, steppedMs, sentMs, workerMs } = message as TickTrace;
    if (!frame) return;
    lines.push(`frame ${monotonicMs()} ${room} ${steppedMs - startMs - workerMs} ${workerMs} ${sentMs - steppedMs}\n`);
  });
  setInterval(() => {
    appendFileSync(file, lines.join(""));
    lines = [];
  }, WRITE_MS).unref();
}
