/**
 * kernel/assembly/constraints/points.ts against its float64 twin. The solve is linear: sums of at most 24 products and
 * one division, each wrong by one unit of the positions. Tolerance: 32 units (2^-24) of the largest coordinate. The
 * force limit itself is exact to 1e-6.
 */
import { expect, test } from "vitest";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { instantiateKernel } from "../../server/sim/kernelModule.ts";
import { Allocator } from "../../server/sim/memory/map.ts";
import { writePoint } from "../../server/sim/memory/points.ts";
import { makeParticles } from "../../server/sim/reference/particles.ts";
import { solvePoint, type HeldPoint } from "../../server/sim/reference/points.ts";
import { norm } from "../../server/sim/reference/vector.ts";
import { distanceAt, randomStream, UNIT } from "./kit.ts";

/** A cloud of particles and slots on it, on both sides; `iterations` of all slots, in order. */
function run(
  count: number,
  slots: (Omit<HeldPoint, "lambda"> & { active?: boolean })[],
  h: number,
  iterations: number,
  scale: number,
): { worst: number; forces: number[]; kernelForces: number[]; moved: boolean } {
  const random = randomStream(5);
  const allocator = new Allocator();
  const X = allocator.take(16 * count);
  const points = allocator.take(slots.length * L.POINT_BYTES);
  const memory = new WebAssembly.Memory({ initial: allocator.pages, maximum: allocator.pages, shared: true });
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const p = makeParticles(count);
  for (let i = 0; i < count; i++) {
    f32.set(
      [scale * random(), scale * random(), scale * random(), i % 7 === 6 ? 0 : 1 / (1.2 + random())],
      X / 4 + 4 * i,
    );
    p.x.set(f32.subarray(X / 4 + 4 * i, X / 4 + 4 * i + 3), 3 * i);
    p.w[i] = f32[X / 4 + 4 * i + 3]!;
  }
  const before = Float64Array.from(p.x);
  const f = Math.fround;
  const twins: HeldPoint[] = [];
  slots.forEach((slot, n) => {
    writePoint(
      f32,
      i32,
      points + n * L.POINT_BYTES,
      { addresses: slot.particles.map((i) => X + 16 * i), weights: slot.weights },
      { target: slot.target as [number, number, number], compliance: slot.alpha, maxForce: slot.maxForce },
    );
    if (slot.active === false) i32[(points + n * L.POINT_BYTES + L.POINT_ACTIVE) / 4] = 0;
    else
      twins.push({
        ...slot,
        weights: slot.weights.map(f),
        target: [f(slot.target[0]), f(slot.target[1]), f(slot.target[2])],
        alpha: f(slot.alpha),
        maxForce: f(slot.maxForce),
        lambda: [0, 0, 0],
      });
  });
  const kernel = instantiateKernel(memory);
  for (let k = 0; k < iterations; k++) {
    kernel.solvePoints(points, slots.length, k === 0 ? L.PASS_FIRST : 0, h);
    for (const twin of twins) solvePoint(p, twin, f(h));
  }
  const after = Float64Array.from({ length: 3 * count }, (_, k) => f32[X / 4 + 4 * Math.floor(k / 3) + (k % 3)]!);
  const largest = Math.max(...before.map(Math.abs), ...p.x.map(Math.abs));
  const lambdas = slots.map((_, n) =>
    f32.subarray(
      (points + n * L.POINT_BYTES + L.POINT_LAMBDA) / 4,
      (points + n * L.POINT_BYTES + L.POINT_LAMBDA) / 4 + 3,
    ),
  );
  return {
    worst: Math.max(...Array.from({ length: count }, (_, i) => distanceAt(after, p.x, i))) / (UNIT * largest),
    forces: twins.map((t) => norm(t.lambda) / h ** 2),
    kernelForces: lambdas.map((l) => Math.sqrt(l[0]! ** 2 + l[1]! ** 2 + l[2]! ** 2) / h ** 2),
    moved: after.some((v, k) => v !== before[k]),
  };
}

const ramp = (n: number, first = 0): number[] => Array.from({ length: n }, (_, i) => first + i);

for (const scale of [1e-3, 1, 100]) {
  test(`grabs and attachments in a scene of ${scale} m`, () => {
    for (const alpha of [0, 1e-4, 0.1]) {
      for (const maxForce of [3e38, 50, 1e-3]) {
        const slots = [
          { particles: [0], weights: [1], target: [scale, 2 * scale, -scale] as const, alpha, maxForce },
          {
            particles: ramp(24, 3),
            weights: ramp(24).map(() => 1 / 24),
            target: [0, scale, 0] as const,
            alpha,
            maxForce,
          },
          // two bodies held together: weights sum to zero
          {
            particles: [1, 2, 8, 9],
            weights: [0.25, 0.75, -0.5, -0.5],
            target: [0.1 * scale, 0, 0] as const,
            alpha,
            maxForce,
          },
          { particles: [4], weights: [1], target: [9, 9, 9] as const, alpha, maxForce, active: false },
        ];
        for (const iterations of [1, 2, 10]) {
          const result = run(40, slots, 1 / 240, iterations, scale);
          expect(result.worst, `alpha ${alpha}, limit ${maxForce} N, ${iterations} iterations`).toBeLessThan(32);
          for (const force of result.kernelForces) expect(force).toBeLessThanOrEqual(maxForce * (1 + 1e-6));
          if (maxForce > 1) expect(result.moved).toBe(true);
        }
      }
    }
  });
}

test("a point on fixed particles moves nothing, rigid or not", () => {
  for (const alpha of [0, 1e-3]) {
    const result = run(
      14,
      [{ particles: [6, 13], weights: [0.5, 0.5], target: [5, 5, 5], alpha, maxForce: 3e38 }],
      1 / 240,
      3,
      1,
    );
    expect(result.moved).toBe(false);
    expect(result.forces.every(Number.isFinite) && result.kernelForces.every(Number.isFinite)).toBe(true);
  }
});
