/**
 * Loaded before the server (--import): how much the main thread works without looking up, by its own CPU time, so that
 * what else the machine does is not in it. A line for every piece of work of 4 ms or more: when it was over, and what it
 * took, ms. Into the file ATTACK_PROBE.
 */
import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const LOOK_MS = 2;
const LEAST_MS = 4;
const WRITE_MS = 500;

const file = process.env.ATTACK_PROBE;
if (isMainThread && file !== undefined) {
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = cpuMs();
  let lines: string[] = [];
  setInterval(() => {
    const now = cpuMs();
    if (now - last >= LEAST_MS) lines.push(`${Number(process.hrtime.bigint()) / 1e6} ${now - last}\n`);
    last = now;
  }, LOOK_MS).unref();
  setInterval(() => {
    appendFileSync(file, lines.join(""));
    lines = [];
  }, WRITE_MS).unref();
}
