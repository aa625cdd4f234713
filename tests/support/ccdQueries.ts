/**
 * Reads the collision queries of the data folder: eight rows a query, each coordinate a fraction, with the true answer
 * beside it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "./dataFolder.ts";

export interface Query {
  q: Float64Array;
  touches: boolean;
}

export interface QuerySet {
  /** "erleben-spikes/edge-edge/data_0_0.csv". */
  name: string;
  kind: "vertex-face" | "edge-edge";
  queries: Query[];
}

/** Folder for `lacksData`. */
export const QUERY_FOLDER = "ccd";

/**
 * The fraction as a number. It must be exact: both parts are powers of two times less than 2^53, according to the
 * data's README.
 * @throws Error if it is not exact
 */
function fraction(numerator: string, denominator: string): number {
  const value = Number(numerator) / Number(denominator);
  const n = BigInt(numerator);
  const d = BigInt(denominator);
  if (
    BigInt(Number(numerator)) !== n ||
    BigInt(Number(denominator)) !== d ||
    value * Number(denominator) !== Number(numerator)
  )
    throw new Error(`${numerator}/${denominator} is not exact in float64`);
  return value;
}

function readSet(path: string): Query[] {
  const rows = readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  return Array.from({ length: rows.length / 8 }, (_, query) => {
    const mine = rows.slice(8 * query, 8 * query + 8);
    return {
      q: Float64Array.from(mine.flatMap((row) => [0, 2, 4].map((at) => fraction(row[at], row[at + 1])))),
      touches: mine[0][6].trim() === "1",
    };
  });
}

/** All sets, sorted by name. */
export function readQuerySets(): QuerySet[] {
  const top = join(dataFolder, QUERY_FOLDER);
  return (readdirSync(top, { recursive: true }) as string[])
    .filter((name) => name.endsWith(".csv"))
    .sort()
    .map((name) => ({
      name,
      kind: name.includes("edge-edge") ? "edge-edge" : "vertex-face",
      queries: readSet(join(top, name)),
    }));
}
