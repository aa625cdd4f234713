/** A hanging strip of cloth against the elastica, and the rigidity of sheets by direction and mesh. */
import { bendElements } from "../../../../server/sim/constraints/bending.ts";
import { sheetBending } from "../../../../server/sim/constraints/sheetBending.ts";
import { ELASTICA, hang } from "../../../physics/bars/elastica.ts";
import {
  cylinder,
  delaunay,
  freeStrip,
  range,
  rigidity,
  sheet,
  type Rigidity,
} from "../../../physics/materials/rigidity.ts";
import { check, type Check, type Figure, type Picture, type Progress } from "../figure.ts";
import { photograph } from "../drawing/photograph.ts";
import { curves, type Series } from "../drawing/plots.ts";

const MESHES = {
  "squares, alternating diagonals": (n: number) => sheet([n, n]),
  "rectangles 1:2, alternating": () => sheet([12, 24]),
  "squares, diagonals one way": (n: number) => sheet([n, n], "one way"),
  "irregular (Delaunay)": (n: number) => delaunay(sheet([n, n], "alternating", 0.8)),
};

/** Strips under their loads, compared with the elastica. */
async function hangAll(
  full: boolean,
  progress: Progress,
): Promise<{ checks: Check[]; series: Series[]; pictures: Picture[] }> {
  const all = Object.entries(ELASTICA)
    .map(([a, [drop, reach]]) => ({ a: Number(a), drop, reach }))
    .sort((one, other) => one.a - other.a);
  const checks: Check[] = [];
  const pictures: Picture[] = [];
  const measured: { a: number; drop: number; reach: number }[] = [];
  for (const ideal of all.filter(({ a }) => full || a === 1)) {
    const { a } = ideal;
    progress(a / 12, `a = ${a}`);
    const { drop, reach, lab } = await hang(a, full ? 20 : 10);
    measured.push({ a, drop, reach });
    checks.push(
      check(`a = P L^2/(B b) = ${a}: drop over the elastica's`, drop / ideal.drop, {
        low: 0.95,
        high: 1.05,
        basis: "target",
      }),
      check(`a = ${a}: reach minus the elastica's, in lengths`, reach - ideal.reach, { low: -0.02, high: 0.02 }),
    );
    if (a === 1 || a === 10)
      pictures.push(photograph(lab, { caption: `a = ${a}`, ground: null, edges: true, from: [0.4, 0.3, 1] }));
  }
  if (full)
    checks.push(
      check(
        "a = 1, a strip of one cell across: drop over the elastica's",
        (await hang(1, 20, 1)).drop / ELASTICA[1]![0],
        { low: 0.95, high: 1.05, basis: "target" },
      ),
    );
  const series = (["drop", "reach"] as const).flatMap((what): Series[] => [
    { name: `${what}, elastica`, points: all.map((one) => [one.a, one[what]]) },
    { name: `${what}, measured`, points: measured.map((one) => [one.a, one[what]]), style: "points" },
  ]);
  return { checks, series, pictures };
}

/** Rigidity of sheets by direction: the paper's hinges, and ours. */
function byMesh(
  full: boolean,
  progress: (name: string) => void,
): { before: Series[]; after: Series[]; rows: string[]; checks: Check[] } {
  const directions = Array.from({ length: full ? 25 : 5 }, (_, i) => (i * 180) / (full ? 24 : 4));
  const byDirection = (C: Rigidity): [number, number][] => directions.map((degrees) => [degrees, cylinder(C, degrees)]);
  const words = (both: [number, number]): string => both.map((value) => value.toFixed(2)).join(" to ");
  const found = { before: [] as Series[], after: [] as Series[], rows: [] as string[], checks: [] as Check[] };
  for (const [name, make] of Object.entries(MESHES)) {
    progress(name);
    const mesh = make(full ? 20 : 16);
    const paper = rigidity(mesh, bendElements(mesh.positions, mesh.triangles, 1)).settled;
    const ours = rigidity(mesh, sheetBending(mesh.positions, mesh.triangles, 1)).settled;
    found.before.push({ name, points: byDirection(paper), style: "both" });
    found.after.push({ name, points: byDirection(ours), style: "both" });
    const [least, most] = range(ours, cylinder);
    found.checks.push(
      check(`${name}: rigidity of a cylinder over B, minimum over all directions`, least, {
        low: 0.95,
        basis: "target",
      }),
      check(`${name}: the same, maximum`, most, { high: 1.05, basis: "target" }),
    );
    const ranges = [range(paper, cylinder), range(paper, freeStrip), range(ours, cylinder), range(ours, freeStrip)];
    found.rows.push(`  ${name.padEnd(32)}${ranges.map((both) => words(both).padEnd(16)).join("")}`.trimEnd());
  }
  return found;
}

export const figure: Figure = {
  id: "elastica",
  title: "A strip of cloth hangs as the elastica",
  source: "beyond the paper; Euler's elastica under an end load. Form: Bender et al. 2014, section 4.3 and figure 3",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const hung = await hangAll(full, progress);
    const { before, after, rows, checks } = byMesh(full, (name) => progress(0.9, name));
    return {
      text: `A strip of 1 kg/m^2 is clamped, loaded at its end by P, and settles. L is the length, b the width, B the \`bendingStiffness\` of its material: the drop and the reach of the end, over L, depend only on a = P L^2/(B b) and are those of Euler's elastica (integrated numerically; the same numbers as the data set elastica_tip.csv). The strip is ${full ? 21 : 11} cells long and 4 wide.

The paper's isometric bending is a sum over edges of their squared dihedral angles. Its rigidity depends on the mesh: vertices between the rows relax, and edges along a bend have another weight than edges across. The other plots show the energy of a sheet bent to a cylinder in a given direction, with all vertices in the middle free to settle, over that of a plate of rigidity B. Here a sheet of rectangles has its own stencils (the paper's, in the mean over both ways to cut the rectangles; \`rectangularBending.ts\`), and the hinges of any other flat sheet get weights fitted at load time (\`bendingWeights.ts\`).

  ${"over B".padEnd(32)}paper: cylinder free strip      here: cylinder  free strip
${rows.join("\n")}

A free strip may curve across its length as well. Rectangles have Poisson's ratio 0, so that a strip also has B. Irregular hinges have about 1/3, and a free strip has 1 - nu^2 of the plate's rigidity. Bodies of the paper's form (\`solver: "paper"\`) keep the paper's hinges.`,
      checks: [...hung.checks, ...checks],
      plots: [
        {
          caption: "Drop and reach of the end over the length.",
          spec: curves({ title: "a = P L^2/(B b)", log: true }, { title: "over the length", zero: true }, hung.series),
        },
        {
          caption:
            "The paper's hinges: bending energy of a cylinder over a plate's, by the direction in which it is bent.",
          spec: curves(
            { title: "direction, degrees from the grid's side" },
            { title: "rigidity / B", zero: true },
            before,
            [{ y: 1, label: "plate" }],
          ),
        },
        {
          caption: "Here: the same.",
          spec: curves(
            { title: "direction, degrees from the grid's side" },
            { title: "rigidity / B", zero: true },
            after,
            [{ y: 1, label: "plate" }],
          ),
        },
      ],
      pictures: hung.pictures,
    };
  },
};
