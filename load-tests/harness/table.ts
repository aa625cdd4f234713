/** Formats a part's figures as a text table. */
import type { Summary } from "../part.ts";

/** Four significant digits, without an exponent. */
const figure = (value: number): string =>
  Math.abs(value) >= 1000 ? value.toFixed(0) : Number(value.toPrecision(4)).toString();

function verdict({ target, met, hashesAgree, note }: Summary): string {
  const goal = target && ("atMost" in target ? `<= ${figure(target.atMost)}` : `>= ${figure(target.atLeast)}`);
  return [goal && `${goal} ${met ? "met" : "MISSED"}`, hashesAgree === false && "HASH DIFFERS BETWEEN RUNS", note]
    .filter(Boolean)
    .join("; ");
}

/** Columns without any value are omitted. */
export function table(summaries: readonly Summary[]): string {
  const rows = [["", "warm-up", "min", "median", "max", "unit", "hash", ""]].concat(
    summaries.map((row) => [
      row.what,
      row.warmUp === undefined ? "" : figure(row.warmUp),
      figure(row.minimum),
      figure(row.median),
      figure(row.maximum),
      row.unit,
      row.hash ?? "",
      verdict(row),
    ]),
  );
  const used = rows[0].map((_, column) => column).filter((column) => rows.slice(1).some((row) => row[column] !== ""));
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const numeric = (column: number): boolean => column >= 1 && column <= 4;
  return rows
    .map((row) =>
      `  ${used.map((column) => (numeric(column) ? row[column].padStart(widths[column]) : row[column].padEnd(widths[column]))).join("  ")}`.trimEnd(),
    )
    .join("\n");
}
