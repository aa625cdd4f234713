/** A rest state is a fixed point, also a kilometer from the origin. */
import type { Body } from "../../../../shared/scene/scene.ts";
import type { SoftMaterial } from "../../../../shared/scene/sceneMaterials.ts";
import { laboratory, type Laboratory } from "../../../physics/laboratory.ts";
import { restStrain } from "../../../physics/rest/restRounding.ts";
import { check, type Check, type Figure, type Progress } from "../figure.ts";
import { photograph } from "../drawing/photograph.ts";
import { curves, type Series } from "../drawing/plots.ts";
import { clothGrid, softBox } from "../../../support/bodies.ts";

type Place = [number, number, number];
const SOFT = { density: 500, youngsModulus: 1e5, poissonsRatio: 0.35 };
const MODELS: Record<string, SoftMaterial> = {
  "Saint Venant-Kirchhoff": SOFT,
  "k = 1e9 Pa": { ...SOFT, youngsModulus: 1e9 },
  "Neo-Hookean": { ...SOFT, model: "neo-hookean" },
  "stable Neo-Hookean": { ...SOFT, model: "stable-neo-hookean" },
  orthotropic: {
    model: "orthotropic",
    density: 500,
    youngsModuli: [1e5, 3e4, 2e4],
    poissonsRatios: [0.4, 0.3, 0.5],
    shearModuli: [1.5e4, 8e3, 1.2e4],
  },
  plastic: { ...SOFT, plasticity: { yield: 0.01, creep: 10, max: 0.3 } },
  hexahedral: { ...SOFT, model: "hexahedral" },
  "PBD, k = 1": { model: "pbd", density: 500, distance: { stiffness: 1 }, volume: { stiffness: 1 } },
};
/**
 * The first two models use the axes of each element, which no coordinates make exact
 * (tests/physics/rest/restRounding.ts).
 */
const TURNED = 2;
const CELL = 0.0625;
const solid = (material: SoftMaterial, at: Place, size: Place, cells: number): Body =>
  softBox(`solid at ${at.join(" ")}`, size, [cells, cells, cells], { transform: { translate: at }, material });
const sheet = (at: Place, size: [number, number], cells: number): Body =>
  clothGrid(`sheet at ${at.join(" ")}`, size, [cells, cells], {
    transform: { translate: at },
    material: { density: 500, thickness: 0.001, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-3 },
  });

/** Largest displacement of a coordinate of any body. */
function moved(lab: Laboratory, before: readonly Float64Array[]): number {
  return Math.max(...before.flatMap((x, b) => [...lab.positions(b).map((v, k) => Math.abs(v - x[k]!))]));
}
const places = (lab: Laboratory): Float64Array[] => lab.created.bodies.map((_, b) => lab.positions(b));

/** All models at one place, on coordinates that are exact in float32; nothing touches. */
async function exactly(
  far: number,
  seconds: number,
): Promise<{ moved: number; fastest: number; turnedMoved: number; turnedFastest: number; lab: Laboratory }> {
  const lab = await laboratory({
    worldRadius: 10000,
    bodies: [
      ...Object.values(MODELS).map((m, n) => solid(m, [far + 0.5 * n, far, -far], [0.25, 0.25, 0.25], 4)),
      sheet([far, far + 0.5, -far], [0.25, 0.25], 8),
    ],
  });
  const before = places(lab);
  const events = lab.run(60 * seconds);
  if (events.length > 0) throw new Error(`an event for a body at rest: ${JSON.stringify(events)}`);
  const far1 = before.map((x, b) => Math.max(...lab.positions(b).map((v, k) => Math.abs(v - x[k]!))));
  const fastest = before.map((_, b) => Math.max(...lab.velocities(b).map(Math.abs)));
  return {
    moved: Math.max(...far1.slice(TURNED)),
    fastest: Math.max(...fastest.slice(TURNED)),
    turnedMoved: Math.max(...far1.slice(0, TURNED)),
    turnedFastest: Math.max(...fastest.slice(0, TURNED)),
    lab,
  };
}

type Found = Awaited<ReturnType<typeof exactly>>;

function exactChecks(far: number, seconds: number, { moved, fastest, turnedMoved, turnedFastest }: Found): Check[] {
  const strain = restStrain([CELL, CELL, CELL]);
  const where = `${far} m from the origin on each axis, exact coordinates: largest displacement of a coordinate in ${seconds} s`;
  return [
    check(`all models except isotropic Saint Venant-Kirchhoff, ${where}`, moved, {
      unit: "m",
      high: 0,
      basis: "bit-still",
    }),
    check(`the same: fastest particle at the end`, fastest, { unit: "m/s", high: 0, basis: "bit-still" }),
    check(`isotropic Saint Venant-Kirchhoff, ${where}`, turnedMoved, {
      unit: "m",
      high: 0.25 * strain,
      basis: "rounding of strains in an element's own axes",
    }),
    check(`the same: fastest particle at the end`, turnedFastest, {
      unit: "m/s",
      high: strain * Math.SQRT2 * CELL * 1200,
      basis: "that strain of an element's longest edge in a substep",
    }),
  ];
}

/** One body at either end of a room of a kilometer, where no origin suits both; m from the middle. */
const ENDS = [
  [0.3, "side by side"],
  [500.1, "one kilometer apart"],
] as const;
const PARTS = 60;

/** @returns by time in minutes: the largest displacement of any coordinate from its start, m */
async function apart(far: number, minutes: number, progress: (done: number) => void): Promise<[number, number][]> {
  const lab = await laboratory({
    worldRadius: 10000,
    bodies: [-1, 1].flatMap((side) => [
      solid(SOFT, [side * far, 0.3, side * far], [0.3, 0.2, 0.1], 2),
      sheet([side * far, 1, side * far], [0.3, 0.2], 4),
    ]),
  });
  const before = places(lab);
  const course: [number, number][] = [];
  for (let part = 1; part <= PARTS; part++) {
    progress(part / PARTS);
    const events = lab.run(60 * minutes);
    if (events.length > 0) throw new Error(`an event for a body at rest: ${JSON.stringify(events)}`);
    course.push([(part * minutes) / 60, moved(lab, before)]);
  }
  return course;
}

export const figure: Figure = {
  id: "rest",
  title: "A rest state stays at rest, a kilometer away and after an hour",
  source: "a trap of float32: absolute positions",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const checks: Check[] = [];
    const series: Series[] = [];
    const minutes = full ? 60 : 0.1;
    const seconds = full ? 60 : 1;
    let picture: Laboratory | undefined;
    for (const far of [0, 64, 1024]) {
      progress(far / 4096, `${far} m`);
      const found = await exactly(far, seconds);
      checks.push(...exactChecks(far, seconds, found));
      picture = found.lab;
    }
    for (const [n, [far, name]] of ENDS.entries()) {
      const course = await apart(far, minutes, (done) => progress(0.3 + 0.35 * (n + done), name));
      const last = 2 ** (Math.floor(Math.log2(Math.max(1, far + 0.15))) - 23);
      series.push({ name, points: course.map(([time, way]) => [time, Math.max(way, 1e-10)]) });
      checks.push(
        check(
          `two solids and two sheets ${name}, coordinates that float32 rounds: largest displacement of a coordinate in ${60 * minutes} s of ticks`,
          course.at(-1)![1],
          { unit: "m", high: 2 * last, basis: "float32: two last places" },
        ),
      );
    }
    return {
      text: `An untouched body without gravity must not creep. If float32 holds its coordinates exactly (a box of 0.25 m in 4 x 4 x 4 cells and a sheet with bending in 8 x 8), strains are exactly zero, and nothing may move by a bit, at the origin or 1,024 m away on each axis. That holds for every model with a rest shape of elements, except isotropic Saint Venant-Kirchhoff: it uses the axes of each element, where strains are exact only to some parts in a million. Formulas that subtract absolute positions fail here (an undeformed bending stencil of the authors' library 10 m from the origin moves by a meter). Bodies may not fall asleep, which would make this trivial.

On other coordinates rounding strains the body by a few parts in ten million of its distance over its size. It may move to a relaxed place, by last places of its coordinates, but must stay there: ${60 * minutes} simulated seconds are stepped${full ? ", an hour, 216,000 ticks" : " here, an hour in the full report"}. A room has one origin, in the middle of its bodies; bodies at both ends of a kilometer have coordinates of 500 m, whose last place is 3.1e-5 m, a sixteenth of the grid of 0.5 mm that is streamed.`,
      checks,
      plots: [
        {
          caption: "Largest displacement of any coordinate from its start (zero: drawn at 1e-10 m).",
          spec: curves({ title: "time, minutes" }, { title: "distance, m", log: true }, series),
        },
      ],
      pictures: [
        photograph(picture!, {
          caption: "Bodies at rest 1,024 m away on each axis: a box of each model, and a sheet.",
          ground: null,
          from: [0.2, 0.6, 1],
          width: 960,
          height: 260,
        }),
      ],
    };
  },
};
