/** A figure of the quick guard, and its result. */
import type { Measured } from "./repeat.ts";

export interface Options {
  /** Do a single repetition, to prove that a figure can be measured. */
  once?: boolean;
}

/** CPU time, ms, with its yardstick, or a number of bytes. */
type Result = (Measured & { hash?: string }) | { bytes: number; note?: string };

export interface Figure {
  /** Name for `--only` and release.json; never renamed. */
  name: string;
  about: string;
  measure(options: Options): Promise<Result>;
}
