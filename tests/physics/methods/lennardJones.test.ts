/**
 * Lennard-Jones particles compared with lattice sums and statistics that use no code of the simulation. The report
 * (figure lennard-jones) shows their lattice constant, drift of energy and momentum, and melting.
 */
import { expect, test } from "vitest";
import { lennardJones, Pair } from "../../../server/sim/methods/points/lennardJones.ts";
import { laboratory } from "../laboratory.ts";
import { block, known, largest, opened, templateOf } from "./kit.ts";
import { crystal, CRYSTALS, FREE, latticeSum, METHOD, SPACING, warm } from "./pairKit.ts";

test.each(CRYSTALS)(
  "the energy of %s, exponents %j, is the lattice sum: differences of blocks leave only the bulk",
  async (arrangement, exponents) => {
    const solid = arrangement === "fcc";
    const energyOf = async (more: number, rows: number): Promise<[energy: number, mass: number]> => {
      const grown: [number, number, number] = solid ? [3 + more, 3 + more, 3 + more] : [8 + more, 8 + 2 * rows, 1];
      const { method, state, template } = await opened(crystal(arrangement, exponents, grown));
      // particles in the middle of the larger block see an infinite lattice: blocks are as large as the cut-off
      return [method.energy(state), template.mass[0]!];
    };
    const perPoint = (await latticeSum(arrangement, exponents))(SPACING);
    const corners = solid
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
    const points = solid ? 24 : 2;
    expect(Math.abs(bulk / (points * mass * perPoint) - 1)).toBeLessThan(1e-6);
  },
);

test("energy and force end at the cut-off, and the force is the slope of the energy", () => {
  const law = { d0: 0.1, cutOff: 0.22, m: 6, n: 12, depth: 1 };
  const pair = new Pair(law);
  expect(Math.abs(pair.energy(law.cutOff * (1 - 1e-9)))).toBeLessThan(1e-15);
  expect(Math.abs(pair.at(law.cutOff * (1 - 1e-9)) * law.cutOff)).toBeLessThan(1e-6);
  for (const d of [0.085, 0.1, 0.13, 0.2]) {
    const slope = (pair.energy(d + 1e-7) - pair.energy(d - 1e-7)) / 2e-7;
    expect(Math.abs(-slope / d / pair.at(d) - 1)).toBeLessThan(1e-5);
  }
});

test("a crystal with half the stiffness that its steps allow is stable; the plan sets their number", async () => {
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

test("a crystal takes on the temperature of its thermostat, and no momentum", async () => {
  const { state, of, step } = await opened(warm(0.2));
  for (let n = 0; n < 200; n++) step();
  let mean = 0;
  const samples = 300;
  for (let n = 0; n < samples; n++) {
    step();
    // <v^2> = 3 k T/M; three degrees of freedom belong to the whole
    mean += state.v.reduce((sum, v) => sum + v * v, 0) / (3 * of.count - 3) / samples;
  }
  // 320 degrees of freedom and a correlation of about 20 steps: 15 independent samples, a standard deviation of 2 %
  expect(Math.abs(mean / 0.2 - 1)).toBeLessThan(0.08);
  const momentum = [0, 1, 2].map((r) => state.v.reduce((sum, v, k) => (k % 3 === r ? sum + v : sum), 0));
  expect(largest(momentum) / of.count).toBeLessThan(1e-12);
});

test("points rest on a floor at half their spacing, and grabs and impulses move them", async () => {
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
  // the highest point rises with the grab and takes the others along
  const top = heights().indexOf(Math.max(...heights()));
  const before = heights()[top]!;
  const target: [number, number, number] = [0, 1, 0];
  expect(lab.run(90, [{ type: "grab", member: 1, grab: 0, body: 0, triangle: top, u: 0, v: 0, target }])).toEqual([]);
  expect(heights()[top]! - before).toBeGreaterThan(0.2);
  expect(lab.run(1, [{ type: "grab", member: 2, grab: 0, body: 0, triangle: 32, u: 0, v: 0, target }])).toMatchObject([
    { type: "inputRejected", field: "triangle", value: 32, limit: "0 to 31" },
  ]);
});

test("an impulse on a point adds all of its momentum", async () => {
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
