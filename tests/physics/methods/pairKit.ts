/**
 * Measurements of Lennard-Jones particles for their test and the report: lattice sums with shells counted here, a
 * cluster that swings, and one that melts.
 */
import type { PointsBody } from "../../../shared/scene/scene.ts";
import type { LennardJones } from "../../../shared/scene/sceneMethodTypes.ts";
import { lawOf } from "../../../server/sim/methods/points/lennardJones.ts";
import { block, largest, opened, randoms, templateOf } from "./kit.ts";

export const SPACING = 0.1;
export const METHOD: LennardJones = { type: "lennard-jones", dissociation: 1 };
export const FREE = { transform: { translate: [0, 0, 0] } } as Partial<PointsBody>;

type Arrangement = "fcc" | "hexagonal";
export const CRYSTALS: [Arrangement, [m: number, n: number]][] = [
  ["fcc", [6, 12]],
  ["hexagonal", [6, 12]],
  ["fcc", [4, 8]],
];

/** Distances of a point's neighbors in an infinite lattice of spacing 1, up to `reach`. */
function shells(arrangement: Arrangement, reach: number): number[] {
  const distances: number[] = [];
  const n = Math.ceil(2 * reach);
  for (let i = -n; i <= n; i++)
    for (let j = -n; j <= n; j++)
      for (let k = arrangement === "fcc" ? -n : 0; k <= (arrangement === "fcc" ? n : 0); k++) {
        // lattice vectors: (1 1 0) (1 0 1) (0 1 1) over sqrt 2; (1 0) (1/2 sqrt 3/2)
        const d =
          arrangement === "fcc"
            ? Math.hypot(i + j, i + k, j + k) / Math.SQRT2
            : Math.hypot(i + j / 2, (j * Math.sqrt(3)) / 2);
        if (d > 0 && d < reach) distances.push(d);
      }
  return distances;
}

/** The bi-reciprocal function, cut off and shifted in force, written here again from its equation. */
function reference(d0: number, cutOff: number, m: number, n: number): { energy(d: number): number } {
  const energy = (d: number): number => (-1 / (m - n)) * (m * (d0 / d) ** n - n * (d0 / d) ** m);
  const slope = (d: number): number => (-m * n * ((d0 / d) ** m - (d0 / d) ** n)) / ((m - n) * d);
  return { energy: (d) => (d < cutOff ? energy(d) - energy(cutOff) - (d - cutOff) * slope(cutOff) : 0) };
}

export const crystal = (arrangement: Arrangement, [m, n]: [number, number], cells: [number, number, number]) =>
  block(
    { ...METHOD, exponents: [m, n], cutOff: 2.2 },
    { ...FREE, mesh: { type: "lattice", arrangement, cells, spacing: SPACING } },
  );

/** Energy of a point in an infinite lattice as a function of its spacing, J/kg; the cut-off does not scale. */
export async function latticeSum(
  arrangement: Arrangement,
  [m, n]: [number, number],
): Promise<(spacing: number) => number> {
  const body = crystal(arrangement, [m, n], arrangement === "fcc" ? [4, 4, 4] : [12, 12, 1]);
  const { d0, cutOff } = lawOf(await templateOf(body), body.method as LennardJones);
  const { energy } = reference(d0, cutOff, m, n);
  return (a) => shells(arrangement, cutOff / a).reduce((e, d) => e + energy(a * d), 0) / 2;
}

/** Spacing with the least lattice sum relative to the body's initial spacing, by golden section search. */
export async function latticeConstant(arrangement: Arrangement, exponents: [number, number]): Promise<number> {
  const sum = await latticeSum(arrangement, exponents);
  const golden = (Math.sqrt(5) - 1) / 2;
  let [low, high] = [0.97 * SPACING, 1.03 * SPACING];
  while (high - low > 1e-9) {
    const [a, b] = [high - golden * (high - low), low + golden * (high - low)];
    if (sum(a) < sum(b)) high = b;
    else low = a;
  }
  return (low + high) / 2 / SPACING;
}

/** 32 points with random velocities. @param h s @param speed m/s */
async function cluster(h: number, speed: number) {
  const all = await opened(crystal("fcc", [6, 12], [2, 2, 2]), h);
  const random = randoms(3);
  all.state.v.forEach((_, k) => (all.state.v[k] = speed * random()));
  return all;
}

/**
 * A free cluster of 32 points that swings, with one substep in each step of 0.5 ms.
 * @returns (time, energy over the first one - 1) of means over a hundred steps, because oscillation about the true
 * energy is not drift; change of the momentum relative to the sum of its points'; largest displacement of a point, m
 */
export async function swing(steps: number, samples: number) {
  const h = 1 / 2000;
  const { method, state, of, step } = await cluster(h, 0.3);
  const start = state.x.slice();
  const total = (): number =>
    method.energy(state) + state.v.reduce((sum, v, k) => sum + 0.5 * of.mass[Math.floor(k / 3)]! * v * v, 0);
  const momentum = (): number[] =>
    [0, 1, 2].map((r) => of.mass.reduce((sum, m, i) => sum + m * state.v[3 * i + r]!, 0));
  const size = of.mass.reduce((sum, m, i) => sum + m * Math.hypot(...state.v.subarray(3 * i, 3 * i + 3)), 0);
  const before = momentum();
  const energies: [seconds: number, energy: number][] = [];
  for (let n = 0, mean = 0; n < steps; n++) {
    step();
    const within = n % Math.floor(steps / samples);
    if (within < 100) mean += total() / 100;
    if (within !== 99) continue;
    energies.push([n * h, mean]);
    mean = 0;
  }
  const [, first] = energies[0]!;
  return {
    energies: energies.map(([t, energy]): [number, number] => [t, energy / first - 1]),
    momentum: largest(momentum().map((p, r) => (p - before[r]!) / size)),
    moved: largest(state.x.map((x, k) => x - start[k]!)),
  };
}

/** (step in s, distance in m from the solution with 16 steps for one of 1/1200 s), after 20 ms. */
export async function stepErrors(): Promise<[h: number, error: number][]> {
  const places = await Promise.all(
    [1, 2, 4, 16].map(async (parts) => {
      const { state, step } = await cluster(1 / (1200 * parts), 0.1);
      for (let n = 0; n < 24 * parts; n++) step();
      return state.x;
    }),
  );
  const finest = places.pop()!;
  return places.map((x, n) => [1 / (1200 * 2 ** n), Math.hypot(...x.map((value, k) => value - finest[k]!))]);
}

/** A crystal of 108 points at a temperature. */
export const warm = (temperature: number): PointsBody =>
  block(
    { ...METHOD, temperature, heatRate: 40 },
    { ...FREE, mesh: { type: "lattice", arrangement: "fcc", cells: [3, 3, 3], spacing: SPACING } },
  );

/** Neighbors in the crystal after 800 steps: mean distance in spacings, and the share still within 1.4 of them. */
export async function parted(temperature: number): Promise<{ distance: number; kept: number }> {
  const { state, of, step } = await opened(warm(temperature));
  const apart = (i: number, j: number): number =>
    Math.hypot(...[0, 1, 2].map((r) => state.x[3 * i + r]! - state.x[3 * j + r]!)) / SPACING;
  const pairs: [number, number][] = [];
  for (let i = 0; i < of.count; i++) for (let j = 0; j < i; j++) if (apart(i, j) < 1.1) pairs.push([i, j]);
  for (let n = 0; n < 800; n++) step();
  const distances = pairs.map(([i, j]) => apart(i, j));
  return {
    distance: distances.reduce((sum, d) => sum + d, 0) / pairs.length,
    kept: distances.filter((d) => d < 1.4).length / pairs.length,
  };
}
