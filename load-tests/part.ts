/**
 * What a part of the benchmark is: a module `load-tests/parts/<name>.ts` that exports `name`, `about` and `run`. There is no list to keep: every module
 * in that folder is a part. load-tests/README.md shows one.
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
}

export interface Part {
  name: string;
  /** One sentence for `--list` and the table's heading. */
  about: string;
  /** Fresh processes that run this part, default 3. */
  runs?: number;
  /** Measures once. Runs in a process of its own; a thrown error fails the benchmark. */
  run(): Promise<Row[]>;
}

/** A row over all runs. */
export interface Summary extends Omit<Row, "value"> {
  minimum: number;
  median: number;
  maximum: number;
  values: number[];
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

/** Puts the rows of several runs together, in the order in which they first appear. */
export function summarize(runs: readonly Row[][]): Summary[] {
  const groups = new Map<string, Row[]>();
  for (const row of runs.flat()) groups.set(row.what, [...(groups.get(row.what) ?? []), row]);
  return [...groups.values()].map((rows) => {
    const { value: _, ...last } = rows[rows.length - 1];
    const values = rows.map((row) => row.value);
    const median = quantile(values, 0.5);
    const summary: Summary = { ...last, minimum: Math.min(...values), median, maximum: Math.max(...values), values };
    if (last.target !== undefined) summary.met = "atMost" in last.target ? median <= last.target.atMost : median >= last.target.atLeast;
    if (last.hash !== undefined) summary.hashesAgree = rows.every((row) => row.hash === last.hash);
    return summary;
  });
}
