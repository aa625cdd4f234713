/** Energy of a dropped jelly: the energy ledger (server/sim/energy) as a plot, compared with physical laws. */
import { FLOWS, type EnergyLedger, type Flow } from "../../../../server/sim/energy/ledger.ts";
import type { Scene } from "../../../../shared/scene/scene.ts";
import type { Laboratory } from "../../../physics/laboratory.ts";
import { pendulum, sum, watched, worst } from "../../../physics/laws/watched.ts";
import { check, type Figure, type Picture, type Plot } from "../figure.ts";
import { photograph } from "../drawing/photograph.ts";
import { curves, stacked } from "../drawing/plots.ts";

const SIZE = 0.3;
const HEIGHT = 0.5;

function dropped(cells: number, substeps: number, iterations: number): Partial<Scene> & Pick<Scene, "bodies"> {
  return {
    gravity: [0, -9.81, 0],
    substeps,
    iterations,
    damping: 0.5,
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.4 }],
    bodies: [
      {
        name: "jelly",
        kind: "soft",
        mesh: { type: "box", size: [SIZE, SIZE, SIZE], cells: [cells, cells, cells] },
        transform: { rotate: [25, 0, 15], translate: [0, HEIGHT + SIZE / 2, 0] },
        velocity: [1, 0, 0],
        material: { density: 1000, youngsModulus: 3e4, poissonsRatio: 0.4 },
      },
    ],
  };
}

/** Flows to which a falling body can lose energy. */
const LOSSES: readonly Flow[] = ["damping", "colliders", "momentum", "solver"];
const HELD = ["elastic", "kinetic", "gravity"] as const;

interface Drop {
  lab: Laboratory;
  books: EnergyLedger;
  /** Energy above that of its final position, J. */
  fallen: number;
  pictures: Picture[];
}

async function drop(
  cells: number,
  substeps: number,
  iterations: number,
  seconds: number,
  moments: readonly number[] = [],
): Promise<Drop> {
  const { lab, books, run } = await watched(dropped(cells, substeps, iterations));
  const pictures: Picture[] = [];
  for (let t = 0; t < 60 * seconds; t++) {
    if (moments.includes(t))
      pictures.push(
        photograph(lab, {
          caption: `The jelly after ${(t / 60).toFixed(2)} s.`,
          edges: true,
          ground: 0,
          width: 320,
          height: 300,
        }),
      );
    run(1);
  }
  const last = books.entries.at(-1)!.bodies[0]!;
  const first = books.entries[0]!.bodies[0]!;
  return { lab, books, fallen: first.gravity + first.kinetic - last.gravity, pictures };
}

/** The areas add up to the initial energy; zero is the gravity of its lowest moment. */
function plotOf({ books }: Drop, what: string): Plot {
  const ground = Math.min(...books.entries.map((e) => e.bodies[0]!.gravity));
  const all = books.entries[0]!.bodies[0]!.total - ground;
  const lost = Object.fromEntries(LOSSES.map((f) => [f, 0])) as Record<Flow, number>;
  const points = books.entries.map(({ tick, bodies: [b] }) => {
    for (const f of LOSSES) lost[f] -= b!.flows[f];
    return {
      x: tick / 60,
      values: [...HELD.map((h) => b![h] - (h === "gravity" ? ground : 0)), ...LOSSES.map((f) => lost[f])],
    };
  });
  const names = [
    ...HELD,
    ...LOSSES.map(
      (f) =>
        `lost to ${f === "colliders" ? "floor and friction" : f === "solver" ? "time step and solver" : f === "momentum" ? "momentum stage" : f}`,
    ),
  ];
  return {
    caption: `Energy of the dropped jelly, ${what}. The areas add up to its initial ${all.toFixed(1)} J above its lowest moment.`,
    spec: stacked({ title: "time, s" }, { title: "energy, J", zero: true }, names, points),
  };
}

export const figure: Figure = {
  id: "energy",
  title: "Where the energy of a fall goes",
  source: "beyond the papers: energy and momentum accounting",
  async run(size) {
    const full = size === "full";
    const cells = full ? 6 : 3;
    const seconds = full ? 4 : 2;
    const coarse = await drop(cells, 20, 1, seconds, full ? [0, 22, 30, 60] : []);
    const finest = full ? 80 : 40;
    const fine = await drop(cells, finest, 1, seconds);
    const few = full ? await drop(cells, 4, 5, seconds) : undefined;
    const solver = (d: Drop): number => -sum(d.books, "solver") / d.fallen;
    const swings = [await pendulum(20), await pendulum(40)];
    const exact = (of: "damping" | "attachments"): number => 2 * swings[1]![of] - swings[0]![of];
    const sumOf = (d: Drop): number => {
      const first = d.books.entries[0]!.bodies[0]!;
      const last = d.books.entries.at(-1)!.bodies[0]!;
      return (last.total - first.total - FLOWS.reduce((s, f) => s + sum(d.books, f), 0)) / d.fallen;
    };
    const runs = [
      { drop: few, rate: 240, name: "240 x 5" },
      { drop: coarse, rate: 1200, name: "1200 x 1 (default)" },
      { drop: fine, rate: 60 * finest, name: `${60 * finest} x 1` },
    ].filter((r) => r.drop) as { drop: Drop; rate: number; name: string }[];
    return {
      text: `A cube of jelly of ${SIZE} m (1000 kg/m3, k = 3e4 Pa, nu = 0.4, damping 0.5 1/s) is thrown at 1 m/s from ${HEIGHT} m above a floor with friction 0.4, bounces, wobbles and comes to rest. The headless run keeps an energy ledger (\`npm run simulate -- scene.json --ticks 240 --energy out.csv\`): float64, from the float32 state between the kernel's phases. Every phase gives particles impulses. The work of an impulse is its product with the mean velocity of the substep, and the sum of all works is exactly the change of kinetic energy. The difference between work and stored energy is not the work of any force: it is the loss by the time step (implicit Euler damps motion in proportion to its length) and the error of unconverged iterations.

The ledger must balance to rounding in every tick, which it can only if it sees every change of a velocity. And it must be right. A damped pendulum (a rigid box on two attachments) loses the integral of d m v^2 to damping, which a separate integration of the pendulum's equation gives, and nothing to its hinge. Both errors are of first order in the step, so the limit is extrapolated from two steps. The loss of the pendulum to the time step must halve with the step, because it swings in a single mode.

The fall is harder: its impact excites modes of every frequency. A time step damps each in proportion to its frequency squared, and modes too fast for the step lose their energy at once. So the loss to time step and solver shrinks with the step, but slowly. At the default rate this is energy that the jelly would otherwise lose to damping and friction while it wobbles: it looks calmer than it should.`,
      checks: [
        ...runs.map(({ drop: d, name }) =>
          check(`${name}: largest unexplained part of a tick's energy`, worst(d.books), {
            high: 1e-12,
            basis: "float64",
          }),
        ),
        check("default: sum of all flows of the run against the change of energy, relative", Math.abs(sumOf(coarse)), {
          high: 1e-12,
          basis: "float64",
        }),
        check("pendulum: loss to damping over the exact one, extrapolated to a short step", exact("damping"), {
          low: 0.99,
          high: 1.01,
          basis: "second order in the step",
        }),
        check("pendulum: work of the hinge over the loss to damping, extrapolated", exact("attachments"), {
          low: -0.01,
          high: 0.01,
        }),
        check(
          "pendulum: loss to the time step with 2400 substeps a second over that with 1200",
          swings[1]!.solver / swings[0]!.solver,
          { low: 0.4, high: 0.6, basis: "first order: 0.5" },
        ),
        check(
          `fall: loss to time step and solver with ${60 * finest} substeps a second over that with 1200`,
          solver(fine) / solver(coarse),
          { low: 0, high: 1, basis: "shrinks with the step" },
        ),
      ],
      plots: [
        ...runs.map(({ drop: d, name }) => plotOf(d, name)),
        {
          caption: "Final shares of the fall's energy, against substeps per second.",
          spec: curves(
            { title: "substeps per second", log: true },
            { title: "share of the lost energy", zero: true },
            LOSSES.map((f) => ({
              name: f,
              points: runs.map(({ drop: d, rate }) => [rate, -sum(d.books, f) / d.fallen] as [number, number]),
              style: "both" as const,
            })),
          ),
        },
      ],
      pictures: coarse.pictures,
    };
  },
};
