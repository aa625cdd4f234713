/** Figure 11 of Bender et al. 2014: a soft cube crushed by a heavy ball, Saint Venant-Kirchhoff against Neo-Hookean. */
import type { IsotropicMaterial } from "../../../../shared/scene/sceneMaterials.ts";
import { elasticEnergyOf } from "../../../../server/sim/energy/elastic.ts";
import { laboratory } from "../../../physics/laboratory.ts";
import { pressCube, uniaxialEnergy, uniaxialLaw } from "../../../physics/bars/pulledBar.ts";
import {
  check,
  short,
  type Figure,
  type Picture,
  type Progress,
  type Check,
  type Plot,
  type FigureSize,
} from "../figure.ts";
import { bodyMesh, photographMeshes } from "../drawing/photograph.ts";
import { curves, type Series } from "../drawing/plots.ts";
import type { Color } from "../drawing/raster.ts";
import { ballBody, softBox } from "../../../support/bodies.ts";

/**
 * m, kg/m^3, Pa; the ball's mass in kg and the gap below it, m. No friction, so that a plate can serve as a reference.
 */
const SIDE = 0.3;
const DENSITY = 200;
const K = 3e4;
const NU = 0.3;
const RADIUS = 0.2;
const MASS = 22;
const FALL = 0.15;
const G = 9.81;
const MODELS = {
  stvk: "Saint Venant-Kirchhoff",
  "neo-hookean": "Neo-Hookean",
  "stable-neo-hookean": "stable Neo-Hookean",
} as const;
/** Colors of the cube and the ball in pictures. */
const COLORS: readonly Color[] = [
  [0.82, 0.29, 0.36],
  [0.62, 0.64, 0.67],
];
type Model = keyof typeof MODELS & IsotropicMaterial["model"];

interface Crush {
  /** Seconds, and height of the ball's lowest point above the floor. */
  height: [number, number][];
  least: number;
  /** Elastic energy of the cube at maximal compression over the energy released by gravity. */
  stored: number;
  picture: Picture;
}

/** Runs the fall until half a second after the ball has met the cube. */
async function crush(model: Model, cells: number, substeps: number): Promise<Crush> {
  const lab = await laboratory({
    gravity: [0, -G, 0],
    substeps,
    iterations: 1,
    bodies: [
      softBox("cube", [SIDE, SIDE, SIDE], [cells, cells, cells], {
        transform: { translate: [0, SIDE / 2, 0] },
        material: { model, density: DENSITY, youngsModulus: K, poissonsRatio: NU, friction: 0 },
      }),
      ballBody("ball", RADIUS, {
        transform: { translate: [0, SIDE + FALL + RADIUS, 0] },
        material: { density: MASS / ((4 / 3) * Math.PI * RADIUS ** 3), friction: 0 },
      }),
    ],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0 }],
  });
  const { bodies } = lab.created;
  const positions = (): Float64Array[] => bodies.map((_, b) => lab.positions(b));
  const start = positions();
  const height: [number, number][] = [[0, bottom(start)]];
  let lowest = start;
  let at = 0;
  for (let tick = 1; tick <= 45; tick++) {
    const events = lab.run(1);
    const now = positions();
    if (events.length > 0) throw new Error(`${model}: the cube was held: ${JSON.stringify(events)}`);
    height.push([tick / 60, bottom(now)]);
    if (bottom(now) >= bottom(lowest)) continue;
    lowest = now;
    at = tick;
  }
  const potential = (x: readonly Float64Array[]): number =>
    bodies.reduce((sum, { mass }, b) => sum + mass.reduce((s, m, i) => s + m * G * x[b]![3 * i + 1]!, 0), 0);
  const least = bottom(lowest);
  const meshes = bodies.map((body, b) => bodyMesh(body, lowest[b]!, { color: COLORS[b]!, edges: b === 0 }));
  return {
    height,
    least,
    stored: elasticEnergyOf(bodies[0]!, lowest[0]!) / (potential(start) - potential(lowest)),
    picture: photographMeshes(meshes, {
      caption: `${MODELS[model]}, ${(at / 60).toFixed(2)} s: compressed to ${(1000 * least).toFixed(0)} of ${1000 * SIDE} mm.`,
      ground: 0,
      camera: { position: [0.75, 0.5, 1.5], target: [0, 0.27, 0], fov: 30 },
      width: 320,
      height: 320,
    }),
  };
}

/** Lowest point of the ball, m: its vertices and its center are symmetric about the center. */
const bottom = ([, ball]: readonly Float64Array[]): number =>
  ball!.reduce((sum, value, k) => sum + (k % 3 === 1 ? value : 0), 0) / (ball!.length / 3) - RADIUS;

/**
 * Stretch at which a falling plate with the ball's mass comes to rest on a cube without mass: SIDE^3 W(s) = MASS G
 * (FALL + SIDE (1 - s)).
 */
function plate(model: Model): number {
  let low = 0.35;
  let high = 1;
  for (let i = 0; i < 60; i++) {
    const s = (low + high) / 2;
    if (SIDE ** 3 * uniaxialEnergy(model, K, NU, s) > MASS * G * (FALL + SIDE * (1 - s))) low = s;
    else high = s;
  }
  return low;
}

/** Stretch under the nominal stress P > 0, Pa, above the turning point of the Saint Venant-Kirchhoff law. */
function under(model: Model, P: number): number {
  let low = 1 / Math.sqrt(3);
  let high = 1;
  for (let i = 0; i < 60; i++) {
    const s = (low + high) / 2;
    if (-uniaxialLaw(model, K, NU, s).P > P) low = s;
    else high = s;
  }
  return low;
}

async function measure(size: FigureSize, progress: Progress = () => {}) {
  const full = size === "full";
  const cells = full ? 8 : 4;
  const substeps = full ? 40 : 20;
  const models = Object.keys(MODELS) as Model[];
  const runs = new Map<Model, Crush>();
  const plates = new Map(models.map((model) => [model, SIDE * plate(model)]));
  for (const [n, model] of models.entries()) {
    progress(n / 6, MODELS[model]);
    runs.set(model, await crush(model, cells, substeps));
  }
  const weight = (MASS * G) / (SIDE * SIDE);
  const law: Series[] = [];
  const pressed: Series[] = [];
  const errors: number[] = [];
  const resting: string[] = [];
  for (const [n, model] of models.entries()) {
    progress(0.5 + n / 6, `pressed, ${MODELS[model]}`);
    const s = under(model, weight);
    const points: [number, number][] = [];
    for (const stretch of full ? [0.95, s, 0.8, 0.7, ...(model === "stvk" ? [] : [0.6])] : [s]) {
      const { s: at } = await pressCube({
        k: K,
        nu: NU,
        tickHz: 60,
        substeps: 80,
        iterations: model === "stvk" ? 2 : 4,
        s: stretch,
        model,
        cells: [1, 1, 1],
      });
      points.push([at, -uniaxialLaw(model, K, NU, stretch).P / K]);
      errors.push(Math.abs(at / stretch - 1));
    }
    resting.push(`${MODELS[model]} ${short(s)}`);
    pressed.push({ name: `${MODELS[model]}, measured`, points, style: "points" });
    law.push({
      name: MODELS[model],
      points: Array.from({ length: 61 }, (_, i): [number, number] => [
        0.4 + i / 100,
        -uniaxialLaw(model, K, NU, 0.4 + i / 100).P / K,
      ]).filter(([, P]) => P < 0.8),
    });
  }
  const stvk = runs.get("stvk")!;
  const margins = (["neo-hookean", "stable-neo-hookean"] as const).map((model) => ({
    model,
    ratio: runs.get(model)!.least / stvk.least,
    plates: plates.get(model)! / plates.get("stvk")!,
  }));
  return { cells, substeps, models, runs, plates, weight, law, pressed, errors, resting, margins };
}

type Measured = Awaited<ReturnType<typeof measure>>;

function textOf({ cells, substeps, models, plates, weight, resting, margins }: Measured): string {
  return `A ball of ${MASS} kg (radius ${RADIUS} m) falls ${FALL} m onto a cube of ${SIDE} m (${cells} x ${cells} x ${cells} cells of five tetrahedra, ${DENSITY} kg/m^3, k = ${K} Pa, nu = ${NU}) that stands on a floor; there is no friction. All models have the same parameters, ${substeps} substeps of one iteration at 60 Hz. The pictures show the point of maximal compression, as the paper's do.

How large must the difference be? A flat plate in place of the ball has an exact solution: it compresses the cube evenly and comes to rest where the energy SIDE^3 W(s) of the uniaxial law equals the energy released by the fall. (Saint Venant-Kirchhoff: W = k/8 (s^2 - 1)^2, continued below 58 % of the length by its tangents as in figure fig2.) ${models.map((model) => `${MODELS[model]}: ${(1000 * plates.get(model)!).toFixed(0)} mm`).join(", ")}. Two things follow for the ball:

- it comes **lower than the plate**, in every model: the evenly compressed cube is one of the shapes that the ball allows, and the actual shape has less energy; the cube's own weight helps.
- Neo-Hookean cubes keep more of their height than Saint Venant-Kirchhoff ones, **at least by the ratio of the plates** (${margins.map(({ plates: ratio }) => short(ratio)).join(" and ")}): material under the ball is compressed more than elsewhere, and there the laws differ most.

By then the energy released by gravity must be in the cube. Little is moving, and the impact takes little because the ball first meets a light layer (the top cells have 1/${cells} of a quarter of the ball's mass). Limits: 10 % too little, for impact, motion and time step; 2 % too much, because a single iteration leaves quickly crushed elements a little too stiff or too soft.

Pressed evenly by the ball's weight alone, ${short(weight / K)} k, the cubes hardly differ (${resting.join(", ")}): the paper's difference appears only under strong compression. These cubes at rest must lie within 1 % of their laws.`;
}

const checksOf = ({ models, runs, plates, errors, margins }: Measured): Check[] => [
  ...margins.map(({ model, ratio, plates: least }) =>
    check(`${MODELS[model]}: remaining height under the ball over that of Saint Venant-Kirchhoff`, ratio, {
      low: least,
      published: "better resists a strong compression",
    }),
  ),
  ...models.map((model) =>
    check(
      `${MODELS[model]}: remaining height under the ball over that under the plate`,
      runs.get(model)!.least / plates.get(model)!,
      { low: 0, high: 1 },
    ),
  ),
  ...models.map((model) =>
    check(`${MODELS[model]}: elastic energy then, over the energy released by gravity`, runs.get(model)!.stored, {
      low: 0.9,
      high: 1.02,
    }),
  ),
  check("pressed evenly: largest relative error of a stretch against its model's law", Math.max(...errors), {
    high: 0.01,
  }),
];

const plotsOf = ({ models, runs, plates, law, pressed }: Measured): Plot[] => [
  {
    caption:
      "Height of the ball's lowest point above the floor: the remaining height of the cube. The rules show where a falling plate comes to rest.",
    spec: curves(
      { title: "time, s", zero: true },
      { title: "height, m", zero: true },
      models.map((model) => ({ name: MODELS[model], points: runs.get(model)!.height })),
      models.slice(0, 2).map((model) => ({ y: plates.get(model)!, label: `plate, ${MODELS[model]}` })),
    ),
  },
  {
    caption:
      "Pressed evenly: stress against stretch, laws and cubes at rest. The printed Saint Venant-Kirchhoff law turns at 58 % of the length.",
    spec: curves(
      { title: "stretch s" },
      { title: "-P/k", zero: true },
      [...law, ...pressed],
      [{ x: 1 / Math.sqrt(3), label: "1/sqrt 3" }],
    ),
  },
  {
    caption:
      "A falling plate: energy stored at stretch s, and energy released by then. It comes to rest where the curves meet.",
    spec: curves({ title: "stretch s" }, { title: "energy, J", zero: true }, [
      ...models.map(
        (model): Series => ({
          name: `stored, ${MODELS[model]}`,
          points: Array.from({ length: 64 }, (_, i): [number, number] => [
            0.36 + i / 100,
            SIDE ** 3 * uniaxialEnergy(model, K, NU, 0.36 + i / 100),
          ]).filter(([, J]) => J < 120),
        }),
      ),
      {
        name: "released",
        points: [
          [0.36, MASS * G * (FALL + 0.64 * SIDE)],
          [1, MASS * G * FALL],
        ],
        style: "dashed",
      },
    ]),
  },
];

const picturesOf = ({ models, runs }: Measured): Picture[] => models.map((model) => runs.get(model)!.picture);

export const figure: Figure = {
  id: "fig11",
  title: "A cube under a heavy ball: Saint Venant-Kirchhoff against Neo-Hookean",
  source: "Bender et al. 2014, figure 11",
  async run(size, progress) {
    const m = await measure(size, progress);
    return { text: textOf(m), checks: checksOf(m), plots: plotsOf(m), pictures: picturesOf(m) };
  },
};
