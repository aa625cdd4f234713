/**
 * `results/releases.csv`: one row per release (RFC 4180, UTF-8, LF), one set of columns per figure, so that a column
 * read from top to bottom is a figure's history.
 *
 *     release,date,commit,cpu,cores,node,v8,yardstick ms,<figure>,<figure> spread,<figure> hash, ...
 *
 * A figure's column is named `part/what [unit]`. Its value is the median over the runs of `ratioOf` (times divided by
 * the yardstick of the same process, rates multiplied by it, other quantities unchanged), so that rows of different
 * machines are comparable. `spread` is the largest minus the smallest value, in the same unit. A column that later
 * releases do not measure stays, empty; columns are never renamed.
 */
import { quantile, type Summary } from "../part.ts";

/** Cells of one release by the name of their column. */
export type ReleaseRow = Map<string, string>;

export interface Releases {
  columns: string[];
  rows: ReleaseRow[];
}

export const HEAD_COLUMNS = ["release", "date", "commit", "cpu", "cores", "node", "v8", "yardstick ms"] as const;

/** An invalid file of releases: names the line, the field, its value and the limit. */
export class ReleasesError extends Error {
  constructor(line: number, field: string, value: string, limit: string) {
    super(`releases, line ${line}: ${field} is ${JSON.stringify(value)}, but must be ${limit}`);
    this.name = "ReleasesError";
  }
}

/** Name of a figure's column. */
export function columnOf(part: string, { what, key, unit }: Pick<Summary, "what" | "key" | "unit">): string {
  return `${part}/${key ?? what}${unit === "" ? "" : ` [${unit}]`}`;
}

/** The three cells of a figure. */
export function cellsOf(part: string, summary: Summary): [column: string, cell: string][] {
  const column = columnOf(part, summary);
  const { ratios, hash } = summary;
  const digits = (value: number): string => String(Number(value.toPrecision(6)));
  return [
    [column, digits(quantile(ratios, 0.5))],
    [`${column} spread`, digits(Math.max(...ratios) - Math.min(...ratios))],
    [`${column} hash`, hash ?? ""],
  ];
}

/**
 * @param text content of the file; empty: no releases yet
 * @throws ReleasesError naming the line, the field, its value and the limit
 */
export function parseReleases(text: string): Releases {
  if (text.trim() === "") return { columns: [...HEAD_COLUMNS], rows: [] };
  const [head, ...lines] = parseCsv(text);
  HEAD_COLUMNS.forEach((name, i) => {
    if (head[i] !== name) throw new ReleasesError(1, `column ${i + 1}`, head[i] ?? "", JSON.stringify(name));
  });
  const twice = head.find((name, i) => head.indexOf(name) !== i);
  if (twice !== undefined) throw new ReleasesError(1, "a column's name", twice, "unique");
  const rows = lines.map((cells, i) => {
    if (cells.length !== head.length)
      throw new ReleasesError(
        i + 2,
        "the number of cells",
        String(cells.length),
        `${head.length}, one for each column`,
      );
    head.forEach((name, column) => {
      const cell = cells[column];
      const text =
        name.endsWith(" hash") || (column < HEAD_COLUMNS.length && name !== "cores" && name !== "yardstick ms");
      if (!text && cell !== "" && !Number.isFinite(Number(cell)))
        throw new ReleasesError(i + 2, name, cell, "a number, or empty if it was not measured");
    });
    return new Map(head.map((name, column) => [name, cells[column]]));
  });
  const names = rows.map((row) => row.get("release")!);
  const again = names.find((name, i) => names.indexOf(name) !== i);
  if (again !== undefined) throw new ReleasesError(names.lastIndexOf(again) + 2, "release", again, "unique");
  return { columns: head, rows };
}

export function formatReleases({ columns, rows }: Releases): string {
  const quote = (cell: string): string => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return [columns, ...rows.map((row) => columns.map((column) => row.get(column) ?? ""))]
    .map((cells) => `${cells.map(quote).join(",")}\n`)
    .join("");
}

/** Stores cells in a release's row: in the row with this name, whose other cells stay, or in a new row at the end. */
export function putRelease({ columns, rows }: Releases, release: string, cells: Iterable<[string, string]>): Releases {
  const row: ReleaseRow = new Map([
    ...(rows.find((other) => other.get("release") === release) ?? [["release", release]]),
    ...cells,
  ]);
  const others = rows.filter((other) => other.get("release") !== release);
  const at = rows.findIndex((other) => other.get("release") === release);
  return {
    columns: [...columns, ...[...row.keys()].filter((name) => !columns.includes(name))],
    rows: at < 0 ? [...others, row] : others.toSpliced(at, 0, row),
  };
}

/** Parses CSV into records of cells. A quoted cell may contain commas, quotes (doubled) and line breaks. */
function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let line = 1;
  const cell = /(?:"((?:[^"]|"")*)"|([^",\n\r]*))(,|\r?\n|$)/y;
  while (cell.lastIndex < text.length) {
    const from = cell.lastIndex;
    const match = cell.exec(text);
    if (match === null)
      throw new ReleasesError(
        line,
        "a cell",
        text.slice(from, from + 20),
        "free of quotes, or quoted with its own quotes doubled",
      );
    record.push(match[1] !== undefined ? match[1].replaceAll('""', '"') : match[2]);
    line += match[0].split("\n").length - 1;
    if (match[3] === ",") {
      if (cell.lastIndex === text.length) record.push("");
      else continue;
    }
    records.push(record);
    record = [];
  }
  return records;
}
