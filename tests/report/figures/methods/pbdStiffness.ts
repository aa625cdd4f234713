/**
 * Stiffness k of position based dynamics, k' = 1 - (1 - k)^(1/n), and compliance: dependence on iterations and step.
 */
import type { GeometricStiffness } from "../../../../shared/scene/sceneMaterials.ts";
import { equalCompliance, GRAVITY, sag, stretchOfStrip, TICK } from "./hanging.ts";
import { check, type Figure, type Check, type Plot, type Picture, type FigureSize, type Progress } from "../figure.ts";
import { bodyMesh, COLORS, photographMeshes } from "../drawing/photograph.ts";
import { curves } from "../drawing/plots.ts";
import type { RasterMesh } from "../drawing/raster.ts";

const K = 0.5;

const spread = (points: readonly (readonly [number, number])[]): number =>
  Math.max(...points.map(([, v]) => v)) / Math.min(...points.map(([, v]) => v));

const last = (points: readonly (readonly [number, number])[]): number => points.at(-1)![1];

async function measure(size: FigureSize, progress: Progress = () => {}) {
  const cells = size === "full" ? 20 : 10;
  const iterations = size === "full" ? [1, 2, 3, 5, 8, 12, 20, 30, 40] : [1, 5, 20, 40];
  const paces = [
    [1, 1],
    [1, 10],
    [4, 1],
    [4, 7],
    [20, 1],
  ] as const;
  const sags = paces.map(([substeps, n]) => sag({ stiffness: K }, { substeps, iterations: n }));
  const law = (GRAVITY * TICK * TICK * (1 - K)) / K;
  const soft = sag({ compliance: equalCompliance(K, 1) }, { substeps: 4, iterations: 3 });
  // a lattice point's share of the strip: the load of its edges
  const alpha = equalCompliance(K, (3 * (cells + 1)) / (300 * 0.001 * (2 / cells)));
  const line = async (
    of: (n: number) => Parameters<typeof stretchOfStrip>[0],
    substeps: number,
  ): Promise<[number, number][]> => {
    const points: [number, number][] = [];
    for (const n of iterations) points.push([n, await stretchOfStrip(of(n), { substeps, iterations: n }, cells)]);
    return points;
  };
  const naive = await line((n) => ({ stiffness: 1 - (1 - K) ** n }), 1);
  progress(0.2, "k in every iteration");
  const one = await line(() => ({ stiffness: K }), 1);
  const four = await line(() => ({ stiffness: K }), 4);
  progress(0.6, "k'");
  const softOne = await line(() => ({ compliance: alpha }), 1);
  const softFour = await line(() => ({ compliance: alpha }), 4);
  const strips: RasterMesh[] = [];
  const hung: [GeometricStiffness, number][] = [
    [{ stiffness: K }, 1],
    [{ stiffness: K }, 20],
    [{ compliance: alpha }, 20],
  ];
  for (const [n, [asked, count]] of hung.entries()) {
    await stretchOfStrip(asked, { substeps: 1, iterations: count }, cells, (lab) =>
      strips.push(
        bodyMesh(
          lab.created.bodies[0]!,
          lab.positions().map((v, k) => [v + 0.5 * n, lab.positions()[k + 1]!, 0][k % 3]!),
          { color: COLORS[n]!, edges: true },
        ),
      ),
    );
  }
  return { cells, iterations, paces, sags, law, soft, naive, one, four, softOne, softFour, strips };
}

type Measured = Awaited<ReturnType<typeof measure>>;

function textOf({ cells, iterations, paces, naive, one, four, softOne, softFour }: Measured): string {
  return `A correction multiplied by k in each of n iterations leaves (1 - k)^n of an error, so a body gets stiffer with every iteration. The thesis multiplies it by k' = 1 - (1 - k)^(1/n) instead, which leaves 1 - k for any n, and notes that the stiffness still depends on the time step. Here k refers to a step of one whole tick T = 1/60 s; each of s substeps uses k_h = k/(k + (1 - k) s^2). A constraint under a constant force f then rests at w f T^2 (1 - k)/k for every s and n: it is a spring of compliance w T^2 (1 - k)/k.

One constraint: a weight of 1 kg on a distance of 1 m, k = ${K}, in float64, until it rests, at ${paces.map(([s, n]) => `${s} x ${n}`).join(", ")} substeps x iterations. All follow that law.

Many constraints: a strip of cloth, 1 m long, 3 x ${cells + 1} particles, pinned at its upper end, under its own weight, in a room (float32 kernel), at rest after 4 s of damping 5/s. Plain k is reproduced by giving the room 1 - (1 - k)^n, whose k' is k. The strip's stretch falls with it by a factor of ${spread(naive).toFixed(0)} from 1 to ${iterations.at(-1)} iterations; with k' by ${((spread(one) - 1) * 100).toFixed(1)} % (one substep) and ${((spread(four) - 1) * 100).toFixed(1)} % (four). So k' works also if constraints share particles. But the result then depends on the substeps: four of them stretch by ${last(four).toPrecision(3)}, one by ${last(one).toPrecision(3)}, because corrections of neighbors within an iteration undo each other. With compliance the converged strip is the same for both, ${last(softOne).toPrecision(3)} and ${last(softFour).toPrecision(3)}: for a material use compliance, or a model with moduli.`;
}

const checksOf = ({ iterations, sags, law, soft, naive, one, four, softOne, softFour }: Measured): Check[] => [
  check(
    "one constraint: largest relative deviation from w f T^2 (1 - k)/k over all paces",
    Math.max(...sags.map((v) => Math.abs(v / law - 1))),
    { high: 1e-6, published: "independent of n" },
  ),
  check("one constraint, compliance w T^2 (1 - k)/k: the same", Math.abs(soft / law - 1), { high: 1e-6 }),
  check("strip, plain k: largest over smallest stretch", spread(naive), {
    low: 10,
    published: "the effect of k is non-linear",
  }),
  check("strip, k', one substep: the same", spread(one), { high: 1.1, published: "independent of n" }),
  check("strip, k', four substeps: the same", spread(four), { high: 1.1, published: "independent of n" }),
  check(`strip, compliance, ${iterations.at(-1)} iterations: four substeps over one`, last(softFour) / last(softOne), {
    low: 0.99,
    high: 1.01,
  }),
];

const plotsOf = ({ naive, one, four, softOne, softFour }: Measured): Plot[] => [
  {
    caption: `Stretch of the hanging strip, k = ${K}.`,
    spec: curves(
      { title: "iterations in a substep", log: true },
      { title: "stretch under its own weight", log: true },
      [
        { name: "k in every iteration", points: naive, style: "both" },
        { name: "k', 1 substep", points: one, style: "both" },
        { name: "k', 4 substeps", points: four, style: "both" },
        { name: "compliance, 1 substep", points: softOne, style: "dashed" },
        { name: "compliance, 4 substeps", points: softFour, style: "dashed" },
      ],
    ),
  },
];

const picturesOf = ({ strips }: Measured): Picture[] => [
  photographMeshes(strips, {
    caption: "The strips as they hang, one substep: k' with one iteration, k' with 20, compliance with 20.",
    ground: null,
    from: [0, 0, 1],
    width: 480,
    height: 420,
  }),
];

export const figure: Figure = {
  id: "pbd-stiffness",
  title: "Stiffness k' and compliance against iterations",
  source: "Rodero Gomez, section 3.2; Macklin et al. 2016 (slides 003)",
  async run(size, progress) {
    const m = await measure(size, progress);
    return { text: textOf(m), checks: checksOf(m), plots: plotsOf(m), pictures: picturesOf(m) };
  },
};
