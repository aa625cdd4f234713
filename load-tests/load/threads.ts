/**
 * CPU time of a process by thread, from Linux's /proc. Unlike wall time it does not grow if other processes use the
 * cores.
 */
import { readdirSync, readFileSync } from "node:fs";

export interface ThreadSeconds {
  /** The main thread: event loop, sockets, HTTP. */
  main: number;
  /** All other threads together: workers, garbage collection, compilation. */
  others: number;
}

/** Linux counts in hundredths of a second (USER_HZ). */
const TICKS_PER_SECOND = 100;

/** @returns undefined on systems without /proc */
export function threadSeconds(pid: number): ThreadSeconds | undefined {
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return undefined;
  }
  const seconds = { main: 0, others: 0 };
  for (const thread of threads) {
    let text: string;
    try {
      text = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    } catch {
      continue; // The thread has ended meanwhile.
    }
    // The name in brackets may contain spaces; utime and stime are fields 14 and 15.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    seconds[Number(thread) === pid ? "main" : "others"] += (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }
  return seconds;
}
