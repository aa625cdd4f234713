/** Finite differences on a sheet: rigid motion, uniform strain, and order 2 against theories of plate and membrane. */
import { forcesOf, largest, moved } from "../../../physics/methods/kit.ts";
import { POISSON, RIGIDITY, sheet, sheetModel, SIDE, THICKNESS, YOUNG } from "../../../physics/methods/sheetKit.ts";
import { check, short, type Check, type Figure, type Progress } from "../figure.ts";
import { curves, type Series } from "../drawing/plots.ts";

async function exact(cells: number): Promise<Check[]> {
  const { of, template } = await sheetModel(cells);
  const X = template.positions;
  const [c, s] = [Math.cos(0.7), Math.sin(0.7)];
  const turned = forcesOf(
    of,
    moved(X, ([a, b, d]) => [c * a! - s * b! + 1, s * a! + c * b! - 2, d! + 0.5]),
  );
  const stretch = 1.02;
  const strain = (stretch * stretch - 1) / 2;
  const narrow = Math.sqrt(1 - 2 * POISSON * strain);
  const f = forcesOf(
    of,
    moved(X, ([a, b, d]) => [stretch * a!, b!, narrow * d!]),
  );
  // force on the side: first Piola-Kirchhoff stress (stretch times modulus times Green's strain) times thickness and
  // side
  const total = YOUNG * THICKNESS * SIDE * strain * stretch;
  let pull = 0;
  const none = f.map((value, k) => {
    if (k % 3 !== 0 || Math.abs(X[k]!) < SIDE / 2 - 1e-9) return value;
    if (X[k]! > 0) pull += value;
    return 0;
  });
  return [
    check("turned: largest force over E t side", largest(turned) / (YOUNG * THICKNESS * SIDE), {
      high: 1e-12,
      basis: "exact",
    }),
    check("stretched by 2 %: largest residual force over the pull", largest(none) / total, {
      high: 1e-10,
      basis: "exact",
    }),
    check("stretched by 2 %: pull at an edge minus that of plane stress", Math.abs(pull / total + 1), {
      high: 1e-10,
      basis: "exact",
    }),
  ];
}

/** Load on the sheet as a function of material coordinates from its middle, N/m^2. */
type Load = (x: number, z: number) => number;
interface Case {
  name: string;
  load: Load;
  /** Stretch in both directions of the plane. */
  stretch: number;
  /** N m */
  rigidity: number;
  /** Exact deflection of the middle, m. */
  exact: number;
}

/** Deflection of the middle with fixed edges and the tangent stiffness of the stretched sheet, m. */
async function deflection(cells: number, { load, stretch, rigidity }: Case): Promise<number> {
  const { material } = sheet(cells);
  const { of, template } = await sheetModel(cells, { material: { ...material, bendingStiffness: rigidity } });
  const X = template.positions;
  of.at(moved(X, ([a, b, d]) => [stretch * a!, b!, stretch * d!]));
  const free = X.map((_, k) =>
    k % 3 === 1 && Math.max(Math.abs(X[k - 1]!), Math.abs(X[k + 1]!)) < SIDE / 2 - 1e-9 ? 1 : 0,
  );
  const area = (SIDE / cells) ** 2;
  const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, v, k) => sum + v * b[k]!, 0);
  // plain conjugate gradients
  const w = new Float64Array(X.length);
  const r = free.map((is, k) => (is ? area * load(X[k - 1]!, X[k + 1]!) : 0));
  const p = r.slice();
  const q = new Float64Array(X.length);
  let rr = dot(r, r);
  const enough = 1e-24 * rr;
  while (rr > enough) {
    q.fill(0);
    of.addProduct(p, q, 1, 0);
    const a = rr / dot(p, q);
    for (let k = 0; k < p.length; k++) {
      w[k]! += a * p[k]!;
      r[k]! -= a * free[k]! * q[k]!;
    }
    const before = rr;
    rr = dot(r, r);
    for (let k = 0; k < p.length; k++) p[k] = r[k]! + (rr / before) * p[k]!;
  }
  return w[X.findIndex((_, k) => k % 3 === 1 && Math.abs(X[k - 1]!) + Math.abs(X[k + 1]!) < 1e-9)]!;
}

/** Navier's series of the middle under a uniform load, (-1)^.. 16/(pi^2 m n) over (pi^2/a^2 (m^2 + n^2))^power. */
function navier(power: number): number {
  let sum = 0;
  for (let m = 1; m < 1000; m += 2)
    for (let n = 1; n < 1000; n += 2)
      sum +=
        (((m + n) / 2) % 2 === 1 ? 16 : -16) /
        (Math.PI ** 2 * m * n * ((Math.PI / SIDE) ** 2 * (m * m + n * n)) ** power);
  return sum;
}

const STRETCH = 1.1;
const TENSION = ((YOUNG * THICKNESS) / (1 - POISSON)) * ((STRETCH * STRETCH - 1) / 2);
const wave = (x: number): number => Math.cos((Math.PI * x) / SIDE);
const WAVE2 = 2 * (Math.PI / SIDE) ** 2;
const SINE: Load = (x, z) => wave(x) * wave(z);
const PLATE = { stretch: 1, rigidity: RIGIDITY };
const MEMBRANE = { stretch: STRETCH, rigidity: 0 };
const CASES: Case[] = [
  { name: "plate, one wave", load: SINE, ...PLATE, exact: 1 / (RIGIDITY * WAVE2 * WAVE2) },
  { name: "plate, uniform load", load: () => 1, ...PLATE, exact: navier(2) / RIGIDITY },
  { name: "membrane, one wave", load: SINE, ...MEMBRANE, exact: 1 / (TENSION * WAVE2) },
  { name: "membrane, uniform load", load: () => 1, ...MEMBRANE, exact: navier(1) / TENSION },
];

async function orders(meshes: readonly number[], progress: Progress): Promise<{ checks: Check[]; series: Series[] }> {
  const checks: Check[] = [];
  const series: Series[] = [];
  for (const [n, one] of CASES.entries()) {
    const errors: [number, number][] = [];
    for (const cells of meshes) {
      progress((n + cells / 64) / 5, `${one.name}, ${cells} cells`);
      errors.push([SIDE / cells, Math.abs((await deflection(cells, one)) / one.exact - 1)]);
    }
    const [coarse, fine] = errors.slice(-2) as [[number, number], [number, number]];
    checks.push(
      check(`${one.name}: order, from ${meshes.at(-2)} to ${meshes.at(-1)} cells`, Math.log2(coarse[1] / fine[1]), {
        low: 1.95,
        high: 2.05,
        basis: "theory: 2",
      }),
      check(`${one.name}: error with ${meshes.at(-1)} cells`, fine[1], { high: 0.005, basis: "target" }),
    );
    series.push({ name: one.name, points: errors, style: "both" });
  }
  return { checks, series };
}

export const figure: Figure = {
  id: "finite-differences",
  title: "Finite differences of a sheet",
  source:
    "Physically Based Deformable Models, finite differences method; Terzopoulos et al. 1987; Timoshenko and Woinowsky-Krieger 1959, chapter 5",
  async run(size, progress: Progress = () => {}) {
    const meshes = size === "full" ? [8, 16, 32, 64] : [8, 16, 32];
    const { checks, series } = await orders(meshes, progress);
    return {
      text: `A square sheet of ${SIDE} m in the (x, z) plane, ${THICKNESS} m thick, E = ${YOUNG} Pa, nu = ${POISSON}, bending rigidity D = ${RIGIDITY} N m, in float64 and without a room: only the forces of the method. Its edges are fixed, and only its deflection is free.

**Exact cases.** Turned by 0.7 rad about an axis in its plane and shifted, it has no forces, because metric and curvature do not change. Stretched by 2 % along x, with the contraction of plane stress, its inner particles have none either. Its edges pull as a Saint Venant-Kirchhoff sheet, E t e s over the side with e = (s² - 1)/2. Only rounding is left.

**Order.** Conjugate gradients give the deflection w of the middle (to 1e-12 of the load) with the tangent stiffness of implicit steps, under q = 1 N/m² and under one wave of it:

  plate, not stretched        w = q/(D (2 pi²/a²)²),   uniform load ${short(navier(2) / SIDE ** 4)} q a⁴/D
  membrane, D = 0             w = q/(S 2 pi²/a²),      uniform load ${short(navier(1) / SIDE ** 2)} q a²/S

S = E t/(1 - nu) (s² - 1)/2 = ${short(TENSION)} N/m is the second Piola-Kirchhoff tension of a sheet stretched by s = ${STRETCH} both ways, a its side before that. One wave is an eigenvector of the differences, the easiest load. The uniform load has all waves; its solution is Navier's double series. Central differences are of order 2: halving the spacing divides errors by 4, and the order is within 0.05 of 2 if the next term, of order 4, is small.

Limits: edges are simply supported (a sheet has no slope to fix). Curvature is |r_ab| instead of its part along the normal, which is the same while the sheet keeps its lengths. The tangent stiffness ignores the softening by compressed edges. A mesh must be a regular grid.`,
      checks: [...(await exact(6)), ...checks],
      plots: [
        {
          caption: "Error of the deflection of the middle by spacing.",
          spec: curves({ title: "spacing, m", log: true }, { title: "relative error", log: true }, [
            ...series,
            { name: "order 2", style: "dashed", points: [SIDE / meshes.at(-1)!, 0.1].map((h) => [h, h * h]) },
          ]),
        },
      ],
      pictures: [],
    };
  },
};
