/** Lennard-Jones particles: the lattice at rest, what a swinging cluster keeps, and where a crystal melts. */
import { CRYSTALS, latticeConstant, parted, stepErrors, swing } from "../../physics/methods/pairKit.ts";
import { check, short, type Figure, type Progress } from "./figure.ts";
import { curves } from "./plots.ts";

/** 1/256 of the coarsest error is the reference's own. */
const ORDER = Math.log2((1 - 1 / 256) / (1 / 4 - 1 / 256));

export const figure: Figure = {
  id: "lennard-jones",
  title: "Loosely coupled particles",
  source:
    "Physically Based Deformable Models, loosely coupled particle systems; Lennard-Jones 1924. Thermostat: Groot and Warren 1997",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const checks = [];
    for (const [arrangement, exponents] of CRYSTALS) {
      const constant = await latticeConstant(arrangement, exponents);
      checks.push(
        check(
          `${arrangement}, exponents ${exponents.join(" and ")}: lattice constant over the lattice sum's, less 1`,
          Math.abs(constant - 1),
          { high: 1e-6, basis: "target" },
        ),
      );
    }
    progress(0.1, "a cluster that swings");
    const steps = full ? 100_000 : 4_000;
    const { energies, momentum, moved } = await swing(steps, full ? 100 : 10);
    const errors = await stepErrors();
    const order = Math.log2(errors[0]![1] / errors[1]![1]);
    checks.push(
      check(`largest change of the energy in ${steps} steps`, Math.max(...energies.map(([, e]) => Math.abs(e))), {
        high: 1e-4,
        basis: "target",
      }),
      check("change of the momentum, in the sum of the points'", momentum, { high: 1e-12, basis: "target, float64" }),
      check("farthest that a point has moved: it swings", moved, { unit: "m", low: 0.01 }),
      check("order in the step", order, { low: ORDER - 0.05, high: ORDER + 0.05, basis: "2, and the reference's own" }),
    );
    const melts = [];
    const temperatures = full ? [0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9] : [0.02, 0.9];
    for (const [n, temperature] of temperatures.entries()) {
      progress(0.5 + n / 2 / temperatures.length, `temperature ${temperature}`);
      melts.push({ temperature, ...(await parted(temperature)) });
    }
    checks.push(
      check("cold (0.02): share of neighbors that stayed", melts[0]!.kept, { low: 1 }),
      check("hot (0.9): share of neighbors that stayed", melts.at(-1)!.kept, { high: 0.6, basis: "words: it melts" }),
    );
    return {
      text: `Points that each pair draws together from afar and pushes apart up close,

  phi(d) = -e/(m - n) (m (d0/d)^n - n (d0/d)^m)

cut off at 2.2 spacings and shifted so that energy and force end there at 0. Spacing 0.1 m, e = 1 J/kg.

**Lattice.** d0 is chosen so that the lattice which a body begins as is at rest in its middle. The reference sums the same pairs over the shells of an endless lattice, counted without the code, and finds the spacing of least energy by golden section. Blocks have faces, whose points lack neighbors: there the crystal relaxes by more than this.

**Swinging.** A free crystal of 32 points, speeds at random up to 0.3 m/s in each direction, ${steps} steps of 0.5 ms, one force each (position Verlet). Energies are means over 100 steps: Verlet keeps an energy that differs from the true one by the square of the step, about which the true one swings. The momentum is kept by Newton's third law, pair by pair; what changes is rounding.

**Order.** The same at up to 0.1 m/s for 20 ms in steps of 1/1200 s and a half and a quarter of that, against steps of a sixteenth: measured ${short(order)}, ${short(ORDER)} where the error goes with the square of the step.

**Melting.** Crystals of 108 points are held at temperatures, k T over e, by a thermostat of pairs for 3.3 s. Cold ones keep all neighbors within 1.4 spacings; nine in ten stay at 0.2, one in four at 0.4. That is less than an endless crystal of the whole function bears, 0.69 at its triple point: a small one is mostly surface, and the cut-off takes a part of the bond. What evaporates has no walls to come back from, so distances grow on.`,
      checks,
      plots: [
        {
          caption: "Energy of a swinging cluster, means over 100 steps.",
          spec: curves({ title: "time, s", zero: true }, { title: "energy over the first, less 1" }, [
            { name: "32 points, steps of 0.5 ms", points: energies },
          ]),
        },
        {
          caption: "Error against the step.",
          spec: curves({ title: "step, s", log: true }, { title: "error, m", log: true }, [
            { name: "measured", points: errors, style: "points" },
            {
              name: "order 2",
              points: errors.map(([h]) => [h, errors[0]![1] * (h / errors[0]![0]) ** 2]),
              style: "dashed",
            },
          ]),
        },
        {
          caption: "Melting: how far those are apart who were neighbors.",
          spec: curves({ title: "temperature, k T/e", zero: true }, { title: "mean distance, spacings", log: true }, [
            {
              name: "after 3.3 s",
              points: melts.map(({ temperature, distance }) => [temperature, distance]),
              style: "both",
            },
          ]),
        },
      ],
      pictures: [],
    };
  },
};
