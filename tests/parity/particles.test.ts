/**
 * kernel/assembly/integrate/particles.ts against its float64 twin: prediction and velocity. Tolerances: one product and
 * one sum each round once, so v and x are within 2 units (2^-24) of their own size; v = (x - xPrev)/h has the units of
 * x divided by h.
 */
import { expect, test } from "vitest";
import { openMemory, particleArrays } from "./kernelMemory.ts";
import { Allocator } from "../../server/sim/memory/memoryMap.ts";
import { drift, makeParticles, predict, updateVelocity } from "../../server/sim/reference/particles.ts";
import { randomStream, UNIT } from "./kit.ts";

const COUNT = 37;

/** A kernel with particles, every fifth fixed, and their twins. */
function filled(scale: number) {
  const allocator = new Allocator();
  const { X, P, V, A, header } = particleArrays(allocator, 40);
  const { kernel, f32 } = openMemory(allocator, header);
  const random = randomStream(3);
  const p = makeParticles(COUNT);
  const f = Math.fround;
  for (let i = 0; i < COUNT; i++) {
    p.w[i] = i % 5 === 4 ? 0 : f(2 + random());
    p.damping[i] = f(i % 3);
    for (let r = 0; r < 3; r++) {
      p.x[3 * i + r] = f(scale * random());
      p.v[3 * i + r] = p.w[i] ? f(scale * random()) : 0;
      p.acceleration[3 * i + r] = p.w[i] ? f(10 * random()) : 0;
      f32[X / 4 + 4 * i + r] = p.x[3 * i + r]!;
      f32[V / 4 + 4 * i + r] = p.v[3 * i + r]!;
      f32[A / 4 + 4 * i + r] = p.acceleration[3 * i + r]!;
    }
    f32[X / 4 + 4 * i + 3] = p.w[i]!;
    f32[V / 4 + 4 * i + 3] = p.damping[i]!;
    f32[P / 4 + 4 * i + 3] = 0.25;
    f32[A / 4 + 4 * i + 3] = 0.5;
  }
  return { kernel, p, f32, X, P, V, A };
}

for (const [scale, h, later] of [
  [1, 1 / 240, 0],
  [1e-3, 1 / 60, 0],
  [1000, 1 / 4800, 0],
  [1, 1 / 240, 0.75],
] as const) {
  test(`prediction and velocity agree with the twin: ${scale} m, h = ${h} s, ${later} of the way later`, () => {
    const { kernel, p, f32, X, P, V, A } = filled(scale);
    const f = Math.fround;
    const step = f(h);
    kernel.predict(0, COUNT, step, 0, later);
    predict(p, step, later);
    const near = (row: number, i: number, r: number, expected: number, tolerance: number): void =>
      expect(Math.abs(f32[row / 4 + 4 * i + r]! - expected)).toBeLessThanOrEqual(tolerance);
    for (let i = 0; i < COUNT; i++) {
      for (let r = 0; r < 3; r++) {
        near(V, i, r, p.v[3 * i + r]!, 2 * UNIT * (scale + 10 * h));
        near(P, i, r, p.xPrev[3 * i + r]!, 0);
        near(X, i, r, p.x[3 * i + r]!, 2 * UNIT * (scale + 10 * h * h));
        if (p.w[i] === 0) near(X, i, r, p.xPrev[3 * i + r]!, 0);
      }
      // the fourth lanes hold other data and do not change
      expect([X, P, V, A].map((row) => f32[row / 4 + 4 * i + 3])).toEqual([f(p.w[i]!), 0.25, f(p.damping[i]!), 0.5]);
    }
    kernel.drift(0, COUNT, step, later);
    drift(p, step, later);
    const places = 3 * UNIT * (scale + 10 * h * h);
    for (let i = 0; i < COUNT; i++) for (let r = 0; r < 3; r++) near(X, i, r, p.x[3 * i + r]!, places);
    kernel.updateVelocity(0, COUNT, step);
    updateVelocity(p, step);
    for (let i = 0; i < COUNT; i++)
      for (let r = 0; r < 3; r++) near(V, i, r, p.v[3 * i + r]!, (4 * UNIT * (scale + 10 * h * h)) / h);
    // particles outside of the range do not change
    const before = f32.slice(X / 4, X / 4 + 4 * COUNT);
    kernel.predict(10, 12, step, 0, later);
    const after = f32.slice(X / 4, X / 4 + 4 * COUNT);
    expect(
      [...after]
        .map((v, k) => v !== before[k] && Math.floor(k / 4))
        .filter((i) => i !== false)
        .every((i) => i === 10 || i === 11),
    ).toBe(true);
  });
}
