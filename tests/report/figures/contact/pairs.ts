/** The matrix of pairs (tests/physics/pairs): every kind of body meets every kind in every act. */
import { ACTS } from "../../../physics/pairs/acts.ts";
import { difference, isKnownRefused, isListed } from "../../../physics/pairs/known.ts";
import {
  CELLS,
  missOf,
  nameOf,
  play,
  sampleOf,
  worstOf,
  type Cell,
  type Outcome,
} from "../../../physics/pairs/matrix.ts";
import { check, short, type Figure, type Grid, type GridCell, type Progress } from "../figure.ts";

/** Text of a cell: the worst law's value over its limit. */
function gridCell(outcome: Outcome): GridCell {
  if ("refused" in outcome) return { text: "refused", good: false };
  const { law, value, limit, unit } = worstOf(outcome.measures);
  const text = limit === 0 ? String(value) : short(Number(value.toPrecision(2)));
  return { text, title: `${law}: ${short(value)} ${unit}, limit ${limit}`, good: missOf(outcome) <= 1 };
}

function gridOf(act: string, played: readonly (readonly [Cell, Outcome])[]): Grid {
  const { pairs } = ACTS[act]!;
  const columns = [...new Set(pairs.map(([, b]) => b))];
  const rows = [...new Set(pairs.map(([a]) => a))];
  const found = new Map(played.map(([cell, outcome]) => [nameOf(cell), gridCell(outcome)]));
  return {
    caption: `${act}: rows are the first or upper body, columns its partner`,
    columns,
    rows: rows.map((a) => ({ name: a, cells: columns.map((b) => found.get(nameOf({ act, a, b }))) })),
  };
}

export const figure: Figure = {
  id: "pairs",
  title: "Every kind of body meets every other kind",
  source: "beyond the paper; Coulomb's law and conservation of momentum and energy",
  async run(size, progress: Progress = () => {}) {
    const cells = size === "full" ? CELLS : sampleOf(60, isKnownRefused);
    const played: [Cell, Outcome][] = [];
    for (const [n, cell] of cells.entries()) {
      progress(n / cells.length, nameOf(cell));
      played.push([cell, await play(cell)]);
    }
    const differences = played.flatMap(([cell, outcome]) => difference(cell, outcome) ?? []);
    const holds = played.filter(([, outcome]) => missOf(outcome) <= 1).length;
    const listed = CELLS.filter((cell) => isListed(cell)).length;
    return {
      text: `Ten kinds of bodies, a plane and a surface of triangles meet in ${Object.keys(ACTS).length} acts, at default solver settings. Each act has laws: no intersections by the exact checker; momentum within 1e-5 of the moving momentum; distances and speeds of sliding and rolling within 2 % of Coulomb's law; no energy above the start; creep of at most 0.1 mm/s at rest; terminal speed in air within 1 %. A cell shows the value that comes nearest to its limit, or is farthest beyond it. Red cells break a law, or their scene is refused. The list of known red cells is \`tests/physics/pairs/red.json\`: ${CELLS.length - listed} of ${CELLS.length} cells hold. A cell that is green and listed fails like one that is red and not listed.${differences.length > 0 ? `\n\n${differences.map((each) => `- ${each}`).join("\n")}` : ""}`,
      checks: [
        check("cells that differ from the list of known red cells", differences.length, { high: 0, basis: "target" }),
        check("cells that hold", holds, { low: cells.filter((cell) => !isListed(cell)).length, basis: "target" }),
      ],
      plots: [],
      pictures: [],
      grids: Object.keys(ACTS).map((act) => gridOf(act, played)),
    };
  },
};
