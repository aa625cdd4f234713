/** A clamped beam under its own weight against static equilibrium of its mesh and against beam theory. */
import { againstStatics, beamTheory, G, H, L, RHO, settled, tip } from "../../../physics/bars/cantilever.ts";
import { check, type Figure, type Progress } from "../figure.ts";
import { photograph } from "../drawing/photograph.ts";
import { curves } from "../drawing/plots.ts";

const K = 3e6;

export const figure: Figure = {
  id: "cantilever",
  title: "A clamped beam sags as beam theory says",
  source: "beyond the paper; Timoshenko's beam",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const ratios: [number, number][] = [];
    const heights = full ? [2, 4, 6, 8, 10] : [2, 4];
    for (const cells of heights) {
      progress(cells / 12, `${cells} cells through the height`);
      const { X, x } = await settled(K, 0, 0.025, [4 * cells, cells, 2], 30, 20, 40);
      ratios.push([cells, tip(X, x) / beamTheory(K)]);
    }
    progress(0.9, "static equilibrium");
    const soft = await settled(1e6, 0.3, H, [8, 2, 2], 20, 4, 180);
    const firm = full ? await settled(1e6, 0.45, H, [8, 2, 2], 20, 16, 180) : undefined;
    const best = ratios.at(-1)!;
    return {
      text: `A beam of ${L} x ${H} m (${RHO} kg/m^3, nu = 0, k = ${K / 1e6} MPa) is clamped at one end and hangs under its weight, damped critically. The sag of the free end is compared with Timoshenko's beam

  tip = rho g A L^4/(8 k I) + rho g A L^2/(2 kappa A k/2),   kappa = 5/6,  g = ${G} m/s^2

which is ${(1000 * beamTheory(K)).toFixed(2)} mm. There are two errors. **The solver's**: against static equilibrium of the same mesh (Newton's method in float64, tests/physics/bars/statics.ts), all particles, over the largest displacement. **The mesh's**: linear tetrahedra cannot bend, so a coarse beam is too stiff with any solver. That error is proportional to the square of the cells' size, and the plot shows it vanish from below. Ten cells through the height meet the target of 5 %${full ? "" : " (full report; the small one checks four cells)"}; a scene with fewer should expect a stiffer beam.`,
      checks: [
        full
          ? check(`sag over beam theory, ${best[0]} cells through the height`, best[1], {
              low: 0.95,
              high: 1.05,
              basis: "target",
            })
          : check("sag over beam theory, 4 cells through the height: too stiff, by less than 30 %", best[1], {
              low: 0.7,
              high: 1.05,
            }),
        check(
          "halving the cells from 2 to 4 through the height: the missing sag shrinks",
          (1 - ratios[0]![1]) / (1 - ratios[1]![1]),
          { low: 2, basis: "second order: 4, less for coarse cells" },
        ),
        check(
          "solver alone, k = 1e6 Pa, nu = 0.3, 20 x 4: largest distance from static equilibrium over the largest displacement",
          againstStatics(soft),
          { high: 0.01, basis: "a fifth of that" },
        ),
        ...(firm
          ? [check("solver alone, nu = 0.45, 20 x 16", againstStatics(firm), { high: 0.01, basis: "a fifth of that" })]
          : []),
      ],
      plots: [
        {
          caption: "Sag over beam theory, by cells through the height.",
          spec: curves(
            { title: "cells through the height", zero: true },
            { title: "sag / theory" },
            [{ name: "measured", points: ratios, style: "both" }],
            [
              { y: 1, label: "beam theory" },
              { y: 0.95, label: "5 %" },
            ],
          ),
        },
      ],
      pictures: [
        photograph(soft.lab, {
          caption: "The beam of k = 1 MPa with two cells through the height, as it hangs.",
          ground: null,
          edges: true,
          from: [0.35, 0.25, 1],
        }),
      ],
    };
  },
};
