/**
 * Definition of a figure of the physics report. One file of this folder measures one claim, small in `npm test` and
 * full in `npm run report`. It returns text, checks, plots and pictures, all plain data, and the report lays them out
 * (report/page.ts). Register it in index.ts.
 *
 *   figure.run(size) -> { text, checks, plots, pictures } -> figures.test.ts: every check holds
 *                                                         -> npm run report: one section of a page and of its JSON
 */

/** small: a few seconds at most, for `npm test`. full: for the report; up to a minute. */
export type FigureSize = "small" | "full";

export interface Figure {
  /** Anchor of the section and name of the file: letters, digits, hyphens. Scenes name it in their field `report`. */
  id: string;
  title: string;
  /** Origin of the claim, e.g. "Bender et al. 2014, figure 7". */
  source: string;
  /** The figure measures time: no other figure runs at the same time. */
  alone?: boolean;
  /** @param progress called with the finished share, 0 to 1, and the current stage */
  run(size: FigureSize, progress?: Progress): Promise<FigureResult>;
}

export type Progress = (done: number, stage: string) => void;

export interface FigureResult {
  /**
   * Description of the measurement for a physicist who doubts it: set-up with all numbers, reference, tolerance and its
   * reason, limits. Empty lines separate paragraphs; lines of "- " are a list, lines indented by two spaces a formula;
   * `code` and **strong**.
   */
  text: string;
  /** At least one. */
  checks: Check[];
  plots: Plot[];
  pictures: Picture[];
  grids?: Grid[];
}

/** A table of measured values, green or red. */
export interface Grid {
  caption: string;
  columns: readonly string[];
  /** Cells in the order of the columns; undefined: not measured. */
  rows: readonly { name: string; cells: readonly (GridCell | undefined)[] }[];
}

export interface GridCell {
  text: string;
  title?: string;
  good: boolean;
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
   * Source of the limit, if the figure's text does not give it: "target", "float32", "words" or another short phrase.
   */
  basis?: string;
  /** The paper's value, if it gives one: a number in the same unit, or words. */
  published?: number | string;
  pass: boolean;
}

/**
 * A Vega-Lite specification with inline data. plots.ts builds the common ones; sizes, fonts and colors are the
 * report's.
 */
export interface Plot {
  caption: string;
  spec: VegaLiteSpec;
}

export type VegaLiteSpec = Record<string, unknown>;

/** A picture drawn by raster.ts. */
export interface Picture {
  caption: string;
  /** A PNG file's bytes. */
  png: Uint8Array;
}

/**
 * @param limits interval of allowed values, ends included: low, high or both
 * @throws Error without a limit, because such a check cannot fail
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

/** The allowed interval in words, for a failed test and the table of the report: "at most 0.02 m". */
export function allowed({ low, high, unit }: Pick<Check, "low" | "high" | "unit">): string {
  const range =
    low === undefined
      ? `at most ${short(high!)}`
      : high === undefined
        ? `at least ${short(low)}`
        : `${short(low)} to ${short(high)}`;
  return unit ? `${range} ${unit}` : range;
}

/** Formats four significant digits, without trailing zeros. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const digits = Number(value.toPrecision(4));
  const size = Math.abs(digits);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? digits.toExponential().replace("e+", "e") : String(digits);
}
