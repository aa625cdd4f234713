/**
 * `npm run bench [-- --only kernel,tick] [--runs n] [--json file] [--list]`: runs every part of load-tests/parts, each run in a process of its own,
 * and prints the machine, a table of minimum, median and maximum with the state hash beside it, and which targets were met.
 * Figures compare within one machine and one run; across machines only ratios do.
 */
import { fork, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { Part, Row, Summary } from "./part.ts";
import { summarize } from "./part.ts";

const folder = fileURLToPath(new URL("./parts/", import.meta.url));
const PART_TIMEOUT_MS = 10 * 60_000;

interface LoadedPart {
  file: string;
  part: Part;
}

async function loadParts(): Promise<LoadedPart[]> {
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts")).sort();
  return Promise.all(files.map(async (name) => ({ file: folder + name, part: (await import(pathToFileURL(folder + name).href)) as Part })));
}

/** One run of one part in a fresh process: no warmed code, heap or thread pool of another part. */
function runOnce(file: string): Promise<Row[]> {
  return new Promise((fulfil, reject) => {
    const child = fork(fileURLToPath(new URL("./runPart.ts", import.meta.url)), [file], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    let rows: Row[] | undefined;
    const timer = setTimeout(() => child.kill("SIGKILL"), PART_TIMEOUT_MS);
    child.on("message", (message) => {
      rows = message as Row[];
      child.disconnect();
    });
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      if (rows !== undefined) fulfil(rows);
      else reject(new Error(`ended with ${signal ?? `code ${code}`} before it reported${signal === "SIGKILL" ? ` (limit ${PART_TIMEOUT_MS / 1000} s)` : ""}`));
    });
  });
}

function environment(): Record<string, string | number> {
  const git = spawnSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8" });
  return {
    date: new Date().toISOString(),
    commit: git.status === 0 ? git.stdout.trim() : "unknown",
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGB: Math.round(totalmem() / 2 ** 30),
  };
}

/** Four significant digits, without an exponent. */
const figure = (value: number): string => (Math.abs(value) >= 1000 ? value.toFixed(0) : Number(value.toPrecision(4)).toString());

function verdict({ target, met, hash, hashesAgree, note }: Summary): string {
  const goal = target && ("atMost" in target ? `<= ${figure(target.atMost)}` : `>= ${figure(target.atLeast)}`);
  const state = hash && (hashesAgree ? `hash ${hash}` : "HASH DIFFERS BETWEEN RUNS");
  return [goal && `${goal} ${met ? "met" : "MISSED"}`, state, note].filter(Boolean).join("; ");
}

function table(summaries: readonly Summary[]): string {
  const rows = [["", "min", "median", "max", "unit", ""]].concat(
    summaries.map((row) => [row.what, figure(row.minimum), figure(row.median), figure(row.maximum), row.unit, verdict(row)]),
  );
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const numeric = (column: number): boolean => column >= 1 && column <= 3;
  return rows
    .map((row) => `  ${row.map((cell, i) => (numeric(i) ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join("  ")}`.trimEnd())
    .join("\n");
}

const { values: options } = parseArgs({
  options: { only: { type: "string" }, json: { type: "string" }, runs: { type: "string" }, list: { type: "boolean" } },
});
const parts = await loadParts();
const wanted = options.only?.split(",") ?? parts.map(({ part }) => part.name);
const unknown = wanted.filter((name) => !parts.some(({ part }) => part.name === name));
if (unknown.length > 0) {
  console.error(`--only ${unknown.join(",")}: no such part; there are ${parts.map(({ part }) => part.name).join(", ")}`);
  process.exit(2);
}
if (options.list) {
  for (const { part } of parts) console.log(`${part.name}: ${part.about}`);
  process.exit(0);
}

const report = { environment: environment(), parts: [] as { name: string; about: string; rows?: Summary[]; error?: string }[] };
console.log(Object.entries(report.environment).map(([key, value]) => `${key} ${value}`).join(" | "));
for (const { file, part } of parts.filter(({ part }) => wanted.includes(part.name))) {
  const runs = Number(options.runs ?? part.runs ?? 3);
  console.log(`\n${part.name}: ${part.about} (${runs} runs)`);
  try {
    const results: Row[][] = [];
    for (let run = 0; run < runs; run++) results.push(await runOnce(file));
    const rows = summarize(results);
    report.parts.push({ name: part.name, about: part.about, rows });
    console.log(table(rows));
  } catch (error) {
    report.parts.push({ name: part.name, about: part.about, error: (error as Error).message });
    console.error(`  FAILED: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}

if (options.json) {
  // npm runs scripts at the top; INIT_CWD is where the caller stands.
  const path = resolve(process.env["INIT_CWD"] ?? ".", options.json);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`\nwritten to ${path}`);
} else console.log(`\n${JSON.stringify(report)}`);
