/**
 * What each test file takes of the processors, whatever else the machine does meanwhile: its process with threads and
 * the programs that it started and that have ended (Linux; elsewhere its process only), and of a browser that files
 * share what it took in that time. Set up before every file (vitest.config.ts); countsReporter.ts reads it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll } from "vitest";
import { SHARED_BROWSER_PID } from "../e2e/sharedBrowser.ts";

declare module "vitest" {
  interface TaskMeta {
    /** Of a file: CPU seconds. */
    cpu?: number;
  }
}

/** Of a second; the same on every Linux. */
const CLOCK_TICKS = 100;

interface ProcessTimes {
  parent: number;
  seconds: number;
}

/** @returns undefined: it has ended, or this is no Linux */
function timesOf(pid: string): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // After the name, which may hold anything: state, parent; user and system time of its own and of ended children.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), seconds: ticks / CLOCK_TICKS };
  } catch {
    return undefined;
  }
}

/** Seconds of a process and of all that come from it. */
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
// Of a browser only what is used from here on; of a process of a file's own, its start as well.
counted.cpuSecondsCounted ??= process.env[SHARED_BROWSER_PID] ? secondsSoFar() : 0;

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern what a hook asks for
afterAll(({}, file) => {
  const now = secondsSoFar();
  file.meta.cpu = now - counted.cpuSecondsCounted!;
  counted.cpuSecondsCounted = now;
});
