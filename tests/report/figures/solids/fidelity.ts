/**
 * Settled shapes against static finite elements on the same mesh, over substeps and iterations: a material has the
 * stiffness that its scene gives.
 */
import { CASE_NAMES, caseOf, type CaseOptions, type LoadedBody } from "../../../statics/cases.ts";
import { fidelity, referenceOf, type Fidelity } from "../../../statics/fidelity.ts";
import { lacksData } from "../../../support/dataFolder.ts";
import { check, type Check, type Figure, type FigureSize, type Picture, type Plot, type Progress } from "../figure.ts";
import { bodyMesh, COLORS, photographMeshes } from "../drawing/photograph.ts";
import { curves, heatMap } from "../drawing/plots.ts";

/** Limit of the speed at rest, m/s. */
const STILL = 0.01;
/** Largest error that a map shows, for bodies far off or blown up, %. */
const MOST = 1000;

/** Limits of the error, %, at (substeps per second, iterations), by Poisson's ratio. */
const limitOf = (substeps: number, nu: number): number => (substeps < 240 ? 10 : nu > 0.45 ? 5 : 2);

async function checksOf(name: string, options: CaseOptions, substeps: number): Promise<Check[]> {
  const nu = options.poissonsRatio ?? 0.3;
  const { error, fastest } = await fidelity(caseOf(name, options), substeps, 5);
  const where = `${name}, nu = ${nu}, ${substeps} x 5`;
  return [
    check(`${where}: largest distance of a particle from equilibrium, over the largest displacement`, error, {
      unit: "%",
      high: limitOf(substeps, nu),
    }),
    check(`${where}: fastest particle once settled`, fastest, { unit: "m/s", high: STILL }),
  ];
}

/** Checks with calming and sleep, as members see the room: still in the right place. */
async function checksAtRest(name: string): Promise<Check[]> {
  const { error, settled } = await fidelity(caseOf(name), 240, 5, true);
  const where = `${name}, nu = 0.3, 240 x 5, with calming and sleep`;
  return [
    check(`${where}: largest error`, error, { unit: "%", high: 2 }),
    check(`${where}: asleep in the end (1: yes)`, settled ? 1 : 0, { low: 1 }),
  ];
}

interface Map {
  name: string;
  options: CaseOptions;
  title: string;
  iterations: readonly number[];
}
const SUBSTEPS = [60, 120, 240, 480, 960];
const ALL = [1, 2, 5, 10, 20];
const SOME = [1, 5, 20];
const MAPS: readonly Map[] = [
  { name: "beam", options: { poissonsRatio: 0.3 }, title: "beam, k = 1e7 Pa, nu = 0.3", iterations: ALL },
  {
    name: "beam",
    options: { poissonsRatio: 0.3, exact: true },
    title: "the same without refined substeps",
    iterations: ALL,
  },
  {
    name: "beam",
    options: { poissonsRatio: 0.3, solver: "paper" },
    title: "the same, solver `paper` (C = E)",
    iterations: ALL,
  },
  { name: "beam", options: { poissonsRatio: 0.45 }, title: "beam, k = 1e7 Pa, nu = 0.45", iterations: SOME },
  { name: "beam", options: { poissonsRatio: 0.49 }, title: "beam, k = 1e7 Pa, nu = 0.49", iterations: ALL },
  { name: "block", options: { poissonsRatio: 0.3 }, title: "block, k = 1e5 Pa, nu = 0.3", iterations: SOME },
  {
    name: "stiff",
    options: { poissonsRatio: 0.3 },
    title: "small stiff beam, k = 1e7 Pa, nu = 0.3, sound crosses 8 cells in 1/240 s",
    iterations: SOME,
  },
  {
    name: "stiff",
    options: { poissonsRatio: 0.3, exact: true },
    title: "the same without refined substeps",
    iterations: SOME,
  },
];

async function mapOf({ name, options, title, iterations }: Map): Promise<{ plot: Plot; cells: Fidelity[] }> {
  const cells: Fidelity[] = [];
  const loaded = caseOf(name, options);
  for (const i of iterations) for (const s of SUBSTEPS) cells.push(await fidelity(loaded, s, i));
  const { tetrahedra, displacement } = await referenceOf(loaded);
  const values = iterations.map((_, row) =>
    SUBSTEPS.map((_, column) => Math.min(MOST, cells[row * SUBSTEPS.length + column]!.error)),
  );
  const plot: Plot = {
    caption: `${title[0]!.toUpperCase()}${title.slice(1)}: largest error in % of the largest displacement (${displacement.toPrecision(3)} m), ${tetrahedra} tetrahedra.`,
    spec: heatMap(
      { title: "substeps per second", names: SUBSTEPS.map(String) },
      { title: "iterations", names: iterations.map(String) },
      values,
      { title: "error, %", log: true },
    ),
  };
  return { plot, cells };
}

/** Equilibrium, and the beams of both solvers settled at 240 x 5. */
async function picture(): Promise<Picture> {
  const loaded: LoadedBody = caseOf("beam");
  const { body, x } = await referenceOf(loaded);
  const shapes = [x];
  for (const solver of ["compliant", "paper"] as const)
    shapes.push((await fidelity(caseOf("beam", { solver }), 240, 5)).x);
  const meshes = shapes.map((shape, n) =>
    bodyMesh(
      body,
      shape.map((v, k) => (k % 3 === 1 ? v - 4 * n : v)),
      { color: COLORS[n]!, edges: true },
    ),
  );
  return photographMeshes(meshes, {
    caption: "The beam at 240 x 5. From above: static finite elements, the default solver, `paper`.",
    from: [0.1, 0.1, 1],
    ground: null,
  });
}

async function full(progress: Progress): Promise<{ checks: Check[]; plots: Plot[]; pictures: Picture[] }> {
  const checks: Check[] = [];
  const plots: Plot[] = [];
  const bodies = CASE_NAMES.filter((name) => !lacksData(...caseOf(name).data));
  const nus = [0.3, 0.45, 0.49];
  const total = bodies.length * nus.length + MAPS.length;
  let done = 0;
  for (const name of bodies)
    for (const poissonsRatio of nus) {
      progress(done++ / total, `${name}, nu = ${poissonsRatio}`);
      checks.push(...(await checksOf(name, { poissonsRatio }, 240)));
      if (name === "beam") checks.push(...(await checksOf(name, { poissonsRatio }, 60)));
    }
  checks.push(...(await checksAtRest("beam")), ...(await checksAtRest("coarse")));
  const cost = [];
  for (const map of MAPS) {
    progress(done++ / total, map.title);
    const { plot, cells } = await mapOf(map);
    plots.push(plot);
    if (map.name === "beam" && map.options.poissonsRatio === 0.3)
      cost.push({
        name: map.options.exact ? "not refined" : (map.options.solver ?? "compliant"),
        points: cells.map((c) => [c.wallMs, Math.min(MOST, c.error)] as [number, number]),
        style: "points" as const,
      });
  }
  plots.push({
    caption:
      "Remaining error against the computing time of one simulated second, one thread: the beam, nu = 0.3, all substeps and iterations of its maps.",
    spec: curves({ title: "ms per simulated second", log: true }, { title: "largest error, %", log: true }, cost, [
      { y: 2, label: "2 %" },
    ]),
  });
  return { checks, plots, pictures: [await picture()] };
}

export const figure: Figure = {
  id: "fidelity",
  title: "Materials have their given stiffness at any step",
  source: "beyond the paper, which names it as its own limitation",
  alone: true,
  async run(size: FigureSize, progress: Progress = () => {}) {
    const small = async () => ({
      checks: [
        ...(await checksOf("beam", {}, 240)),
        (await checksOf("beam", {}, 60))[0]!,
        ...(await checksOf("beam", { poissonsRatio: 0.49 }, 240)),
        ...(await checksAtRest("coarse")),
      ],
      plots: [],
      pictures: [],
    });
    return {
      text: `Bodies fixed at one end settle under their own weight in the room's own kernel (float32, SIMD), from their undeformed shape, with critical damping of their slowest mode. Their final shape is compared, particle by particle, with static equilibrium of the **same mesh** with the same dead loads: Saint Venant-Kirchhoff tetrahedra in float64, Newton's method with analytic element Hessians, converged to 1e-8 of the load. That code (tests/statics) shares nothing with the solver; it passes the patch test and agrees with the uniaxial law and Timoshenko's beam. So the numbers show only the solver's error, not that of constant-strain tetrahedra, which are too stiff in bending in both.

Bodies, all of 1000 kg/m3:

- **beam** 5:1, 8.65 m long, 20 x 4 x 4 cells, 1e7 Pa: its end moves by 28 % of its length
- **coarse** the same with 10 x 2 x 2 cells
- **block** 0.6 m, 8 x 8 x 8 cells, 1e5 Pa
- **soft** 5:1, 0.2 m long, 20 x 4 x 4 cells, 1e5 Pa: it hangs down by more than half of its length
- **stiff** 5:1, 1 m long, 20 x 4 x 4 cells, 1e7 Pa, with 400 N at its end
- **cuboid** and **armadillo** unstructured meshes, if the data folder has them

A body counts as settled when nothing moves by more than 0.02 % of the largest displacement during a period of its slowest mode; after twelve periods it is measured as it is. "Fastest" is the fastest particle at the ends of the ticks of the half second after that. Limits: 2 % at 240 substeps a second x 5 iterations (nu up to 0.45), 5 % at nu = 0.49, 10 % at 60 x 5, and nothing faster than 1 cm/s.

The difficulty of a body is the number of cells that sound crosses in a substep, sqrt(k/rho) h/cell: at 240 a second 1 for the beam, 4 and 8 for **soft** and **stiff**. Above about 0.7 the default refines substeps and reduces iterations (server/sim/scene/substeps.ts). The axes of the maps are the scene's numbers; 60 x 5 of the beam runs as 360 x 1. The maps "without refined substeps" (scenes with \`refine: false\`) show the solver with exactly these numbers; the last plot shows the cost of each.`,
      ...(size === "small" ? await small() : await full(progress)),
    };
  },
};
