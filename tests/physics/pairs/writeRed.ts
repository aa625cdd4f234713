/**
 * Writes red.json from a run of the whole matrix. A new entry is a fault: state it in the CHANGELOG. With a regular
 * expression (for instance "rest: ball") it only prints the worst measures of the cells that match.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { listOf } from "./known.ts";
import { CELLS, nameOf, play, worstOf, type Cell, type Outcome } from "./matrix.ts";

const pattern = process.argv[2];
const outcomes: [Cell, Outcome][] = [];
for (const cell of CELLS.filter((each) => !pattern || new RegExp(pattern).test(nameOf(each)))) {
  const outcome = await play(cell);
  outcomes.push([cell, outcome]);
  console.log(nameOf(cell), JSON.stringify("refused" in outcome ? outcome : worstOf(outcome.measures)));
}
const path = fileURLToPath(new URL("red.json", import.meta.url));
if (!pattern) writeFileSync(path, `${JSON.stringify(listOf(outcomes), null, 2)}\n`);
