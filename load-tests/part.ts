/**
 * Interface of a benchmark part: a module `load-tests/parts/<subject>/<name>.ts` that exports `name`, `about` and
 * `run`. Every module in that folder is a part; there is no list. load-tests/README.md has an example.
 */

/** One measured quantity of one run. Rows of several runs with the same `what` are combined. */
export interface Row {
  /** The quantity, with its scene and thread count: "dragon tick p99, 1 thread". */
  what: string;
  value: number;
  /** "ms", "ns", "bytes", "kbps", "1/s", ... */
  unit: string;
  /** The target for the median over the runs. */
  target?: { atMost: number } | { atLeast: number };
  /** State hash of the simulation that was measured; another hash means another computation. */
  hash?: string;
  note?: string;
  /** The same quantity before the code was warm, in the same unit; shown separately and not used otherwise. */
  warmUp?: number;
  /** The quantity over the course of the run, in the same unit, evenly spaced. */
  series?: number[];
  /** Name in results/releases.csv, if `what` may change between releases. Default: `what`. */
  key?: string;
  /**
   * True for a time that a faster machine does not shorten (a timer's, a network's): it is stored unchanged, not as a
   * ratio to the yardstick.
   */
  absolute?: boolean;
}

export interface Part {
  name: string;
  /** One sentence for `--list` and the heading of the table. */
  about: string;
  /** Number of runs, each in a fresh process; default 3. */
  runs?: number;
  /** True for long measurements, which run only if `--only` names them. */
  onDemand?: boolean;
  /** Further names for `--only`, beside the part's own. */
  groups?: string[];
  /** Timeout of a run, s; default 600. A function receives the options. */
  timeoutSeconds?: number | ((options: PartOptions) => number);
  /** Measures once. Runs in a process of its own; an exception fails the benchmark. */
  run(options: PartOptions): Promise<Row[]>;
}

/** Options of the command line for parts. */
export interface PartOptions {
  /** Length of a soak, min. */
  minutes: number;
  /** Time between two visitors of a soak, s. */
  pause?: number;
  /** File for intermediate results of a soak. */
  sofar?: string;
  /** Names of scenes, for parts that measure many; absent: all. */
  scenes?: string[];
  /** Numbers of grabs, for the part `hands`; absent: its default. */
  hands?: number[];
}

/** Report of a child process about one run. */
export interface RunReport {
  rows: Row[];
  /** Time of the yardstick loop (harness/yardstick.ts) in this run, ms. */
  yardstickMs: number;
}

/** A row over all runs. */
export interface Summary extends Omit<Row, "value"> {
  minimum: number;
  median: number;
  maximum: number;
  values: number[];
  /**
   * Values per run, independent of the machine: times divided by the yardstick, rates multiplied by it, other
   * quantities unchanged.
   */
  ratios: number[];
  /** Absent without a target. */
  met?: boolean;
  /** False if runs ended in different states. */
  hashesAgree?: boolean;
}

/**
 * q-quantile of unsorted values by linear interpolation between the two nearest ranks.
 *
 * @throws RangeError for an empty list
 */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new RangeError("quantile of no values");
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * q;
  const low = Math.floor(position);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (position - low);
}

/** Milliseconds per unit of time. */
const MILLISECONDS: Record<string, number> = { s: 1000, ms: 1, µs: 1e-3, us: 1e-3, ns: 1e-6 };

/** A value as a multiple of the yardstick, if it is a time or a rate that depends on the machine. */
export function ratioOf({ value, unit, absolute }: Row, yardstickMs: number): number {
  if (absolute) return value;
  const ms = MILLISECONDS[unit];
  if (ms !== undefined) return (value * ms) / yardstickMs;
  return unit === "1/s" ? (value * yardstickMs) / 1000 : value;
}

/** Combines the rows of several runs, in the order of their first appearance. */
export function summarize(runs: readonly RunReport[]): Summary[] {
  const groups = new Map<string, { row: Row; ratio: number }[]>();
  for (const { rows, yardstickMs } of runs) {
    for (const row of rows)
      groups.set(row.what, [...(groups.get(row.what) ?? []), { row, ratio: ratioOf(row, yardstickMs) }]);
  }
  return [...groups.values()].map((measured) => {
    const rows = measured.map(({ row }) => row);
    const { value: _, ...last } = rows[rows.length - 1];
    const values = rows.map((row) => row.value);
    const median = quantile(values, 0.5);
    const summary: Summary = {
      ...last,
      minimum: Math.min(...values),
      median,
      maximum: Math.max(...values),
      values,
      ratios: measured.map(({ ratio }) => ratio),
    };
    if (last.warmUp !== undefined)
      summary.warmUp = quantile(
        rows.flatMap((row) => row.warmUp ?? []),
        0.5,
      );
    if (last.target !== undefined)
      summary.met = "atMost" in last.target ? median <= last.target.atMost : median >= last.target.atLeast;
    if (last.hash !== undefined) summary.hashesAgree = rows.every((row) => row.hash === last.hash);
    return summary;
  });
}
