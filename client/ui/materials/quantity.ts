/** Parses and formats numbers with units on the materials page. */
import { measuredText } from "../../text/text.ts";

export interface Unit {
  text: string;
  /** Size of one unit in SI units. */
  size: number;
}

export const LENGTHS = { mm: { text: "mm", size: 1e-3 }, cm: { text: "cm", size: 1e-2 }, m: { text: "m", size: 1 } };

/** @param value SI. @returns text with three significant digits and a non-breaking space */
export const quantity = (value: number, { text, size }: Unit): string =>
  text === "" ? measuredText(value / size) : `${measuredText(value / size)}\u00a0${text}`;

const PASCALS: readonly Unit[] = ["Pa", "kPa", "MPa", "GPa", "TPa"].map((text, n) => ({ text, size: 1000 ** n }));

/** @param value Pa */
export const pascals = (value: number): string =>
  quantity(value, PASCALS.findLast(({ size }) => value >= size) ?? PASCALS[0]!);

/** Formats a length with the precision of a ruler or caliper. @param value m */
export const millimeters = (value: number): string =>
  value < 1e-6 ? `< ${quantity(1e-6, LENGTHS.mm)}` : quantity(value, LENGTHS.mm);

/** Formats a value for an input field: without separators, with an exponent from a million on. */
export function typed(value: number): string {
  const short = Number(value.toPrecision(6));
  return short >= 1e6 ? short.toExponential().replace("e+", "e") : String(short);
}

/**
 * Parses a typed number, with a point or a comma before its decimals. Rejects "10,000", which is ten in some languages
 * and ten thousand in others.
 */
export function parse(text: string): number | undefined {
  const trimmed = text.trim();
  if (/^[1-9]\d{0,2}(,\d{3})+$/.test(trimmed) || !/^[-+]?(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d+)?$/i.test(trimmed))
    return undefined;
  return Number(trimmed.replace(",", "."));
}
