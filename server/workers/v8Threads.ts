/**
 * V8's own threads collect garbage and compile for all threads of the process. They are four, whatever the machine has,
 * and where cores are few a room's step stands in line behind them. On two cores, with everything that one address can
 * do at once (`npm run bench -- --only attack`), the 99th percentile of others' frame gaps was 82 and 93 ms with them
 * as they are and 65 ms with them at this priority (calm: 38); with one of them in place of four it was 75 ms, and the
 * main thread, which then collects alone, stood still for up to 81 ms.
 */
import { readdirSync, readFileSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/** As of nice(1), behind the process: a tenth of another thread's share, where they compete. */
const BEHIND = 10;
/** What V8's platform in Node calls them. */
const NAME = "V8Worker";

/** Of this process; on Linux, elsewhere nothing. */
export function lowerV8Threads(): void {
  if (process.platform !== "linux") return;
  const nice = Math.min(getPriority() + BEHIND, constants.priority.PRIORITY_LOW);
  for (const thread of readdirSync("/proc/self/task")) {
    try {
      if (readFileSync(`/proc/self/task/${thread}/comm`, "utf8").trim() === NAME) setPriority(Number(thread), nice);
    } catch {
      // It has just ended, or the system does not let anybody.
    }
  }
}
