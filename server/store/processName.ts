/**
 * Names of processes that share a store, unique over machines, restarts and reused process ids. From a name it can be
 * determined whether that process is certainly dead. So a server that was killed and started again on the same machine
 * gets its rooms back at once, instead of waiting until its old leases expire.
 *
 *     505ee809-40e7-4fd4-a190-63717393159d:4026531836:4711:184467:9f3c
 *     boot of the kernel                   pid space  pid  start  random
 *
 * "Certainly dead" requires the same boot of the same kernel and the same PID namespace (containers have their own),
 * and that the pid is free or belongs to a process with another start time. In all other cases (another machine,
 * another container, a system without /proc) the answer is no, and the lease decides. A stopped process (SIGSTOP) is
 * not dead.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

/**
 * Index of a field in /proc/<pid>/stat: the start of the process in clock ticks since boot. proc_pid_stat(5) counts
 * from 1; this index counts from the field after the name.
 */
const START_FIELD = 22 - 3;
const STATE_FIELD = 0;

function readBoot(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/** Identifies the kernel's current boot; empty if the system does not tell it. */
export const bootId: string = readBoot();

function pidSpace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "";
  } catch {
    return "";
  }
}

/** Returns a process's start time, or null if it does not exist. A zombie counts as not existing. */
function startOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the name, is in parentheses and may contain any character.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[STATE_FIELD] === "Z" || fields[STATE_FIELD] === "X" ? null : fields[START_FIELD];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || (error as NodeJS.ErrnoException).code === "ESRCH")
      return null;
    throw error;
  }
}

/**
 * @returns the start time of the process with this id; "" if the id is free; null if unknown: `/proc` may hide other
 * users' processes (hidepid, ProtectProc), so only an id that cannot be signalled either is free
 */
function whoIs(pid: number): string | null {
  const start = startOf(pid);
  if (start !== null || isZombie(pid)) return start ?? "";
  return exists(pid) ? null : "";
}

/** Works for other users' processes, too: a process that may not be signalled exists. @param kill replaced by tests */
export function exists(pid: number, kill: (pid: number, signal: 0) => unknown = process.kill): boolean {
  try {
    kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function isZombie(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return /^[ZX] /.test(text.slice(text.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** Returns a new name for this process; call it once. */
export function processName(): string {
  const chance = randomBytes(4).toString("hex");
  if (bootId === "") return `::${process.pid}::${chance}`;
  return [bootId, pidSpace(), process.pid, startOf(process.pid), chance].join(":");
}

/** Returns true only if the process of this name cannot run any more. */
export function isCertainlyDead(name: string, look: (pid: number) => string | null = whoIs): boolean {
  const [boot, space, pid, start] = name.split(":");
  if (bootId === "" || boot !== bootId || space === "" || space !== pidSpace() || !/^\d+$/.test(pid ?? ""))
    return false;
  try {
    const found = look(Number(pid));
    return found !== null && found !== start;
  } catch {
    return false;
  }
}
