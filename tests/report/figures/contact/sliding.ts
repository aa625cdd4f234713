/** Plates that begin exactly on a floor, or land on it: the distance until friction stops them. */
import type { Body } from "../../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../../../physics/laboratory.ts";
import { middle } from "../../../physics/measures.ts";
import { bookCheck } from "../books.ts";
import { check, type Check, type Figure, type Progress } from "../figure.ts";
import { curves, type Series } from "../drawing/plots.ts";

const G = 9.81;
const LIMIT = 0.01;
const HEIGHT = 0.1;
/** Higher than any contact gap, m. */
const DROP = 0.01;
/** Step of a stiff body, s. */
const STEP = 1 / 240;
/**
 * Limit for a landing, whose time is known to two steps: the travel of a plate of 2 m/s in them, relative to its meter.
 */
const LANDING = LIMIT + 2 * 2 * STEP;
const KINDS: Record<string, object> = {
  rigid: { model: "shape-matching", mode: "rigid", density: 500 },
  "1e5 Pa": { density: 500, youngsModulus: 1e5, poissonsRatio: 0.3 },
  "1e7 Pa": { density: 500, youngsModulus: 1e7, poissonsRatio: 0.3 },
};

/**
 * A plate on a floor with friction mu, at default settings except for `substeps`. @param above height over the floor, m
 */
async function plate(kind: string, mu: number, above: number, substeps?: number): Promise<Laboratory> {
  const body = {
    name: "plate",
    kind: "soft",
    mesh: { type: "box", size: [0.4, HEIGHT, 0.4], cells: [4, 1, 4] },
    transform: { translate: [0, HEIGHT / 2 + above, 0] },
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

/**
 * Coulomb's sliding distance, m, of a body that starts with `speed` on the floor.
 * @param fall m; above 0: it falls on the floor first, and the impact brakes it, too
 */
function coulomb(mu: number, speed: number, fall: number): number {
  const seconds = Math.sqrt((2 * fall) / G);
  return speed * seconds + (speed - mu * G * seconds) ** 2 / (2 * mu * G);
}

/**
 * Additional loss of a stiff body, m. While it rises into its gap, half a second at most, its four steps a tick are
 * Euler steps, whose distances lack mu g h/2 a second.
 */
const risingLoss = (mu: number, speed: number): number => (mu * G * STEP * Math.min(0.5, speed / (mu * G))) / 2;

/** @returns sliding distance of a plate that starts with `speed`, over Coulomb's */
async function slide(kind: string, mu: number, speed: number, above = 0, substeps?: number): Promise<number> {
  const lab = await plate(kind, mu, above, substeps);
  lab.put(
    0,
    (x) => x,
    () => [speed, 0, 0],
  );
  const from = middle(lab.positions())[0];
  lab.run(Math.ceil(60 * (speed / (mu * G) + 0.5)));
  const gap = above > 0 ? new Float32Array(lab.created.memory.buffer, lab.created.layout.xPrev)[3]! : 0;
  return (middle(lab.positions())[0] - from) / coulomb(mu, speed, Math.max(0, above - gap));
}

/** Energy check of a plate dropped while it slides, 2 s. */
async function booked(kind: string): Promise<Check> {
  const lab = await plate(kind, 0.2, DROP);
  lab.put(
    0,
    (x) => x,
    () => [2, 0, 0],
  );
  return bookCheck(`${kind}, mu = 0.2, 2 m/s, dropped`, lab, 120);
}

export const figure: Figure = {
  id: "sliding",
  title: "A sliding plate stops where Coulomb's law says",
  source: "beyond the paper; Coulomb's law",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const checks: Check[] = [];
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
          const loss = kind === "rigid" ? 0 : risingLoss(mu, speed) / coulomb(mu, speed, 0);
          checks.push(
            check(`${kind}, mu = ${mu}, ${speed} m/s: distance over v^2/(2 mu g)`, way, {
              low: 1 - LIMIT - loss,
              high: 1 + LIMIT,
              basis: loss > LIMIT ? "target, plus the loss of Euler steps" : "target",
            }),
          );
        }
        series.push({ name: `${kind}, mu = ${mu}`, points, style: "both" });
      }
      checks.push(
        check(
          `${kind}, mu = 0.2, 2 m/s, dropped from ${1000 * DROP} mm: distance over Coulomb's`,
          await slide(kind, 0.2, 2, DROP),
          { low: 1 - LANDING, high: 1 + LANDING, basis: "target, plus the travel of two steps" },
        ),
      );
      if (full) {
        const points: [number, number][] = [[2, await slide(kind, 0.2, 2, 0, 80)]];
        series.push({ name: `${kind}, mu = 0.2, 80 substeps`, points, style: "points" });
      }
    }
    if (full) for (const kind of Object.keys(KINDS)) checks.push(await booked(kind));
    return {
      text: `A plate of 0.4 x ${HEIGHT} x 0.4 m (500 kg/m^3) begins with its lower face exactly in the plane of the floor, where a scene's author puts it, and with a speed along it. Its sliding distance is compared with v^2/(2 mu g), at which friction has taken all of its energy. All other settings are defaults. Contact keeps a gap of some millimeters. A body that begins within it is lifted slowly and gains no velocity, so friction does not act on a push that no weight causes. While a stiff body is lifted, its four steps a tick are Euler steps, whose distances lack mu g h/2 a second; the limit allows for that. A plate that is dropped from ${1000 * DROP} mm lands first: its fall's momentum brakes it, too, and friction begins at once.`,
      checks,
      plots: [
        {
          caption: "Sliding distance over Coulomb's, by speed.",
          spec: curves(
            { title: "speed, m/s", zero: true },
            { title: "distance / (v^2/(2 mu g))", domain: [0.97, 1.03] },
            series,
            [
              { y: 1 - LIMIT, label: "1 % less" },
              { y: 1 + LIMIT, label: "1 % more" },
            ],
          ),
        },
      ],
      pictures: [],
    };
  },
};
