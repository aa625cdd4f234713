/** Undisturbed motion continues: a slow drift, a fall far from the origin, and swings without damping for an hour. */
import type { Body, Scene } from "../../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../../../physics/laboratory.ts";
import { middle } from "../../../physics/measures.ts";
import { bookCheck } from "../books.ts";
import { check, type Figure, type Progress } from "../figure.ts";
import { curves, type Series } from "../drawing/plots.ts";
import { softBox } from "../../../support/bodies.ts";

const G = 9.81;
/** Relative error of a drift, and of a fall at 300 m, where float32 resolves 0.03 mm. */
const LIMIT = 1e-4;
/** Relative excess of a swing's energy over its first value: its greatest speed is sampled at 60 ticks a second. */
const MORE = 1e-3;

type Room = Partial<Scene> & Pick<Scene, "bodies">;

const cube = (at: number, size: number, youngsModulus: number): Body =>
  softBox("cube", [size, size, size], [3, 3, 3], {
    transform: { translate: [at, at, -at] },
    material: { density: 1000, youngsModulus, poissonsRatio: 0.3 },
  });

/** Two undamped bodies that bend or turn by some degrees. */
const SWINGS: Record<string, { room: Room; velocity: (x: readonly number[]) => [number, number, number] }> = {
  "a pendulum of 1e6 Pa, 0.6 Hz": {
    room: {
      gravity: [0, -G, 0],
      bodies: [
        softBox("bob", [0.2, 1, 0.2], [2, 5, 2], {
          transform: { translate: [0, 2, 0] },
          material: { density: 500, youngsModulus: 1e6, poissonsRatio: 0.3 },
        }),
      ],
      attachments: [{ from: { body: "bob", near: [0, 2.5, 0] }, to: { world: [0, 2.5, 0] } }],
    },
    velocity: (x) => [0.4 * (2.5 - x[1]!), 0, 0],
  },
  "a clamped beam of 1e7 Pa, 2 Hz": {
    room: {
      bodies: [
        softBox("beam", [1, 0.1, 0.1], [8, 1, 1], {
          transform: { translate: [0.5, 0, 0] },
          material: { density: 1000, youngsModulus: 1e7, poissonsRatio: 0.3 },
          pins: [{ select: { box: { min: [-1, -1, -1], max: [1e-3, 1, 1] } } }],
        }),
      ],
    },
    velocity: (x) => [0, 0.5 * x[0]! ** 2, 0],
  },
};

const begin = (room: Room): Promise<Laboratory> => laboratory({ gravity: [0, 0, 0], refine: true, ...room });

const mean = (values: Float64Array, r: number): number => middle(values)[r]!;

/** @returns distance of a cube that drifts at 2 cm/s, over v t */
async function drift(seconds: number): Promise<number> {
  const lab = await begin({ bodies: [cube(0, 1, 2e4)] });
  lab.world.mayRest = true;
  lab.put(
    0,
    (x) => x,
    () => [0.02, 0, 0],
  );
  const from = mean(lab.positions(), 0);
  lab.run(60 * seconds);
  return (mean(lab.positions(), 0) - from) / (0.02 * seconds);
}

/** @returns distance of a cube that falls for 3 s, 300 m from the origin, over g t^2/2 */
async function fall(): Promise<number> {
  const lab = await begin({
    gravity: [0, -G, 0],
    worldRadius: 1e4,
    bodies: [cube(300, 1, 2e4), { ...cube(-300, 0.1, 1e6), name: "anchor" }],
  });
  const from = mean(lab.positions(), 1);
  lab.run(180);
  return (from - mean(lab.positions(), 1)) / ((G * 9) / 2);
}

/** @returns [s, greatest kinetic energy of a part over that of the first], for `parts` equal parts of `seconds` */
async function swing(name: string, seconds: number, parts: number): Promise<[number, number][]> {
  const { room, velocity } = SWINGS[name]!;
  const lab = await begin(room);
  lab.put(0, (x) => x, velocity);
  const { mass } = lab.created.bodies[0]!;
  const most: number[] = [];
  for (let part = 0; part < parts; part++) {
    let greatest = 0;
    for (let tick = 0; tick < (60 * seconds) / parts; tick++) {
      lab.run(1);
      greatest = Math.max(
        greatest,
        lab.velocities().reduce((sum, c, k) => sum + mass[Math.floor(k / 3)]! * c * c, 0),
      );
    }
    most.push(greatest);
  }
  // the first part ends when the initial stretching by its weight has decayed
  return most.slice(1).map((energy, part) => [((part + 2) * seconds) / parts, energy / most[1]!]);
}

export const figure: Figure = {
  id: "drift",
  title: "Undisturbed motion continues, for an hour",
  source: "beyond the paper; Newton's first law",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const [seconds, parts] = full ? [3600, 60] : [60, 6];
    const checks = [];
    progress(0, "a slow drift");
    for (const [what, value] of [
      ["a cube that drifts at 2 cm/s: distance over v t", await drift(full ? 60 : 10)],
      ["a cube that falls 44 m, 300 m from the origin: distance over g t^2/2", await fall()],
    ] as const)
      checks.push(check(what, value, { low: 1 - LIMIT, high: 1 + LIMIT, basis: "float32" }));
    const series: Series[] = [];
    for (const [n, name] of Object.keys(SWINGS).entries()) {
      progress(0.1 + 0.45 * n, name);
      const points = await swing(name, seconds, parts);
      series.push({ name, points });
      checks.push(
        check(
          `${name}: greatest kinetic energy in ${seconds} s over that of the beginning`,
          Math.max(...points.map(([, e]) => e)),
          { high: 1 + MORE, basis: "no energy is added" },
        ),
      );
    }
    if (full)
      for (const [name, { room, velocity }] of Object.entries(SWINGS)) {
        const lab = await begin(room);
        lab.put(0, (x) => x, velocity);
        checks.push(bookCheck(`${name}, 10 s`, lab, 600));
      }
    return {
      text: `At default settings, with sleep enabled although nothing should fall asleep: a cube that drifts at 2 cm/s without gravity, below the calming speed of most rooms, and one that falls at 300 m from the origin, where float32 resolves 0.03 mm. Then two bodies swing without damping for ${full ? "an hour" : "a minute"}: a pendulum on an attachment under gravity, and a clamped beam. \`solver: "auto"\` integrates both implicitly. Neither rounding nor solver nor time step may add energy; the plot shows the loss by the time step.`,
      checks,
      plots: [
        {
          caption: "Greatest kinetic energy of each part of the time, over that of the beginning.",
          spec: curves({ title: "time, s", zero: true }, { title: "energy over the first" }, series, [
            { y: 1, label: "nothing lost" },
          ]),
        },
      ],
      pictures: [],
    };
  },
};
