/** Fluid on a staggered grid: divergence after projection, decay of vortices, and a cavity under a lid. */
import { around, cavity, decayError, GHIA } from "../../../physics/methods/gridKit.ts";
import { check, short, type Figure, type Progress } from "../figure.ts";
import { curves, type Series } from "../drawing/plots.ts";

/** Limit of the error, relative to the lid's speed. */
const LIMIT = 0.02;
/** Reynolds number, cells along a side, seconds until the flow is steady. */
const CAVITIES = {
  small: [[100, 24, 10]],
  full: [
    [100, 32, 14],
    [400, 64, 40],
  ],
} as const;

const HEIGHTS = Array.from({ length: 65 }, (_, n) => n / 64);

export const figure: Figure = {
  id: "eulerian",
  title: "A fluid on a fixed grid",
  source:
    "Ghia, Ghia and Shin 1982, table I; Taylor and Green 1937. Method: Physically Based Deformable Models, Eulerian and semi-Lagrangian methods; Harlow and Welch 1965, Stam 1999, Selle et al. 2008",
  async run(size, progress: Progress = () => {}) {
    const { left, most, into } = around();
    const cells = size === "full" ? [8, 16, 32, 64] : [8, 16];
    const decay = [true, false].map((maccormack) =>
      cells.map((n): [number, number] => {
        progress(n / 256, `vortices, ${n} cells a side`);
        return [n, decayError(n, maccormack)];
      }),
    );
    const [order, plain] = decay.map((points) => Math.log2(points.at(-2)![1] / points.at(-1)![1])) as [number, number];
    const checks = [
      check("divergence after projection, times the edge of a cell", left, {
        unit: "m/s",
        high: 1e-8,
        basis: "target, at 1 m/s",
      }),
      check("speed into the obstacle", into, { unit: "m/s", high: 0 }),
      check("largest speed afterwards: it flows", most, { unit: "m/s", low: 0.1 }),
      check(`order of the decay, MacCormack, from ${cells.at(-2)} to ${cells.at(-1)} cells`, order, {
        low: size === "full" ? 1.9 : 1.75,
        high: 2.2,
        basis: "2, from below",
      }),
      check("order of the decay, semi-Lagrangian", plain, { low: 0.7, high: 1.2, basis: "1" }),
    ];
    const profiles: Series[] = [];
    for (const [reynolds, n, seconds] of CAVITIES[size]) {
      progress(reynolds / 500, `cavity, Re ${reynolds}`);
      const u = cavity(reynolds, n, seconds);
      const published = GHIA[reynolds];
      checks.push(
        check(
          `cavity, Re ${reynolds}, ${n}² cells: largest error, relative to the lid's speed`,
          Math.max(...published.map(([y, wanted]) => Math.abs(u(y) - wanted))),
          { high: LIMIT, basis: "target" },
        ),
      );
      profiles.push(
        { name: `Re ${reynolds}, ${n}² cells`, points: HEIGHTS.map((y) => [y, u(y)]) },
        { name: `Ghia et al., Re ${reynolds}`, points: published, style: "points" },
      );
    }
    return {
      text: `Three flows in a flat box of 1 m, without a room around it.

**Projection.** Random speeds, up to 1 m/s on each face, in 16 x 16 cells with an obstacle of 4 x 4; one step of 10 ms. The remaining divergence is the residual of conjugate gradients. Nothing flows through faces of the obstacle: those are set, not solved for.

**Decay.** A vortex between walls that slip, u = sin(pi x) cos(pi y), v = -cos(pi x) sin(pi y), is carried by its own flow and decays as

  exp(-2 nu pi² t),   nu = 0.02 m²/s

The error is the root mean square over all faces after 0.5 s, in ${cells.join(", ")} cells a side and 8/cells² of that time a step, so that an error of order 1 in the step shows as order 2 in the cell. MacCormack is of order ${short(order)}. Without it each step interpolates linearly, which adds a viscosity of half the speed times the cell, as upwind differences do: order 1, measured: ${short(plain)}.

**Cavity.** Walls that stick, a lid of 1 m/s, from rest to the steady state, MacCormack, steps of 3/4 of a cell's edge over the lid's speed. Ghia's numbers come from a vorticity and stream function solver on 129² cells. ${size === "full" ? "Re 400 needs 64² cells: with fewer it is more than 2 % off, and splitting projection from the rest, of order 1 in the step, is most of that." : "Re 400 is in the full report."} The comparison uses all of Ghia's heights that do not lie on a wall.`,
      checks,
      plots: [
        {
          caption: "Velocity along the lid on the cavity's vertical middle line, in the lid's speed.",
          spec: curves({ title: "height y" }, { title: "u" }, profiles),
        },
        {
          caption: "Decay of vortices: error after half a second.",
          spec: curves(
            { title: "cells a side", log: true },
            { title: "error, m/s", log: true },
            ["MacCormack", "semi-Lagrangian"].map((name, n) => ({ name, points: decay[n]!, style: "both" as const })),
          ),
        },
      ],
      pictures: [],
    };
  },
};
