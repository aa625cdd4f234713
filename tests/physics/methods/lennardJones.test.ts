/**
 * Loosely coupled particles against lattice sums, mechanics and statistics that know nothing of the code: distances of
 * a crystal's shells are counted here, by themselves.
 */
import { describe, expect, test } from "vitest";
import type { Lattice, LennardJones, PointsBody } from "../../../shared/scene.ts";
import { latticePoints } from "../../../server/sim/body/points.ts";
import { lawOf, lennardJones, Pair } from "../../../server/sim/methods/lennardJones.ts";
import type { Method, MethodState } from "../../../server/sim/methods/method.ts";
import { laboratory } from "../laboratory.ts";
import { inLong } from "../../support/long.ts";
import { block, known, largest, outside, randoms, templateOf } from "./kit.ts";

const SPACING = 0.1;
const METHOD: LennardJones = { type: "lennard-jones", dissociation: 1 };
const FREE = { transform: { translate: [0, 0, 0] } } as Partial<PointsBody>;

async function opened(body: PointsBody, h = 1 / 240) {
  const template = await templateOf(body);
  const of = known(template, h);
  const spec = body.method as LennardJones;
  const method: Method = lennardJones.open(lennardJones.plan(template, spec, of, "/method/type"), spec, of);
  const state: MethodState = {
    x: Float64Array.from(template.positions),
    v: new Float64Array(3 * of.count),
    more: new Float64Array(1),
  };
  return { template, of, method, state };
}

/** Of an endless lattice of spacing 1: how many neighbors at which distance, up to `reach`. */
function shells(arrangement: "fcc" | "hexagonal", reach: number): number[] {
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

/** The bi-reciprocal function, cut off and shifted in force, written down again. */
function reference(d0: number, cutOff: number, m: number, n: number): { energy(d: number): number } {
  const energy = (d: number): number => (-1 / (m - n)) * (m * (d0 / d) ** n - n * (d0 / d) ** m);
  const slope = (d: number): number => (-m * n * ((d0 / d) ** m - (d0 / d) ** n)) / ((m - n) * d);
  return { energy: (d) => (d < cutOff ? energy(d) - energy(cutOff) - (d - cutOff) * slope(cutOff) : 0) };
}

const CRYSTALS = [
  ["fcc", [6, 12]],
  ["hexagonal", [6, 12]],
  ["fcc", [4, 8]],
] as const;

describe.each(CRYSTALS)("%s crystal, exponents %j", (arrangement, [m, n]) => {
  const cutOff = 2.2;
  const method: LennardJones = { ...METHOD, exponents: [m, n], cutOff };
  const cells: [number, number, number] = arrangement === "fcc" ? [4, 4, 4] : [12, 12, 1];

  test("its lattice constant is that of the lattice sum with the same cut-off, within 1e-6", async () => {
    const body = block(method, { ...FREE, mesh: { type: "lattice", arrangement, cells, spacing: SPACING } });
    const law = lawOf(await templateOf(body), method);
    // energy of a point in an endless lattice of spacing a; the cut-off stays where it is
    const sum = (a: number): number => {
      const { energy } = reference(law.d0, law.cutOff, m, n);
      return shells(arrangement, law.cutOff / a).reduce((e, d) => e + energy(a * d), 0) / 2;
    };
    // its minimum, by golden section
    const golden = (Math.sqrt(5) - 1) / 2;
    let [low, high] = [0.97 * SPACING, 1.03 * SPACING];
    while (high - low > 1e-9) {
      const [a, b] = [high - golden * (high - low), low + golden * (high - low)];
      if (sum(a) < sum(b)) high = b;
      else low = a;
    }
    expect(Math.abs((low + high) / 2 / SPACING - 1)).toBeLessThan(1e-6);
  });

  test("its energy is the lattice sum: differences of blocks leave nothing but the bulk", async () => {
    const energyOf = async (more: number, rows: number): Promise<[energy: number, mass: number]> => {
      const grown: [number, number, number] =
        arrangement === "fcc" ? [3 + more, 3 + more, 3 + more] : [8 + more, 8 + 2 * rows, 1];
      const mesh = { type: "lattice", arrangement, cells: grown, spacing: SPACING } as const;
      const { method: opens, state, template } = await opened(block(method, { ...FREE, mesh }));
      // the law of the larger block's middle is that of an endless lattice: blocks here are as large as it reaches
      return [opens.energy(state), template.mass[0]!];
    };
    const law = lawOf(
      await templateOf(block(method, { ...FREE, mesh: { type: "lattice", arrangement, cells, spacing: SPACING } })),
      method,
    );
    const { energy } = reference(law.d0, law.cutOff, m, n);
    const perPoint = shells(arrangement, cutOff).reduce((e, d) => e + energy(SPACING * d), 0) / 2;
    const corners =
      arrangement === "fcc"
        ? [
            [3, 0, 1],
            [2, 0, -3],
            [1, 0, 3],
            [0, 0, -1],
          ]
        : [
            [1, 1, 1],
            [1, 0, -1],
            [0, 1, -1],
            [0, 0, 1],
          ];
    let bulk = 0;
    let mass = 0;
    for (const [more, rows, sign] of corners as [number, number, number][]) {
      const [e, m] = await energyOf(more, rows);
      bulk += sign * e;
      mass = m;
    }
    // a third difference of n^3 is 6, and there are 4 points in a cell; a mixed one has two rows of one point
    const points = arrangement === "fcc" ? 24 : 2;
    expect(Math.abs(bulk / (points * mass * perPoint) - 1)).toBeLessThan(1e-6);
  });
});

test("energy and force end at the cut-off, and one is the other's slope", () => {
  const law = { d0: 0.1, cutOff: 0.22, m: 6, n: 12, depth: 1 };
  const pair = new Pair(law);
  expect(Math.abs(pair.energy(law.cutOff * (1 - 1e-9)))).toBeLessThan(1e-15);
  expect(Math.abs(pair.at(law.cutOff * (1 - 1e-9)) * law.cutOff)).toBeLessThan(1e-6);
  for (const d of [0.085, 0.1, 0.13, 0.2]) {
    const slope = (pair.energy(d + 1e-7) - pair.energy(d - 1e-7)) / 2e-7;
    expect(Math.abs(-slope / d / pair.at(d) - 1)).toBeLessThan(1e-5);
  }
});

describe("a cluster that swings by itself", () => {
  const STEPS = inLong(100_000, 4_000);
  const mesh: Lattice = { type: "lattice", arrangement: "fcc", cells: [2, 2, 2], spacing: SPACING };

  test("keeps its energy within 1e-4 and its momentum within 1e-12", async () => {
    // one step of its own a method's step
    const { method, state, of } = await opened(block(METHOD, { ...FREE, mesh }), 1 / 2000);
    const random = randoms(3);
    state.v.forEach((_, k) => (state.v[k] = 0.3 * random()));
    const nobody = outside(of);
    const total = (): number => {
      const kinetic = of.mass.reduce(
        (sum, m, i) => sum + 0.5 * m * [0, 1, 2].reduce((s, r) => s + state.v[3 * i + r]! ** 2, 0),
        0,
      );
      return kinetic + method.energy(state);
    };
    const momentum = (): number[] =>
      [0, 1, 2].map((r) => of.mass.reduce((sum, m, i) => sum + m * state.v[3 * i + r]!, 0));
    const size = of.mass.reduce((sum, m, i) => sum + m * Math.hypot(...state.v.subarray(3 * i, 3 * i + 3)), 0);
    const before = momentum();
    /** Mean over a hundred steps: what swings about the true energy is not drift. */
    const mean = (): number => {
      let sum = 0;
      for (let n = 0; n < 100; n++) {
        method.step(state, nobody);
        sum += total() / 100;
      }
      return sum;
    };
    const first = mean();
    for (let n = 0; n < STEPS; n++) method.step(state, nobody);
    const last = mean();
    expect(Math.abs(last / first - 1)).toBeLessThan(1e-4);
    const after = momentum();
    expect(largest(after.map((p, r) => (p - before[r]!) / size))).toBeLessThan(1e-12);
    // it moves
    expect(largest(state.x.map((x, k) => x - latticePoints(mesh)[k]!))).toBeGreaterThan(0.01);
  });

  test("its steps are of order 2: half as long, a quarter as wrong", async () => {
    const runs = await Promise.all(
      [1, 2, 8].map(async (parts) => {
        const { method, state, of } = await opened(block(METHOD, { ...FREE, mesh }), 1 / (1200 * parts));
        const random = randoms(3);
        state.v.forEach((_, k) => (state.v[k] = 0.1 * random()));
        for (let n = 0; n < 24 * parts; n++) method.step(state, outside(of));
        return state.x;
      }),
    );
    const [coarse, fine, finest] = runs as [Float64Array, Float64Array, Float64Array];
    const error = (x: Float64Array): number => Math.hypot(...x.map((value, k) => value - finest[k]!));
    // 1/64 of the coarse error is the reference's own
    const order = Math.log2(error(coarse) / error(fine));
    expect(Math.abs(order - Math.log2((1 - 1 / 64) / (1 / 4 - 1 / 64)))).toBeLessThan(0.05);
  });
});

test("half as stiff as a step bears, it stands; the plan takes as many steps as that needs", async () => {
  const steps = async (dissociation: number): Promise<number> => {
    const body = block({ ...METHOD, dissociation }, FREE);
    const template = await templateOf(body);
    const { law } = lennardJones.plan(template, body.method, known(template, 1 / 240), "/method/type");
    return law![5]!;
  };
  // omega = sqrt(8 n m e_0)/d_0, d_0 within 3 % of the spacing
  for (const e of [1, 4, 16]) {
    const wanted = Math.sqrt(8 * 72 * e) / SPACING / 240 / 0.5;
    expect(Math.abs((await steps(e)) - wanted)).toBeLessThan(1 + 0.04 * wanted);
  }
});

describe("heat", () => {
  const warm = (temperature: number): PointsBody =>
    block(
      { ...METHOD, temperature, heatRate: 40 },
      { ...FREE, mesh: { type: "lattice", arrangement: "fcc", cells: [3, 3, 3], spacing: SPACING } },
    );

  test("a crystal takes the temperature that it is held at, and no momentum", async () => {
    const { method, state, of } = await opened(warm(0.2));
    const nobody = outside(of);
    for (let n = 0; n < 200; n++) method.step(state, nobody);
    let mean = 0;
    const samples = 300;
    for (let n = 0; n < samples; n++) {
      method.step(state, nobody);
      // <v^2> = 3 k T/M, and three degrees of freedom are the whole's own
      mean += state.v.reduce((sum, v) => sum + v * v, 0) / (3 * of.count - 3) / samples;
    }
    // 320 degrees of freedom, a correlation of some 20 steps: 15 independent samples, 2 % of standard deviation
    expect(Math.abs(mean / 0.2 - 1)).toBeLessThan(0.08);
    const momentum = [0, 1, 2].map((r) => state.v.reduce((sum, v, k) => (k % 3 === r ? sum + v : sum), 0));
    expect(largest(momentum) / of.count).toBeLessThan(1e-12);
  });

  test("it melts: cold neighbors stay, hot ones part", async () => {
    const kept = async (temperature: number): Promise<number> => {
      const { method, state, of } = await opened(warm(temperature));
      const near = (x: Float64Array, i: number, j: number): number =>
        Math.hypot(x[3 * i]! - x[3 * j]!, x[3 * i + 1]! - x[3 * j + 1]!, x[3 * i + 2]! - x[3 * j + 2]!);
      const start = state.x.slice();
      const pairs: [number, number][] = [];
      for (let i = 0; i < of.count; i++)
        for (let j = 0; j < i; j++) if (near(start, i, j) < 1.1 * SPACING) pairs.push([i, j]);
      for (let n = 0; n < 800; n++) method.step(state, outside(of));
      return pairs.filter(([i, j]) => near(state.x, i, j) < 1.4 * SPACING).length / pairs.length;
    };
    expect(await kept(0.02)).toBe(1);
    expect(await kept(0.9)).toBeLessThan(0.6);
  });
});

test("points lie on a floor with half their spacing, and hands and impulses move them", async () => {
  const body = block({ ...METHOD, temperature: 0 }, { transform: { translate: [0, 0.4, 0] } });
  const lab = await laboratory({
    gravity: [0, -2, 0],
    bodies: [body],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    interaction: { grabMaxForce: 1200 },
  });
  lab.run(120);
  const heights = (): number[] => Array.from(lab.positions()).filter((_, k) => k % 3 === 1);
  expect(Math.min(...heights())).toBeGreaterThan(0.05 - 1e-4);
  expect(Math.min(...heights())).toBeLessThan(0.06);
  // the highest point goes up with the hand, and takes the others with it
  const top = heights().indexOf(Math.max(...heights()));
  const before = heights()[top]!;
  const target: [number, number, number] = [0, 1, 0];
  expect(lab.run(90, [{ type: "grab", member: 1, grab: 0, body: 0, triangle: top, u: 0, v: 0, target }])).toEqual([]);
  expect(heights()[top]! - before).toBeGreaterThan(0.2);
  expect(lab.run(1, [{ type: "grab", member: 2, grab: 0, body: 0, triangle: 32, u: 0, v: 0, target }])).toMatchObject([
    { type: "inputRejected", field: "triangle", value: 32, limit: "0 to 31" },
  ]);
});

test("an impulse on a point arrives whole", async () => {
  const lab = await laboratory({ bodies: [block(METHOD, FREE)] });
  lab.run(1, [{ type: "impulse", member: 1, body: 0, triangle: 5, u: 0, v: 0, impulse: [1, 2, -1] }]);
  const { mass } = lab.created.bodies[0]!;
  const v = lab.velocities();
  [1, 2, -1].forEach((wanted, r) =>
    expect(Math.abs(mass.reduce((sum, m, i) => sum + m * v[3 * i + r]!, 0) - wanted)).toBeLessThan(1e-4),
  );
});

test("pairs that need too many steps are refused", async () => {
  const stiff = block({ ...METHOD, dissociation: 1e6 });
  await expect(templateOf(stiff)).rejects.toThrow(/\/bodies\/0\/method\/dissociation.*fewer and larger points/);
});
