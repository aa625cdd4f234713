/**
 * Cells of the matrix that are known to be red, with their measured values (red.json), and the comparison of an outcome
 * with them. A fixed cell has to leave the list.
 */
import known from "./red.json" with { type: "json" };
import type { Cell, Outcome } from "./matrix.ts";
import { missOf, nameOf, ratioOf, worstOf } from "./matrix.ts";
import type { Measure } from "./act.ts";

/** Factor by which a red cell may become worse. */
const WORSE = 2;

/** By act and pair: the worst law, or "refused". */
type Reds = Record<string, Record<string, Pick<Measure, "law" | "value" | "limit"> | "refused">>;
export interface Known {
  /** Pairs of kinds that the scene rules refuse in every act, in either order. */
  refused: string[];
  red: Reds;
}
const KNOWN = known as Known;

const pairOf = ({ a, b }: Cell): string => `${a} / ${b}`;

function isRefused({ refused }: Known, { a, b }: Cell): boolean {
  return refused.includes(`${a} / ${b}`) || refused.includes(`${b} / ${a}`);
}

export const isKnownRefused = (cell: Cell): boolean => isRefused(KNOWN, cell);

/** The outcome of a cell according to the list. */
export function listed(cell: Cell): Outcome {
  const entry = isKnownRefused(cell) ? "refused" : KNOWN.red[cell.act]?.[pairOf(cell)];
  if (entry === "refused") return { refused: "" };
  return { measures: [{ ...(entry ?? { law: "none", value: 0, limit: 1 }), unit: "" }] };
}

/** @returns the difference between an outcome and the list, in words; undefined: none */
export function difference(cell: Cell, outcome: Outcome, list: Known = KNOWN): string | undefined {
  const expected = isRefused(list, cell) ? "refused" : list.red[cell.act]?.[pairOf(cell)];
  const name = nameOf(cell);
  if ("refused" in outcome) return expected === "refused" ? undefined : `${name} is refused`;
  const miss = missOf(outcome);
  const worst = worstOf(outcome.measures);
  const told = `${worst.law} ${worst.value} ${worst.unit}, limit ${worst.limit}`;
  if (expected === "refused") return `${name} is no longer refused: ${told}`;
  if (expected === undefined) return miss > 1 ? `${name} became red: ${told}` : undefined;
  if (miss <= 1) return `${name} became green: remove it from red.json`;
  return miss > WORSE * ratioOf(expected)
    ? `${name} became worse: ${told}, listed ${expected.law} ${expected.value}`
    : undefined;
}

/** Entries of the list that name no cell. */
export function strangers(cells: readonly Cell[], { red, refused }: Known = KNOWN): string[] {
  const names = new Set(cells.map(nameOf));
  const pairs = new Set(cells.map(pairOf));
  return [...Object.entries(red).flatMap(([act, entries]) => Object.keys(entries).map((pair) => `${act}: ${pair}`))]
    .filter((name) => !names.has(name))
    .concat(refused.filter((pair) => !pairs.has(pair)));
}

export const isListed = (cell: Cell, list: Known = KNOWN): boolean =>
  isRefused(list, cell) || list.red[cell.act]?.[pairOf(cell)] !== undefined;

/** Lists the red cells among the outcomes of all cells. */
export function listOf(outcomes: readonly (readonly [Cell, Outcome])[]): Known {
  const always = new Map<string, boolean>();
  const key = ({ a, b }: Cell): string => [a, b].sort().join(" / ");
  for (const [cell, outcome] of outcomes)
    always.set(key(cell), (always.get(key(cell)) ?? true) && "refused" in outcome);
  const red: Reds = {};
  for (const [cell, outcome] of outcomes) {
    if (always.get(key(cell)) || missOf(outcome) <= 1) continue;
    const entries = (red[cell.act] ??= {});
    if ("refused" in outcome) entries[pairOf(cell)] = "refused";
    else {
      const { law, value, limit } = worstOf(outcome.measures);
      entries[pairOf(cell)] = { law, value: Number(value.toPrecision(3)), limit };
    }
  }
  return { refused: [...always].flatMap(([pair, refused]) => (refused ? [pair] : [])).sort(), red };
}
