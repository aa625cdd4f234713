/** Smoothed particles: the front of a dam break, a column at rest, floating cubes. */
import { column, damBreak, FLOATING, floatingDepth, FRONT } from "../../../physics/methods/waterKit.ts";
import { check, type Figure, type Progress } from "../figure.ts";
import { curves } from "../drawing/plots.ts";

export const figure: Figure = {
  id: "fluid",
  title: "A fluid of points",
  source: "Martin and Moyce 1952, table 2; Archimedes. Method: Becker and Teschner 2007, Wendland 1995",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const checks = [];
    const fronts = [];
    for (const wide of full ? [6, 8, 12] : [6]) {
      progress(wide / 30, `dam break, ${wide} points wide`);
      const { rows, shift, worst } = await damBreak(wide, 4);
      checks.push(
        check(`dam break, ${wide} points wide: largest error of the front`, worst, { high: 0.05, basis: "target" }),
        check(`dam break, ${wide} points wide: lead of T at Z = 1.44`, shift, { high: 0.3 }),
      );
      const points = rows.filter((_, n) => n % 8 === 0).map(([T, Z]): [number, number] => [T + shift, Z]);
      fronts.push({ name: `${wide} points wide`, points });
    }
    if (full) {
      for (const [wide, high] of [
        [12, 12],
        [10, 14],
      ] as const) {
        progress(0.5, "columns");
        const { volume, middle, slope } = await column(wide, high, 90, 60);
        const name = `column of ${wide} x ${high} points`;
        checks.push(
          check(`${name}: volume over its initial volume`, volume, { low: 0.99, high: 1.01, basis: "target" }),
          check(`${name}: pressure at half the depth over rho g depth`, middle, {
            low: 0.98,
            high: 1.02,
            basis: "target",
          }),
          check(`${name}: slope of the pressure over rho g`, slope, { low: 0.98, high: 1.02, basis: "target" }),
        );
      }
      for (const floating of FLOATING) {
        progress(0.8, "what floats");
        checks.push(
          check(
            `cube of half the density, ${floating.side / floating.spacing} points wide: depth over half its side`,
            await floatingDepth(floating, 60, 60),
            { low: 0.97, high: 1.03, basis: "target" },
          ),
        );
      }
    }
    return {
      text: `A column of water, a = 2.25 inches wide and twice as high, stands behind a dam that vanishes at once, in a channel four points across. The front is the farthest complete row of points. Martin and Moyce shifted the times of all their records so that Z = z/a = 1.44 is at T = t sqrt(2g/a) = 1.19, because none of their dams vanished at once; times here are shifted in the same way. Sound is ten times as fast as a fall from the top.

Columns of points of 4 cm fill tanks of the same width, at 30 Hz and 24 steps. The relative volume is twice the mean height over the depth. Pressures are the virial of each point's pairs, averaged over two seconds, away from walls and surface.

Cubes of half the water's density fall in, turn over and come to rest with half of their volume under water, in any orientation. The level is that of the water's volume plus half the cube's.`,
      checks,
      plots: [
        {
          caption: "Front of the dam break.",
          spec: curves({ title: "T = t sqrt(2g/a)" }, { title: "Z = z/a" }, [
            { name: "Martin and Moyce 1952", points: FRONT, style: "points" },
            ...fronts,
          ]),
        },
      ],
      pictures: [],
    };
  },
};
