/**
 * What came of a long run of histories, in a file: a run that was ended goes on where it was when it is started again
 * with that file, and runs of several sessions add up in it.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Outcome, Stage } from "./history.ts";
import { type Fault, planOf } from "./plan.ts";
import { runHistories, runPlan } from "./run.ts";

/** Histories between two times that the file is written. */
const KEEP = 100;

export interface Tally {
  /** Of the first history; each has the next. */
  seed: number;
  faults: readonly Fault[];
  /** Histories that are done, from `seed` on. */
  done: number;
  ticks: number;
  virtualMinutes: number;
  /** Of the processes that ran them, without their start. */
  cpuSeconds: number;
  /** Which program ran how many of them, by the hash of the server's code in it. */
  programs: Record<string, number>;
  /** Those that still are; a run that goes on asks them again first. */
  wrong: { seed: number; rule: string }[];
  /** Those that were, and are no more. */
  mended: number[];
}

const emptyTally = (seed: number, faults: readonly Fault[]): Tally => ({
  seed,
  faults,
  done: 0,
  ticks: 0,
  virtualMinutes: 0,
  cpuSeconds: 0,
  programs: {},
  wrong: [],
  mended: [],
});

/**
 * @param file undefined, or not there yet: an empty one
 * @throws Error when it is of other histories
 */
export function readTally(file: string | undefined, seed: number, faults: readonly Fault[]): Tally {
  if (file === undefined || !existsSync(file)) return emptyTally(seed, faults);
  const tally = JSON.parse(readFileSync(file, "utf8")) as Tally;
  if (tally.seed !== seed || tally.faults.join() !== faults.join())
    throw new Error(
      `${file} is of seed ${tally.seed} with ${tally.faults.join()}, not of seed ${seed} with ${faults.join()}`,
    );
  return tally;
}

/** Whole, or as it was. */
function write(file: string | undefined, tally: Tally): void {
  if (file === undefined) return;
  writeFileSync(`${file}.new`, `${JSON.stringify(tally, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/**
 * Goes on to `count` histories, and asks those that were wrong again first.
 * @param tally inout
 * @returns those that are wrong of the new ones
 */
export async function goOn(
  stage: Stage,
  tally: Tally,
  { count, file, report }: { count: number; file?: string; report: (outcome: Outcome) => void },
): Promise<Outcome[]> {
  const { seed, faults } = tally;
  for (const wrong of [...tally.wrong]) {
    if ((await runPlan(stage, planOf(wrong.seed, faults))).violation) continue;
    tally.wrong.splice(tally.wrong.indexOf(wrong), 1);
    tally.mended.push(wrong.seed);
  }
  let spentSeconds = cpuSeconds();
  // What was spent is asked for now and then: asking takes as long as a tenth of a history.
  const keep = (): void => {
    const nowSeconds = cpuSeconds();
    tally.cpuSeconds += nowSeconds - spentSeconds;
    spentSeconds = nowSeconds;
    write(file, tally);
  };
  const { violations } = await runHistories({
    stage,
    seed: seed + tally.done,
    count: count - tally.done,
    faults,
    report: (outcome) => {
      add(tally, outcome, stage.program);
      if (outcome.violation || tally.done % KEEP === 0) keep();
      report(outcome);
    },
  });
  keep();
  return violations;
}

function add(tally: Tally, { seed, violation, ticks, endMs }: Outcome, program: string): void {
  tally.done += 1;
  tally.ticks += ticks;
  tally.virtualMinutes += endMs / 60_000;
  tally.programs[program] = (tally.programs[program] ?? 0) + 1;
  if (violation) tally.wrong.push({ seed, rule: violation.rule });
}
