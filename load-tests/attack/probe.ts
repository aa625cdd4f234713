/**
 * Loaded before the server (--import): measures the main thread from inside. Writes lines into the file ATTACK_PROBE:
 *
 *     work <at> <ms>                                 a piece of work of 4 ms or more without returning to the event
 *                                                    loop, in CPU time, which excludes other processes
 *     frame <at> <room> <waited> <stepped> <sent>    a frame was written to the sockets. ms from the hand-over of its
 *                                                    tick to the thread until its return, without the thread's own
 *                                                    time; the thread's own time; from then until it was written
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
