/**
 * What a part of the benchmark is: a module `load-tests/parts/<name>.ts` that exports `name`, `about` and `run`. There
 * is no list to keep: every module in that folder is a part. load-tests/README.md shows one.
 */

/** One measured quantity of one run. Rows of several runs with the same `what` are put together. */
export interface Row {
  /** What was measured, with its scene and thread count: "dragon tick p99, 1 thread". */
  what: string;
  value: number;
  /** "ms", "ns", "bytes", "kbps", "1/s", ... */
  unit: string;
  /** The figure to reach. Its median over the runs is held to it. */
  target?: { atMost: number } | { atLeast: number };
  /** State hash of the simulation behind the value: the same quantity with another hash is another computation. */
  hash?: string;
  note?: string;
  /** The same quantity before the code was warm, in the same unit: shown apart, and in none of the other figures. */
  warmUp?: number;
  /** How the quantity went over the run, in the same unit, evenly spaced. */
  series?: number[];
  /** Name in results/releases.csv, for a `what` that may change from release to release. Default: `what` itself. */
  key?: string;
  /**
   * True for a time that a faster machine does not shorten (a timer's, a network's): it is kept as it is, not as a
   * ratio to the yardstick.
   */
  absolute?: boolean;
}

export interface Part {
  name: string;
  /** One sentence for `--list` and the table's heading. */
  about: string;
  /** Fresh processes that run this part, default 3. */
  runs?: number;
  /** True for what takes so long that it runs only when `--only` names it. */
  onDemand?: boolean;
  /** Names that `--only` takes for this part beside its own. */
  groups?: string[];
  /** How long a run may take, s; default 600. A function is told the options. */
  timeoutSeconds?: number | ((options: PartOptions) => number);
  /** Measures once. Runs in a process of its own; a thrown error fails the benchmark. */
  run(options: PartOptions): Promise<Row[]>;
}

/** What the command line says to parts. */
export interface PartOptions {
  /** Length of a soak, min. */
  minutes: number;
  /** Between two visitors of a soak, s. */
  pause?: number;
  /** File for what a soak has found so far. */
  sofar?: string;
  /** Scenes by name, for a part that measures many; absent: all. */
  scenes?: string[];
  /** Numbers of hands, for the part `hands`; absent: as it says. */
  hands?: number[];
}

/** What a child process sends back of one run. */
export interface RunReport {
  rows: Row[];
  /** Of this run, by the loop of harness/yardstick.ts, ms. */
  yardstickMs: number;
}

/** A row over all runs. */
export interface Summary extends Omit<Row, "value"> {
  minimum: number;
  median: number;
  maximum: number;
  values: number[];
  /**
   * Per run, in a unit that no machine is in: times over the yardstick, rates times the yardstick, other quantities as
   * they are.
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

/** Milliseconds in a unit of time. */
const MILLISECONDS: Record<string, number> = { s: 1000, ms: 1, µs: 1e-3, us: 1e-3, ns: 1e-6 };

/** A value as a multiple of the yardstick, if it is a time or a rate that a faster machine changes. */
export function ratioOf({ value, unit, absolute }: Row, yardstickMs: number): number {
  if (absolute) return value;
  const ms = MILLISECONDS[unit];
  if (ms !== undefined) return (value * ms) / yardstickMs;
  return unit === "1/s" ? (value * yardstickMs) / 1000 : value;
}

/** Puts the rows of several runs together, in the order in which they first appear. */
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
