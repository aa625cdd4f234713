/** One cube under every method: exact cases, errors at rest and in motion, and cost. */
import type { Body, PointsBody, Scene, Selection, SoftBody } from "../../../../shared/scene/scene.ts";
import type { Method } from "../../../../shared/scene/sceneMethodTypes.ts";
import { laboratory, type Laboratory } from "../../../physics/laboratory.ts";
import { staticEquilibrium } from "../../../statics/equilibrium.ts";
import {
  check,
  short,
  type Figure,
  type Check,
  type Plot,
  type Picture,
  type FigureSize,
  type Progress,
} from "../figure.ts";
import { photograph } from "../drawing/photograph.ts";
import { curves } from "../drawing/plots.ts";

const SIZE = 0.4;
const FORCE = 25;
const MATERIAL = { density: 300, youngsModulus: 8000, poissonsRatio: 0.3 };
/** Compliance of springs along the edges, m/N: chosen by hand, because springs have no modulus. */
const COMPLIANCE = 0.0022;

interface Row {
  name: string;
  method?: Method;
  more?: Partial<SoftBody>;
  scene?: Partial<Scene>;
  exact: string;
  cannot: string;
}

const HOOKE = "contact between surfaces";
const ROWS: Row[] = [
  {
    name: "springs",
    method: { type: "mass-spring", steps: 2 },
    exact: "its own net, without a material law",
    cannot: `a given modulus or Poisson's ratio on another mesh; ${HOOKE}`,
  },
  {
    name: "linear elements",
    method: { type: "finite-elements", warped: false, steps: 2 },
    exact: "uniform strain, small rotations",
    cannot: `large rotations, in which it swells; ${HOOKE}`,
  },
  {
    name: "warped elements",
    method: { type: "finite-elements", steps: 2 },
    exact: "uniform strain, any rotation",
    cannot: `a physical law at large strains; ${HOOKE}`,
  },
  {
    name: "finite volumes",
    method: { type: "finite-volumes", integrator: "symplectic", steps: 8 },
    exact: "the forces of warped elements",
    cannot: `steps longer than 2/omega of its finest element (symplectic); ${HOOKE}`,
  },
  {
    name: "boundary elements",
    method: { type: "boundary-elements", stiffnessDamping: 0.05, steps: 2 },
    exact: "a linear solid at rest, by its surface alone",
    cannot: `inertia, large rotations, free bodies; ${HOOKE}`,
  },
  {
    name: "30 modes",
    method: { type: "modal", modes: 30, steps: 2 },
    exact: "the motion of each mode, for any step",
    cannot: `large rotations, dents and contacts smaller than a mode's waves; ${HOOKE}`,
  },
  {
    name: "all modes",
    method: { type: "modal", modes: 1200, steps: 2 },
    exact: "linear elements, also in time",
    cannot: `large rotations, more than 400 free particles; ${HOOKE}`,
  },
  {
    name: "points",
    method: { type: "point-based", integrator: "symplectic", steps: 8 },
    exact: "affine maps",
    cannot: `an exactly fixed face (its points lie half a spacing inside); ${HOOKE}`,
  },
  {
    name: "position based 5 x 4",
    scene: { substeps: 5, iterations: 4 },
    exact: "Saint Venant-Kirchhoff at rest",
    cannot: "stiffness in motion beyond the capacity of its iterations",
  },
  {
    name: "position based 20 x 1",
    scene: { substeps: 20, iterations: 1 },
    exact: "Saint Venant-Kirchhoff at rest",
    cannot: "stiffness in motion beyond the capacity of its iterations",
  },
  {
    name: "solver implicit",
    more: { solver: "implicit" },
    exact: "Saint Venant-Kirchhoff at rest and in slow motion",
    cannot: HOOKE,
  },
];

/** As many points as the mesh has particles along an edge; the lowest layer is fixed. */
function ofPoints(cells: number): Partial<PointsBody> {
  const spacing = SIZE / (cells + 1);
  const layer = (from: number): Selection => ({ box: { min: [-1, from, -1], max: [1, from + spacing, 1] } });
  return {
    kind: "points",
    mesh: { type: "lattice", arrangement: "cubic", cells: [cells + 1, cells + 1, cells + 1], spacing },
    pins: [{ select: layer(0) }],
    loads: [{ select: layer(SIZE - spacing), force: [FORCE, 0, 0] }],
  };
}

/** A cube on the ground, pushed sideways at its top, from rest. */
async function cube(cells: number, damping: number, { method, more, scene }: Partial<Row>): Promise<Laboratory> {
  const material =
    method?.type === "mass-spring"
      ? { model: "pbd", density: MATERIAL.density, damping, distance: { compliance: COMPLIANCE } }
      : { ...MATERIAL, damping };
  const body = {
    name: "cube",
    kind: "soft",
    mesh: { type: "box", size: [SIZE, SIZE, SIZE], cells: [cells, cells, cells] },
    transform: { translate: [0, SIZE / 2, 0] },
    pins: [{ select: { box: { min: [-1, -1, -1], max: [1, 1e-6, 1] } } }],
    loads: [{ select: { box: { min: [-1, SIZE - 1e-6, -1], max: [1, 1, 1] } }, force: [FORCE, 0, 0] }],
    contact: { self: false },
    material,
    ...(method && { method }),
    ...more,
    ...(method?.type === "point-based" && ofPoints(cells)),
  } as Body;
  return laboratory({ bodies: [body], ...scene });
}

/** Mean displacement of the top, m. */
function top({ created }: Laboratory, x: Float64Array): number[] {
  const { positions } = created.bodies[0]!;
  const highest = positions.reduce((most, y, k) => (k % 3 === 1 ? Math.max(most, y) : most), 0);
  const sum = [0, 0, 0];
  let count = 0;
  for (let i = 0; i < x.length; i += 3) {
    if (positions[i + 1]! < highest - 1e-6) continue;
    for (let r = 0; r < 3; r++) sum[r]! += x[i + r]! - positions[i + r]!;
    count++;
  }
  return sum.map((s) => s / count);
}

const distance = (a: readonly number[], b: readonly number[]): number => Math.hypot(...a.map((c, r) => c - b[r]!));

async function settled(cells: number, row: Row): Promise<{ lab: Laboratory; at: number[] }> {
  const lab = await cube(cells, 6, row);
  // warm-start stress, which the methods do not use, is part of falling asleep
  lab.world.mayRest = row.method === undefined;
  lab.run(480);
  return { lab, at: top(lab, lab.positions()) };
}

interface Motion {
  places: number[][];
  /** Median time of a tick, ms. */
  cost: number;
}

async function moving(cells: number, row: Partial<Row>, ticks: number): Promise<Motion> {
  const lab = await cube(cells, 0.2, row);
  const places: number[][] = [];
  const costs: number[] = [];
  for (let t = 0; t < ticks; t++) {
    const from = performance.now();
    lab.run(1);
    costs.push(performance.now() - from);
    places.push(top(lab, lab.positions()));
  }
  return { places, cost: costs.sort((a, b) => a - b)[Math.floor(ticks / 2)]! };
}

/** Static equilibrium of Saint Venant-Kirchhoff elements by separate code (tests/statics). */
async function reference(cells: number): Promise<number[]> {
  const lab = await cube(cells, 1, {});
  const body = lab.created.bodies[0]!;
  const { x } = staticEquilibrium({
    rest: body.positions,
    tets: body.tets,
    material: { model: "stvk", youngsModulus: MATERIAL.youngsModulus, poissonsRatio: MATERIAL.poissonsRatio },
    fixed: body.pinned,
    force: body.force,
  });
  return top(lab, x);
}

const far = (motion: Motion, exact: Motion): number =>
  Math.max(...motion.places.map((place, t) => distance(place, exact.places[t]!))) /
  Math.max(...exact.places.map((place) => Math.hypot(...place)));

const percent = (value: number): string => `${(100 * value).toPrecision(2)} %`;

const error = (at: readonly number[], from: readonly number[]): number => distance(at, from) / Math.hypot(...from);

async function measure(size: FigureSize, progress: Progress = () => {}) {
  const full = size === "full";
  const cells = full ? 4 : 3;
  const ticks = full ? 60 : 20;
  const converged = await reference(full ? 12 : 6);
  const same = await reference(cells);
  // order 1 in the step, 1/3840 s; the forces are those of warped elements
  const exact = await moving(cells, { method: { type: "finite-volumes", integrator: "symplectic", steps: 64 } }, ticks);
  const rows: (Row & { lab: Laboratory; at: number[]; motion: Motion })[] = [];
  for (const [n, row] of ROWS.entries()) {
    progress(n / ROWS.length, row.name);
    rows.push({ ...row, ...(await settled(cells, row)), motion: await moving(cells, row, ticks) });
  }
  const of = (name: string): (typeof rows)[number] => rows.find((row) => row.name === name)!;
  const sway = Math.hypot(...converged);
  // strains and rotations are about the sway over the height; laws that agree for small strains differ by that much
  const strain = sway / SIZE;
  const line = ({ name, at, motion, exact: what, cannot }: (typeof rows)[number]): string =>
    `- **${name}**: exact for ${what}. At rest ${percent(error(at, converged))} off, in motion ${percent(far(motion, exact))}, ${short(motion.cost)} ms a tick. Not covered: ${cannot}.`;
  return { full, cells, ticks, converged, same, exact, rows, of, sway, strain, line };
}

type Measured = Awaited<ReturnType<typeof measure>>;

function textOf({ full, cells, ticks, converged, same, rows, sway, line }: Measured): string {
  return `A cube of ${SIZE} m, ${cells} x ${cells} x ${cells} cells, ${MATERIAL.youngsModulus} Pa, nu ${MATERIAL.poissonsRatio}, ${MATERIAL.density} kg/m³, stands fixed on the ground and is pushed sideways at its top by ${FORCE} N, from rest. *At rest* is the mean displacement of its top, damped, against static finite elements of ${full ? 12 : 6}³ cells by separate code (Saint Venant-Kirchhoff, ${short(1000 * sway)} mm): the mesh's own error of ${percent(error(same, converged))} is part of every number. *In motion* is the largest distance within ${ticks} ticks from the same mesh with the forces of warped elements and 64 steps a tick, over the largest sway. Times are medians of a tick on one thread of this machine; only their ratios mean something.

${rows.map(line).join("\n")}

Springs have no modulus: their compliance, ${COMPLIANCE} m/N, was chosen by hand for the finer mesh; on another mesh the cube has another stiffness. Linear elements and all modes are two ways to compute the same, and so are warped elements and finite volumes; the checks show that they agree. Every method runs in rooms (scenes \`one-cube\`, \`integrators\` and \`melt\`); docs/SOLVERS.md lists their options.`;
}

const checksOf = ({ converged, same, exact, of, strain }: Measured): Check[] => [
  check("warped elements against static elements of the same mesh", error(of("warped elements").at, same), {
    high: strain / 2,
    basis: "Green's strain: e + e²/2",
  }),
  check("finite volumes against warped elements, at rest", error(of("finite volumes").at, of("warped elements").at), {
    high: 1e-5,
    basis: "float32, rest",
  }),
  check("all modes against linear elements, at rest", error(of("all modes").at, of("linear elements").at), {
    high: 1e-5,
    basis: "float32, rest",
  }),
  check("linear elements against static elements of the same mesh", error(of("linear elements").at, same), {
    high: strain,
    basis: "rotation",
  }),
  check("boundary elements against static elements of a finer mesh", error(of("boundary elements").at, converged), {
    high: strain + 0.03,
    basis: "rotation; target",
  }),
  check(
    "30 modes: missing share of the energy",
    1 - of("30 modes").lab.world.methodEnergy(0)! / of("all modes").lab.world.methodEnergy(0)!,
    { low: 0, high: 0.1, basis: "Ritz; target" },
  ),
  check("finite volumes in motion", far(of("finite volumes").motion, exact), {
    high: 0.1,
    basis: "order 1: w h of the sway",
  }),
];

const plotsOf = ({ exact, rows }: Measured): Plot[] => [
  {
    caption: "Error in motion against the cost of a tick. Down and to the left is better.",
    spec: curves(
      { title: "ms a tick", log: true },
      { title: "error in motion", log: true },
      rows.map(({ name, motion }) => ({
        name,
        style: "points" as const,
        points: [[motion.cost, far(motion, exact)] as [number, number]],
      })),
    ),
  },
];

const picturesOf = ({ of }: Measured): Picture[] =>
  ["springs", "linear elements", "warped elements", "boundary elements", "30 modes", "points"].map((name) =>
    photograph(of(name).lab, { caption: `At rest: ${name}.`, edges: true, ground: 0, width: 320, height: 260 }),
  );

export const figure: Figure = {
  id: "methods",
  title: "One cube, every method",
  source: "Physically Based Deformable Models: the methods of a room side by side",
  alone: true,
  async run(size, progress) {
    const m = await measure(size, progress);
    return { text: textOf(m), checks: checksOf(m), plots: plotsOf(m), pictures: picturesOf(m) };
  },
};
