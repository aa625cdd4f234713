/**
 * What came of a long run of histories, in a file: a run that was ended goes on where it was when it is started again
 * with that file, and runs of several sessions add up in it.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Outcome } from "./history.ts";

export interface Tally {
  /** Of the first history; each has the next. */
  seed: number;
  faults: readonly string[];
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

export const emptyTally = (seed: number, faults: readonly string[]): Tally => ({
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
 * @returns the file's; an empty one where there is none
 * @throws Error when it is of other histories
 */
export function readTally(file: string, seed: number, faults: readonly string[]): Tally {
  if (!existsSync(file)) return emptyTally(seed, faults);
  const tally = JSON.parse(readFileSync(file, "utf8")) as Tally;
  if (tally.seed !== seed || tally.faults.join() !== faults.join())
    throw new Error(
      `${file} is of seed ${tally.seed} with ${tally.faults.join()}, not of seed ${seed} with ${faults.join()}`,
    );
  return tally;
}

/** Whole, or as it was. */
export function writeTally(file: string, tally: Tally): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(tally, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

/** @param program hash of its code. @param cpuSeconds that the history took */
export function count(
  tally: Tally,
  { seed, violation, ticks, endMs }: Outcome,
  program: string,
  cpuSeconds: number,
): void {
  tally.done += 1;
  tally.ticks += ticks;
  tally.virtualMinutes += endMs / 60_000;
  tally.cpuSeconds += cpuSeconds;
  tally.programs[program] = (tally.programs[program] ?? 0) + 1;
  if (violation) tally.wrong.push({ seed, rule: violation.rule });
}
