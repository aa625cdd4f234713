/**
 * The law of uniaxial stretch: k and nu have their meaning from mechanics, for any stiffness, step and sufficient
 * iterations.
 */
import { stretchBar, type Bar } from "../../../physics/bars/pulledBar.ts";
import {
  check,
  short,
  type Figure,
  type Progress,
  type Check,
  type Plot,
  type Picture,
  type FigureSize,
} from "../figure.ts";
import { photographMeshes, bodyMesh, COLORS } from "../drawing/photograph.ts";
import { curves, heatMap } from "../drawing/plots.ts";

/** The target: 1 % in stretch and in contraction. */
const LIMIT = 0.01;
const SIZE: [number, number, number] = [0.3, 0.1, 0.1];
const CELLS: [number, number, number] = [6, 2, 2];

/**
 * Sufficient steps and iterations: sound crosses at most one element in a substep, and nu near 1/2 needs more
 * iterations.
 */
function steps(k: number, nu: number): { tickHz: number; substeps: number; iterations: number } {
  const crossed = Math.sqrt(k / 1000) / 60 / 0.05;
  const substeps = Math.min(100, Math.max(20, Math.ceil(crossed)));
  const part = crossed / substeps;
  return {
    tickHz: 60,
    substeps,
    iterations: Math.ceil(
      (part < 0.3 ? 2 : part < 0.6 ? 8 : part < 1.5 ? 20 : 60) * (nu > 0.46 ? 5 : nu > 0.42 ? 2 : 1),
    ),
  };
}

const most = (rows: number[][]): number => Math.max(...rows.flat());

const TEXT = `A bar of ${SIZE.join(" x ")} m (${CELLS.join(" x ")} cells of five tetrahedra, 1000 kg/m^3) is pulled by even loads on both end faces until it rests. For Saint Venant-Kirchhoff material the nominal stress P that gives a stretch s, and the lateral stretch t, are exactly

  P = k s (s^2 - 1)/2        t^2 = 1 - nu (s^2 - 1)

so the load for a given s is applied, and s and t are measured: principal stretches of the affine map that fits the motion of all particles best. Nothing is fitted. The state is homogeneous, so the mesh has no discretization error, and only the solver differs.

Substeps and iterations are sufficient: sound crosses up to one element in a substep (at 100 MPa, three), with 2 to 60 iterations, five times as many at nu = 0.49. The last plot shows the effect of fewer. The solver keeps stress from tick to tick (warm start), so **one iteration suffices** for a bar at rest; more iterations only improve the motion before.`;

async function measure(size: FigureSize, progress: Progress = () => {}) {
  const full = size === "full";
  const stiffness = full ? [1e3, 1e4, 1e5, 1e6, 1e7, 1e8] : [1e3, 1e5];
  const nus = full ? [0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49] : [0, 0.3];
  const errors = { s: [] as number[][], t: [] as number[][] };
  let done = 0;
  for (const k of stiffness) {
    const rows = { s: [] as number[], t: [] as number[] };
    for (const nu of nus) {
      progress(done++ / (stiffness.length * nus.length + 10), `k = ${k} Pa, nu = ${nu}`);
      const { s, t, ideal } = await stretchBar({
        k,
        nu,
        s: nu > 0.46 || k > 1e7 ? 1.1 : 1.2,
        size: SIZE,
        cells: CELLS,
        ...steps(k, nu),
      });
      rows.s.push(Math.abs(s / ideal.s - 1));
      rows.t.push(nu > 0 ? Math.abs((1 - t) / (1 - ideal.t) - 1) : Math.abs(t - 1));
    }
    errors.s.push(rows.s);
    errors.t.push(rows.t);
  }
  const bar: Bar = { k: 1e5, nu: 0.3, s: 1, size: SIZE, cells: CELLS, tickHz: 60, substeps: 20, iterations: 2 };
  const law: [number, number][] = [];
  const lateral: [number, number][] = [];
  const measured: [number, number][] = [];
  const contracted: [number, number][] = [];
  const meshes = [];
  for (let s = 0.9; s <= 1.5; s += 0.01) {
    law.push([s, (s * (s * s - 1)) / 2]);
    lateral.push([s, Math.sqrt(1 - bar.nu * (s * s - 1))]);
  }
  let worst = 0;
  for (const [n, s] of (full ? [0.9, 0.95, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5] : [1.1, 1.4]).entries()) {
    // a bar would buckle, so use a cube
    const result = await stretchBar(s < 1 ? { ...bar, s, size: [0.1, 0.1, 0.1], cells: [2, 2, 2] } : { ...bar, s });
    measured.push([result.s, (s * (s * s - 1)) / 2]);
    contracted.push([result.s, result.t]);
    worst = Math.max(worst, Math.abs(result.s / s - 1));
    if (s >= 1.1 && meshes.length < 4)
      meshes.push({
        ...bodyMesh(
          result.lab.created.bodies[0]!,
          result.lab.positions().map((v, i) => v - (i % 3 === 1 ? 0.14 * n : 0)),
          { color: COLORS[0]!, edges: true },
        ),
      });
  }
  const tooFew: [number, number][][] = [[], []];
  for (const [which, k] of [1e5, 1e6].entries()) {
    for (const iterations of full ? [1, 2, 3, 5, 8, 12, 20, 40] : [1, 8]) {
      const { s, ideal } = await stretchBar({ ...bar, k, s: 1.2, iterations });
      tooFew[which]!.push([iterations, Math.max(1e-6, Math.abs(s / ideal.s - 1))]);
    }
  }
  const names = {
    columns: { title: "Poisson's ratio", names: nus.map(String) },
    rows: { title: "k, Pa", names: stiffness.map((k) => k.toExponential(0).replace("+", "")) },
  };
  return { full, errors, law, lateral, measured, contracted, meshes, worst, tooFew, names };
}

type Measured = Awaited<ReturnType<typeof measure>>;

const checksOf = ({ full, errors, worst, tooFew }: Measured): Check[] => [
  check("stretch: largest relative error over k = 1e3 ... 1e8 Pa and nu = 0 ... 0.49", most(errors.s), {
    high: LIMIT,
    basis: "target",
    published: "k has no such meaning (section 6)",
  }),
  check("lateral contraction 1 - t: largest relative error (nu = 0: absolute)", most(errors.t), {
    high: LIMIT,
    basis: "target",
  }),
  check(`stretch over the whole curve s = ${full ? "0.9 ... 1.5" : "1.1, 1.4"}, k = 1e5 Pa, nu = 0.3`, worst, {
    high: LIMIT,
    basis: "target",
  }),
  check(
    "one iteration, 60 Hz x 20 substeps, k = 1e5 and 1e6 Pa: relative error of the stretch",
    Math.max(...tooFew.map((points) => points[0]![1])),
    { high: LIMIT, basis: "target" },
  ),
];

const plotsOf = ({ errors, law, lateral, measured, contracted, tooFew, names }: Measured): Plot[] => [
  {
    caption: "Stress and stretch, k = 1e5 Pa, nu = 0.3: measured points on the law.",
    spec: curves({ title: "stretch s" }, { title: "P/k" }, [
      { name: "law", points: law },
      { name: "measured", points: measured, style: "points" },
    ]),
  },
  {
    caption: "Lateral stretch of the same bars.",
    spec: curves({ title: "stretch s" }, { title: "lateral stretch t" }, [
      { name: "law", points: lateral },
      { name: "measured", points: contracted, style: "points" },
    ]),
  },
  {
    caption: "Relative error of the stretch.",
    spec: heatMap(names.columns, names.rows, errors.s, { title: "error", format: ".1e" }),
  },
  {
    caption: "Relative error of the lateral contraction (nu = 0: absolute).",
    spec: heatMap(names.columns, names.rows, errors.t, { title: "error", format: ".1e" }),
  },
  {
    caption:
      "Few iterations: relative error of the stretch at rest, at 60 Hz x 20 substeps (errors below 1e-6 are drawn there).",
    spec: curves(
      { title: "iterations per substep", log: true },
      { title: "relative error", log: true },
      tooFew.map((points, i) => ({ name: `k = ${short([1e5, 1e6][i]!)} Pa`, points, style: "both" as const })),
      [{ y: LIMIT, label: "1 %" }],
    ),
  },
];

const picturesOf = ({ meshes }: Measured): Picture[] => [
  photographMeshes(meshes, {
    caption: "Bars under growing load, k = 1e5 Pa, nu = 0.3.",
    ground: null,
    from: [0.2, 0.2, 1],
    edges: true,
  }),
];

export const figure: Figure = {
  id: "uniaxial",
  title: "Uniaxial stretch: stiffness and contraction are those of the material",
  source: "beyond the paper, which names this as its limitation (section 7)",
  async run(size, progress) {
    const m = await measure(size, progress);
    return { text: TEXT, checks: checksOf(m), plots: plotsOf(m), pictures: picturesOf(m) };
  },
};
