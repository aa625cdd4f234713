/**
 * Core meshes of colliders in a running room. In every substep they are at their place on the path and start exactly
 * where the last substep ended; they are not part of the state.
 *
 * Tolerance of a place: the kernel rounds the pose (center, rotation) and the result to float32. The nine numbers of a
 * rotation are off by 2^-25 each, over an arm of at most 2 m that is 3 * 2 * 2^-25. Center and result are off by half a
 * step of 4 m each: less than 2^-20 m together.
 */
import { expect, test } from "vitest";
import { compileMotion, matrixOf, poseAt } from "../../../shared/geometry/colliderMotion.ts";
import type { Collider, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { StepWorkers } from "../../../server/sim/threads/stepWorkers.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";

const CLOSE = 2 ** -20;
const cube = (name: string, y: number): Scene["bodies"][number] => ({
  name,
  kind: "soft",
  mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
  transform: { translate: [0, y, 0] },
  material: { density: 500, youngsModulus: 1e5, poissonsRatio: 0.3 },
});
const paddle = (motion?: Collider["motion"], x = 2): Collider => ({
  type: "box",
  center: [x, 0.3, 0],
  halfExtents: [0.5, 0.05, 0.2],
  rotate: [0, 30, 0],
  ...(motion && { motion }),
});
const TURN: Collider["motion"] = {
  keys: [{ time: 0 }, { time: 0.05, translate: [0, 0.2, 0], rotate: [0, 0, 40] }, { time: 0.1, rotate: [0, 90, 0] }],
};

interface Rows {
  x: Float32Array;
  xPrev: Float32Array;
  v: Float32Array;
}

/** float32[3N] copies of the core's position and velocity rows. */
function rowsOf(lab: Laboratory, core: number): Rows {
  const { layout, memory } = lab.created;
  const { first, count } = layout.cores[core]!;
  const f32 = new Float32Array(memory.buffer);
  const read = (array: number): Float32Array =>
    Float32Array.from({ length: 3 * count }, (_, k) => f32[array / 4 + 4 * (first + Math.floor(k / 3)) + (k % 3)]!);
  return { x: read(layout.x), xPrev: read(layout.xPrev), v: read(layout.v) };
}

/** Places at a time of vertices given in the scene's frame, float64. */
function placed(own: Float32Array, center: Vec3, motion: NonNullable<Collider["motion"]>, time: number): Float64Array {
  const { translate, quaternion } = poseAt(compileMotion(motion), time);
  const R = matrixOf(quaternion);
  return Float64Array.from(own, (_, k) => {
    const i = 3 * Math.floor(k / 3);
    const r = k % 3;
    return (
      center[r]! + translate[r]! + [0, 1, 2].reduce((sum, c) => sum + R[3 * r + c]! * (own[i + c]! - center[c]!), 0)
    );
  });
}

const apart = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((most, v, k) => Math.max(most, Math.abs(v - b[k]!)), 0);

test("cores follow the bodies' particles in memory, fixed, as surfaces that touch only bodies", async () => {
  const lab = await laboratory({
    bodies: [cube("a", 1)],
    colliders: [
      { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.09 },
      { ...paddle(), friction: 0.16, staticFriction: 0.25, restitution: 0.04 },
      { type: "mesh", mesh: { type: "ball", radius: 0.1, subdivisions: 1 } },
    ],
  });
  const { layout, memory } = lab.created;
  const i32 = new Int32Array(memory.buffer);
  const f32 = new Float32Array(memory.buffer);
  const bytes = new Uint8Array(memory.buffer);
  const header = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
  expect(
    layout.cores.map(({ collider, first, count, triangles }) => [collider, first, count, triangles.length / 3]),
  ).toEqual([
    [1, layout.particleCount, 8, 12],
    [2, layout.particleCount + 8, 42, 80],
  ]);
  expect([header(L.H_SURFACE_COUNT), header(L.H_BODY_COUNT)]).toEqual([3, 1]);
  layout.cores.forEach(({ first, count, triangles }, n) => {
    const row = header(L.H_SURFACE) + (1 + n) * L.SURFACE_BYTES;
    const field = (offset: number): number => i32[(row + offset) / 4]!;
    expect([
      field(L.SURFACE_FIRST),
      field(L.SURFACE_COUNT),
      field(L.SURFACE_TRIANGLE_COUNT),
      field(L.SURFACE_SOLID),
      f32[(row + L.SURFACE_RADIUS) / 4],
    ]).toEqual([layout.x + 16 * first, count, triangles.length / 3, 3, 0]);
    expect([
      ...i32.subarray(field(L.SURFACE_TRIANGLES) / 4, field(L.SURFACE_TRIANGLES) / 4 + triangles.length),
    ]).toEqual(Array.from(triangles, (p) => layout.x + 16 * p));
    expect([...bytes.subarray(field(L.SURFACE_MEETS), field(L.SURFACE_MEETS) + 3)]).toEqual([1, 0, 0]);
    for (let p = first; p < first + count; p++) expect(f32[layout.x / 4 + 4 * p + 3]).toBe(0);
  });
  const box = (header(L.H_SURFACE) + L.SURFACE_BYTES) / 4;
  expect([L.SURFACE_STATIC, L.SURFACE_DYNAMIC, L.SURFACE_RESTITUTION].map((o) => f32[box + o / 4])).toEqual(
    [0.5, 0.4, 0.2].map(Math.fround),
  );
});

test("a moving core tests all edges and the diagonals of its faces; a static box tests its twelve edges", async () => {
  const lab = await laboratory({ bodies: [cube("a", 5)], colliders: [paddle(), paddle(TURN)] });
  const i32 = new Int32Array(lab.created.memory.buffer);
  const edges = (surface: number): number =>
    i32[(i32[(L.HEADER + L.H_SURFACE) / 4]! + surface * L.SURFACE_BYTES + L.SURFACE_EDGE_COUNT) / 4]!;
  expect([edges(1), edges(2)]).toEqual([12, 18]);
});

test("a moving core follows its path without gaps between substeps, with the velocity of the path", async () => {
  const lab = await laboratory({ substeps: 8, bodies: [cube("a", 5)], colliders: [paddle(), paddle(TURN)] });
  const own = rowsOf(lab, 0).x;
  const center: Vec3 = [2, 0.3, 0];
  const h = 1 / 480;
  let last = rowsOf(lab, 1).x;
  let substep = 0;
  expect(last).toEqual(own); // exactly the static place at first
  lab.world.watchSubsteps(() => {
    const { x, xPrev, v } = rowsOf(lab, 1);
    substep++;
    expect(xPrev).toEqual(last);
    expect(apart(x, placed(own, center, TURN!, substep * h))).toBeLessThan(CLOSE);
    // rounding of two places over h, and of the quotient
    expect(
      apart(
        v,
        x.map((c, k) => (c - xPrev[k]!) / h),
      ),
    ).toBeLessThan(1e-6 * Math.max(...v.map(Math.abs)) + 1e-6);
    last = x;
  });
  lab.run(8);
  expect(substep).toBe(64);
  // the static core has not moved
  expect(rowsOf(lab, 0)).toEqual({ x: own, xPrev: own, v: new Float32Array(own.length) });
});

test("a core whose path begins away from its static place is there from the first frame on", async () => {
  const motion: Collider["motion"] = {
    keys: [
      { time: 0, translate: [0.3, 0.1, 0], rotate: [10, 20, 30] },
      { time: 1, translate: [0, 1, 0] },
    ],
  };
  const lab = await laboratory({ bodies: [cube("a", 5)], colliders: [paddle(motion)] });
  const before = rowsOf(lab, 0).x;
  let first: Float32Array | undefined;
  lab.world.watchSubsteps(() => (first ??= rowsOf(lab, 0).xPrev));
  lab.run(1);
  expect(first).toEqual(before);
});

test("a core is not swept across the room where its path jumps", async () => {
  const motion: Collider["motion"] = { loop: true, keys: [{ time: 0 }, { time: 0.05, translate: [1, 0, 0] }] };
  const lab = await laboratory({ substeps: 7, bodies: [cube("a", 5)], colliders: [paddle(motion)] });
  let longest = 0;
  let jumps = 0;
  let last = rowsOf(lab, 0).x;
  lab.world.watchSubsteps(() => {
    const { x, xPrev } = rowsOf(lab, 0);
    longest = Math.max(longest, apart(x, xPrev));
    if (apart(xPrev, last) > 0) jumps++;
    last = x;
  });
  lab.run(12); // 0.2 s: four loops
  // 20 m/s for 1/420 s
  expect(longest).toBeLessThan(20 / 420 + CLOSE);
  expect(jumps).toBeGreaterThanOrEqual(3);
});

test("at the start of a tick a core shows its place and velocity, also after the room has rested", async () => {
  const floor: Collider = { type: "plane", normal: [0, 1, 0], offset: 0 };
  const far: Collider["motion"] = { keys: [{ time: 0 }, { time: 70 }, { time: 71, translate: [0, 3, 0] }] };
  const lab = await laboratory({
    gravity: [0, -9.81, 0],
    damping: 2,
    substeps: 4,
    bodies: [cube("a", 0.101)],
    colliders: [floor, { ...paddle(far), center: [20, 1, 0] } as Collider],
  });
  lab.world.mayRest = true;
  lab.run(70 * 60 + 30);
  expect(lab.world.resting).toBe(true);
  const halfWay = rowsOf(lab, 0);
  const own = rowsOf(
    await laboratory({ bodies: [cube("a", 5)], colliders: [{ ...paddle(), center: [20, 1, 0] } as Collider] }),
    0,
  ).x;
  expect(
    apart(
      halfWay.x,
      own.map((c, k) => c + (k % 3 === 1 ? 1.5 : 0)),
    ),
  ).toBeLessThan(2 ** -18); // at 20 m
  expect(halfWay.xPrev).toEqual(halfWay.x);
  expect(
    apart(
      halfWay.v,
      halfWay.v.map((_, k) => (k % 3 === 1 ? 3 : 0)),
    ),
  ).toBeLessThan(60 * 2 ** -18);
});

test("cores are not part of the state, and any number of threads gives the same hash", async () => {
  const scene = { gravity: [0, -9.81, 0] as Vec3, bodies: [cube("a", 0.5)], colliders: [paddle(TURN)] };
  const [one, two] = [await laboratory(scene), await laboratory(scene)];
  one.run(20);
  const workers = await StepWorkers.start(two.world, two.created.memory, 2);
  try {
    for (let t = 0; t < 20; t++) workers.step([]);
  } finally {
    await workers.stop();
  }
  expect(two.world.stateHash()).toBe(one.world.stateHash());
  expect(rowsOf(two, 0)).toEqual(rowsOf(one, 0));
  const hash = one.world.stateHash();
  const { layout, memory } = one.created;
  new Float32Array(memory.buffer)[layout.x / 4 + 4 * layout.cores[0]!.first] += 1;
  expect(one.world.stateHash()).toBe(hash);
});

test("leaves of a fixed collider are fitted once, and those of a moving one in every substep", async () => {
  const lab = await laboratory({
    gravity: [0, -9.81, 0],
    bodies: [cube("a", 0.5)],
    colliders: [paddle(), paddle(TURN, -2)],
  });
  lab.run(2);
  const words = new Int32Array(lab.created.memory.buffer);
  const f32 = new Float32Array(lab.created.memory.buffer);
  const front = words[(L.HEADER + L.H_FRONT) / 4]!;
  const boxOf = (surface: number): number => {
    const starts = words[(front + L.FRONT_STARTS) / 4]! / 4;
    return words[(front + L.FRONT_BOXES) / 4]! / 4 + 8 * words[starts + 2 * surface]!;
  };
  // values that a refit would overwrite
  const boxes = [0, 1, 2].map(boxOf);
  const fitted = f32[boxes[1]!]!;
  for (const at of boxes) f32[at] = 12345;
  lab.run(1);
  expect(boxes.map((at) => f32[at] === 12345)).toEqual([false, true, false]);
  f32[boxes[1]!] = fitted;
  // a new front fits all boxes
  words[(L.HEADER + L.H_LIST_VALID) / 4] = 0;
  f32[boxes[1]!] = 12345;
  lab.run(1);
  expect(f32[boxes[1]!]).toBe(fitted);
});
