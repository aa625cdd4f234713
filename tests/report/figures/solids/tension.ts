/** Free bars under sudden end loads, at default settings: stretch and width of the law, up to twice the length. */
import { laboratory } from "../../../physics/laboratory.ts";
import {
  pace,
  pull,
  randomBars,
  SAMPLES,
  sceneOf,
  type Bar,
  type Pulled,
} from "../../../physics/bars/suddenTension.ts";
import { uniaxialLaw } from "../../../physics/bars/pulledBar.ts";
import { bookCheck } from "../books.ts";
import { check, short, type Check, type Figure, type FigureSize, type Plot, type Progress } from "../figure.ts";
import { bodyMesh, COLORS, photographMeshes } from "../drawing/photograph.ts";
import { curves, type Series } from "../drawing/plots.ts";

/** Limits: relative error of stretch and width, and time until rest, s. */
const LIMIT = 0.01;
const SECONDS = 10;
const CONVERGED = { substeps: 80, iterations: 4, refine: false } as const;

type Kind = Omit<Bar, "s">;

const STRAINS = [0.05, 0.1, 0.2, 0.3, 0.5, 1];
const block = (model: Bar["model"], k: number, nu: number, damping = 1): Kind => ({
  model,
  k,
  nu,
  rho: 1000,
  size: [0.3, 0.1, 0.1],
  cells: [6, 2, 2],
  damping,
});
const CURVES = [
  block("stvk", 1e4, 0.2),
  block("stvk", 1e9, 0.2),
  block("neo-hookean", 1e4, 0.3),
  block("neo-hookean", 1e6, 0.3),
  block("stable-neo-hookean", 1e4, 0.3),
  block("stable-neo-hookean", 1e6, 0.3),
];
/** Bars too stiff for the default substeps. */
const BEYOND = [0.05, 0.1, 0.3].flatMap((strain) =>
  (["neo-hookean", "stable-neo-hookean"] as const).map((model) => ({ ...block(model, 1e7, 0.3, 0.3), s: 1 + strain })),
);
const nameOf = ({ model, k, nu }: Kind): string => `${model}, k = ${short(k)} Pa, nu = ${nu}`;

async function measure(size: FigureSize, progress: Progress) {
  const full = size === "full";
  const seconds = full ? SECONDS : 3;
  const drawn: Pulled[] = [];
  const bars = randomBars(full ? 100 : 5);
  for (const [n, bar] of bars.entries()) {
    progress((0.4 * n) / bars.length, `bar ${n + 1} of ${bars.length}`);
    drawn.push(await pull(bar, seconds, LIMIT));
  }
  const kinds = full ? CURVES : [CURVES[1]!, CURVES[4]!];
  const kept: { kind: Kind; usual: Pulled[]; converged: Pulled[] }[] = [];
  for (const [n, kind] of kinds.entries()) {
    progress(0.4 + (0.6 * n) / kinds.length, nameOf(kind));
    const usual: Pulled[] = [];
    const converged: Pulled[] = [];
    for (const strain of full ? STRAINS : [1]) {
      usual.push(await pull({ ...kind, s: 1 + strain }, seconds, LIMIT));
      if (full && kind.k < 1e9) converged.push(await pull({ ...kind, s: 1 + strain }, SECONDS / 4, LIMIT, CONVERGED));
    }
    kept.push({ kind, usual, converged });
  }
  const beyond: Pulled[] = [];
  for (const bar of full ? BEYOND : []) beyond.push(await pull(bar, 1, LIMIT));
  return { full, drawn, kept, beyond };
}

type Measured = Awaited<ReturnType<typeof measure>>;

const worst = (bars: readonly Pulled[], of: "s" | "t"): number =>
  bars.reduce((most, { errors }) => Math.max(most, Number.isFinite(errors[of]) ? Math.abs(errors[of]) : Infinity), 0);

function checksOf({ full, drawn, kept }: Measured): Check[] {
  const usual = kept.flatMap((k) => k.usual);
  const converged = kept.flatMap((k) => k.converged);
  const all = [...drawn, ...usual];
  const errors = (what: string, bars: readonly Pulled[]): Check[] => [
    check(`${what}: largest relative error of the stretch`, worst(bars, "s"), { high: LIMIT, basis: "target" }),
    check(`${what}: of the width`, worst(bars, "t"), { high: LIMIT, basis: "target" }),
  ];
  return [
    ...errors(`${drawn.length} random bars, default settings`, drawn),
    ...errors(`${full ? "strains of 5 to 100 %" : "twice its length"}, default settings`, usual),
    ...(full ? errors("the same, converged (80 x 4)", converged) : []),
    check(
      "time after which every stretch at default settings stays within 1 % of the law's",
      Math.max(...all.map((p) => p.settled)),
      { unit: "s", high: SECONDS, basis: "target" },
    ),
    check(`largest energy after the start, over the total work of the loads`, Math.max(...all.map((p) => p.energy)), {
      high: 0,
      basis: "it begins at 0, and no energy is added",
    }),
  ];
}

function plotsOf({ drawn, kept }: Measured): Plot[] {
  const curve = (model: Bar["model"]): Series[] => {
    const kinds = kept.filter(({ kind }) => kind.model === model);
    if (kinds.length === 0) return [];
    const { nu } = kinds[0]!.kind;
    const steps = Array.from({ length: 51 }, (_, n) => 1 + n / 50);
    const points = (bars: readonly Pulled[]): [number, number][] =>
      bars.map(({ bar, errors }) => [bar.s * (1 + errors.s), uniaxialLaw(model, 1, nu, bar.s).t * (1 + errors.t)]);
    return [
      { name: `${model}, nu = ${nu}: law`, points: steps.map((s) => [s, uniaxialLaw(model, 1, nu, s).t]) },
      { name: `${model}: converged`, points: kinds.flatMap((k) => points(k.converged)), style: "points" },
      { name: `${model}: default`, points: kinds.flatMap((k) => points(k.usual)), style: "points" },
    ];
  };
  const sized = (of: "s" | "t", implicit: boolean): [number, number][] =>
    drawn
      .filter((p) => p.implicit === implicit)
      .map(({ bar, errors }) => [bar.k, Math.max(1e-8, Math.abs(errors[of]))]);
  const slowest = [...drawn].sort((a, b) => pace(a.bar) - pace(b.bar)).slice(0, 5);
  return [
    {
      caption: "Width over stretch up to twice the length: measured points on the laws.",
      spec: curves(
        { title: "stretch s" },
        { title: "lateral stretch t" },
        (["stvk", "neo-hookean", "stable-neo-hookean"] as const).flatMap(curve),
      ),
    },
    {
      caption: "Random bars: relative errors after 10 s, by stiffness (errors below 1e-8 are drawn there).",
      spec: curves(
        { title: "k, Pa", log: true },
        { title: "relative error", log: true, domain: [1e-8, 0.03] },
        [
          { name: "stretch, compliant", points: sized("s", false), style: "points" },
          { name: "width, compliant", points: sized("t", false), style: "points" },
          { name: "stretch, implicit", points: sized("s", true), style: "points" },
          { name: "width, implicit", points: sized("t", true), style: "points" },
        ],
        [{ y: LIMIT, label: "1 %" }],
      ),
    },
    {
      caption: "Stretch of the five slowest bars over time.",
      spec: curves(
        { title: "time, s", domain: [0, 3] },
        { title: "stretch over the law's" },
        slowest.map(({ bar, trace }) => ({
          name: `${short(bar.k)} Pa, ${short(bar.size[0])} m, s = ${bar.s.toFixed(2)}`,
          points: trace.filter(([t]) => t <= 3),
        })),
      ),
    },
  ];
}

const textOf = ({
  full,
  drawn,
  beyond,
}: Measured): string => `Free bars without gravity are pulled by sudden, opposite loads on both end faces, at **default settings**: 60 Hz, 20 substeps of one iteration, \`refine\` and \`solver: "auto"\`, which chooses the implicit step for ${drawn.filter((p) => p.implicit).length} of the ${drawn.length} random bars. Those are of Saint Venant-Kirchhoff material, k = 1e3 ... 1e9 Pa, nu = 0 ... 0.45, 200 ... 5000 kg/m^3, 1 cm ... 10 m long, 2 to 6 cells of five tetrahedra by 1 or 2 by 1 or 2, for strains of 5 to 30 %. They are damped by 0.3 to 1 times the critical damping of their lowest mode (2 pi c/L, c^2 = k/rho; at most 10000 1/s). Bars that sound needs more than a second to cross are left out: by theory they do not rest after ten.

The law at nominal stress P, free across, is that of tests/physics/bars/pulledBar.ts; for Saint Venant-Kirchhoff

  P = k s (s^2 - 1)/2        t^2 = 1 - nu (s^2 - 1)

so at s = 2 and nu = 1/3 the width would be zero; therefore nu is 0.2 there: t = 0.63. (The model is stable under tension for any such nu: its stress is positive along and zero across.) The two Neo-Hookean models have nu = 0.3. Bars of the curve are 0.3 x 0.1 x 0.1 m, 6 x 2 x 2 cells, 1000 kg/m^3. Stretch and width are the principal stretches of the affine map that fits all particles best. The state is homogeneous, so the mesh has no error of its own, and the target is 1 % in both.

Energy is kinetic plus elastic (float64, tests/statics) minus the loads' work, ${SAMPLES} times a second. A bar begins with none, and damping only takes energy, so it must stay negative: a growing motion would not. ${
  full
    ? `

**Limits.** The implicit step supports only Saint Venant-Kirchhoff material, and other models get 1,200 substeps a second at most: enough while pressure waves cross up to 0.6 edges of the mesh in one (docs/LIMITS.md). Beyond that they may fly apart, with or without contact. The same bars of 1e7 Pa, where waves cross 1.6, damped by 0.3 of the critical: ${beyond.map(({ bar, energy, errors }) => `${bar.model}, s = ${bar.s}: ${energy < 0 || Math.abs(errors.s) < LIMIT ? `off by ${short(100 * Math.abs(errors.s))} % after a second` : "flies apart"}`).join("; ")}.`
    : ""
}`;

/** Energy check of a bar from its start, for 2 s. */
async function booked(bar: Bar): Promise<Check> {
  const name = `${bar.model}, k = ${short(bar.k)} Pa, s = ${bar.s}, 2 s`;
  return bookCheck(name, await laboratory(sceneOf(bar, {})), 120);
}

export const figure: Figure = {
  id: "tension",
  title: "Bars pulled to twice their length",
  source: "beyond the paper; the laws of uniaxial stretch",
  async run(size, progress = () => {}) {
    const m = await measure(size, progress);
    const shown = (m.kept.find(({ kind }) => kind.model === "stable-neo-hookean") ?? m.kept[0]!).usual;
    const blocks = shown.map(({ lab, bar }, n) =>
      bodyMesh(
        lab.created.bodies[0]!,
        lab.positions().map((c, i) => c / bar.size[0] - (i % 3 === 1 ? 0.45 * n : 0)),
        { color: COLORS[n % COLORS.length]!, edges: true },
      ),
    );
    const picture = photographMeshes(blocks, {
      caption: `Stable Neo-Hookean bars at rest under their loads, s = ${shown.map(({ bar }) => bar.s).join(", ")}.`,
      ground: null,
      from: [0.2, 0.2, 1],
    });
    const books = m.full ? await Promise.all(m.kept.map(({ usual }) => booked(usual.at(-1)!.bar))) : [];
    return { text: textOf(m), checks: [...checksOf(m), ...books], plots: plotsOf(m), pictures: [picture] };
  },
};
