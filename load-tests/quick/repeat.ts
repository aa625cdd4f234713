/**
 * The measurement behind every timed figure of the quick guard: repeats the same work, with passes of the yardstick in
 * between, all in CPU time of this thread. Work consists of pieces; the shortest time of each piece counts.
 *
 *     figure = sum over pieces of the shortest t / YARDSTICK_QUANTILE of all passes of the yardstick
 *
 * Other load of a shared machine only adds time (caches, memory, interrupts), in bursts: each short piece finds a calm
 * moment sooner than the whole work does. A slower processor lengthens pieces and yardstick alike.
 */
import { measureYardstick } from "../harness/yardstick.ts";
import { quantile } from "../part.ts";
import { cpuMs } from "./cpuTime.ts";

/**
 * Virtual machines subtract stolen time from the CPU time of a later moment, so the clock may stop for some ms. A
 * sample below this share of the next longer one is such a moment.
 */
const STOLEN = 0.8;
const YARDSTICK_QUANTILE = 0.1;

/** Measures one piece of the work, and returns its result. */
export type Time = <T>(piece: () => T) => Promise<Awaited<T>>;
/** Performs the whole work once. All repetitions have the same pieces in the same order. */
export type Work = (time: Time) => Promise<void>;

/** CPU time spent on a figure, ms, and bounds of its repetitions. */
const BUDGET_MS = 500;
const REPETITIONS = { least: 3, most: 100 };
/** CPU time between two passes of the yardstick, ms; one takes 2 to 3. */
const BETWEEN_PASSES_MS = 20;
/** Passes that compile the yardstick's code and do not count, and passes after the last repetition. */
const WARM_UP_PASSES = 10;
const LAST_PASSES = 5;

export interface Measured {
  /** Sum of the shortest times of all pieces, ms. */
  ms: number;
  /** Time of a yardstick pass, ms. */
  yardstickMs: number;
  repetitions: number;
  /** CPU time over wall time: 1 on a quiet machine, less if other processes share the core. */
  share: number;
}

/** @param once do one repetition without a meaningful yardstick, to prove that the work runs */
export async function repeat(work: Work, { once = false }, { least, most } = REPETITIONS): Promise<Measured> {
  const samples: number[][] = [];
  const passes: number[] = [];
  let spentMs = 0;
  let clockMs = 0;
  let sinceMs = Infinity;
  let pieces = 0;
  let first: number | undefined;
  const pass = (): void => {
    passes.push(measureYardstick(1, cpuMs).ms);
    sinceMs = 0;
  };
  const time: Time = async <T>(piece: () => T): Promise<Awaited<T>> => {
    if (sinceMs >= BETWEEN_PASSES_MS) pass();
    const startMs = cpuMs();
    const beginMs = performance.now();
    const result = await piece();
    clockMs += performance.now() - beginMs;
    const ms = cpuMs() - startMs;
    (samples[pieces] ??= []).push(ms);
    pieces += 1;
    spentMs += ms;
    sinceMs += ms;
    return result;
  };
  if (!once) measureYardstick(WARM_UP_PASSES);
  let repetitions = 0;
  do {
    pieces = 0;
    await work(time);
    first ??= pieces;
    if (pieces !== first)
      throw new RangeError(`repetition ${repetitions}: ${pieces} pieces, but the first one had ${first}`);
    repetitions += 1;
  } while (!once && (repetitions < least || (spentMs < BUDGET_MS && repetitions < most)));
  for (let i = 0; i < (once ? 1 : LAST_PASSES); i++) pass();
  return {
    ms: samples.reduce((sum, piece) => sum + shortest(piece), 0),
    yardstickMs: quantile(passes, YARDSTICK_QUANTILE),
    repetitions,
    share: Math.min(1, spentMs / clockMs),
  };
}

/** The shortest sample without stolen time. */
export function shortest(samples: readonly number[]): number {
  const [first, second = first] = samples.toSorted((a, b) => a - b) as [number, number?];
  return first < STOLEN * second ? second : first;
}
