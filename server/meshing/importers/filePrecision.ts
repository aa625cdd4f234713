/**
 * Rounding of a file's positions: the largest distance of a position from the one that its author had. Each coordinate
 * is wrong by half a step, a position by sqrt 3 times that. Steps:
 *
 *   text          the last written digit
 *   float32       2^-23 of the largest coordinate
 *   quantized     the grid (quantizedStep)
 */
import { boundsOf } from "../meshNotes.ts";

const HALF_DIAGONAL = Math.sqrt(3) / 2;

export const precisionOfStep = (step: number): number => HALF_DIAGONAL * step;

function largest(positions: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < positions.length; i++) if (Math.abs(positions[i]!) > most) most = Math.abs(positions[i]!);
  return most;
}

/** Precision of binary floating point numbers. @param bits of the fraction: 23 of float32, 52 of float64 */
export const floatPrecision = (positions: ArrayLike<number>, bits: number): number =>
  precisionOfStep(largest(positions) * 2 ** -bits);

/** A file that divides its size into fewer steps than this has round numbers, not rounded ones. */
const LEAST_STEPS = 10_000;

/** Digits of numbers in a text file. */
export class WrittenDigits {
  /** Most digits behind the point, and most significant digits. */
  #behind = 0;
  #significant = 0;

  /** @param word a decimal number */
  add(word: string): void {
    const [mantissa, exponent] = word.split(/[eEdD]/) as [string, string | undefined];
    const point = mantissa.indexOf(".");
    const behind = (point < 0 ? 0 : mantissa.length - point - 1) - Number(exponent ?? 0);
    const significant = mantissa.replace(/^[+-]?[0.]*/, "").replace(".", "").length;
    this.#behind = Math.max(this.#behind, behind);
    this.#significant = Math.max(this.#significant, significant);
  }

  /**
   * Precision of the positions. Programs write a fixed number of digits, either behind the point or in all; the coarser
   * of the two is the step of the largest coordinate.
   */
  precision(positions: ArrayLike<number>): number {
    const most = largest(positions);
    if (most === 0) return 0;
    const step = Math.max(10 ** -this.#behind, 10 ** (Math.floor(Math.log10(most)) + 1 - this.#significant));
    return boundsOf(positions).size >= LEAST_STEPS * step ? precisionOfStep(step) : 0;
  }
}

/** Quantizers use at least this number of steps for the size of a part, unless the file's integers are coarser. */
const QUANTIZED_STEPS = 2047;

/**
 * Step of quantized coordinates, in their unit. Quantizers round to fewer bits than the file's integers have, so the
 * smallest difference of two coordinates shows the step.
 * @param unit difference of neighboring integers; 0 if unknown
 */
export function quantizedStep(positions: ArrayLike<number>, unit: number): number {
  let least = Infinity;
  for (let k = 0; k < 3; k++) {
    const sorted = Float64Array.from({ length: positions.length / 3 }, (_, v) => positions[3 * v + k]!).sort();
    for (let v = 1; v < sorted.length; v++) {
      const difference = sorted[v]! - sorted[v - 1]!;
      if (difference > 0.5 * unit && difference > 0) least = Math.min(least, difference);
    }
  }
  return Math.max(unit, Math.min(least, boundsOf(positions).size / QUANTIZED_STEPS));
}
