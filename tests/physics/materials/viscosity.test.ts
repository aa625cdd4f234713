/**
 * Side effects that material damping (`retardationTime`) must not have. tests/report/figures/solids/damping.ts measures
 * its damping.
 *
 * Tolerances: the strain of a body that turns at 3 1/s is 1e-3 at most, so its vibrations hold 1e-6 of its energy. A
 * damping rate of rotations would take 1e-3 of its angular momentum. Rest is reached to 0.5 % of the stress in both
 * rooms. Float32 rounds at random by half a last place of 0.1 m in a substep of 1/1200 s, 4e-6 m/s: about 1e-5 of the
 * energy of 8 kg at 0.2 m/s in 20 substeps, and four times that now and then.
 */
import { expect, test } from "vitest";
import type { Body } from "../../../shared/scene/scene.ts";
import { EnergyLedger } from "../../../server/sim/energy/ledger.ts";
import type { Input } from "../../../server/sim/types.ts";
import { laboratory } from "../laboratory.ts";
import { watched } from "../laws/watched.ts";

const cube = (material: object, more: object = {}): Body =>
  ({
    name: "cube",
    kind: "soft",
    contact: { self: false },
    mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [4, 4, 4] },
    material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3, ...material },
    ...more,
  }) as Body;
const sheet = (material: object, more: object = {}): Body =>
  ({
    name: "sheet",
    kind: "cloth",
    contact: { self: false },
    mesh: { type: "grid", size: [0.4, 0.4], cells: [6, 6] },
    material: {
      ...{ density: 300, thickness: 1e-3, youngsModulus: 2e5, poissonsRatio: 0.3, bendingStiffness: 1e-3 },
      ...material,
    },
    ...more,
  }) as Body;

const ROUNDING = 1e-4;

test.each([
  ["a compliant solid", cube, "compliant"],
  ["an implicit solid", cube, "implicit"],
  ["a compliant sheet", sheet, "compliant"],
  ["an implicit sheet", sheet, "implicit"],
] as const)("%s that turns keeps its angular momentum and energy", async (_, make, solver) => {
  const turned = async (retardationTime: number): Promise<{ momentum: number; energy: number; elastic: number }> => {
    // a sheet that is curved at rest, and stiff in bending: K x is not zero and turns with it
    const mesh = make === sheet && { mesh: { type: "ball", radius: 0.3, subdivisions: 2 } };
    const body = make({ retardationTime, ...(mesh && { bendingStiffness: 3 }) }, { solver, ...mesh });
    const lab = await laboratory({ bodies: [body], refine: true });
    lab.put(
      0,
      (x) => x,
      ([x, , z]) => [3 * z, 0, -3 * x],
    );
    lab.run(60);
    const { angularMomentum, total, elastic } = new EnergyLedger(lab.created, lab.world).entries[0]!.bodies[0]!;
    return { momentum: angularMomentum[1], energy: total, elastic };
  };
  const [elastic, viscous] = [await turned(0), await turned(0.02)];
  expect(Math.abs(viscous.momentum / elastic.momentum - 1)).toBeLessThan(1e-3);
  expect(Math.abs(viscous.energy / elastic.energy - 1)).toBeLessThan(1e-3);
  // a false strain rate would bend it; dashpots damp the initial vibrations
  expect(viscous.elastic).toBeLessThan(1.2 * elastic.elastic);
});

test.each([
  ["solid", cube, 1e4, 0.001],
  ["solid", cube, 1e6, 0.1],
  ["solid", cube, 1e8, 10],
  ["sheet", sheet, 1e4, 0.01],
  ["sheet", sheet, 1e4, 10],
] as const)(
  "a %s (%#) that is shaken never gains energy, and dashpots only take some",
  async (_, make, youngsModulus, tau) => {
    const body = make({ youngsModulus, retardationTime: tau }, { solver: "compliant" });
    const { lab, books, run } = await watched({ bodies: [body], refine: true });
    let seed = 1;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2 ** 30 - 1;
    lab.put(
      0,
      (x) => x,
      () => [random(), random(), random()],
    );
    run(20);
    const totals = books.entries.slice(1).map(({ bodies: [b] }) => b!.total);
    totals.slice(1).forEach((total, n) => expect(total - totals[n]!).toBeLessThan(ROUNDING * totals[0]!));
    for (const { bodies } of books.entries) expect(bodies[0]!.flows.viscosity).toBeLessThan(ROUNDING * totals[0]!);
    expect(books.entries.reduce((sum, { bodies }) => sum + bodies[0]!.flows.viscosity, 0)).toBeLessThan(
      -0.1 * totals[0]!,
    );
  },
);

test.each(["compliant", "implicit"] as const)("a %s body with dashpots comes to the same rest", async (solver) => {
  const sag = async (retardationTime: number): Promise<Float64Array> => {
    const pins = [{ select: { box: { min: [-1, -1, -1], max: [-0.09, 1, 1] } } }];
    const body = cube({ youngsModulus: 1e4, damping: 3, retardationTime }, { solver, pins });
    const lab = await laboratory({ bodies: [body], gravity: [0, -9.81, 0], refine: true });
    lab.run(300);
    return lab.positions().map((x, k) => x - lab.created.bodies[0]!.positions[k]!);
  };
  const [elastic, viscous] = [await sag(0), await sag(0.02)];
  const most = elastic.reduce((m, d) => Math.max(m, Math.abs(d)), 0);
  expect(most).toBeGreaterThan(1e-3);
  viscous.forEach((d, k) => expect(Math.abs(d - elastic[k]!)).toBeLessThan(0.01 * most));
});

test("a body that begins flattened is not thrown: its first strain rate is 0", async () => {
  const { books, run } = await watched({
    bodies: [cube({ youngsModulus: 1e4, retardationTime: 0.05 }, { solver: "compliant", start: "flattened" })],
    refine: true,
  });
  run(20);
  const [first, ...later] = books.entries.map(({ bodies: [b] }) => b!.total);
  for (const total of later) expect(total).toBeLessThan(first! * (1 + ROUNDING));
});

test.each([
  ["plastic", { plasticity: { yield: 0.5, creep: 1, max: 1 } }],
  ["Neo-Hookean", { model: "neo-hookean" }],
  ["stable Neo-Hookean", { model: "stable-neo-hookean" }],
  [
    "orthotropic",
    {
      ...{ model: "orthotropic", youngsModulus: undefined, poissonsRatio: undefined },
      ...{ youngsModuli: [1e4, 1e4, 1e4], poissonsRatios: [0.3, 0.3, 0.3], shearModuli: [4e3, 4e3, 4e3] },
    },
  ],
] as const)("a %s solid is damped as an elastic one is", async (_, material) => {
  const left = async (more: object): Promise<number> => {
    const scene = { bodies: [cube({ youngsModulus: 1e4, ...more }, { solver: "compliant" })], refine: true };
    const lab = await laboratory(JSON.parse(JSON.stringify(scene)));
    // stretched by 1 %, for any law
    lab.put(0, ([x, y, z]) => [1.01 * x, y, z]);
    lab.run(10);
    return new EnergyLedger(lab.created, lab.world).entries.at(-1)!.bodies[0]!.total;
  };
  const undamped = await left(material);
  const wanted = (await left({ retardationTime: 0.005 })) / (await left({}));
  expect(wanted).toBeLessThan(0.7);
  expect((await left({ ...material, retardationTime: 0.005 })) / undamped).toBeCloseTo(wanted, 1);
});

test("a reset clears the state of dashpots", async () => {
  const bodies = [
    cube({ retardationTime: 0.01 }),
    sheet({ retardationTime: 0.01 }, { transform: { translate: [1, 0, 0] } }),
  ];
  const [once, again] = [await laboratory({ bodies }), await laboratory({ bodies })];
  const pull: Input = { type: "impulse", member: 1, body: 0, triangle: 3, u: 0.3, v: 0.3, impulse: [0.5, 0.2, 0] };
  again.run(20, [pull]);
  for (const lab of [once, again]) {
    lab.run(1, [{ type: "reset", member: 1 }]);
    lab.run(20, [pull]);
  }
  expect(again.positions()).toEqual(once.positions());
  expect(again.positions(1)).toEqual(once.positions(1));
});
