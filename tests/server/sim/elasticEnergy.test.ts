/** Elastic energies of the energy ledger: zero at rest. */
import { CONSTRAINTS } from "../../../server/sim/constraints/kinds.ts";
import type { DistanceElements } from "../../../server/sim/constraints/distance.ts";
import type { VolumeElements } from "../../../server/sim/constraints/volume.ts";
import type { PlasticTetElements, TetShapes } from "../../../server/sim/constraints/elements.ts";
import { expect, test } from "vitest";
import { elasticEnergyOf } from "../../../server/sim/energy/elastic.ts";
import { orthotropicEnergy } from "../../../server/sim/reference/orthotropic.ts";
import { tetrahedronEnergy } from "../../../server/sim/reference/tetrahedron.ts";
import type { Scene } from "../../../shared/scene/scene.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";

async function bodyOf(body: object): Promise<Awaited<ReturnType<typeof createWorld>>["bodies"][number]> {
  return (await createWorld({ version: 1, title: "t", bodies: [{ name: "b", ...body }] } as Scene, { baseDir: "." }))
    .bodies[0]!;
}
const cube = { kind: "soft", mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] } };
const k = 1e4;

test.each([
  { material: { density: 1000, youngsModulus: k, poissonsRatio: 0.3 }, kind: "tet" as const, twin: tetrahedronEnergy },
  {
    material: {
      model: "orthotropic",
      density: 1000,
      youngsModuli: [1e4, 2e4, 3e4],
      poissonsRatios: [0.2, 0.3, 0.1],
      shearModuli: [5e3, 6e3, 7e3],
    },
    kind: "tet-ortho" as const,
    twin: orthotropicEnergy,
  },
  {
    material: { density: 1000, youngsModulus: k, poissonsRatio: 0.3, plasticity: { yield: 0.01, creep: 1, max: 0.1 } },
    kind: "tet-plastic" as const,
    twin: orthotropicEnergy,
  },
])("$kind: equals the twin's, also when crushed and inverted", async ({ material, kind, twin }) => {
  const b = await bodyOf({ ...cube, material });
  const e = b.elements.find((x) => x.kind === kind)! as never as TetShapes;
  if (kind === "tet-plastic")
    (e as unknown as PlasticTetElements).plasticStrain.forEach((_, n, all) => (all[n] = 0.05 * Math.sin(n)));
  const ours = CONSTRAINTS[kind].energy as (x: Float64Array, e: unknown, i: number, form: "compliant") => number;
  for (const squeeze of [1.1, 0.7, 0.4, 0.1, -0.5, -1]) {
    const x = b.positions.map((v, i) => (i % 3 === 1 ? squeeze * v : v) + 0.02 * Math.sin(5 * i));
    for (let i = 0; i < e.volume.length; i++)
      expect(ours(x, e, i, "compliant") / k).toBeCloseTo(twin(x, e as never, i) / k, 12);
  }
});

test.each<[string, object]>([
  ["tet", { ...cube, material: { density: 1000, youngsModulus: k, poissonsRatio: 0.3 } }],
  [
    "orthotropic tet",
    {
      ...cube,
      material: {
        model: "orthotropic",
        density: 1000,
        youngsModuli: [1e4, 2e4, 3e4],
        poissonsRatios: [0.2, 0.3, 0.1],
        shearModuli: [5e3, 6e3, 7e3],
      },
    },
  ],
  [
    "plastic tet",
    {
      ...cube,
      material: {
        density: 1000,
        youngsModulus: k,
        poissonsRatio: 0.3,
        plasticity: { yield: 0.01, creep: 1, max: 0.1 },
      },
    },
  ],
  [
    "triangle and bend",
    {
      kind: "cloth",
      mesh: { type: "grid", size: [1, 1], cells: [3, 3] },
      material: { density: 300, thickness: 0.01, youngsModulus: k, poissonsRatio: 0.3, bendingStiffness: 1 },
    },
  ],
  [
    "distance and volume",
    {
      ...cube,
      material: { model: "pbd", density: 1000, distance: { compliance: 1e-3 }, volume: { compliance: 1e-5 } },
    },
  ],
  [
    "enclosed volume",
    {
      ...cube,
      material: {
        model: "pbd",
        density: 1000,
        distance: { compliance: 1e-3 },
        volume: { of: "body", compliance: 1e-5 },
      },
    },
  ],
  ["hexahedron", { ...cube, material: { model: "hexahedral", density: 1000, youngsModulus: k, poissonsRatio: 0.3 } }],
])("%s: zero at rest, positive in any other shape, and independent of the body's place", async (_, body) => {
  const b = await bodyOf(body);
  const bent = b.positions.map((v, i) => v + 0.05 * Math.sin(3 * i));
  const energy = elasticEnergyOf(b, bent);
  expect(energy).toBeGreaterThan(0.01);
  expect(elasticEnergyOf(b, b.positions) / energy).toBeLessThan(1e-12);
  expect(
    elasticEnergyOf(
      b,
      bent.map((v, i) => v + [3, -2, 5][i % 3]!),
    ) / energy,
  ).toBeCloseTo(1, 9);
});

test("geometric constraints: C^2/(2 alpha) if they resist, zero if they are rigid, one-sided or act by stiffness", () => {
  const hold = { stiffness: 1, keeps: true, unilateral: false };
  const particles = Uint32Array.of(0, 1);
  const rest = Float64Array.of(1);
  const alpha = Float64Array.of(0.5);
  const long = Float64Array.of(0, 0, 0, 0, 1.3, 0);
  const short = Float64Array.of(0, 0, 0, 0, 0.7, 0);
  const distance = { kind: "distance", particles, rest, alpha, ...hold } as DistanceElements;
  const at = (e: typeof distance, x: Float64Array): number => CONSTRAINTS.distance.energy(x, e, 0, "compliant");
  expect(at(distance, long)).toBeCloseTo(0.09, 12);
  expect(at(distance, short)).toBeCloseTo(0.09, 12);
  expect(at({ ...distance, unilateral: true }, short)).toBe(0);
  expect(at({ ...distance, unilateral: true }, long)).toBeCloseTo(0.09, 12);
  expect(at({ ...distance, alpha: Float64Array.of(0) }, long)).toBe(0);
  const tet = Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0);
  const volume = {
    kind: "volume",
    particles: Uint32Array.of(0, 1, 2, 3),
    rest: Float64Array.of(0.4),
    alpha: Float64Array.of(0.5),
    ...hold,
  } as VolumeElements;
  expect(CONSTRAINTS.volume.energy(tet, volume, 0, "compliant")).toBeCloseTo(0.1 ** 2, 12); // (1 - 0.4)/6
  expect(CONSTRAINTS.volume.energy(tet, { ...volume, unilateral: true }, 0, "compliant")).toBe(0); // swollen
});
