/** Environment of a report: commit, kernel and machine. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";

const KERNEL = new URL("../../build/kernel.wasm", import.meta.url);

export interface Environment {
  date: string;
  /** short hash; "+" if tracked files differ from it */
  commit: string;
  /** first 12 digits of the SHA-256 of build/kernel.wasm: the measured kernel */
  kernel: string;
  node: string;
  processor: string;
  cores: number;
  /** load of the last minute at the start; above 0, other programs ran on this machine, and times are too long */
  load: number;
  size: string;
}

/** Environment and duration. */
export interface Conditions extends Environment {
  /** wall-clock time of the whole report */
  seconds: number;
  /** figures that run at the same time */
  jobs: number;
}

/** @throws Error ENOENT if the kernel is not built */
export function environment(date: Date, size: string): Environment {
  const [first] = cpus();
  return {
    date: `${date.toISOString().slice(0, 19)}Z`,
    commit: commit(),
    kernel: createHash("sha256").update(readFileSync(KERNEL)).digest("hex").slice(0, 12),
    node: process.version,
    processor: first?.model ?? "unknown",
    cores: cpus().length,
    load: loadavg()[0]!,
    size,
  };
}

/** Short hash of the commit; "unknown" outside a checkout. */
function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return (
      git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain", "--untracked-files=no") === "" ? "" : "+")
    );
  } catch {
    return "unknown";
  }
}
