/**
 * The name of this process among all that share a store: unique over machines, restarts and reused process ids; and
 * from such a name, whether that process is certainly dead. A server that was killed and started again on the same
 * machine so gets its rooms back at once instead of waiting for its own old lease.
 *
 *     505ee809-40e7-4fd4-a190-63717393159d:4026531836:4711:184467:9f3c
 *     boot of the kernel                   pid space  pid  start  chance
 *
 * "Certainly" needs the same boot of the same kernel and the same space of process ids (containers have their own),
 * where the id is free, or belongs to a process that started at another time. In all other cases (another machine,
 * another container, a system without /proc) the answer is no and the lease decides. A process that is stopped
 * (SIGSTOP) is not dead.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

/**
 * Field of /proc/<pid>/stat: start of the process in clock ticks since boot; proc_pid_stat(5) counts from 1 and this
 * from the field after the name.
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

/** Which run of which kernel this is; empty where the system does not say. */
export const bootId: string = readBoot();

function pidSpace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "";
  } catch {
    return "";
  }
}

/** Start time of a process, or null if there is none (a zombie counts as none: it runs no more). */
function startOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, second field, is in parentheses and may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[STATE_FIELD] === "Z" || fields[STATE_FIELD] === "X" ? null : fields[START_FIELD];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || (error as NodeJS.ErrnoException).code === "ESRCH")
      return null;
    throw error;
  }
}

/** A new name for this process; call it once. */
export function processName(): string {
  const chance = randomBytes(4).toString("hex");
  if (bootId === "") return `::${process.pid}::${chance}`;
  return [bootId, pidSpace(), process.pid, startOf(process.pid), chance].join(":");
}

/** True only if the process of this name cannot run any more. */
export function isCertainlyDead(name: string): boolean {
  const [boot, space, pid, start] = name.split(":");
  if (bootId === "" || boot !== bootId || space === "" || space !== pidSpace() || !/^\d+$/.test(pid ?? ""))
    return false;
  try {
    return startOf(Number(pid)) !== start;
  } catch {
    return false;
  }
}
