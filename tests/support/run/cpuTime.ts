/**
 * Measures the CPU time of each test file, independent of the machine's other load. Counts its process with threads and
 * its ended child programs (Linux; elsewhere only the process). For a shared browser it counts the time used during the
 * file. Set up before every file (vitest.config.ts); countsReporter.ts reads it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll } from "vitest";
import { SHARED_BROWSER_PID } from "../../e2e/sharedBrowser.ts";

declare module "vitest" {
  interface TaskMeta {
    /** CPU seconds of a file. */
    cpu?: number;
  }
}

/** Clock ticks of a second; the same on every Linux. */
const CLOCK_TICKS = 100;

interface ProcessTimes {
  parent: number;
  seconds: number;
}

/** @returns undefined: it has ended, or this is not Linux */
function timesOf(pid: string): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Fields after the name, which may contain anything: state, parent; user and system time of its own and of ended
    // children.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), seconds: ticks / CLOCK_TICKS };
  } catch {
    return undefined;
  }
}

/** CPU seconds of a process and of all its descendants. */
function treeSeconds(root: number): number {
  const all = new Map<number, ProcessTimes>();
  for (const name of readdirSync("/proc")) {
    const times = /^\d+$/.test(name) ? timesOf(name) : undefined;
    if (times) all.set(Number(name), times);
  }
  const belongs = (pid: number): boolean => pid === root || (all.has(pid) && belongs(all.get(pid)!.parent));
  return [...all].reduce((sum, [pid, { seconds }]) => sum + (belongs(pid) ? seconds : 0), 0);
}

function secondsSoFar(): number {
  const { user, system } = process.cpuUsage();
  const own = timesOf("self")?.seconds ?? (user + system) / 1e6;
  const browser = process.env[SHARED_BROWSER_PID];
  return own + (browser && timesOf(browser) ? treeSeconds(Number(browser)) : 0);
}

/** A process that runs many files sets up anew for each. */
const counted = globalThis as { cpuSecondsCounted?: number };
// For a browser count only the time from here on; for a file's own process also its start.
counted.cpuSecondsCounted ??= process.env[SHARED_BROWSER_PID] ? secondsSoFar() : 0;

// biome-ignore lint/correctness/noEmptyPattern: Vitest finds the fixtures of a hook in this pattern
afterAll(({}, file) => {
  const now = secondsSoFar();
  file.meta.cpu = now - counted.cpuSecondsCounted!;
  counted.cpuSecondsCounted = now;
});
