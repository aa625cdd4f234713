/**
 * kernel/assembly/colliders/collide.ts against its float64 twin, and its guarantee: no motion passes through a
 * collider.
 *
 * Tolerance of parity: 64 units (2^-24) of the largest coordinate, 3 m, plus twice the change of the twin's result
 * under a perturbation of 1e-5 of the motion (at least 4 units). The march itself ends within 1e-4 radii of the
 * surface. Comparisons choose the answer (which face, hit or not). If a perturbation changes the twin's choice, the
 * pair is not compared; the guarantee is tested for all.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnalyticCollider, Vec3 } from "../../../shared/scene/scene.ts";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { rotationMatrix } from "../../../server/sim/body/transform.ts";
import { writeColliders } from "../../../server/sim/memory/bodies/colliderRows.ts";
import { openMemory, particleArrays } from "../kernelMemory.ts";
import { Allocator } from "../../../server/sim/memory/memoryMap.ts";
import { answer, collide, distanceTo, type ReferenceCollider } from "../../../server/sim/reference/collide.ts";
import { makeParticles, vectorAt, type Particles } from "../../../server/sim/reference/particles.ts";
import { add, dot, norm, scale, subtract, type Matrix, type Vector } from "../../../server/sim/reference/vector.ts";
import { inLong } from "../../support/run/long.ts";
import { distanceAt, randomStream, UNIT } from "../kit.ts";

const h = 1 / 240;

/** The twin's collider, from the kernel's float32 numbers. */
function reference(c: AnalyticCollider): ReferenceCollider {
  const f = (v: readonly number[]): Vector => [Math.fround(v[0]!), Math.fround(v[1]!), Math.fround(v[2]!)];
  const rootFriction = Math.fround(Math.sqrt(c.friction ?? 0.5));
  switch (c.type) {
    case "plane": {
      const s = 1 / norm(c.normal);
      return { type: "plane", normal: f(scale(s, c.normal)), offset: Math.fround(s * c.offset), rootFriction };
    }
    case "sphere":
      return { type: "sphere", center: f(c.center), radius: Math.fround(c.radius), rootFriction };
    case "capsule":
      return { type: "capsule", a: f(c.a), b: f(c.b), radius: Math.fround(c.radius), rootFriction };
    case "cylinder":
      return { type: "cylinder", a: f(c.a), b: f(c.b), radius: Math.fround(c.radius), rootFriction };
    case "funnel":
      return {
        type: "funnel",
        a: f(c.a),
        b: f(c.b),
        radiusA: Math.fround(c.radiusA),
        radiusB: Math.fround(c.radiusB),
        thickness: Math.fround(c.thickness),
        rootFriction,
      };
    case "box": {
      const R = rotationMatrix(c.rotate);
      const column = (k: number): Vector => f([R[k]!, R[k + 3]!, R[k + 6]!]);
      return {
        type: "box",
        center: f(c.center),
        halfExtents: f(c.halfExtents),
        toLocal: [column(0), column(1), column(2)] as Matrix,
        rootFriction,
      };
    }
  }
}

/** Coefficients of a body's surface. */
interface Own {
  staticFriction: number;
  restitution: number;
}

/**
 * Runs motions from -> to of single particles through the kernel, and returns their ends with velocities.
 * @param own coefficients of the particles' body; absent: none
 */
function runKernel(
  colliders: AnalyticCollider[],
  motions: { from: Vec3; to: Vec3; radius: number; damping: number }[],
  own?: Own,
): { x: Float64Array; v: Float64Array; twin: Particles } {
  const n = motions.length;
  const allocator = new Allocator();
  const { X, P, V, A, header } = particleArrays(allocator, n + 4);
  const rows = allocator.take(colliders.length * L.COLLIDER_BYTES);
  const body = allocator.take(L.BODY_BYTES);
  const surface = allocator.take(L.SURFACE_BYTES);
  const { kernel, f32, i32 } = openMemory(allocator, {
    ...header,
    [L.H_COLLIDERS]: rows,
    [L.H_COLLIDER_COUNT]: colliders.length,
    ...(own && { [L.H_BODIES]: body, [L.H_BODY_COUNT]: 1, [L.H_SURFACE]: surface }),
  });
  const twin = makeParticles(n);
  writeColliders(f32, i32, rows, colliders);
  if (own) {
    i32.set([X, n], (body + L.BODY_FIRST) / 4);
    f32[(surface + L.SURFACE_STATIC) / 4] = Math.sqrt(own.staticFriction);
    f32[(surface + L.SURFACE_RESTITUTION) / 4] = Math.sqrt(own.restitution);
  }
  motions.forEach(({ from, to, radius, damping }, i) => {
    f32.set([...to, 1], X / 4 + 4 * i);
    f32.set([...from, radius], P / 4 + 4 * i);
    f32.set([0, 0, 0, damping], V / 4 + 4 * i);
    f32.set([0, 0, 0, Math.sqrt(0.5)], A / 4 + 4 * i);
    twin.x.set(f32.subarray(X / 4 + 4 * i, X / 4 + 4 * i + 3), 3 * i);
    twin.xPrev.set(f32.subarray(P / 4 + 4 * i, P / 4 + 4 * i + 3), 3 * i);
    twin.w[i] = 1;
    twin.radius[i] = Math.fround(radius);
    twin.damping[i] = damping;
    twin.rootFriction[i] = Math.fround(Math.sqrt(0.5));
  });
  const step = Math.fround(h);
  kernel.updateVelocity(0, n, step);
  for (let k = 0; k < 3 * n; k++)
    twin.v[k] = (twin.x[k]! - twin.xPrev[k]!) / (step * (1 + step * twin.damping[Math.floor(k / 3)]!));
  kernel.collide(0, n, step, 0);
  const read = (row: number): Float64Array =>
    Float64Array.from({ length: 3 * n }, (_, k) => f32[row / 4 + 4 * Math.floor(k / 3) + (k % 3)]!);
  return { x: read(X), v: read(V), twin };
}

const COLLIDERS: Record<string, AnalyticCollider> = {
  floor: { type: "plane", normal: [0, 1, 0], offset: 0.1, friction: 0.4 },
  slope: { type: "plane", normal: [1, 2, -0.5], offset: -0.2, friction: 0.9 },
  sphere: { type: "sphere", center: [0.1, 0.2, -0.1], radius: 0.5 },
  pea: { type: "sphere", center: [0, 0, 0], radius: 0.01 },
  box: { type: "box", center: [0, 0.1, 0], halfExtents: [0.4, 0.3, 0.5], rotate: [10, 35, -20], friction: 0.2 },
  "thin plate": { type: "box", center: [0, 0, 0], halfExtents: [1, 0.002, 1], rotate: [0, 15, 5] },
  capsule: { type: "capsule", a: [-0.3, 0, 0.1], b: [0.4, 0.2, 0], radius: 0.2, friction: 1 },
  cylinder: { type: "cylinder", a: [-0.2, -0.3, 0.1], b: [0.1, 0.3, 0], radius: 0.3, friction: 0.7 },
  coin: { type: "cylinder", a: [0, -0.002, 0], b: [0.001, 0.002, 0], radius: 0.5 },
  funnel: {
    type: "funnel",
    a: [0, -0.4, 0],
    b: [0.1, 0.4, 0.1],
    radiusA: 0.15,
    radiusB: 0.7,
    thickness: 0.02,
    friction: 0.3,
  },
  tube: { type: "funnel", a: [-0.6, 0, 0], b: [0.6, 0.1, 0], radiusA: 0.3, radiusB: 0.3, thickness: 0.004 },
  wire: { type: "capsule", a: [-1, 0, 0], b: [1, 0.1, 0], radius: 0.005 },
};

/**
 * Motions of up to 100 m/s past and into the collider: they start outside its margin and aim at points of its surface
 * and around them.
 */
function motionsAround(
  collider: AnalyticCollider,
  count: number,
  seed: number,
): { from: Vec3; to: Vec3; radius: number; damping: number }[] {
  const random = randomStream(seed);
  const shape = reference(collider);
  const f = Math.fround;
  const out = [];
  const somewhere = (size: number): Vector => [size * random(), size * random(), size * random()];
  while (out.length < count) {
    const radius = f(0.004 * (1.1 + random()));
    const place = somewhere(1.2);
    const { d, n } = distanceTo(shape, place);
    const surface = subtract(place, scale(d, n));
    // starts a few radii to meters away, and mostly ends as far beyond: fast motions are many times as long as thin
    // colliders are thick
    const length: number = 10 ** (-2 + 1.2 * (1 + random())) / 2.4;
    const away = add(surface, add(scale(length * 0.5 * (1 + random()), n), somewhere(0.5 * length)));
    const from = away.map(f) as Vec3;
    const to = add(
      from,
      scale(
        length * (1.1 + random()),
        somewhere(0.2).map(
          (c, r) => c + (surface[r]! - from[r]!) / Math.max(norm(subtract(surface, from)), 1e-9),
        ) as unknown as Vector,
      ),
    ).map(f) as Vec3;
    if (distanceTo(shape, from).d > radius) out.push({ from, to, radius, damping: out.length % 3 });
  }
  return out;
}

/** End of one particle by the twin, and its displacement from its velocity. */
function ending(shape: ReferenceCollider, from: Vector, to: Vector, radius: number): { x: Vector; move: Vector } {
  const p = makeParticles(1);
  p.x.set(to);
  p.xPrev.set(from);
  p.w[0] = 1;
  p.radius[0] = radius;
  p.rootFriction[0] = Math.fround(Math.sqrt(0.5));
  collide(p, [shape], h);
  return { x: vectorAt(p.x, 0), move: scale(h, vectorAt(p.v, 0)) };
}

/** Side of a funnel's wall: negative towards the axis; undefined beyond its ends. */
function sideOfWall(c: Extract<ReferenceCollider, { type: "funnel" }>, p: Vector): number | undefined {
  const axis = subtract(c.b, c.a);
  const t = dot(subtract(p, c.a), axis) / dot(axis, axis);
  return t < 0 || t > 1
    ? undefined
    : Math.sign(norm(subtract(subtract(p, c.a), scale(t, axis))) - c.radiusA - t * (c.radiusB - c.radiusA));
}

for (const [name, collider] of Object.entries(COLLIDERS)) {
  test(`${name}: kernel and twin agree`, () => {
    const motions = motionsAround(collider, inLong(4000, 1500), 3);
    const { x, v, twin } = runKernel([collider], motions);
    const shape = reference(collider);
    const random = randomStream(8);
    collide(twin, [shape], Math.fround(h));
    let hits = 0;
    let undecided = 0;
    motions.forEach(({ from, to, radius }, i) => {
      const move = norm(subtract(to, from));
      const shake = Math.max(1e-5 * move, 4 * UNIT);
      const hit = answer(shape, from, to, radius);
      if (hit) hits++;
      // does a perturbation change the twin's choice?
      const shaken = Array.from(
        { length: 6 },
        () =>
          [
            add(from, scale(shake, [random(), random(), random()])),
            add(to, scale(shake, [random(), random(), random()])),
          ] as const,
      );
      if (
        shaken.some(([a, b]) => {
          const s = answer(shape, a, b, radius);
          return (s === undefined) !== (hit === undefined) || (s && hit && norm(subtract(s.n, hit.n)) > 1e-2);
        })
      )
        return void undecided++;
      const own = ending(shape, from, to, radius);
      const spread = hit
        ? Math.max(
            ...shaken.map(([a, b]) => {
              const e = ending(shape, a, b, radius);
              return Math.max(norm(subtract(e.x, own.x)), norm(subtract(e.move, own.move)));
            }),
          )
        : 0;
      if (spread > 1e-2 * move) return void undecided++;
      const tolerance = 64 * UNIT * 3 + 2 * spread;
      expect(distanceAt(x, twin.x, i), `motion ${i}`).toBeLessThan(tolerance);
      expect(distanceAt(v, twin.v, i), `velocity ${i}`).toBeLessThan((2 * tolerance) / h);
    });
    expect(hits).toBeGreaterThan(100);
    expect(undecided).toBeLessThan(0.02 * motions.length);
  });

  test(`${name}: nothing passes through, at up to 100 m/s`, () => {
    const motions = motionsAround(collider, inLong(8000, 3000), 4);
    const { x } = runKernel([collider], motions);
    const shape = reference(collider);
    motions.forEach(({ from, to, radius }, i) => {
      const end: Vector = [x[3 * i]!, x[3 * i + 1]!, x[3 * i + 2]!];
      // the end is outside by the margin, up to the march's 1e-4 of it and rounding
      expect(distanceTo(shape, end).d, `motion ${i}`).toBeGreaterThan(
        radius * (shape.type === "funnel" ? 0.5 : 1) * (1 - 2e-4) - 32 * UNIT * 3,
      );
      if (shape.type === "funnel") {
        // the nearest surface may be around a bend, so test the side of the wall
        const side = sideOfWall(shape, from);
        const after = sideOfWall(shape, end);
        if (side && after) expect(after, `motion ${i} passed through the wall`).toBe(side);
        return;
      }
      // The end is not beyond the obstacle. If the straight path leads through the solid, the path to the corrected end
      // does not, unless the particle has slid around a curve by less than 60 degrees.
      const least = (goal: Vector): number =>
        Math.min(
          ...Array.from(
            { length: 200 },
            (_, s) => distanceTo(shape, add(from, scale(s / 199, subtract(goal, from)))).d,
          ),
        );
      if (least(to) > 0 || least(end) > -1e-6) return;
      const way = Array.from({ length: 200 }, (_, s) =>
        distanceTo(shape, add(from, scale(s / 199, subtract(to, from)))),
      );
      expect(
        dot(way.find((here) => here.d < radius)!.n, distanceTo(shape, end).n),
        `motion ${i} passed through`,
      ).toBeGreaterThan(0.45);
    });
  });
}

test("a particle on a thin plate is not pulled through it at any speed", () => {
  const plate: AnalyticCollider = { type: "box", center: [0, 0, 0], halfExtents: [1, 0.002, 1] };
  const radius = 0.001;
  fc.assert(
    fc.property(
      fc.double({ min: 0.001, max: 1, noNaN: true }),
      fc.double({ min: -0.5, max: 0.5, noNaN: true }),
      fc.constantFrom(0, -1e-9, -1e-6, 1e-9),
      fc.constantFrom(1, -1),
      (speed, along, gap, side) => {
        const from: Vec3 = [0.1, side * (0.003 + gap), 0.2];
        const { x } = runKernel(
          [plate],
          [{ from, to: [0.1 + along, from[1] - side * speed, 0.2], radius, damping: 0 }],
        );
        return side * x[1]! > 0.0029;
      },
    ),
  );
});

test("colliders act one after another, and none undoes the push of another", () => {
  const wedge: AnalyticCollider[] = [
    { type: "plane", normal: [0, 1, 0], offset: 0 },
    { type: "plane", normal: [1, 0, 0], offset: 0 },
    { type: "sphere", center: [1, 1, 1], radius: 0.3 },
  ];
  const random = randomStream(2);
  const motions = Array.from({ length: 500 }, () => ({
    from: [0.2 + 0.1 * random(), 0.2 + 0.1 * random(), random()] as Vec3,
    to: [random(), random(), random()] as Vec3,
    radius: 0.01,
    damping: 0,
  }));
  const { x, twin } = runKernel(wedge, motions);
  collide(twin, wedge.map(reference), Math.fround(h));
  for (let i = 0; i < motions.length; i++) {
    expect(x[3 * i]!).toBeGreaterThan(0.0099);
    expect(x[3 * i + 1]!).toBeGreaterThan(0.0099);
    expect(distanceAt(x, twin.x, i)).toBeLessThan(1e-5);
  }
});

test("kernel and twin agree on static friction and restitution on a slope, below and above the sticking limit", () => {
  const slope: AnalyticCollider = {
    type: "plane",
    normal: [0.6, 0.8, 0],
    offset: 0,
    friction: 0.3,
    staticFriction: 0.8,
    restitution: 0.6,
  };
  const own: Own = { staticFriction: 0.9, restitution: 0.5 };
  const random = randomStream(5);
  const f = Math.fround;
  const motions = Array.from({ length: 2000 }, () => {
    const from = scale(0.02, [0.6, 0.8, 0]);
    const down = -0.021 * (1.5 + random());
    const along = 0.04 * random();
    return {
      from: from.map(f) as Vec3,
      to: add(from, add(scale(down, [0.6, 0.8, 0]), scale(along, [-0.8, 0.6, 0]))).map(f) as Vec3,
      radius: f(0.01),
      damping: 0,
    };
  });
  const { x, v, twin } = runKernel([slope], motions, own);
  const root = (value: number): number => f(Math.sqrt(value));
  collide(twin, [{ ...reference(slope), rootStatic: root(0.8), rootBounce: root(0.6) }], f(h), {
    rootStatic: root(0.9),
    rootBounce: root(0.5),
  });
  let sticks = 0;
  let slips = 0;
  let bounces = 0;
  motions.forEach(({ from, to }, i) => {
    const start: Vector = from;
    const moved = subtract(vectorAt(twin.x, i), start);
    const along = dot(moved, [-0.8, 0.6, 0]);
    const depth = -dot(subtract(to, [0, 0, 0]), [0.6, 0.8, 0]) + 0.01;
    const wanted = Math.abs(dot(subtract(to, start), [-0.8, 0.6, 0]));
    // at the limit between sticking and slipping, rounding decides
    if (Math.abs(wanted - Math.sqrt(0.9 * 0.8) * depth) < 1e-5) return;
    if (Math.abs(along) < 1e-6) sticks++;
    else slips++;
    if (dot(vectorAt(twin.v, i), [0.6, 0.8, 0]) > 0) bounces++;
    expect(distanceAt(x, twin.x, i), `motion ${i}`).toBeLessThan(64 * UNIT * 0.1);
    expect(distanceAt(v, twin.v, i), `velocity ${i}`).toBeLessThan((128 * UNIT * 0.1) / h);
  });
  expect(Math.min(sticks, slips)).toBeGreaterThan(100);
  expect(bounces).toBeGreaterThan(1000);
});

test("a particle pressed into the foot of a collider on a plane does not come out below the plane", () => {
  const floor: AnalyticCollider = { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.8 };
  const table: AnalyticCollider = { type: "cylinder", a: [0, 0, 0], b: [0, 0.3, 0], radius: 0.3, friction: 0.6 };
  const random = randomStream(7);
  // beside and inside the foot, up to 2 mm into either; the nearest way out of the table is often its underside
  const motions = Array.from({ length: 400 }, () => ({
    from: [0.3 + 0.002 * random(), 0.001 * (1 + random()), 0.01 * random()] as Vec3,
    to: [0.3 + 0.003 * random(), 0.002 * random(), 0.01 * random()] as Vec3,
    radius: 0.001,
    damping: 0,
  }));
  const { x, v, twin } = runKernel([floor, table], motions);
  collide(twin, [reference(floor), reference(table)], Math.fround(h));
  let down = 0;
  motions.forEach(({ to }, i) => {
    expect(x[3 * i + 1], `${to}`).toBeGreaterThanOrEqual(-UNIT);
    if (x[3 * i + 1]! < 0.5e-3) down++;
    for (let r = 0; r < 3; r++) {
      expect(Math.abs(x[3 * i + r]! - twin.x[3 * i + r]!)).toBeLessThan(1e-6);
      expect(Math.abs(v[3 * i + r]! - twin.v[3 * i + r]!) * h).toBeLessThan(1e-6);
    }
  });
  expect(down).toBeGreaterThan(10);
});
