/**
 * `npm run bench -- --quick [--renew | --beside folder]`: the quick guard (quick/guard.ts).
 *
 * `npm run bench [-- --only kernel,tick] [--runs n] [--json file] [--release] [--minutes n] [--pause s] [--scenes a,b]
 * [--hands 0,3] [--list]`: runs the parts of load-tests/parts, each run in a process of its own. Prints the machine, a
 * table of minimum, median, maximum and state hash, the targets that were met, and the changes since the last release.
 * Figures are comparable within one machine and one run; across machines only ratios are.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runChild } from "./harness/child.ts";
import { compare, describeMoves, type Move } from "./harness/compare.ts";
import { describeEnvironment, type Environment, git, readEnvironment } from "./harness/environment.ts";
import { type BenchOptions, OptionError, readOptions, RELEASE_RUNS } from "./harness/options.ts";
import { cellsOf, formatReleases, parseReleases, putRelease, type ReleaseRow } from "./harness/releases.ts";
import { table } from "./harness/table.ts";
import type { Part, RunReport, Summary } from "./part.ts";
import { quantile, summarize } from "./part.ts";
import { guardBeside } from "./quick/beside.ts";
import { FIGURES } from "./quick/figures.ts";
import { guard, renew } from "./quick/guard.ts";

const folder = fileURLToPath(new URL("./parts/", import.meta.url));
const RELEASES = "load-tests/results/releases.csv";
const releasesPath = fileURLToPath(new URL("./results/releases.csv", import.meta.url));
const guardPath = fileURLToPath(new URL("./release.json", import.meta.url));
const PART_TIMEOUT_SECONDS = 600;
/** npm runs scripts in the top folder; INIT_CWD is the caller's folder. */
const HERE = process.env.INIT_CWD ?? ".";

interface LoadedPart {
  file: string;
  part: Part;
}

async function loadParts(): Promise<LoadedPart[]> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .sort((a, b) => (basename(a) < basename(b) ? -1 : 1));
  return Promise.all(
    files.map(async (name) => ({
      file: folder + name,
      part: (await import(pathToFileURL(folder + name).href)) as Part,
    })),
  );
}

/** Runs a part once, in a fresh process. */
function runOnce(
  { file, part }: LoadedPart,
  { minutes, pause, scenes, hands, json }: BenchOptions,
): Promise<RunReport> {
  const { timeoutSeconds = PART_TIMEOUT_SECONDS } = part;
  const seconds = typeof timeoutSeconds === "number" ? timeoutSeconds : timeoutSeconds({ minutes });
  const sofar = json && `${resolve(HERE, json)}.sofar`;
  const program = new URL("./runPart.ts", import.meta.url);
  return runChild(program, [file, JSON.stringify({ minutes, pause, scenes, hands, sofar })], seconds);
}

/** The last release's row as committed; without a repository, as in the file. */
function lastRelease(): ReleaseRow | undefined {
  const text =
    git("show", `HEAD:${RELEASES}`) ??
    (git("rev-parse", "HEAD") === undefined && existsSync(releasesPath) ? readFileSync(releasesPath, "utf8") : "");
  return parseReleases(text).rows.at(-1);
}

interface PartReport {
  name: string;
  about: string;
  rows?: Summary[];
  yardstickMs?: number;
  moves?: Move[];
  error?: string;
}

async function measure(loaded: LoadedPart, options: BenchOptions, before: ReleaseRow | undefined): Promise<PartReport> {
  const { name, about, runs: ownRuns = 3, onDemand = false } = loaded.part;
  // A part that takes an hour is measured once; its spread is inside of it.
  const runs = options.runs ?? (options.release && !onDemand ? Math.max(RELEASE_RUNS, ownRuns) : ownRuns);
  console.log(`\n${name}: ${about} (${runs} run${runs > 1 ? "s" : ""})`);
  try {
    const reports: RunReport[] = [];
    for (let run = 0; run < runs; run++) reports.push(await runOnce(loaded, options));
    const rows = summarize(reports);
    const yardstickMs = quantile(
      reports.map((report) => report.yardstickMs),
      0.5,
    );
    console.log(table(rows));
    const moves = before && compare(name, rows, before);
    if (moves) console.log(describeMoves(before.get("release")!, moves));
    return { name, about, rows, yardstickMs, ...(moves && { moves }) };
  } catch (error) {
    console.error(`  FAILED: ${(error as Error).message}`);
    process.exitCode = 1;
    return { name, about, error: (error as Error).message };
  }
}

/** Runs the quick guard and ends the process. Exit code 1: a figure is slower than its noise, or failed. */
async function runGuard(
  { only, json, renew: renewing, beside }: BenchOptions,
  environment: Environment,
): Promise<never> {
  console.log(describeEnvironment(environment));
  const guarded = { figures: FIGURES, environment, path: guardPath };
  if (renewing) {
    try {
      await renew(guarded);
      process.exit(0);
    } catch (error) {
      console.error(`bench: ${(error as Error).message}`);
      process.exit(1);
    }
  }
  const report =
    beside === undefined
      ? await guard({ ...guarded, only })
      : await guardBeside({ figures: FIGURES, environment, only, other: resolve(HERE, beside) });
  if (json) writeFile(resolve(HERE, json), `${JSON.stringify({ environment, ...report }, null, 2)}\n`);
  process.exit(report.slower.length > 0 || Object.keys(report.failed).length > 0 ? 1 : 0);
}

function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  console.log(`\nwritten to ${path}`);
}

// The guard needs no parts, and loading them takes a second.
const parts = process.argv.includes("--quick") ? [] : await loadParts();
let options: BenchOptions;
try {
  options = readOptions(
    process.argv.slice(2),
    parts.map(({ part }) => part),
    FIGURES,
  );
} catch (error) {
  if (!(error instanceof OptionError)) throw error;
  console.error(`bench: ${error.message}`);
  process.exit(2);
}
if (options.list) {
  const named: readonly Pick<Part, "name" | "about" | "onDemand">[] = options.quick
    ? FIGURES
    : parts.map(({ part }) => part);
  for (const { name, about, onDemand } of named)
    console.log(`${name}: ${about}${onDemand ? " (only with --only)" : ""}`);
  process.exit(0);
}

const environment = readEnvironment();
if (options.quick) await runGuard(options, environment);
const before = lastRelease();
const report = { environment, parts: [] as PartReport[] };
console.log(describeEnvironment(environment));
for (const loaded of parts.filter(({ part }) => options.only.includes(part.name)))
  report.parts.push(await measure(loaded, options, before));

if (options.release) {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  const measured = report.parts.filter(({ rows }) => rows !== undefined);
  const { date, commit, cpu, cores, node, v8 } = environment;
  const cells: [string, string][] = measured.flatMap(({ name, rows }) => rows!.flatMap((row) => cellsOf(name, row)));
  const yardstick = Math.min(...measured.map(({ yardstickMs }) => yardstickMs!)).toFixed(3);
  const head = Object.entries({ date, commit, cpu, cores: String(cores), node, v8, "yardstick ms": yardstick });
  const known = parseReleases(existsSync(releasesPath) ? readFileSync(releasesPath, "utf8") : "");
  if (measured.length > 0) writeFile(releasesPath, formatReleases(putRelease(known, version, [...head, ...cells])));
}
if (options.json) writeFile(resolve(HERE, options.json), `${JSON.stringify(report, null, 2)}\n`);
else console.log(`\n${JSON.stringify(report)}`);
