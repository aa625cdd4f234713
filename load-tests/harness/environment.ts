/** The machine and software of a benchmark, for its header and the release's row. */
import { spawnSync } from "node:child_process";
import { availableParallelism, cpus, freemem, loadavg, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Environment {
  date: string;
  commit: string;
  cpu: string;
  cores: number;
  node: string;
  v8: string;
  platform: string;
  memoryGB: number;
  freeGB: number;
  /** One-minute load average at the start; above 0, other processes used the cores. */
  load: number;
}

const gigabytes = (bytes: number): number => Math.round((10 * bytes) / 2 ** 30) / 10;

/** Standard output of git in this repository; undefined if it fails. */
export function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  return status === 0 ? stdout.trimEnd() : undefined;
}

export function readEnvironment(): Environment {
  return {
    date: new Date().toISOString(),
    commit: git("describe", "--always", "--dirty") ?? "unknown",
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    node: process.version,
    v8: process.versions.v8,
    platform: `${process.platform}-${process.arch}`,
    memoryGB: gigabytes(totalmem()),
    freeGB: gigabytes(freemem()),
    load: Math.round(100 * (loadavg()[0] ?? 0)) / 100,
  };
}

export function describeEnvironment(environment: Environment): string {
  const { date, commit, cpu, cores, node, v8, platform, memoryGB, freeGB, load } = environment;
  return [
    `${date}  commit ${commit}`,
    `${cpu}, ${cores} cores, ${memoryGB} GB (${freeGB} free), load average ${load} at the start`,
    `node ${node}, V8 ${v8}, ${platform}`,
  ].join("\n");
}
