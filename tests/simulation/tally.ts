/**
 * The results of a long run of histories, in a file. A run that was interrupted continues from its file, so several
 * sessions add up.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Outcome, Stage } from "./history.ts";
import { type Fault, planOf } from "./plan.ts";
import { runHistories, runPlan } from "./run.ts";

/** The file is written every KEEP histories. */
const KEEP = 100;

export interface Tally {
  /** Seed of the first history; each next one has the next seed. */
  seed: number;
  faults: readonly Fault[];
  /** Completed histories, from `seed` on. */
  done: number;
  ticks: number;
  virtualMinutes: number;
  /** CPU time of the processes, without their start. */
  cpuSeconds: number;
  /** Histories by program, named by the hash of the server's code in it. */
  programs: Record<string, number>;
  /** Histories that fail now; a continued run repeats them first. */
  wrong: { seed: number; rule: string }[];
  /** Histories that failed before and pass now. */
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
 * @param file undefined, or not there yet: returns an empty tally
 * @throws Error if the file belongs to other histories
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

/** Replaces the file atomically. */
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
 * Continues to `count` histories, and first repeats those that failed.
 * @param tally inout
 * @returns the new histories that fail
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
  // Reads the CPU time only now and then: one reading takes a tenth of a history.
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
