/** Writes red.json from a run of the whole matrix. A new entry is a fault: state it in the CHANGELOG. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { listOf } from "./known.ts";
import { CELLS, nameOf, play, type Cell, type Outcome } from "./matrix.ts";

const outcomes: [Cell, Outcome][] = [];
for (const cell of CELLS) {
  outcomes.push([cell, await play(cell)]);
  console.log(nameOf(cell));
}
const path = fileURLToPath(new URL("red.json", import.meta.url));
writeFileSync(path, `${JSON.stringify(listOf(outcomes), null, 2)}\n`);
