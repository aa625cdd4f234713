/** The matrix of pairs: every kind of body meets every kind in every act. */
import { SceneError } from "../../../shared/scene/sceneError.ts";
import { ACTS, type Partner } from "./acts.ts";
import type { Measure } from "./act.ts";
import type { Kind } from "./kinds.ts";

export interface Cell {
  act: string;
  a: Kind;
  b: Partner;
}

/** Outcome of a cell. `refused`: the scene is not allowed. */
export type Outcome = { measures: Measure[] } | { refused: string };

export const CELLS: Cell[] = Object.entries(ACTS).flatMap(([act, { pairs }]) => pairs.map(([a, b]) => ({ act, a, b })));
export const nameOf = ({ act, a, b }: Cell): string => `${act}: ${a} / ${b}`;

export async function play({ act, a, b }: Cell): Promise<Outcome> {
  try {
    return { measures: await ACTS[act]!.run(a, b) };
  } catch (error) {
    if (error instanceof SceneError) return { refused: error.path };
    throw error;
  }
}

/** Value over limit, more than 1 if a law is broken. */
export function ratioOf({ value, limit }: Pick<Measure, "value" | "limit">): number {
  if (!Number.isFinite(value)) return Infinity;
  if (limit === 0) return value > 0 ? 1 + value : 0;
  return value / limit;
}

/** The measure that is farthest above its limit. */
export const worstOf = (measures: readonly Measure[]): Measure =>
  measures.reduce((worst, each) => (ratioOf(each) > ratioOf(worst) ? each : worst));

/** Number of times by which a cell misses its worst law; at most 1 if it holds. */
export const missOf = (outcome: Outcome): number =>
  "refused" in outcome ? Infinity : ratioOf(worstOf(outcome.measures));

/** Every stride-th allowed cell of each act, from its first, and all refused ones, which cost nothing. */
export const sampleOf = (stride: number, refused: (cell: Cell) => boolean): Cell[] =>
  Object.keys(ACTS).flatMap((act) => {
    const own = CELLS.filter((cell) => cell.act === act);
    return [...own.filter((cell) => !refused(cell)).filter((_, n) => n % stride === 0), ...own.filter(refused)];
  });
