/** The three Euler methods on nets of springs: order, damping, limits of stability, and energy. */
import type { Integrator } from "../../../../server/sim/methods/elements/integrators.ts";
import { massSpring } from "../../../../server/sim/methods/elements/massSpring.ts";
import type { Constants, MethodState } from "../../../../server/sim/methods/method.ts";
import { known, largest, NOTHING, outside, randoms, templateOf } from "../../../physics/methods/kit.ts";
import { diagonalize } from "../../../statics/eigen.ts";
import { check, type Check, type Figure } from "../figure.ts";
import { curves, type Series } from "../drawing/plots.ts";

const MASS = 2;
const STIFFNESS = 50;
const OMEGA = Math.sqrt(STIFFNESS / MASS);
const LENGTH = 1;
const AMPLITUDE = 1e-3;
const NAMES: readonly Integrator[] = ["explicit", "symplectic", "implicit"];

/** Step, s, and Rayleigh damping. */
interface Pace {
  h: number;
  alpha?: number;
  beta?: number;
}

interface Net {
  springs: Constants;
  /** 0: fixed. */
  mass: Float64Array;
  rest: Float64Array;
}

/** A fixed particle at 0, and one that swings about x = LENGTH. */
const OSCILLATOR: Net = {
  springs: { ends: Uint32Array.of(0, 1), rest: Float64Array.of(LENGTH), stiffness: Float64Array.of(STIFFNESS) },
  mass: Float64Array.of(0, MASS),
  rest: Float64Array.of(0, 0, 0, LENGTH, 0, 0),
};

/** @param by float64[3N] initial displacement from rest, m */
function released(
  { springs, mass, rest }: Net,
  integrator: Integrator,
  { h, alpha = 0, beta = 0 }: Pace,
  by: Float64Array,
) {
  const body = { count: mass.length, mass, h, alpha, beta };
  const method = massSpring.open(springs, { type: "mass-spring", integrator }, body);
  const state: MethodState = { x: rest.map((x, k) => x + by[k]!), v: new Float64Array(rest.length), more: NOTHING };
  const nobody = outside(body);
  return {
    run: (steps: number): void => {
      for (let n = 0; n < steps; n++) method.step(state, nobody);
    },
    /** The largest displacement, m. */
    far: () => largest(state.x.map((x, k) => x - rest[k]!)),
    energy: () => method.energy(state) + 0.5 * state.v.reduce((sum, v, k) => sum + mass[Math.floor(k / 3)]! * v * v, 0),
    place: () => state.x[3]! - LENGTH,
  };
}

const oscillator = (integrator: Integrator, pace: Pace) =>
  released(OSCILLATOR, integrator, pace, Float64Array.of(0, 0, 0, AMPLITUDE, 0, 0));

/** Relative error after 0.7 s in `steps` steps, against a cos(w t). */
function swingError(integrator: Integrator, steps: number): number {
  const T = 0.7;
  const one = oscillator(integrator, { h: T / steps });
  one.run(steps);
  return Math.abs(one.place() / AMPLITUDE - Math.cos(OMEGA * T));
}

/**
 * Relative error after 1 s against the solution of v' = -(alpha + beta w^2) v - w^2 x, over w^2 h: errors of order 1
 * are numbers near 1.
 */
function dampingError(integrator: Integrator): number {
  const alpha = 0.4;
  const beta = 0.02;
  const steps = 20_000;
  const one = oscillator(integrator, { h: 1 / steps, alpha, beta });
  one.run(steps);
  const ratio = (alpha + beta * OMEGA * OMEGA) / (2 * OMEGA);
  const swing = OMEGA * Math.sqrt(1 - ratio * ratio);
  const exact = Math.exp(-ratio * OMEGA) * (Math.cos(swing) + ((ratio * OMEGA) / swing) * Math.sin(swing));
  return (Math.abs(one.place() / AMPLITUDE - exact) * steps) / (OMEGA * OMEGA);
}

/**
 * Longest stable step, s, by bisection about the expected one. Displacements are at most 1e-9 m, so that springs are
 * linear. A step is stable if they stay below a factor of their start for a given number of steps.
 */
function limitOf(
  net: Net,
  integrator: Integrator,
  expected: number,
  beta: number,
  steps: number,
  growth: number,
): number {
  const random = randoms(5);
  const by = net.rest.map((_, k) => (net.mass[Math.floor(k / 3)]! > 0 ? 1e-9 * random() : 0));
  let [low, high] = [0.93 * expected, 1.1 * expected];
  while (high - low > 1e-4 * expected) {
    const h = (low + high) / 2;
    const one = released(net, integrator, { h, beta }, by);
    let most = 0;
    for (let n = 0; n < 20 && most < 1e-3; n++) {
      // the first run skips the early steps
      one.run(n === 0 ? steps : 1);
      most = Math.max(most, one.far());
    }
    if (most < growth * 1e-9) low = h;
    else high = h;
  }
  return low;
}

/** A sheet of springs that hangs by two corners, and its highest frequency by a separate assembly, 1/s. */
async function sheetOfSprings(cells: number): Promise<{ net: Net; highest: number }> {
  const method = { type: "mass-spring" } as const;
  const template = await templateOf({
    name: "net",
    kind: "cloth",
    mesh: { type: "grid", size: [0.8, 0.8], cells: [cells, cells] },
    material: { model: "pbd", density: 300, thickness: 0.002, distance: { compliance: 0.03 } },
    pins: [{ select: { particles: [0, cells] } }],
    method,
  });
  const body = known(template, 1);
  const springs = massSpring.plan(template, method, body, "");
  const { ends, rest, stiffness } = springs;
  const X = template.positions;
  const n = X.length;
  const A = new Float64Array(n * n);
  for (let s = 0; s < rest!.length; s++) {
    // derivative of the spring's length by each coordinate, over the root of its mass
    const [i, j] = [3 * ends![2 * s]!, 3 * ends![2 * s + 1]!];
    const growth = [0, 1, 2, 3, 4, 5].map((r): [number, number] => {
      const k = r < 3 ? i + r : j + r - 3;
      const m = body.mass[Math.floor(k / 3)]!;
      return [k, m > 0 ? (X[k]! - X[(r < 3 ? j : i) + (r % 3)]!) / (rest![s]! * Math.sqrt(m)) : 0];
    });
    for (const [a, ga] of growth) for (const [b, gb] of growth) A[n * a + b]! += stiffness![s]! * ga * gb;
  }
  diagonalize(A, new Float64Array(n * n), n);
  const squares = Array.from({ length: n }, (_, k) => A[n * k + k]!);
  return { net: { springs, mass: body.mass, rest: X }, highest: Math.sqrt(largest(squares)) };
}

function orders(): { checks: Check[]; series: Series[] } {
  const checks: Check[] = [];
  const series = NAMES.map((name): Series => {
    const errors = [50, 100, 200, 400, 800, 1600].map((steps): [number, number] => [
      (0.7 * OMEGA) / steps,
      swingError(name, steps),
    ]);
    const order = Math.log2(errors.at(-2)![1] / errors.at(-1)![1]);
    checks.push(
      check(`${name}: order of convergence`, order, { low: 0.95, high: 1.05, basis: "theory: 1" }),
      check(`${name}, damped: error after a second over w² h a`, dampingError(name), { high: 1, basis: "order 1" }),
    );
    return { name, points: errors, style: "both" };
  });
  return { checks, series };
}

async function limits(cells: number): Promise<Check[]> {
  const ratio = 0.3;
  const { net, highest } = await sheetOfSprings(cells);
  const within = { low: 0.99, high: 1.01, basis: "eigenvalues of a step" };
  const damped = limitOf(OSCILLATOR, "explicit", (2 * ratio) / OMEGA, (2 * ratio) / OMEGA, 20_000, 1);
  return [
    check(
      "symplectic: longest stable step over 2/w",
      (limitOf(OSCILLATOR, "symplectic", 2 / OMEGA, 0, 500, 1000) * OMEGA) / 2,
      within,
    ),
    check(
      `symplectic, sheet of ${cells} x ${cells} cells: longest stable step over 2/w of its highest mode`,
      (limitOf(net, "symplectic", 2 / highest, 0, 500, 1000) * highest) / 2,
      within,
    ),
    check(
      `explicit, damping ratio z = ${ratio}: longest stable step over 2 z/w`,
      (damped * OMEGA) / (2 * ratio),
      within,
    ),
  ];
}

/** w h of a step. */
const PART = 0.1;

/** Ratio of largest to smallest energy of symplectic Euler, over its theoretical bound. */
function spread(steps: number): number {
  const one = oscillator("symplectic", { h: PART / OMEGA });
  let low = Infinity;
  let high = 0;
  for (let n = 0; n < steps; n += 7) {
    one.run(7);
    const energy = one.energy();
    low = Math.min(low, energy);
    high = Math.max(high, energy);
  }
  return (high / low) * ((1 - PART / 2) / (1 + PART / 2));
}

function energies(steps: number): { checks: Check[]; series: Series[] } {
  const series = NAMES.map((name): Series => {
    const one = oscillator(name, { h: PART / OMEGA });
    const first = one.energy();
    const points = [...Array(301).keys()].map((n): [number, number] => {
      if (n > 0) one.run(1);
      return [(n * PART) / (2 * Math.PI), one.energy() / first];
    });
    return { name, points };
  });
  const explicit = series[0]!.points[100]![1] / (1 + PART ** 2) ** 100;
  const long = oscillator("implicit", { h: 10 / OMEGA });
  const before = long.energy();
  long.run(4);
  return {
    series,
    checks: [
      check("explicit: energy after 100 steps over (1 + w² h²)^100 times the first", explicit, {
        low: 1 - 1e-6,
        high: 1 + 1e-6,
        basis: "exact; rounding of lengths",
      }),
      check(`symplectic: largest over smallest energy of ${steps} steps, over (1 + w h/2)/(1 - w h/2)`, spread(steps), {
        low: 0.99,
        high: 1 + 1e-6,
        basis: "exact invariant",
      }),
      check(
        "implicit, w h = 10: energy after 4 steps times (1 + w² h²)^4 over the first",
        (long.energy() / before) * 101 ** 4,
        { low: 1 - 1e-6, high: 1 + 1e-6, basis: "exact; rounding of lengths" },
      ),
    ],
  };
}

export const figure: Figure = {
  id: "integrators",
  title: "Three Eulers on springs",
  source:
    "Physically Based Deformable Models, time integration and mass-spring systems; Baraff and Witkin 1998; Hairer, Lubich and Wanner 2006, chapter I",
  async run(size) {
    const full = size === "full";
    const order = orders();
    const steps = full ? 1_000_000 : 50_000;
    const energy = energies(steps);
    const cells = full ? 8 : 4;
    return {
      text: `Two nets of method \`mass-spring\` in float64. An oscillator: a particle of ${MASS} kg on a spring of ${STIFFNESS} N/m and 1 m whose other end is fixed, released ${AMPLITUDE} m from rest along the spring, so w = ${OMEGA}/s and the motion is linear up to rounding of its lengths. A sheet of ${cells} x ${cells} cells of springs (the edges of its triangles, 33 N/m) that hangs by two corners: its highest frequency is that of M^-1 K assembled here and diagonalized by Jacobi rotations. One step of each Euler method is a matrix, so the expected values are exact; they depend only on w h.

- **Order**: after 0.7 s against a cos(w t), from two halvings; 1 for all three. The next term is of order h, 0.4 % at the finest steps. With alpha = 0.4/s and beta = 0.02 s, a second of an underdamped swing in 20,000 steps has an error below w² h a.
- **Stability**: without damping both eigenvalues of a symplectic step are of length 1 up to w h = 2. Explicit Euler has |lambda|² = 1 - 2 z w h + w² h² and needs damping: h <= 2 z/w. The limit is bisected to 1e-4: 500 steps (a factor of 1,000 counts as growth), 20,000 for the slow growth of the explicit method. The sheet is displaced at random by 1e-9 m.
- **Energy**: explicit Euler multiplies it by 1 + w² h² in a step, implicit Euler divides it by that, for any step. Symplectic Euler keeps v² + w² x² - h w² x v instead, so its energy stays between two bounds: neither drift nor loss in ${steps} steps${full ? "" : " (a million in the full report)"}.

Limits: the order is only 1. Damping along springs shortens the symplectic limit (it acts at the step's beginning), and implicit Euler damps swings: at w h = 0.1 half of the energy is gone after 1.1 periods. It takes one Newton step, without the softening by compressed springs, so large motions are linearized once a step.`,
      checks: [...order.checks, ...(await limits(cells)), ...energy.checks],
      plots: [
        {
          caption: "Error of the position after 0.7 s, by step.",
          spec: curves({ title: "w h", log: true }, { title: "error / amplitude", log: true }, [
            ...order.series,
            { name: "order 1", style: "dashed", points: [0.002, 0.07].map((x) => [x, x]) },
          ]),
        },
        {
          caption: `Energy over time, w h = ${PART}: gained, kept within bounds, lost.`,
          spec: curves({ title: "periods" }, { title: "energy / first energy", log: true }, energy.series),
        },
      ],
      pictures: [],
    };
  },
};
