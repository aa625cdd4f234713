/**
 * Changes since a release. A figure has moved if its median differs from the release's by more than the larger of the
 * two spreads over runs. Each median must then be outside of the other's range. With three and three equal runs, 4 of
 * 20 orders satisfy this. So for any distribution, fewer than a fifth of the unchanged figures are listed; the list
 * therefore shows the size of the change.
 */
import { quantile, type Summary } from "../part.ts";
import { columnOf, type ReleaseRow } from "./releases.ts";

export interface Move {
  column: string;
  before: number;
  now: number;
  /** The larger of the two spreads. */
  noise: number;
  kind: "moved" | "within noise" | "new";
  /** The state hash differs, so the computation differs. */
  otherHash: boolean;
}

/** Compares a part's figures with a release's row. */
export function compare(part: string, summaries: readonly Summary[], before: ReleaseRow): Move[] {
  return summaries.map((summary) => {
    const column = columnOf(part, summary);
    const cell = before.get(column) ?? "";
    const hash = before.get(`${column} hash`) ?? "";
    const now = quantile(summary.ratios, 0.5);
    const spread = Math.max(...summary.ratios) - Math.min(...summary.ratios);
    if (cell === "") return { column, before: NaN, now, noise: spread, kind: "new", otherHash: false };
    const noise = Math.max(spread, Number(before.get(`${column} spread`) || 0));
    const then = Number(cell);
    // The file keeps six digits: a difference that rounding can explain is not a move.
    const rounding = 1e-5 * Math.abs(then);
    return {
      column,
      before: then,
      now,
      noise,
      kind: Math.abs(now - then) > noise + rounding ? "moved" : "within noise",
      otherHash: hash !== "" && summary.hash !== undefined && hash !== summary.hash,
    };
  });
}

/** Report text: the figures that moved and by how much, and the number of those that did not. */
export function describeMoves(release: string, moves: readonly Move[]): string {
  const lines = moves
    .filter(({ kind, otherHash }) => kind === "moved" || otherHash)
    .map(({ column, before, now, noise, kind, otherHash }) => {
      const change =
        before === 0
          ? `${before} -> ${Number(now.toPrecision(4))}`
          : `${now >= before ? "+" : ""}${(100 * (now / before - 1)).toFixed(1)} %`;
      const spread = before === 0 ? "" : `, noise ${((100 * noise) / Math.abs(before)).toFixed(1)} %`;
      return `  ${kind === "moved" ? change.padStart(9) : "  another"}  ${column}${kind === "moved" ? spread : ""}${otherHash ? "; another state hash: not the same computation" : ""}`;
    });
  const count = (kind: Move["kind"]): number => moves.filter((move) => move.kind === kind).length;
  return [
    `since release ${release}: ${count("moved")} moved, ${count("within noise")} within noise, ${count("new")} new`,
    ...lines,
  ].join("\n");
}
