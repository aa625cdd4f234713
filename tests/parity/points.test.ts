/**
 * kernel/assembly/points/points.ts against its float64 twin. The solve is linear: sums of at most 24 products and
 * one division, each wrong by one unit of the positions. Tolerance: 32 units (2^-24) of the largest coordinate. The
 * force limit itself is exact to 1e-6.
 */
import { expect, test } from "vitest";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { openMemory } from "./kernelMemory.ts";
import { Allocator } from "../../server/sim/memory/memoryMap.ts";
import { type GrabSettings, writePoint } from "../../server/sim/memory/bodies/pointSlots.ts";
import { makeParticles } from "../../server/sim/reference/particles.ts";
import { solvePoint, type HeldPoint } from "../../server/sim/reference/points.ts";
import { norm, subtract, type Vector } from "../../server/sim/reference/vector.ts";
import { distanceAt, randomStream, UNIT } from "./kit.ts";

type Slot = Omit<HeldPoint, "lambda"> & { active?: boolean };

/** A cloud of particles on both sides, with room for slots. */
function cloud(count: number, slots: number, scale: number) {
  const random = randomStream(5);
  const allocator = new Allocator();
  const X = allocator.take(16 * count);
  const low = allocator.take(16 * count);
  const points = allocator.take(slots * L.POINT_BYTES);
  const rooms = Array.from({ length: slots }, () => allocator.take(L.POINT_MAX_EDGES * L.EDGE_BYTES));
  const { kernel, f32, i32 } = openMemory(allocator, { [L.H_X]: X, [L.H_LOW]: low });
  const p = makeParticles(count);
  for (let i = 0; i < count; i++) {
    f32.set(
      [scale * random(), scale * random(), scale * random(), i % 7 === 6 ? 0 : 1 / (1.2 + random())],
      X / 4 + 4 * i,
    );
    p.x.set(f32.subarray(X / 4 + 4 * i, X / 4 + 4 * i + 3), 3 * i);
    p.w[i] = f32[X / 4 + 4 * i + 3]!;
  }
  return { kernel, f32, i32, X, low, points, rooms, p };
}

/** Writes slot number n of the kernel. */
function writeSlot({ f32, i32, X, points, rooms }: ReturnType<typeof cloud>, slot: Slot, n: number): void {
  const at = points + n * L.POINT_BYTES;
  writePoint(
    f32,
    i32,
    at,
    { addresses: slot.particles.map((i) => X + 16 * i), weights: slot.weights },
    {
      target: slot.target as [number, number, number],
      compliance: slot.alpha,
      maxForce: slot.maxForce,
      ...(slot.grab && { grab: grabSettings(slot.grab, X, rooms[n]!) }),
    },
  );
  if (slot.grab) {
    f32.set(slot.grab.step, (at + L.POINT_STEP) / 4);
    f32[(at + L.POINT_SHARE) / 4] = slot.grab.share;
    f32[(at + L.POINT_PACE) / 4] = slot.grab.pace;
  }
  if (slot.active === false) i32[(at + L.POINT_ACTIVE) / 4] = 0;
}

/** The twin's slot, with float32 numbers. */
function twinOf(slot: Slot): HeldPoint {
  const f = Math.fround;
  return {
    ...slot,
    weights: slot.weights.map(f),
    target: [f(slot.target[0]), f(slot.target[1]), f(slot.target[2])],
    ...(slot.grab && { grab: rounded(slot.grab) }),
    alpha: f(slot.alpha),
    maxForce: f(slot.maxForce),
    lambda: [0, 0, 0],
  };
}

/** Runs `iterations` over slots of grabs and attachments on a cloud of particles, in order, on both sides. */
function run(
  count: number,
  slots: Slot[],
  h: number,
  iterations: number,
  scale: number,
): { targets: number; worst: number; forces: number[]; kernelForces: number[]; moved: boolean } {
  const room = cloud(count, slots.length, scale);
  const { kernel, f32, X, low, points, p } = room;
  const before = Float64Array.from(p.x);
  slots.forEach((slot, n) => writeSlot(room, slot, n));
  const twins = slots.filter(({ active }) => active !== false).map(twinOf);
  for (let k = 0; k < iterations; k++) {
    kernel.solvePoints(points, slots.length, k === 0 ? L.PASS_FIRST : 0, h, 0);
    for (const twin of twins) solvePoint(p, twin, Math.fround(h), k === 0);
  }
  const after = Float64Array.from({ length: 3 * count }, (_, k) => {
    const lane = 4 * Math.floor(k / 3) + (k % 3);
    return f32[X / 4 + lane]! + f32[low / 4 + lane]!;
  });
  const largest = Math.max(...before.map(Math.abs), ...p.x.map(Math.abs));
  const three = (n: number, offset: number): Vector => {
    const at = (points + n * L.POINT_BYTES + offset) / 4;
    return [f32[at]!, f32[at + 1]!, f32[at + 2]!];
  };
  const targets = slots.map((_, n) => three(n, L.POINT_TARGET)).filter((_, n) => slots[n]!.active !== false);
  return {
    targets:
      Math.max(...targets.map((t, n) => norm(subtract(t, twins[n]!.target)))) /
      (UNIT * Math.max(largest, ...targets.flatMap((t) => t.map(Math.abs)))),
    worst: Math.max(...Array.from({ length: count }, (_, i) => distanceAt(after, p.x, i))) / (UNIT * largest),
    forces: twins.map((t) => norm(t.lambda) / h ** 2),
    kernelForces: slots.map((_, n) => norm(three(n, L.POINT_LAMBDA)) / h ** 2),
    moved: after.some((v, k) => v !== before[k]),
  };
}

type Hand = NonNullable<HeldPoint["grab"]>;

function grabSettings({ edges, easeStretch, maxStretch, maxShift }: Hand, X: number, room: number): GrabSettings {
  const rows = edges.map(({ a, b, rest }) => ({ a: X + 16 * a, b: X + 16 * b, rest }));
  return { body: 0, room, edges: rows, easeStretch, maxStretch, maxShift };
}

/** Rounds a grab to float32. An edge stores 1 / rest^2, so that number is rounded. */
function rounded(grab: Hand): Hand {
  const f = Math.fround;
  return {
    ...grab,
    step: grab.step.map(f) as unknown as Vector,
    edges: grab.edges.map(({ a, b, rest }) => ({ a, b, rest: 1 / Math.sqrt(f(1 / (rest * rest))) })),
    maxShift: f(grab.maxShift),
    share: f(grab.share),
    pace: f(grab.pace),
  };
}

/** Distance of two particles of the cloud of scale 1, m. */
function distanceOf(i: number, j: number): number {
  const random = randomStream(5);
  const x: Vector[] = [];
  for (let k = 0; k <= Math.max(i, j); k++) {
    x.push([Math.fround(random()), Math.fround(random()), Math.fround(random())]);
    if (k % 7 !== 6) random();
  }
  return norm([0, 1, 2].map((r) => x[i]![r]! - x[j]![r]!) as unknown as Vector);
}

const ramp = (n: number, first = 0): number[] => Array.from({ length: n }, (_, i) => first + i);

/** A grab without force limits. */
const free: Hand = {
  step: [0, 0, 0],
  edges: [],
  easeStretch: 1.5,
  maxStretch: 2,
  maxShift: Infinity,
  share: 1,
  pace: 1,
};

for (const scale of [1e-3, 1, 100]) {
  test(`grabs and attachments agree with the twin in a scene of ${scale} m`, () => {
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
          // two bodies attached to each other: weights sum to zero
          {
            particles: [1, 2, 8, 9],
            weights: [0.25, 0.75, -0.5, -0.5],
            target: [0.1 * scale, 0, 0] as const,
            alpha,
            maxForce,
          },
          // a grab that moves on and slips
          {
            particles: ramp(6, 28),
            weights: ramp(6).map(() => 1 / 6),
            target: [scale, 0, -scale] as const,
            alpha,
            maxForce,
            grab: { ...free, step: [0.01 * scale, -0.002 * scale, 0] as const },
          },
          { particles: [4], weights: [1], target: [9, 9, 9] as const, alpha, maxForce, active: false },
        ];
        for (const iterations of [1, 2, 10]) {
          const result = run(40, slots, 1 / 240, iterations, scale);
          expect(result.worst, `alpha ${alpha}, limit ${maxForce} N, ${iterations} iterations`).toBeLessThan(32);
          expect(result.targets).toBeLessThan(32);
          for (const force of result.kernelForces) expect(force).toBeLessThanOrEqual(maxForce * (1 + 1e-6));
          if (maxForce > 1) expect(result.moved).toBe(true);
        }
      }
    }
  });
}

/**
 * If a grab eases off, its force is proportional to the remaining stretch: a difference of two numbers of about 2, over
 * half of 1, each wrong by some units. So its force is wrong by 8 units more than that of a free grab.
 */
test("a grab eases off by its edges, by its body, and by the displacement of its point", () => {
  const slot = { particles: [0], weights: [1], target: [3, 2, -1] as const, alpha: 1e-3, maxForce: 50 };
  const moved = (grab: Partial<Hand>, iterations = 1): { shift: number; worst: number; targets: number } => {
    const { worst, targets, forces } = run(
      4,
      [{ ...slot, grab: { ...free, step: [0.01, 0, 0], ...grab } }],
      1 / 240,
      iterations,
      1,
    );
    return { shift: forces[0]!, worst, targets };
  };
  const whole = moved({}).shift;
  expect(whole).toBeCloseTo(50, 4);
  // its distance from particle 1 is that of two random points: stretched by 1.6 and by 3
  const apart = distanceOf(0, 1);
  for (const [rest, share, left] of [
    [apart / 1.6, 1, 0.8],
    [apart / 1.2, 0.3, 0.3],
    [apart / 3, 1, 0],
  ] as const) {
    for (const iterations of [1, 3]) {
      const eased = moved({ edges: [{ a: 0, b: 1, rest }], share }, iterations);
      expect(eased.shift).toBeCloseTo(left * whole, 3);
      expect(eased.worst).toBeLessThan(64);
      expect(eased.targets).toBeLessThan(64);
    }
  }
  // w = 1 / (1.2 + random): the force that moves it by 0.1 mm in a substep
  expect(moved({ maxShift: 1e-4 }).shift).toBeLessThan(1e-4 * 240 ** 2 * 2.2 * 1.001);
});

test("a grab on fixed particles moves nothing, rigid or not", () => {
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
