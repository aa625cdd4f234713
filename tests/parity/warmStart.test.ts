/** Warm-start stress: kernel against twin over one tick, and when it is dropped. */
import { CONSTRAINTS } from "../../server/sim/constraints/kinds.ts";
import type {
  HyperElements,
  OrthotropicTetElements,
  PlasticTetElements,
  TetElements,
} from "../../server/sim/constraints/elements.ts";
import { describe, expect, test } from "vitest";
import type { SoftMaterial } from "../../shared/scene/sceneMaterials.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { colorConstraints } from "../../server/sim/constraints/color.ts";
import type { CreatedWorld } from "../../server/sim/world/createWorld.ts";
import { makeParticles, type Particles } from "../../server/sim/reference/particles.ts";
import { warmStartTetrahedra } from "../../server/sim/reference/warmStart.ts";
import { warmStartHyperelastic } from "../../server/sim/reference/warmStartHyperelastic.ts";
import { laboratory, type Laboratory } from "../physics/laboratory.ts";
import { outOfPrincipalAxes, roundElements, UNIT } from "./kit.ts";

const H = 1 / 240;

/** 1/S_00 is 3e6 Pa in all Saint Venant-Kirchhoff materials. */
const MATERIALS: Record<string, SoftMaterial> = {
  isotropic: { density: 1000, youngsModulus: 3e6, poissonsRatio: 0.35 },
  orthotropic: {
    model: "orthotropic",
    density: 1000,
    youngsModuli: [3e6, 1e6, 8e5],
    poissonsRatios: [0.3, 0.25, 0.35],
    shearModuli: [6e5, 4e5, 7e5],
    axes: [0, 20, 10],
  },
  plastic: {
    density: 1000,
    youngsModulus: 3e6,
    poissonsRatio: 0.35,
    plasticity: { yield: 0.002, creep: 0.5, max: 0.1 },
  },
  "Neo-Hookean": { model: "neo-hookean", density: 1000, youngsModulus: 3e6, poissonsRatio: 0.35 },
  "stable Neo-Hookean": { model: "stable-neo-hookean", density: 1000, youngsModulus: 3e6, poissonsRatio: 0.35 },
};

type Solid = TetElements | OrthotropicTetElements | PlasticTetElements | HyperElements;

/** The kernel's current tetrahedra of the laboratory's only body, including plastic strain. */
function elementsOf(lab: Laboratory): Solid {
  const e = roundElements(lab.created.bodies[0]!.elements[0] as Solid);
  return e.kind === "tet-plastic" ? { ...e, plasticStrain: rowsOf(lab, "block", L.TET_PLASTIC_STRAIN, 6) } : e;
}

/** A stiff clamped beam that has begun to settle: its iterations build up only a part of the stress. */
async function beam(material: SoftMaterial = MATERIALS.isotropic!): Promise<Laboratory> {
  const lab = await laboratory({
    tickHz: 60,
    substeps: 4,
    iterations: 3,
    gravity: [0, -9.81, 0],
    damping: 5,
    bodies: [
      {
        name: "beam",
        kind: "soft",
        mesh: { type: "box", size: [1, 0.25, 0.25], cells: [8, 2, 2] },
        material,
        pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.499, 1, 1] } } }],
      },
    ],
  });
  lab.run(150);
  return lab;
}

/**
 * Rows of all elements, gathered from blocks, from their memory between iterations or from tick to tick. An isotropic
 * element's multipliers are in the twin's axes.
 */
function rowsOf(lab: Laboratory, at: "block" | "own" | "memory", offset: number, count: number): Float64Array {
  const { memory, layout, bodies } = lab.created;
  const e = bodies[0]!.elements[0] as Solid;
  const { bytes, phase, remembers } = CONSTRAINTS[e.kind];
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const out = new Float64Array(count * e.volume.length);
  const program = i32[(L.HEADER + L.H_PROGRAM) / 4]! / 4;
  const phases = i32[(L.HEADER + L.H_PHASES) / 4]!;
  const firsts = Array.from({ length: phases }, (_, n) => program + (n * L.PHASE_BYTES) / 4).filter(
    (p) => i32[p + L.PHASE_KIND / 4] === phase && i32[p + L.PHASE_PASS / 4]! & L.PASS_FIRST,
  );
  colorConstraints(e.particles, 4, layout.particleCount).forEach((color, c) =>
    color.forEach((i, lane) => {
      const field = { block: L.PHASE_DATA, own: L.PHASE_OWN, memory: L.PHASE_WARM_START }[at];
      const stride = { block: bytes, own: 16 * remembers.rows, memory: L.WARM_START_BYTES }[at];
      const base = (i32[firsts[c]! + field / 4]! + Math.floor(lane / 4) * stride + offset) / 4 + (lane % 4);
      const rows = Array.from({ length: count }, (_, row) => f32[base + 4 * row]!);
      const inverseMass = (corner: number): number => f32[layout.x / 4 + 4 * e.particles[4 * i + corner]! + 3]!;
      out.set(
        e.kind === "tet"
          ? outOfPrincipalAxes([...rows, ...Array.from({ length: 9 }, () => 0)], e, i, inverseMass).slice(0, count)
          : rows,
        count * i,
      );
    }),
  );
  return out;
}

/** Copies the kernel's particles into the twin's. */
function copyParticles(created: CreatedWorld, p: Particles): void {
  const { layout, memory } = created;
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const acc = i32[(L.HEADER + L.H_ACC) / 4]!;
  for (let i = 0; i < p.count; i++) {
    const row = (array: number): Float32Array => f32.subarray(array / 4 + 4 * i, array / 4 + 4 * i + 4);
    const [x, xPrev, v, a] = [row(layout.x), row(layout.xPrev), row(layout.v), row(acc)] as const;
    p.x.set(x.subarray(0, 3), 3 * i);
    p.xPrev.set(xPrev.subarray(0, 3), 3 * i);
    p.v.set(v.subarray(0, 3), 3 * i);
    p.acceleration.set(a.subarray(0, 3), 3 * i);
    p.w[i] = x[3]!;
    p.radius[i] = xPrev[3]!;
    p.damping[i] = v[3]!;
    p.rootFriction[i] = a[3]!;
  }
}

const bodyRow = (lab: Laboratory): DataView =>
  new DataView(lab.created.memory.buffer, lab.created.layout.bodyRows, L.BODY_BYTES);
const most = (a: Float64Array): number => a.reduce((m, v) => Math.max(m, Math.abs(v)), 0);

describe("warm-start stress", () => {
  test.each(Object.entries(MATERIALS))("one tick of it agrees with the twin: %s", async (_name, material) => {
    const lab = await beam(material);
    const { created } = lab;
    const e = elementsOf(lab);
    const particles = makeParticles(created.layout.particleCount);
    copyParticles(created, particles);
    const hyper = "clamp" in e;
    const rows = hyper ? 9 : 6;
    const last = rowsOf(lab, "own", 0, rows);
    const before = rowsOf(lab, "memory", 0, rows);
    const row = bodyRow(lab);
    const gain = row.getFloat32(L.BODY_GAIN, true);
    const keep = row.getFloat32(L.BODY_KEEP, true);
    expect(gain).toBeGreaterThan(0);
    expect(most(before)).toBeGreaterThan(0);
    const twin = hyper
      ? warmStartHyperelastic(particles, e, last, before, gain, keep, H)
      : warmStartTetrahedra(particles, e, last, before, gain, keep, H);
    lab.world.kernel.warmStart();
    if (e.kind === "tet-plastic") expect(most(e.plasticStrain)).toBeGreaterThan(1e-4);
    // a dozen float32 operations on numbers of the size of the largest multiplier
    const remembered = rowsOf(lab, "memory", 0, rows);
    expect(most(remembered.map((v, k) => v - twin.remembered[k]!))).toBeLessThan(8 * UNIT * most(last));
    // about 60 elements push a particle, each with three rows of F and [L] and the shape function's gradient
    const i32 = new Int32Array(created.memory.buffer);
    const f32 = new Float32Array(created.memory.buffer);
    const at = i32[(L.HEADER + L.H_SUPPORT) / 4]! / 4;
    const support = Float64Array.from(
      { length: 3 * particles.count },
      (_, k) => f32[at + 4 * Math.floor(k / 3) + (k % 3)]!,
    );
    const gradient = most(e.dmInverse);
    const w = most(particles.w);
    expect(most(support)).toBeGreaterThan(0);
    expect(most(support.map((v, k) => v - twin.support[k]!))).toBeLessThan(60 * 12 * UNIT * w * gradient * most(last));
    // strains are differences of coordinates: they round by a unit of the coordinate over the edge
    const noise = 2 * UNIT * most(particles.x) * gradient;
    const total = row.getFloat64(L.BODY_STRAIN, true);
    expect(Math.abs(total - twin.strain)).toBeLessThan(32 * UNIT * twin.strain);
    // Neo-Hookean stress over mu: one entry of F, and three of the volume's gradient, as stiff as lambda/mu
    const weight = e.volume.reduce((s, v) => s + v, 0) * (hyper ? e.mu * (1 + (3 * e.lambda) / e.mu) ** 2 : 3e6);
    expect(Math.abs(Math.sqrt(row.getFloat64(L.BODY_MISMATCH, true)) - Math.sqrt(twin.mismatch))).toBeLessThan(
      noise * Math.sqrt(9 * weight) + 32 * UNIT * Math.sqrt(twin.strain),
    );
    expect(Math.abs(Math.sqrt(row.getFloat64(L.BODY_CHANGE, true)) - Math.sqrt(twin.change))).toBeLessThan(
      32 * UNIT * Math.sqrt(twin.strain),
    );
  });

  test.each(Object.entries(MATERIALS))(
    "a substep warm-started from memory equals an iteration with the same multipliers in its own rows: %s",
    async (_name, material) => {
      const lab = await beam(material);
      const of = CONSTRAINTS[elementsOf(lab).kind];
      const { kernel } = lab.world;
      const { memory, layout } = lab.created;
      const f32 = new Float32Array(memory.buffer);
      const i32 = new Int32Array(memory.buffer);
      const program = i32[(L.HEADER + L.H_PROGRAM) / 4]! / 4;
      const phase = Array.from(
        { length: i32[(L.HEADER + L.H_PHASES) / 4]! },
        (_, n) => program + (n * L.PHASE_BYTES) / 4,
      ).find((p) => i32[p + L.PHASE_KIND / 4] === of.phase)!;
      const data = i32[phase + L.PHASE_DATA / 4]!;
      const own = i32[phase + L.PHASE_OWN / 4]!;
      const blocks = i32[phase + L.PHASE_COUNT / 4]!;
      const kept = i32[phase + L.PHASE_WARM_START / 4]!;
      const low = i32[(L.HEADER + L.H_LOW) / 4]! / 4;
      const moved = (): Float32Array => f32.slice(low, low + 4 * layout.particleCount);
      const start = moved();
      kernel.solveBlocks(of.phase, data, own, 0, blocks, L.PASS_FIRST, H, layout.scratch, kept);
      const warm = moved();
      f32.set(start, low);
      for (let b = 0; b < blocks; b++)
        f32.copyWithin(
          (own + b * 16 * of.remembers.rows) / 4,
          (kept + b * L.WARM_START_BYTES) / 4,
          (kept + b * L.WARM_START_BYTES) / 4 + 4 * of.remembers.rows,
        );
      kernel.solveBlocks(of.phase, data, own, 0, blocks, 0, H, layout.scratch, 0);
      expect(moved()).toEqual(warm);
      expect(warm).not.toEqual(start);
    },
  );

  test("a fast body loses its warm-start stress gradually, and a reset drops it at once", async () => {
    const lab = await beam();
    const before = most(rowsOf(lab, "memory", 0, 6));
    lab.put(
      0,
      (x) => x,
      (x) => [0, 4 * (x[0] + 0.5), 0],
    );
    lab.run(3);
    const after = most(rowsOf(lab, "memory", 0, 6));
    expect(after).toBeLessThan(before);
    expect(after).toBeGreaterThan(0);
    lab.run(1, [{ type: "reset", member: 1 }]);
    expect(most(rowsOf(lab, "memory", 0, 6))).toBe(0);
    expect(lab.world.settlement(0)).toEqual({ share: 1, error: 0 });
  });
});
