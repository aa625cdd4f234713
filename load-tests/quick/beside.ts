/**
 * The quick guard against another checkout: every figure in both, in turn, so that the machine's state of the moment
 * (other load, the price of fresh memory in a virtual machine) affects both alike. A release of another day cannot do
 * that: on one commit `first-frame` varied from 1.2 to 3.2 times the release within ten minutes.
 */
import { pathToFileURL } from "node:url";
import { quantile } from "../part.ts";
import {
  COLUMNS,
  type Guarded,
  type GuardReport,
  judge,
  lineOf,
  measureFigure,
  MOST_NOISE,
  type Reading,
  summaryOf,
} from "./guard.ts";

/** Measurements of each figure in each checkout. */
const ROUNDS = 5;
/** The smallest values of the other checkout, whose spread is its noise. */
const COUNTED = 3;

export interface Beside extends Omit<Guarded, "path" | "measure"> {
  /** Top folder of the other checkout: built, with its packages. */
  other: string;
  measure?: (name: string, checkout?: string) => Promise<Reading>;
}

const measureIn = (name: string, checkout?: string): Promise<Reading> =>
  checkout === undefined
    ? measureFigure(name)
    : measureFigure(name, new URL("load-tests/quick/runFigure.ts", pathToFileURL(`${checkout}/`)));

const smallest = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b).slice(0, COUNTED);

/**
 * A figure is slower if both the ratio of the smallest values and the median of the ratios of each round exceed the
 * noise: a change of the machine's state between two measurements affects only one of them.
 */
export async function guardBeside(options: Beside): Promise<GuardReport> {
  const { figures, only, other, measure = measureIn, print = console.log } = options;
  const report: GuardReport = { figures: {}, slower: [], failed: {} };
  const startMs = performance.now();
  print(`release: ${other}, measured in turn`);
  print(COLUMNS);
  for (const name of only) {
    try {
      const theirs: Reading[] = [];
      const ours: Reading[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        theirs.push(await measure(name, other));
        ours.push(await measure(name));
      }
      const known = smallest(theirs.map(({ value }) => value));
      const reading = ours.reduce((least, next) => (next.value < least.value ? next : least));
      const { unit, hash } = theirs[0]!;
      const noise = Math.min(MOST_NOISE, (known.at(-1)! - known[0]!) / known[0]!);
      const verdict = judge(reading, { value: known[0]!, unit, noise, ...(hash !== undefined && { hash }) });
      const ratio = quantile(
        ours.map(({ value }, round) => value / theirs[round]!.value).sort((a, b) => a - b),
        0.5,
      );
      verdict.slower &&= ratio > 1 + verdict.noise;
      report.figures[name] = { ...reading, ...verdict };
      if (verdict.slower) report.slower.push(name);
      const { about } = figures.find((figure) => figure.name === name)!;
      print(lineOf(name, about, reading, verdict, known[0]!));
    } catch (error) {
      report.failed[name] = (error as Error).message;
      print(`  ${name.padEnd(18)} FAILED: ${report.failed[name]}`);
    }
  }
  print(summaryOf(report, performance.now() - startMs));
  return report;
}
