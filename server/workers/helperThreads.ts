/**
 * Threads that the runtime has for all others of the process: V8's collect garbage and compile, libuv's read files and
 * compress. They are four each, whatever the machine has, and where cores are few a room's step stands in line behind
 * them. On two cores, with everything that one address can do at once (`npm run bench -- --only attack`), the 99th
 * percentile of others' frame gaps was 82 and 93 ms with V8's as they are and 65 ms with them at this priority (calm:
 * 38); with one of them in place of four it was 75 ms, and the main thread, which then collects alone, stood still for
 * up to 81 ms. libuv's took both cores for 50 ms whenever a body of 110,000 triangles was ready to be sent.
 */
import { readdirSync, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { constants, getPriority, setPriority } from "node:os";

/** As of nice(1), behind the process: a tenth of another thread's share, where they compete. */
const BEHIND = 10;
/** What Node calls them. */
export const HELPERS = ["V8Worker", "libuv-worker"];

/** Of this process; on Linux, elsewhere nothing. */
export async function lowerHelperThreads(): Promise<void> {
  if (process.platform !== "linux") return;
  // libuv has none before it is asked for something.
  await stat("/proc/self");
  const nice = Math.min(getPriority() + BEHIND, constants.priority.PRIORITY_LOW);
  for (const thread of readdirSync("/proc/self/task")) {
    try {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, "utf8").trim();
      if (HELPERS.includes(name)) setPriority(Number(thread), nice);
    } catch {
      // It has just ended, or the system does not let anybody.
    }
  }
}
