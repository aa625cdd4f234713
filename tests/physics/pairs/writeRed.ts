/**
 * Writes red.json from a run of the whole matrix, or of the cells whose names contain an argument ("implicit solid");
 * the other cells stay as listed. A new entry is a fault: state it in the CHANGELOG.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { listed, listOf } from "./known.ts";
import { CELLS, nameOf, play, worstOf, type Cell, type Outcome } from "./matrix.ts";

const words = process.argv.slice(2);
const outcomes: [Cell, Outcome][] = [];
for (const cell of CELLS) {
  const plays = words.length === 0 || words.some((word) => nameOf(cell).includes(word));
  const outcome = plays ? await play(cell) : listed(cell);
  outcomes.push([cell, outcome]);
  if (plays) console.log(nameOf(cell), JSON.stringify("measures" in outcome ? worstOf(outcome.measures) : outcome));
}
const path = fileURLToPath(new URL("red.json", import.meta.url));
writeFileSync(path, `${JSON.stringify(listOf(outcomes), null, 2)}\n`);
