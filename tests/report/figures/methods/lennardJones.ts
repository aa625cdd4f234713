/** Lennard-Jones particles: the lattice at rest, conservation in a swinging cluster, and melting of a crystal. */
import { CRYSTALS, latticeConstant, parted, stepErrors, swing } from "../../../physics/methods/pairKit.ts";
import { check, short, type Figure, type Progress } from "../figure.ts";
import { curves } from "../drawing/plots.ts";

/** Expected order from three steps: the reference's own error is 1/256 of the coarsest. */
const ORDER = Math.log2((1 - 1 / 256) / (1 / 4 - 1 / 256));

export const figure: Figure = {
  id: "lennard-jones",
  title: "Lennard-Jones particles",
  source:
    "Physically Based Deformable Models, loosely coupled particle systems; Lennard-Jones 1924. Thermostat: Groot and Warren 1997",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const checks = [];
    for (const [arrangement, exponents] of CRYSTALS) {
      const constant = await latticeConstant(arrangement, exponents);
      checks.push(
        check(
          `${arrangement}, exponents ${exponents.join(" and ")}: lattice constant over the lattice sum's, minus 1`,
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
      check("change of the momentum, over the sum of the points' momenta", momentum, {
        high: 1e-12,
        basis: "target, float64",
      }),
      check("largest displacement of a point: it swings", moved, { unit: "m", low: 0.01 }),
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
      text: `Points with a pair potential that attracts at a distance and repels close by,

  phi(d) = -e/(m - n) (m (d0/d)^n - n (d0/d)^m)

cut off at 2.2 spacings and shifted so that energy and force end there at 0. Spacing 0.1 m, e = 1 J/kg.

**Lattice.** d0 is chosen so that a body's initial lattice is at rest in its middle. The reference sums the same pairs over the shells of an infinite lattice, with separate code, and finds the spacing of least energy by golden section search. Points on a block's faces lack neighbors: there the crystal relaxes by more.

**Swinging.** A free crystal of 32 points with random speeds up to 0.3 m/s in each direction, ${steps} steps of 0.5 ms, one force evaluation each (position Verlet). Energies are means over 100 steps: Verlet conserves an energy that differs from the true one by the square of the step, and the true one oscillates about it. Newton's third law keeps the momentum, pair by pair, up to rounding.

**Order.** The same at up to 0.1 m/s for 20 ms in steps of 1/1200 s and a half and a quarter of that, against steps of a sixteenth: measured ${short(order)}; ${short(ORDER)} if the error is of second order.

**Melting.** A pair thermostat keeps crystals of 108 points at a temperature, k T over e, for 3.3 s. Cold ones keep all neighbors within 1.4 spacings; nine in ten stay at 0.2, one in four at 0.4. An infinite crystal with the full potential melts later, at 0.69, its triple point: a small one is mostly surface, and the cut-off removes a part of the bond. There are no walls, so evaporated points move away and distances keep growing.`,
      checks,
      plots: [
        {
          caption: "Energy of a swinging cluster, means over 100 steps.",
          spec: curves({ title: "time, s", zero: true }, { title: "energy over the first, minus 1" }, [
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
          caption: "Melting: distance of former neighbors.",
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
