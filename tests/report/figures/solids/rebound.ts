/** A soft cube that falls on a floor: its rise after the bounce, against an explicit reference of the same mesh. */
import { laboratory } from "../../../physics/laboratory.ts";
import {
  bounce,
  DROP,
  NU,
  reference,
  RHO,
  sceneOf,
  SIDE,
  STEP,
  type Bounce,
  type Reference,
} from "../../../physics/materials/bouncingCube.ts";
import { bookCheck } from "../books.ts";
import { check, short, type Check, type Figure, type FigureSize, type Plot, type Progress } from "../figure.ts";
import { photograph } from "../drawing/photograph.ts";
import { curves, type Series } from "../drawing/plots.ts";

/** Limit of the relative error. */
const LIMIT = 0.05;
/** Largest part of the energy that the time step of a compliant solid takes (server/sim/scene/laterPart.ts). */
const LOSS = 0.08;
/** Substeps at 60 Hz; the first is the default, the last counts as converged. */
const SUBSTEPS = [20, 40, 80, 160, 320];

interface Drop {
  /** Pa */
  k: number;
  e: number;
  reference: Reference;
  usual: Bounce;
  converged: Bounce;
}

/**
 * Energy that implicit Euler leaves of a mass on a spring after half a period of t s: it loses h w^2 a second, w =
 * pi/t.
 */
const oneMode = (h: number, t: number): number => Math.exp((-(Math.PI ** 2) * h) / t);

async function measure(size: FigureSize, progress: Progress) {
  const full = size === "full";
  const cells = full ? 4 : 3;
  const drops: Drop[][] = [];
  const orders: { k: number; e: number; points: [number, number][]; contact: number }[] = [];
  for (const k of full ? [4e5, 1e6] : [4e5]) {
    const body = (await laboratory(sceneOf(k, 0, cells))).created.bodies[0]!;
    const row: Drop[] = [];
    for (const e of full ? [0, 0.3, 0.5, 0.8, 1] : [0, 0.5, 0.8]) {
      progress(drops.length / 2 + e / 3, `k = ${k} Pa, e = ${e}`);
      row.push({
        k,
        e,
        reference: reference(body, k, e),
        usual: await bounce(k, e, cells),
        converged: await bounce(k, e, cells, SUBSTEPS.at(-1)!),
      });
    }
    const { e, reference: exact } = row.find((drop) => drop.e === 0.5)!;
    const points: [number, number][] = [];
    for (const substeps of full ? SUBSTEPS : [20, 80])
      points.push([substeps, (await bounce(k, e, cells, substeps)).rise / exact.rise]);
    orders.push({ k, e, points, contact: exact.contact });
    drops.push(row);
  }
  const lab = await laboratory({ refine: true, ...sceneOf(4e5, 0.5, cells) });
  lab.run(28);
  return { cells, drops, orders, lab };
}

type Measured = Awaited<ReturnType<typeof measure>>;

/** Number of steps to the next larger e at which the rise changes the other way than the reference's. */
const turns = (row: readonly Drop[], rise: (drop: Drop) => number): number =>
  row.slice(1).filter((drop, i) => {
    const before = row[i]!;
    return (rise(drop) - rise(before)) * (drop.reference.rise - before.reference.rise) < 0;
  }).length;

function checksOf({ drops, orders }: Measured): Check[] {
  return drops.flatMap((row, i) => {
    const name = `k = ${short(row[0]!.k)} Pa`;
    const below = row.filter(({ e }) => e < 1);
    const es = below.map(({ e }) => e).join(", ");
    const far = below.map(({ converged, reference: { rise } }) => converged.rise / rise - 1);
    const compliant = below.filter(({ usual }) => !usual.implicit);
    const ratios = orders[i]!.points.map(([, ratio]) => ratio);
    return [
      check(
        `${name}, e = ${es}, converged: largest distance from the reference's rise, relative`,
        Math.max(...far.map(Math.abs)),
        { high: LIMIT, basis: "target" },
      ),
      ...below.map(({ e, usual, reference: { rise } }) =>
        check(
          `${name}, e = ${e}, default (${usual.implicit ? "implicit" : "compliant"}): rise over the reference's`,
          usual.rise / rise,
          {
            low: 1 - LIMIT - (usual.implicit ? 0 : LOSS),
            high: 1 + LIMIT,
            basis: "target",
          },
        ),
      ),
      check(`${name}, e = 0.5: rise over the reference's, the lowest of all steps`, Math.min(...ratios), {
        low: 1 - LIMIT - LOSS,
        basis: "target",
      }),
      check(
        `${name}, converged: changes of the rise with e against the direction of the reference's`,
        turns(below, (d) => d.converged.rise),
        { high: 0 },
      ),
      check(
        `${name}, default (compliant): the same`,
        turns(compliant, (d) => d.usual.rise),
        { high: 0 },
      ),
      ...row
        .filter(({ e }) => e === 1)
        .map(({ usual, converged }) =>
          check(
            `${name}, e = 1: rise over the fall, the higher of default and converged`,
            Math.max(usual.rise, converged.rise),
            { high: 1, basis: "energy" },
          ),
        ),
    ];
  });
}

function plotsOf({ drops, orders }: Measured): Plot[] {
  const series = (row: Drop[]): Series[] => {
    const name = `${short(row[0]!.k)} Pa`;
    const of = (rise: (drop: Drop) => number): [number, number][] => row.map((drop) => [drop.e, rise(drop)]);
    return [
      { name: `${name}: reference`, points: of((d) => d.reference.rise) },
      { name: `${name}: default`, points: of((d) => d.usual.rise), style: "both" },
      { name: `${name}: converged`, points: of((d) => d.converged.rise), style: "points" },
    ];
  };
  return [
    {
      caption: "Rise over the fall, by the coefficient of restitution.",
      spec: curves({ title: "e" }, { title: "rise over the fall", zero: true }, drops.flatMap(series)),
    },
    {
      caption:
        "Rise over the reference's at e = 0.5, by substeps of one iteration; dashed: one mode under implicit Euler.",
      spec: curves(
        { title: "substeps per tick of 1/60 s", log: true },
        { title: "rise over the reference's" },
        orders.flatMap(({ k, points, contact }): Series[] => [
          { name: `${short(k)} Pa`, points, style: "both" },
          {
            name: `${short(k)} Pa: exp(-pi^2 h/t)`,
            points: points.map(([n]) => [n, oneMode(1 / (60 * n), contact)]),
            style: "dashed",
          },
        ]),
        [{ y: 1 - LIMIT, label: "5 %" }],
      ),
    },
  ];
}

function textOf({ cells, drops, orders }: Measured): string {
  const all = drops.flat();
  const lowest = (e: (drop: Drop) => boolean): number => Math.min(...all.filter(e).map((d) => d.reference.stretch));
  const said = ({ k, e, reference: r, usual, converged }: Drop): string =>
    `k = ${short(k)} Pa, e = ${e}: reference ${r.rise.toFixed(3)} (in contact for ${(1000 * r.contact).toFixed(1)} ms), default ${usual.rise.toFixed(3)}${usual.implicit ? " (implicit)" : ""}, converged ${converged.rise.toFixed(3)}`;
  return `A cube of ${SIDE} m (${cells} x ${cells} x ${cells} cells of five tetrahedra, ${RHO} kg/m^3, nu = ${NU}, no friction, undamped, without contact with itself) falls ${DROP} m on a plane; both have restitution e. The rise is the highest point of its center of mass after it has left the floor, over the fall.

**Reference**: the same mesh by velocity Verlet in float64, ${STEP} s a step (tests/physics/materials/explicit.ts), Saint Venant-Kirchhoff energy and lumped masses of tests/statics, without code of the simulation. A particle that reaches the floor with v leaves it with e v, as in the room. The most compressed element has ${lowest(({ e }) => e < 1).toFixed(2)} of its length; below 0.58 the room continues the strain, and the reference does not.

${all.map((drop) => `- ${said(drop)}`).join("\n")}

The coefficient acts on particles, not on the body: a cube with e = 0 rises because it is elastic. The speed that particles of its lowest layer get back at once is motion against the rest of the cube, and ends as vibration. So **the rise falls with e** up to 0.8, in the reference as in the room, although that of a rigid body grows with e. At e = 1 particles at the floor hop endlessly under the load above, and the result is chaotic: halving the reference's step changes its rise by 0.5 % (4e5 Pa) and 5 % (1e6 Pa). There only energy is checked.

**Converged** (${SUBSTEPS.at(-1)} substeps) rooms have to be within 5 %. Implicit Euler takes h w^2 of a vibration's energy in a second: a mass on a spring that is in contact for half a period, t = pi/w, would keep exp(-pi^2 h/t) (dashed). A part of a compliant solid's way follows its elastic solve, so that at **default** settings and all others the step takes at most ${100 * LOSS} % of a bounce. ${orders.map(({ k, points }) => `A cube of ${short(k)} Pa lacks ${points.map(([, ratio]) => (100 * (1 - ratio)).toFixed(1)).join(", ")} % of its rise with ${points.map(([n]) => n).join(", ")} substeps`).join(". ")}.

Cubes without restitution are stepped implicitly (\`solver: "auto"\`), with explicit steps while they touch.`;
}

/** Energy check of a fall and the following motion, 1 s. */
async function booked(k: number, e: number): Promise<Check> {
  return bookCheck(
    `cube of ${short(k)} Pa, e = ${e}, 1 s`,
    await laboratory({ refine: true, ...sceneOf(k, e, 4) }),
    60,
  );
}

export const figure: Figure = {
  id: "rebound",
  title: "A soft cube rebounds as an explicit reference of its mesh",
  source: "beyond the paper; Newton's impact law, velocity Verlet",
  async run(size, progress = () => {}) {
    const m = await measure(size, progress);
    const picture = photograph(m.lab, {
      caption: "The cube of 4e5 Pa, e = 0.5, 15 ms after its first contact, at default settings.",
      edges: true,
      ground: 0,
    });
    const books = size === "full" ? [await booked(4e5, 0), await booked(4e5, 0.5), await booked(1e6, 1)] : [];
    return { text: textOf(m), checks: [...checksOf(m), ...books], plots: plotsOf(m), pictures: [picture] };
  },
};
