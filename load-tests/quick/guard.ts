/**
 * The quick guard: measures every figure, each in a process of its own, and compares it with the committed release
 * (release.json). A figure is slower if it exceeds the release by more than its noise in each of up to three
 * measurements.
 * The second and third come later, when other load may have ended.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { runChild } from "../harness/child.ts";
import type { Environment } from "../harness/environment.ts";
import { quantile } from "../part.ts";

/** A measurement of a figure. */
export interface Reading {
  value: number;
  unit: "yardsticks" | "bytes";
  /** CPU time, and the yardstick of the same process. */
  ms?: number;
  yardstickMs?: number;
  /** CPU time over wall time. */
  share?: number;
  repetitions?: number;
  /** State hash of the simulation; another hash means another computation. */
  hash?: string;
  note?: string;
}

export interface ReleaseFigure extends Pick<Reading, "value" | "unit" | "hash"> {
  /** Largest minus smallest of the measurements that count, over their median. */
  noise: number;
}

export interface Release extends Pick<Environment, "date" | "commit" | "cpu" | "node"> {
  figures: Record<string, ReleaseFigure>;
}

export interface Guarded {
  /** All figures, and the names of those to measure. */
  figures: readonly { name: string; about: string }[];
  only: readonly string[];
  environment: Environment;
  /** Path of release.json. */
  path: string;
  measure?: (name: string) => Promise<Reading>;
  print?: (line: string) => void;
}

export interface GuardReport {
  figures: Record<string, Reading & Partial<Verdict>>;
  slower: string[];
  /** Errors by figure. */
  failed: Record<string, string>;
}

interface Verdict {
  /** Value relative to the release. */
  factor: number;
  noise: number;
  slower: boolean;
  otherHash: boolean;
}

/** Measurements of a suspect, and the time after which no further one begins, ms. */
const TRIES = 3;
const LAST_TRY_MS = 45_000;
/**
 * Measurements of each figure for a release, and the number that counts: the smallest, because other load only adds.
 */
const RENEW_ROUNDS = 5;
const RENEW_COUNTED = 3;
/** Timeout of a figure, s: it takes 1 to 3 s of CPU time, and a busy machine may share the processor. */
const FIGURE_SECONDS = 120;
/**
 * Smaller differences are never judged. Work that cannot be repeated has a larger limit. Bytes are exact, but another
 * version of zlib or a changed header is not a loss.
 */
const LEAST_NOISE = { yardsticks: 0.05, bytes: 0.01, unrepeated: 0.08 } as const;
/** Figures with more noise than this cannot reliably show a loss of 15 %. */
export const MOST_NOISE = 0.1;
/**
 * Processes that alternate on a core evict each other's caches, which hardly affects the yardstick: figures grow by up
 * to this share, reached at a CPU share of BUSY_SHARE. Such noise is limited to MOST_BUSY, so that a loss of 15 % is
 * still seen.
 */
const BUSY_NOISE = 0.08;
const BUSY_SHARE = 0.75;
const MOST_BUSY = 0.14;
/** Processors differ by this share in yardsticks: a release of another one detects large losses only. */
const OTHER_PROCESSOR = 0.3;

/**
 * V8 compiles and collects garbage in the measured thread instead of other threads: this work then counts, at the same
 * places in every process, regardless of the load of other cores.
 */
const RUNTIME = ["--single-threaded"];

/** @param program runFigure.ts of this or another checkout */
export const measureFigure = (name: string, program = new URL("./runFigure.ts", import.meta.url)): Promise<Reading> =>
  runChild<Reading>(program, [name], FIGURE_SECONDS, RUNTIME);

/** @throws SyntaxError for a file that is not valid JSON */
export function readRelease(path: string): Release | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Release) : undefined;
}

export function judge(reading: Reading, release: ReleaseFigure, otherProcessor = false): Verdict {
  const { value, unit, hash, share = 1, repetitions } = reading;
  const factor = value / release.value;
  const own = Math.max(LEAST_NOISE[repetitions === 1 ? "unrepeated" : unit], release.noise);
  const busy = BUSY_NOISE * Math.min(1, (1 - share) / (1 - BUSY_SHARE));
  const other = otherProcessor && unit !== "bytes" ? OTHER_PROCESSOR : 0;
  const noise = Math.max(own, Math.min(own + busy, MOST_BUSY)) + other;
  return {
    factor,
    noise,
    slower: !(factor <= 1 + noise),
    otherHash: hash !== undefined && release.hash !== undefined && hash !== release.hash,
  };
}

export const COLUMNS = `  ${"figure".padEnd(18)}${"value".padStart(9)}${"release".padStart(9)}${"factor".padStart(8)}${"noise".padStart(7)}${"CPU".padStart(11)}`;

export function lineOf(
  name: string,
  about: string,
  reading: Reading,
  verdict: Verdict | undefined,
  value: number,
): string {
  const number = (n: number): string => (n >= 1000 ? n.toFixed(0) : n.toPrecision(4));
  const cpu = reading.ms === undefined ? "bytes" : `${number(reading.ms)} ms`;
  const columns = [
    number(reading.value).padStart(9),
    (verdict ? number(value) : "new").padStart(9),
    (verdict?.factor.toFixed(3) ?? "").padStart(8),
    (verdict ? `${(100 * verdict.noise).toFixed(1)} %` : "").padStart(7),
    cpu.padStart(11),
  ];
  const marks = [verdict?.slower && `SLOWER x ${verdict.factor.toFixed(2)}`, verdict?.otherHash && "other bits"];
  return `  ${name.padEnd(18)}${columns.join("")}  ${[...marks, about, reading.note].filter(Boolean).join("; ")}`;
}

/** Measures, prints each figure once its verdict is final, and reports slower and failed figures. */
export async function guard(options: Guarded): Promise<GuardReport> {
  const { figures, only, environment, path, measure = (name) => measureFigure(name), print = console.log } = options;
  const release = readRelease(path);
  const otherProcessor = release !== undefined && release.cpu !== environment.cpu;
  const report: GuardReport = { figures: {}, slower: [], failed: {} };
  const startMs = performance.now();
  print(release ? `release of ${release.commit}, ${release.date}` : `${path} does not exist: nothing to compare with`);
  if (otherProcessor)
    print(`  taken on another processor (${release.cpu}): times are judged with ${100 * OTHER_PROCESSOR} % more noise`);
  print(COLUMNS);
  const tell = (name: string): void => {
    const { about } = figures.find((figure) => figure.name === name)!;
    const reading = report.figures[name]!;
    print(
      lineOf(
        name,
        about,
        reading,
        reading.factor === undefined ? undefined : (reading as Reading & Verdict),
        release?.figures[name]?.value ?? NaN,
      ),
    );
  };
  /** @returns true if the figure is slower so far */
  const take = async (name: string): Promise<boolean> => {
    try {
      const reading = await measure(name);
      const before = report.figures[name];
      if (before && before.value <= reading.value) return true;
      const known = release?.figures[name];
      report.figures[name] = { ...reading, ...(known && judge(reading, known, otherProcessor)) };
      if (report.figures[name]!.slower) return true;
      tell(name);
    } catch (error) {
      report.failed[name] = (error as Error).message;
      print(`  ${name.padEnd(18)} FAILED: ${report.failed[name]}`);
    }
    return false;
  };
  report.slower = await filter(only, take);
  for (let again = 1; again < TRIES; again++)
    report.slower = await filter(
      report.slower,
      async (name) => performance.now() - startMs > LAST_TRY_MS || take(name),
    );
  report.slower.forEach(tell);
  if (only.length === figures.length)
    for (const name of Object.keys(release?.figures ?? {}))
      if (!figures.some((figure) => figure.name === name)) {
        report.failed[name] = "MISSED: the release has this figure, but the guard does not";
        print(`  ${name.padEnd(18)} ${report.failed[name]}`);
      }
  print(summaryOf(report, performance.now() - startMs));
  return report;
}

async function filter(names: readonly string[], keep: (name: string) => Promise<boolean>): Promise<string[]> {
  const kept: string[] = [];
  for (const name of names) if (await keep(name)) kept.push(name);
  return kept;
}

export function summaryOf({ figures, slower, failed }: GuardReport, ms: number): string {
  const all = Object.values(figures);
  const yardsticks = all.flatMap(({ yardstickMs }) => yardstickMs ?? []);
  const list = slower.map((name) => `${name} x ${figures[name]!.factor!.toFixed(2)}`).join(", ");
  return [
    `${all.length} figures in ${(ms / 1000).toFixed(0)} s`,
    ...(yardsticks.length > 0 ? [`yardstick ${Math.min(...yardsticks).toFixed(2)} ms`] : []),
    slower.length > 0 ? `SLOWER: ${list}` : "none slower than its noise",
    ...(Object.keys(failed).length > 0 ? [`FAILED: ${Object.keys(failed).join(", ")}`] : []),
  ].join("; ");
}

/**
 * Measures every figure RENEW_ROUNDS times and writes the release: the median of the RENEW_COUNTED smallest values, and
 * their spread as noise. The guard compares the best of TRIES with it.
 * @throws Error naming the figure that failed
 */
export async function renew(options: Omit<Guarded, "only">): Promise<Release> {
  const { figures, environment, path, measure = (name) => measureFigure(name), print = console.log } = options;
  const readings = new Map<string, Reading[]>(figures.map(({ name }) => [name, []]));
  for (let round = 1; round <= RENEW_ROUNDS; round++) {
    for (const { name } of figures)
      try {
        readings.get(name)!.push(await measure(name));
      } catch (error) {
        throw new Error(`${name} FAILED: ${(error as Error).message}; nothing is written`, { cause: error });
      }
    print(`round ${round} of ${RENEW_ROUNDS}`);
  }
  const { date, commit, cpu, node } = environment;
  const release: Release = { date, commit, cpu, node, figures: {} };
  print(COLUMNS);
  for (const { name, about } of figures) {
    const all = readings.get(name)!;
    const values = all
      .map(({ value }) => value)
      .sort((a, b) => a - b)
      .slice(0, RENEW_COUNTED);
    const value = Number(quantile(values, 0.5).toPrecision(5));
    const noise = Number(((Math.max(...values) - Math.min(...values)) / value).toFixed(4));
    const { unit, hash } = all[0]!;
    release.figures[name] = { value, unit, noise, ...(hash !== undefined && { hash }) };
    print(lineOf(name, about, all[0]!, judge({ ...all[0]!, value }, release.figures[name]!), value));
    if (noise > MOST_NOISE)
      print(`    noise ${(100 * noise).toFixed(1)} % is more than ${100 * MOST_NOISE} %: renew on a quieter machine`);
  }
  writeFileSync(path, `${JSON.stringify(release, null, 2)}\n`);
  print(`written to ${path}`);
  return release;
}
