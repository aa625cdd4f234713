/** Boxes that begin exactly on a floor: how far friction lets them slide, and on which slopes it holds them. */
import type { Body } from "../../../shared/scene.ts";
import { laboratory, type Laboratory } from "../../physics/laboratory.ts";
import { check, type Figure, type Progress } from "./figure.ts";
import { curves, type Series } from "./plots.ts";

const G = 9.81;
const LIMIT = 0.01;
const HEIGHT = 0.1;
const KINDS: Record<string, object> = {
  rigid: { model: "shape-matching", mode: "rigid", density: 500 },
  "1e5 Pa": { density: 500, youngsModulus: 1e5, poissonsRatio: 0.3 },
  "1e7 Pa": { density: 500, youngsModulus: 1e7, poissonsRatio: 0.3 },
};

/** A plate on a floor whose friction is mu, which touches it at the start, at default settings but for `substeps`. */
async function plate(kind: string, mu: number, substeps?: number): Promise<Laboratory> {
  const body = {
    name: "plate",
    kind: "soft",
    mesh: { type: "box", size: [0.4, HEIGHT, 0.4], cells: [4, 1, 4] },
    transform: { translate: [0, HEIGHT / 2, 0] },
    material: { ...KINDS[kind], friction: mu },
  } as Body;
  return laboratory({
    refine: true,
    gravity: [0, -G, 0],
    ...(substeps && { substeps }),
    bodies: [body],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: mu }],
  });
}

function middle(lab: Laboratory): number {
  const x = lab.positions().filter((_, k) => k % 3 === 0);
  return x.reduce((sum, c) => sum + c, 0) / x.length;
}

/** @returns way of a plate that begins with `speed`, m, over v^2/(2 mu g) */
async function slide(kind: string, mu: number, speed: number, substeps?: number): Promise<number> {
  const lab = await plate(kind, mu, substeps);
  lab.put(
    0,
    (x) => x,
    () => [speed, 0, 0],
  );
  const from = middle(lab);
  lab.run(Math.ceil(60 * (speed / (mu * G) + 0.5)));
  return (middle(lab) - from) / (speed ** 2 / (2 * mu * G));
}

export const figure: Figure = {
  id: "sliding",
  title: "What slides stops where Coulomb's law says, from exactly where it lies",
  source: "beyond the paper; Coulomb's law",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const checks = [];
    const series: Series[] = [];
    const speeds = full ? [0.5, 1, 2, 4] : [2];
    const frictions = full ? [0.1, 0.2, 0.5] : [0.2];
    for (const [n, kind] of Object.keys(KINDS).entries()) {
      for (const mu of frictions) {
        const points: [number, number][] = [];
        for (const speed of speeds) {
          progress(n / 3, `${kind}, mu = ${mu}, ${speed} m/s`);
          const way = await slide(kind, mu, speed);
          points.push([speed, way]);
          checks.push(
            check(`${kind}, mu = ${mu}, ${speed} m/s: way over v^2/(2 mu g)`, way, {
              low: 1 - LIMIT,
              high: 1 + LIMIT,
              basis: "target",
            }),
          );
        }
        series.push({ name: `${kind}, mu = ${mu}`, points, style: "both" });
      }
      if (full)
        series.push({ name: `${kind}, mu = 0.2, 80 substeps`, points: [[2, await slide(kind, 0.2, 2, 80)]], style: "points" });
    }
    return {
      text: `A plate of 0.4 x ${HEIGHT} x 0.4 m (500 kg/m^3) begins with its lower face exactly in the plane of the floor, where a scene's author puts it, and with a speed along it. It is compared with v^2/(2 mu g), the way on which friction takes all of its energy. Everything else is at default settings. Contact keeps a gap of some millimeters; a body that begins within it is lifted slowly and without a velocity, so that friction does not act on a push that no weight makes.`,
      checks,
      plots: [
        {
          caption: "Way over Coulomb's, by speed.",
          spec: curves({ title: "speed, m/s", zero: true }, { title: "way / (v^2/(2 mu g))", domain: [0.97, 1.03] }, series, [
            { y: 1 - LIMIT, label: "1 % less" },
            { y: 1 + LIMIT, label: "1 % more" },
          ]),
        },
      ],
      pictures: [],
    };
  },
};
