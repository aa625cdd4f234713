/**
 * Lowers the priority of the runtime's helper threads: V8's collect garbage and compile, libuv's read files and
 * compress. There are four of each on any machine, and with few cores a room's step waits behind them. Measured on two
 * cores under everything that one address can do at once (`npm run bench -- --only attack`), 99th percentile of other
 * members' frame gaps: 82 and 93 ms with V8's threads unchanged, 65 ms at this priority (without attack: 38). With one
 * V8 thread instead of four it was 75 ms, and the main thread, which then collects alone, stopped for up to 81 ms.
 * libuv's threads took both cores for 50 ms whenever a body of 110,000 triangles was compressed.
 */
import { readdirSync, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { constants, getPriority, setPriority } from "node:os";

/** nice(1) increment over the process: a tenth of another thread's share under contention. */
const BEHIND = 10;
/** Names of these threads. Node 26 puts its own name before those of V8. */
export const HELPERS = ["V8Worker", "libuv-worker"];

export const isHelper = (name: string): boolean => HELPERS.includes(name.replace(/^node-/, ""));

/** Lowers the helper threads of this process, on Linux only. */
export async function lowerHelperThreads(): Promise<void> {
  if (process.platform !== "linux") return;
  // libuv starts its threads with the first request.
  await stat("/proc/self");
  const nice = Math.min(getPriority() + BEHIND, constants.priority.PRIORITY_LOW);
  for (const thread of readdirSync("/proc/self/task")) {
    try {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, "utf8").trim();
      if (isHelper(name)) setPriority(Number(thread), nice);
    } catch {
      // The thread has just ended, or the system does not permit it.
    }
  }
}
