/**
 * `npm test`: runs the checks of `npm run lint` and every test. It prints where the time went and which tests were
 * skipped or failed. The last line is `N passed, N failed[, N skipped]`. The exit code is 0 only if tests ran and none
 * failed.
 *
 *   npm test                    everything: `pages`, then `unit`; `servers` beside them; checks, then tests that only
 *                               compute
 *   npm test -- server/rooms    the tests whose paths contain this, and no checks; arguments go to Vitest
 *   npm run test:long           the full form of tests that are short in `npm test` (tests/support/run/long.ts);
 *                               with `--if-release` only when a release is being made (tests/support/run/release.ts)
 */
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CHECKS, runChecks } from "./support/run/checks.ts";
import { closingLine, together } from "./support/run/closingLine.ts";
import type { TestCounts } from "./support/run/countsReporter.ts";
import { longFiles } from "./support/run/long.ts";
import { succeeds } from "./support/program.ts";
import { releaseIsMade } from "./support/run/release.ts";
import { times } from "./support/run/times.ts";
import { installTools } from "./support/run/tools.ts";

const LONG_FLAG = "--long";
const IF_RELEASE_FLAG = "--if-release";
/**
 * Number of pieces of the project `servers`. A piece costs 6 s to start, and the last piece runs alone: with four
 * pieces that took 3.5 minutes.
 */
const PIECES = 8;
/** Niceness of tests that only compute: their process gets a thirtieth of a core that another process wants. */
const NICE = 15;

interface Ran {
  /** Undefined if Vitest ended before it could report. */
  counts: TestCounts | undefined;
  /** Vitest's exit code was 0. */
  tested: boolean;
}

/** Builds the kernel and the bundled threads if they are not up to date. @returns whether it succeeded */
const buildParts = (): Promise<boolean> => succeeds("setup.mjs", ["--quiet", "--only", "kernel,threads"]);

const NOT_BUILT: Ran = { counts: undefined, tested: false };

async function vitest(name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const path = fileURLToPath(new URL(`../artifacts/test-counts-${name}.json`, import.meta.url));
  rmSync(path, { force: true });
  const tested = await succeeds("node_modules/vitest/vitest.mjs", ["run", ...args], { TEST_COUNTS_FILE: path, ...env });
  try {
    return { counts: JSON.parse(readFileSync(path, "utf8")) as TestCounts, tested };
  } catch {
    return { counts: undefined, tested };
  }
}

function close(runs: readonly Ran[], checks: number, checksPassed: number): void {
  const counts = together(runs.map((run) => run.counts));
  for (const line of times(counts.files)) console.log(line);
  for (const name of counts.skippedNames) console.log(`SKIPPED ${name}`);
  for (const failure of counts.failures) console.log(`FAILED ${failure}`);
  const tested = runs.every((run) => run.tested);
  const { line, exitCode } = closingLine({ counts, tested, checks, checksPassed });
  console.log(line);
  process.exitCode = exitCode;
}

/**
 * Builds beside the checks, which do not need it. Then there are three lanes. `servers` is cut into pieces, so that an
 * idle lane takes the next piece. Tests that only compute use the rest of the two cores, because the other lanes wait
 * for much of their time.
 */
async function everything(): Promise<void> {
  const checked = runChecks();
  if (!(await buildParts())) return close([NOT_BUILT], CHECKS.length, await checked);
  const pieces = Array.from({ length: PIECES }, (_, i) => i + 1);
  const runs: Ran[] = [];
  const servers = async (): Promise<void> => {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift())
      runs.push(await vitest(`servers-${piece}`, ["--project", "servers", `--shard=${piece}/${PIECES}`]));
  };
  const pages = async (): Promise<void> => {
    runs.push(await vitest("pages", ["--project", "pages"]));
    runs.push(await vitest("unit", ["--project", "unit"]));
    await servers();
  };
  const computing = async (): Promise<number> => {
    const passed = await checked;
    runs.push(await vitest("computing", ["--project", "pure", "--project", "alone"], { TEST_NICE: String(NICE) }));
    return passed;
  };
  const [checksPassed] = await Promise.all([computing(), pages(), servers()]);
  close(runs, CHECKS.length, checksPassed);
}

async function long(args: readonly string[]): Promise<void> {
  if (args.includes(IF_RELEASE_FLAG) && !releaseIsMade()) return console.log("no release is being made");
  if (!(await buildParts())) return close([NOT_BUILT], 0, 0);
  const files = [...longFiles(), ...args.filter((word) => word !== IF_RELEASE_FLAG)];
  close([await vitest("long", files, { TEST_LONG: "1" })], 0, 0);
}

installTools();
const args = process.argv.slice(2);
if (args.length === 0) await everything();
else if (args[0] === LONG_FLAG) await long(args.slice(1));
else close([(await buildParts()) ? await vitest("part", args) : NOT_BUILT], 0, 0);
