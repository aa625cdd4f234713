/**
 * Figure 2 of Bender et al. 2014: stress against one singular value of F, as printed and as continued for flat and
 * inverted elements.
 */
import { CONSTRAINTS, type Elements } from "../../../../server/sim/constraints/kinds.ts";
import { hyperElements } from "../../../../server/sim/constraints/hyperelastic.ts";
import { orthotropicElements, tetElements } from "../../../../server/sim/constraints/tetrahedra.ts";
import {
  lameCoefficients,
  neoHookean,
  orthotropicCompliance,
  orthotropicTensor,
  stableNeoHookean,
} from "../../../../server/sim/scene/materialConstants.ts";
import { makeKit } from "../../../parity/kit.ts";
import { check, short, type Check, type Figure, type Plot } from "../figure.ts";
import { curves } from "../drawing/plots.ts";

/**
 * k in Pa, so that stresses are shares of k; kg and s: so heavy and short that one iteration is the explicit limit
 * (figure appA), W h^2 k = 1e-9.
 */
const K = 1;
const NU = 0.3;
const MASS = 100;
const H = 1e-3;
/** Turning point of the Saint Venant-Kirchhoff stress s (s^2 - 1)/2: its derivative (3 s^2 - 1)/2 is zero. */
const TURNING = 1 / Math.sqrt(3);
/**
 * Limit of float32, as in figure appA: stresses are differences of numbers near 1 with an error of 2^-24; and limit of
 * the float64 twin.
 */
const LIMIT = 1e-5;
const TWIN_LIMIT = 1e-12;

/**
 * "one": one singular value changes and the others stay 1, F = diag(s, 1, 1) as in the paper. "all": all are equal, F =
 * s 1.
 */
type Path = "one" | "all";

interface Law {
  name: string;
  elements: (X: Float64Array, tets: Uint32Array) => Elements;
  /** Stretch below which the model is continued. */
  clamp: number;
  /**
   * Iterations after which the multipliers equal the stress to float32: a Neo-Hookean step uses the frame of a slightly
   * inexact rotation.
   */
  iterations: number;
  /** Stress P_xx in Pa: as printed, NaN where it has no value; and as documented below the clamp. */
  printed: (s: number, path: Path) => number;
  continued: (s: number, path: Path) => number;
}

/**
 * Saint Venant-Kirchhoff: e^2 and e continue as their tangents at the turning point, so that the energy mu q + lambda/2
 * t^2 has the stress 2 mu e s + lambda t s of that point and a growing trace.
 */
function stvk(nu: number): Law {
  const { mu, lambda } = lameCoefficients({ youngsModulus: K, poissonsRatio: nu });
  const axes = (path: Path): number => (path === "one" ? 1 : 3);
  return {
    name: `Saint Venant-Kirchhoff, nu = ${nu}`,
    clamp: TURNING,
    iterations: 1,
    elements: (X, tets) => tetElements(X, tets, { mu, lambda }),
    printed: (s, path) => (mu + (axes(path) * lambda) / 2) * s * (s * s - 1),
    continued: (s, path) =>
      -(2 / 3) * mu * TURNING + lambda * TURNING * axes(path) * (-1 / 3 + TURNING * (s - TURNING)),
  };
}

/** Neo-Hookean: s^2 - 2 log s and log s continue as tangents. */
function neo(): Law {
  const m = neoHookean({ youngsModulus: K, poissonsRatio: NU });
  const { mu, lambda, clamp: c } = m;
  const axes = (path: Path): number => (path === "one" ? 1 : 3);
  return {
    name: `Neo-Hookean, nu = ${NU}`,
    clamp: c,
    iterations: 8,
    elements: (X, tets) => hyperElements("neo-hookean", X, tets, m),
    printed: (s, path) => (s > 0 ? mu * (s - 1 / s) + (lambda * axes(path) * Math.log(s)) / s : NaN),
    continued: (s, path) => mu * (c - 1 / c) + (lambda * axes(path) * (Math.log(c) + (s - c) / c)) / c,
  };
}

/** Stable Neo-Hookean: J continues as its tangent plane. Along one singular value that is J itself. */
function stable(): Law {
  const m = stableNeoHookean({ youngsModulus: K, poissonsRatio: NU });
  const { mu, lambda, clamp: c } = m;
  const gamma = 1 + mu / lambda;
  return {
    name: `stable Neo-Hookean, nu = ${NU}`,
    clamp: c,
    iterations: 8,
    elements: (X, tets) => hyperElements("stable-neo-hookean", X, tets, m),
    printed: (s, path) => (path === "one" ? mu * s + lambda * (s - gamma) : mu * s + lambda * (s ** 3 - gamma) * s * s),
    continued: (s, path) =>
      path === "one"
        ? mu * s + lambda * (s - gamma)
        : mu * s + lambda * (c ** 3 * (1 + (3 * (s - c)) / c) - gamma) * c * c,
  };
}

/**
 * Orthotropic Saint Venant-Kirchhoff in its own axes: strains continue as their tangents, so that the stress keeps
 * growing.
 */
function orthotropic(): Law {
  const compliance = orthotropicCompliance({
    youngsModuli: [K, K / 2, K / 4],
    poissonsRatios: [0.4, 0.3, 0.5],
    shearModuli: [0.2 * K, 0.1 * K, 0.15 * K],
  });
  const row = orthotropicTensor(compliance)[0]!;
  const sum = (path: Path): number => (path === "one" ? row[0]! : row[0]! + row[1]! + row[2]!);
  return {
    name: "orthotropic, k = 1, 1/2, 1/4",
    clamp: TURNING,
    iterations: 1,
    elements: (X, tets) => orthotropicElements(X, tets, compliance, [0, 0, 0]),
    printed: (s, path) => (sum(path) * s * (s * s - 1)) / 2,
    continued: (s, path) => sum(path) * TURNING * (-1 / 3 + TURNING * (s - TURNING)),
  };
}

/**
 * P_xx of one corner tetrahedron of 1 m for every stretch, by the kernel (its displacement of the corner is -h^2 w V P
 * b) and by its twin, and the twin's energy density. The moved corner lies at the origin, where float32 keeps all
 * digits of its displacement.
 */
function stresses(
  law: Law,
  stretches: readonly number[],
  path: Path,
): { kernel: number[]; twin: number[]; energy: number[] } {
  const n = stretches.length;
  const X = Float64Array.from({ length: 12 * n }, (_, k) => (k % 12 < 9 && Math.floor((k % 12) / 3) === k % 3 ? 1 : 0));
  const elements = law.elements(
    X,
    Uint32Array.from({ length: 4 * n }, (_, i) => i),
  );
  const stretch = (k: number): number => (path === "all" || k % 3 === 0 ? stretches[Math.floor(k / 12)]! : 1);
  const x = X.map((value, k) => Math.fround(stretch(k)) * (value - X[12 * Math.floor(k / 12) + (k % 3)]!));
  const kit = makeKit(elements, x, new Float64Array(4 * n).fill(1 / MASS), H);
  const volume = Math.fround(1 / 6);
  for (let iteration = 0; iteration < law.iterations; iteration++) kit.iterate(iteration === 0);
  const moved = kit.kernelPositions();
  const { gradient, energy } = CONSTRAINTS[elements.kind].twin;
  return {
    kernel: stretches.map((_, i) => -moved[12 * i]! / (Math.fround(1 / MASS) * kit.h * kit.h * volume)),
    twin: stretches.map((_, i) => gradient!(x, kit.elements as never, i)[0]![0] / volume),
    energy: stretches.map((_, i) => energy!(x, kit.elements as never, i) / volume),
  };
}

function measure(law: Law, path: Path, n: number): { checks: Check[]; plot: Plot; energy: [number, number][] } {
  // The first path ends before |s| = 1, where the negative singular value becomes ambiguous. The second ends before s =
  // 0, where a point has no directions left.
  const from = path === "one" ? -0.98 : 1 / 64;
  const stretches = Array.from({ length: n }, (_, i) => Math.fround(from + ((1.5 - from) * i) / (n - 1)));
  const formula = stretches.map((s) => (s >= law.clamp ? law.printed : law.continued)(s, path));
  const { kernel, twin, energy } = stresses(law, stretches, path);
  const most = Math.max(...formula.map(Math.abs));
  const off = (values: readonly number[]): number =>
    Math.max(...values.map((P, i) => Math.abs(P - formula[i]!))) / most;
  const pushes = kernel.filter((_, i) => stretches[i]! < law.clamp).map((P) => -P);
  const atClamp = -law.continued(law.clamp, path);
  const backwards = Math.max(...pushes.map((push, i) => (i === 0 ? 0 : (push - pushes[i - 1]!) / most)));
  const where = path === "one" ? "one singular value" : "all three the same";
  // range of the plot: crushed and inverted elements, and the sign change of the stress
  const shown = (P: number): boolean => P >= low && P <= high;
  const low = 1.1 * Math.min(...formula.filter((_, i) => stretches[i]! >= -0.5));
  const high = Math.min(-0.6 * low, Math.max(...formula));
  const curve = (f: (s: number, i: number) => number): [number, number][] =>
    stretches
      .map((s, i): [number, number] => [s, f(s, i)])
      .filter(([s, P]) => shown(P) && (path === "one" || s <= 1.1));
  return {
    checks: [
      check(
        `${law.name}, ${where}: kernel against the formulas, largest difference over the largest stress`,
        off(kernel),
        { high: LIMIT },
      ),
      check(`${law.name}, ${where}: float64 twin, the same`, off(twin), { high: TWIN_LIMIT }),
      check(
        `${law.name}, ${where}: smallest push back below s = ${short(law.clamp)}, over that at it`,
        Math.min(...pushes) / atClamp,
        { low: 1 - LIMIT, published: "clamped at its maximum" },
      ),
      check(
        `${law.name}, ${where}: largest decrease of the push from one s to the next lower, over the largest stress`,
        backwards,
        { high: 2 * LIMIT },
      ),
    ],
    plot: {
      caption: `${law.name}, ${where}; continued below s = ${short(law.clamp)}.`,
      spec: curves(
        { title: path === "one" ? "F_xx, others 1" : "F_xx = F_yy = F_zz" },
        { title: "P_xx/k", domain: [low, high] },
        [
          { name: "as printed", points: curve((s) => law.printed(s, path)), style: "dashed" },
          { name: "as documented", points: curve((_, i) => formula[i]!) },
          {
            name: "kernel",
            points: curve((_, i) => (i % Math.ceil(n / 40) === 0 ? kernel[i]! : NaN)),
            style: "points",
          },
        ],
      ),
    },
    energy: stretches.map((s, i) => [s, energy[i]!]),
  };
}

/**
 * Compression of a bar of nu = 0 at which the kernel's push first comes within LIMIT of its maximum. P is flat there,
 * so this lies above the turning point by up to `slack`.
 */
function turning(n: number): { s: number; most: number; slack: number } {
  const step = 1 / n;
  const stretches = Array.from({ length: n }, (_, i) => 1 - i * step);
  const pushes = stresses(stvk(0), stretches, "one").kernel.map((P) => -P);
  const most = Math.max(...pushes);
  // P = P0 + P'' d^2/2 with P0 = k/(3 sqrt 3) and P'' = sqrt 3 k, and both ends of the comparison have an error of
  // LIMIT
  return {
    s: stretches[pushes.findIndex((push) => push >= (1 - LIMIT) * most)]!,
    most,
    slack: step + Math.sqrt((2 * 2 * LIMIT * K) / (3 * Math.sqrt(3)) / (Math.sqrt(3) * K)),
  };
}

export const figure: Figure = {
  id: "fig2",
  title: "Stress of compressed, flat and inverted elements",
  source: "Bender et al. 2014, figure 2 and section 4.2",
  async run(size) {
    const n = size === "full" ? 513 : 129;
    const laws = [stvk(NU), neo(), stable(), orthotropic()];
    const rows = laws.map((law) => ({ law, one: measure(law, "one", n), all: measure(law, "all", n) }));
    const turn = turning(8 * n);
    return {
      text: `One tetrahedron is deformed by F = diag(s, 1, 1), and by F = s 1, and its stress P_xx is read from the kernel's displacement of its corner (float32, SIMD; h = 1 ms and ${MASS} kg at k = ${K} Pa, where a step is an explicit one). It is compared with the printed model and with the documented continuation below a stretch s0 of the singular values.

- **Saint Venant-Kirchhoff**: P = (mu + lambda/2) s (s^2 - 1) is most negative at s = 1/sqrt 3 = ${short(TURNING)}, the paper's 58 %, vanishes in a flat element and pushes an inverted one further inwards. There the paper holds the stress at its maximum. Here the **energy** is continued, by tangents of e^2 and e, so that it has a gradient in every direction: with nu = 0 the stress is constant as in the paper's figure 2 b; otherwise the part with lambda keeps growing linearly. The turning point is read from the kernel at nu = 0.
- **Neo-Hookean**: P grows without bound as s goes to 0 and has no value below. log s and s^2 - 2 log s continue as their tangents below s0 = 0.2.
- **stable Neo-Hookean** (beyond the paper): with two singular values at 1 it is linear through inversion and needs no continuation. Along F = s 1 its printed stress pulls a small element inwards (the dashed curve is above zero): there J continues as its tangent plane. One property of the model remains: between s = 0.77 and s0 its push decreases (the dip of that plot), and a body crushed evenly from all sides to a third of its length hardly resists. Neo-Hookean does not have this weakness.
- **orthotropic**: its strains e(s) continue as tangents below 1/sqrt 3, so the stress grows linearly.

Limits: ${LIMIT} of the largest stress (float32) and, for the float64 twin, ${TWIN_LIMIT}. Below s0 an element must push back at least as strongly as at s0, and its push must never decrease with compression: with a decreasing stress a crushed element would stay crushed.`,
      checks: [
        check("Saint Venant-Kirchhoff, nu = 0: stretch at which the kernel's push first reaches its maximum", turn.s, {
          low: TURNING - 1 / (8 * n),
          high: TURNING + turn.slack,
          published: "58 %",
        }),
        check("Saint Venant-Kirchhoff, nu = 0: that maximum over k/(3 sqrt 3)", (turn.most * (3 * Math.sqrt(3))) / K, {
          low: 1 - LIMIT,
          high: 1 + LIMIT,
        }),
        ...rows.flatMap(({ one, all }) => [...one.checks, ...all.checks]),
      ],
      plots: [
        ...rows.map(({ one }) => one.plot),
        ...rows.slice(1, 3).map(({ all }) => all.plot),
        {
          caption: "Energy density along F = diag(s, 1, 1): every model has a single minimum, at rest.",
          spec: curves(
            { title: "F_xx, others 1" },
            { title: "energy/k", zero: true, domain: [0, 2] },
            rows.map(({ law, one }) => ({ name: law.name, points: one.energy.filter(([, E]) => E <= 2) })),
          ),
        },
      ],
      pictures: [],
    };
  },
};
