/**
 * What a figure of the physics report is. One file of this folder measures one claim, small in `npm test` and full in
 * `npm run report`; it answers with text, checks, plots and pictures, all plain data, and the report lays them out
 * (report/page.ts). Register it in index.ts.
 *
 *   figure.run(size) -> { text, checks, plots, pictures } -> figures.test.ts: every check holds
 *                                                         -> npm run report: one section of a page and of its JSON
 */

/** small: a few seconds at most, for `npm test`. full: what the report prints; a minute is fine. */
export type FigureSize = "small" | "full";

export interface Figure {
  /** Anchor of the section and name of the file: letters, digits, hyphens. Scenes name it in their field `report`. */
  id: string;
  title: string;
  /** Where the claim comes from, e.g. "Bender et al. 2014, figure 7". */
  source: string;
  /** It measures time: nothing else of the report runs beside it. */
  alone?: boolean;
  /** @param progress called with the part that is done, 0 to 1, and what is being done */
  run(size: FigureSize, progress?: Progress): Promise<FigureResult>;
}

export type Progress = (done: number, stage: string) => void;

export interface FigureResult {
  /**
   * What is measured, how, and what it shows, for a physicist who doubts it: set-up with all numbers, reference,
   * tolerance and its reason, what falls short. Paragraphs are parted by empty lines; lines of "- " are a list, lines
   * indented by two spaces a formula; `code` and **strong**.
   */
  text: string;
  /** At least one. */
  checks: Check[];
  plots: Plot[];
  pictures: Picture[];
}

/** One measured number and the interval that it must lie in. */
export interface Check {
  what: string;
  value: number;
  /** "" for a ratio */
  unit: string;
  low?: number;
  high?: number;
  /**
   * Where the limit comes from, if the figure's text does not say: "target", "float32", "words" and what else fits in a
   * few words.
   */
  basis?: string;
  /** What the paper says, if it does: a number in the same unit, or words. */
  published?: number | string;
  pass: boolean;
}

/**
 * A Vega-Lite specification with its data inline. plots.ts builds the common ones; sizes, fonts and colors are the
 * report's.
 */
export interface Plot {
  caption: string;
  spec: VegaLiteSpec;
}

export type VegaLiteSpec = Record<string, unknown>;

/** raster.ts draws them. */
export interface Picture {
  caption: string;
  /** A PNG file's bytes. */
  png: Uint8Array;
}

/**
 * @param limits interval that `value` must lie in, ends included: low, high or both
 * @throws Error without a limit: a check that cannot fail checks nothing
 */
export function check(
  what: string,
  value: number,
  limits: { unit?: string; low?: number; high?: number; published?: number | string; basis?: string },
): Check {
  const { unit = "", low, high, published, basis } = limits;
  if (low === undefined && high === undefined)
    throw new Error(`check "${what}": low and high are both missing, limit: at least one`);
  const pass = Number.isFinite(value) && value >= (low ?? -Infinity) && value <= (high ?? Infinity);
  return {
    what,
    value,
    unit,
    ...(low !== undefined && { low }),
    ...(high !== undefined && { high }),
    ...(published !== undefined && { published }),
    ...(basis !== undefined && { basis }),
    pass,
  };
}

/** "0.0123 m, allowed 0 ... 0.02 m": what a failed test and the table of the report say. */
export function allowed({ low, high, unit }: Pick<Check, "low" | "high" | "unit">): string {
  const range =
    low === undefined
      ? `at most ${short(high!)}`
      : high === undefined
        ? `at least ${short(low)}`
        : `${short(low)} to ${short(high)}`;
  return unit ? `${range} ${unit}` : range;
}

/** Four significant digits, without trailing zeros. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const digits = Number(value.toPrecision(4));
  const size = Math.abs(digits);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? digits.toExponential().replace("e+", "e") : String(digits);
}
