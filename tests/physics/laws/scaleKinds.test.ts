/**
 * The guarantees of scale.test.ts and distance.test.ts for every other model, solver and sweep: the same scene at
 * another size, or a kilometer away, moves alike to the last bit. Lengths times s, gravity times s, moduli times s^2; a
 * compliance for lengths (m/N) times s^-3, one for volumes (m^3/Pa) times s.
 */
import { expect, test } from "vitest";
import type { Body, Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { meanPlasticStrain } from "../materials/plasticStrains.ts";

type Kind = (s: number) => Pick<Body, "kind" | "material" | "solver" | "sweep">;
/** Colliders besides the floor and the ball; `by` scales and shifts a point of the scene. */
type ObstaclesOf = (s: number, by: (x: number, y: number, z: number) => Vec3) => Collider[];

const soft = { youngsModulus: 3e4, poissonsRatio: 0.4 };
const plasticity = { yield: 0.01, creep: 20, max: 0.4 };
const wood = (s: number) => ({
  model: "orthotropic" as const,
  youngsModuli: [6e4 * s * s, 3e4 * s * s, 2e4 * s * s] as Vec3,
  poissonsRatios: [0.4, 0.3, 0.4] as Vec3,
  shearModuli: [2e4 * s * s, 1e4 * s * s, 1.5e4 * s * s] as Vec3,
  axes: [10, 40, -20] as Vec3,
});
const kinds: Record<string, Kind> = {
  "pbd by stiffness": () => ({
    kind: "soft",
    material: { model: "pbd", density: 500, distance: { stiffness: 0.7 }, volume: { stiffness: 0.9 } },
  }),
  "pbd by compliance": (s) => ({
    kind: "soft",
    material: { model: "pbd", density: 500, distance: { compliance: 1e-4 / s ** 3 }, volume: { compliance: 1e-9 * s } },
  }),
  "a closed volume": (s) => ({
    kind: "soft",
    material: {
      model: "pbd",
      density: 500,
      distance: { compliance: 1e-4 / s ** 3, unilateral: true },
      volume: { stiffness: 1, of: "body", pressure: 1.1 },
    },
  }),
  "neo-hookean": (s) => ({
    kind: "soft",
    material: { model: "neo-hookean", density: 500, ...soft, youngsModulus: 3e4 * s * s },
  }),
  "stable neo-hookean": (s) => ({
    kind: "soft",
    material: { model: "stable-neo-hookean", density: 500, ...soft, youngsModulus: 3e4 * s * s },
  }),
  "neo-hookean, Jacobi with Chebyshev": (s) => ({
    kind: "soft",
    sweep: { order: "jacobi", rho: 0.5 },
    material: { model: "neo-hookean", density: 500, ...soft, youngsModulus: 3e4 * s * s },
  }),
  orthotropic: (s) => ({ kind: "soft", material: { density: 500, ...wood(s) } }),
  "stvk, plastic": (s) => ({
    kind: "soft",
    material: { density: 500, ...soft, youngsModulus: 3e4 * s * s, plasticity },
  }),
  "orthotropic and plastic, Jacobi": (s) => ({
    kind: "soft",
    sweep: { order: "jacobi" },
    material: { density: 500, ...wood(s), plasticity },
  }),
  "orthotropic and plastic, paper solver": (s) => ({
    kind: "soft",
    solver: "paper",
    material: { density: 500, ...wood(s), plasticity },
  }),
  "shape matching, rigid": () => ({ kind: "soft", material: { model: "shape-matching", mode: "rigid", density: 500 } }),
  "shape matching, linear and plastic": () => ({
    kind: "soft",
    material: {
      model: "shape-matching",
      mode: "linear",
      stiffness: 0.3,
      linearity: 0.6,
      plasticity: { yield: 0.02, creep: 20, max: 0.4 },
      density: 500,
    },
  }),
  "a ball": () => ({ kind: "ball", material: { density: 4000 } }),
  hexahedral: (s) => ({
    kind: "soft",
    material: { model: "hexahedral", density: 500, youngsModulus: 3e4 * s * s, poissonsRatio: 0.3 },
  }),
  "stvk, paper solver": (s) => ({
    kind: "soft",
    solver: "paper",
    material: { density: 500, ...soft, youngsModulus: 3e4 * s * s },
  }),
  "stvk, symmetric sweep": (s) => ({
    kind: "soft",
    sweep: { order: "symmetric" },
    material: { density: 500, ...soft, youngsModulus: 3e4 * s * s },
  }),
  "stvk, Jacobi with Chebyshev": (s) => ({
    kind: "soft",
    sweep: { order: "jacobi", rho: 0.5 },
    material: { density: 500, ...soft, youngsModulus: 3e4 * s * s },
  }),
  "cloth of distances": (s) => ({
    kind: "cloth",
    material: {
      model: "pbd",
      density: 300,
      thickness: 0.001 * s,
      distance: { compliance: 1e-4 / s ** 3 },
      bendingStiffness: 1e-4 * s ** 5,
    },
  }),
  "orthotropic cloth, paper solver": (s) => ({
    kind: "cloth",
    solver: "paper",
    material: {
      density: 300,
      thickness: 0.001 * s,
      kWeft: 2e5 * s * s,
      kWarp: 1e5 * s * s,
      kShear: 3e4 * s * s,
      nuWeft: 0.4,
      nuWarp: 0.2,
    },
  }),
};

const jelly: Kind = (s) => ({ kind: "soft", material: { density: 500, ...soft, youngsModulus: 3e4 * s * s } });
const things: Record<string, ObstaclesOf> = {
  "a cylinder": (s, by) => [{ type: "cylinder", a: by(-0.25, 0.125, -0.25), b: by(0, 0.125, 0.25), radius: 0.125 * s }],
  "a funnel": (s, by) => [
    { type: "funnel", a: by(0, 0, 0), b: by(0, 0.5, 0), radiusA: 0.0625 * s, radiusB: 0.5 * s, thickness: 0.03125 * s },
  ],
  "a box that turns": (s, by) => [
    {
      type: "box",
      center: by(-0.25, 0.125, 0),
      halfExtents: [0.125 * s, 0.0625 * s, 0.25 * s],
      motion: { keys: [{ time: 0 }, { time: 1, translate: [0, 0.25 * s, 0], rotate: [20, 60, 0] }] },
    },
  ],
  // a plane turns about its point nearest to the world's origin, not to the room's; straight above the world's origin
  // this is the same point of the scene
  "a floor that tilts": (_s, by) => [
    {
      type: "plane",
      normal: [0, 1, 0],
      offset: by(0, 0.125, 0)[1],
      motion: { keys: [{ time: 0 }, { time: 1, rotate: [0, 0, 15] }] },
    },
  ],
};

/** A body that falls onto a tilted floor and a ball, under a load and tied to a point. */
async function run(kind: Kind, s: number, at: Vec3 = [0, 0, 0], more: ObstaclesOf = () => []): Promise<Laboratory> {
  const by = (x: number, y: number, z: number): Vec3 => [at[0] + s * x, at[1] + s * y, at[2] + s * z];
  const own = kind(s);
  const lab = await laboratory({
    gravity: [0, -9.81 * s, 0],
    worldRadius: Math.max(100 * s, 2 * at[0], 2 * at[1]),
    quantum: 1e-3,
    substeps: 6,
    iterations: 2,
    bodies: [
      {
        name: "b",
        ...own,
        mesh:
          own.kind === "ball"
            ? { type: "ball", radius: 0.125 * s }
            : own.kind === "cloth"
              ? { type: "grid", size: [0.5 * s, 0.5 * s], cells: [6, 6] }
              : { type: "box", size: [0.5 * s, 0.25 * s, 0.25 * s], cells: [4, 2, 2] },
        transform: { translate: by(0, 0.375, 0), rotate: [20, 10, 0] },
        velocity: [0.5 * s, -1 * s, 0],
        ...(own.kind !== "ball" && {
          loads: [
            { select: { box: { min: by(0.0625, -9, -9), max: by(9, 9, 9) } }, force: [0, 0.25 * s ** 4, s ** 4] },
          ],
        }),
      } as Body,
    ],
    colliders: [
      { type: "plane", normal: [0.25, 1, 0], offset: 0.25 * at[0] + at[1] },
      { type: "sphere", center: by(0.25, 0.125, 0), radius: 0.125 * s },
      ...more(s, by),
    ],
    attachments: [
      {
        from: { body: "b", near: by(-0.25, 0.375, 0.125) },
        to: { world: by(-0.25, 0.5, 0.25) },
        compliance: 0.25 / s ** 3,
      },
    ],
  });
  // some bodies begin inside a collider and are moved out of it
  expect(lab.run(60).filter(({ type }) => type !== "tangled" && type !== "untangled")).toEqual([]);
  return lab;
}

const cases: [string, Kind, ObstaclesOf?][] = [
  ...Object.entries(kinds).map(([name, kind]): [string, Kind] => [name, kind]),
  ...Object.entries(things).map(([name, more]): [string, Kind, ObstaclesOf] => [name, jelly, more]),
];

test.each(cases)(
  "%s: another size and a kilometer away give the same motion to the last bit",
  async (_, kind, more) => {
    const base = await run(kind, 1, [0, 0, 0], more);
    const x = base.positions();
    expect(x.every(Number.isFinite)).toBe(true);
    if (more) expect(x).not.toEqual((await run(kind, 1)).positions()); // the collider is in the way
    const { material, solver } = kind(1);
    if ("plasticity" in material && material.model !== "shape-matching")
      expect(meanPlasticStrain(base), solver).toBeGreaterThan(0.001);
    for (const s of [2 ** -13, 1 / 16, 16])
      expect((await run(kind, s, [0, 0, 0], more)).positions().map((v) => v / s)).toEqual(x);
    const away: Vec3 = more === things["a floor that tilts"] ? [0, 1000, 0] : [1000, 0, 0];
    const far = await run(kind, 1, away, more);
    expect(far.created.layout.origin).toEqual(away);
    expect(far.world.stateHash()).toBe(base.world.stateHash());
  },
);
