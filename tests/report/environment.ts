/** Under what a report came about. */
import { execFileSync } from "node:child_process";
import { cpus, loadavg } from "node:os";

export interface Environment {
  date: string;
  commit: string;
  node: string;
  processor: string;
  cores: number;
  /** of the last minute, at the beginning: above 0, others ran on this machine, and times are too long */
  load: number;
  size: string;
}

export function environment(date: Date, size: string): Environment {
  const [first] = cpus();
  return { date: date.toISOString().slice(0, 19) + "Z", commit: commit(), node: process.version, processor: first?.model ?? "unknown", cores: cpus().length, load: loadavg()[0]!, size };
}

/** Short hash, "+" if files differ from it; "unknown" outside of a checkout. */
function commit(): string {
  const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain", "--untracked-files=no") === "" ? "" : "+");
  } catch {
    return "unknown";
  }
}
