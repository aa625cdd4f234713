/** Under what a report came about. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";

const KERNEL = new URL("../../build/kernel.wasm", import.meta.url);

export interface Environment {
  date: string;
  /** short hash; "+" if tracked files differ from it */
  commit: string;
  /** of build/kernel.wasm, the first 12 digits of its SHA-256: what was really measured */
  kernel: string;
  node: string;
  processor: string;
  cores: number;
  /** of the last minute, at the beginning: above 0, others ran on this machine, and times are too long */
  load: number;
  size: string;
}

/** And how long it took. */
export interface Conditions extends Environment {
  /** of the whole report, wall clock */
  seconds: number;
  /** figures side by side */
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

/** "unknown" outside of a checkout. */
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
