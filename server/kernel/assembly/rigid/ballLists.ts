/**
 * Lists of the particles and triangles near each ball (balls.ts). If twice the distance that the fastest surface
 * particle and the ball travel in a tick is below HORIZON radii, a list holds all things within that slack. It is made
 * anew when the travel since has used up the slack, and in each tick. Otherwise lists hold for one pass until the tick
 * ends: all things whose motion in this substep comes near the ball's. (With the slack of a tick the lists of fast
 * rooms held whole bodies: a bag of 40 marbles had 13 million tests a tick.)
 * Balls search boxes of RUN particles or triangles that follow each other in the mesh.
 */
import * as L from "../layout/layout";
import { meetsSurface } from "../state/filters";
import { dotXyz } from "../math/lanes";
import { countWork } from "../state/work";
import { center32, centerBefore32 } from "./ballResponse";

/** Marks a list entry as a particle: particle addresses are multiples of 16, those of triangle rows of 4. */
export const POINT: u32 = 1;
/** Factor of the travel, because the solve adds to the velocities at the start of a substep. */
export const CAUTION: f32 = 2;
/** A triangle is small if its edges are shorter than SMALL radii. */
const SMALL: f32 = 0.4;
/** Largest slack of a tick, in radii. */
const HORIZON: f32 = 1;
/** Slack for pushes of this substep, in radii. */
const LEAST: f32 = 0.1;
const RUN = L.BALL_RUN;
const BOX_BYTES = <usize>L.BALL_BOX_BYTES;

// box and greatest speed from the last `look`
export let low: v128 = i32x4(0, 0, 0, 0);
export let high: v128 = i32x4(0, 0, 0, 0);
export let speed: f32;

/** Whether no list was made in this tick: boxes of fixed surfaces are stale, too. */
let fresh = true;
/** Greatest speed at the start of the substep, m/s. */
let fastest: f32 = 0;

/** Begins a tick: all lists are stale. */
export function beginBalls(): void {
  const balls = load<i32>(L.HEADER, L.H_BALL_COUNT);
  const rows = <usize>load<u32>(L.HEADER, L.H_BALLS);
  for (let n = 0; n < balls; n++) store<f32>(rows + <usize>n * L.BALL_BYTES, -1, L.BALL_SLACK);
  fresh = true;
}

/** Returns whether balls collide with a surface here. Colliders with their own shape are handled by rigid.ts. */
// @inline
export function isMet(surface: usize): bool {
  return load<i32>(surface, L.SURFACE_SOLID) !== L.SOLID_COLLIDER || !load<i32>(surface, L.SURFACE_SHAPED);
}

/** Finds the box and the greatest speed of a surface's particles. */
export function look(surface: usize): void {
  const first = <usize>load<u32>(surface, L.SURFACE_FIRST);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  let least = v128.load(first);
  let most = least;
  let square = f32x4.splat(0);
  for (let i = load<i32>(surface, L.SURFACE_COUNT), at = first; i > 0; i--, at += 16) {
    const x = v128.load(at);
    const v = v128.load(at + toV);
    const vv = f32x4.mul(v, v);
    least = f32x4.min(least, x);
    most = f32x4.max(most, x);
    square = f32x4.max(
      square,
      f32x4.add(vv, f32x4.add(v128.shuffle<f32>(vv, vv, 1, 2, 0, 3), v128.shuffle<f32>(vv, vv, 2, 0, 1, 3))),
    );
  }
  low = least;
  high = most;
  speed = Mathf.sqrt(f32x4.extract_lane(square, 0));
}

/** Returns whether two boxes have no common point, by x y z. */
// @inline
export function apart(low0: v128, high0: v128, low1: v128, high1: v128): bool {
  return (i32x4.bitmask(v128.or(f32x4.gt(low0, high1), f32x4.gt(low1, high0))) & 7) !== 0;
}

/** Call before the contacts of a substep: subtracts its travel from the slack of all lists. */
export function ageLists(): void {
  const balls = load<i32>(L.HEADER, L.H_BALL_COUNT);
  if (!balls) return;
  const rows = <usize>load<u32>(L.HEADER, L.H_BALLS);
  fastest = fastestSpeed();
  const travel = travelIn(load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS));
  for (let n = 0, ball = rows; n < balls; n++, ball += L.BALL_BYTES)
    store<f32>(ball, load<f32>(ball, L.BALL_SLACK) - travel, L.BALL_SLACK);
}

/** Distance by which a ball and the fastest particle may approach each other, m. */
// @inline
function travelIn(seconds: f32): f32 {
  return CAUTION * seconds * 2 * fastest;
}

/** Makes the lists that have no slack left. */
export function keepLists(balls: i32, rows: usize): void {
  const travel = travelIn(load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS));
  const tick = travelIn(load<f32>(L.HEADER, L.H_TICK_SECONDS));
  let boxed = false;
  for (let n = 0; n < balls; n++) {
    const ball = rows + <usize>n * L.BALL_BYTES;
    const slack = load<f32>(ball, L.BALL_SLACK);
    if (slack >= 0) continue;
    if (!boxed) boxRuns();
    boxed = true;
    const shape = <usize>load<u32>(ball, L.BALL_SHAPE);
    const R = <f32>load<f64>(shape, L.SHAPE_RADIUS);
    const lasts = tick < HORIZON * R && slack > -Infinity;
    // Edges may grow before the next list, up to twofold. If anything travels further, no triangle counts as small. So
    // a triangle that grows faster is corrected in the next tick, before the center comes near.
    const short: f32 = lasts ? 0.5 * SMALL * R : 0;
    listThings(ball, shape, (1 + LEAST) * R + (lasts ? tick : 0), short * short);
    store<f32>(ball, lasts ? tick + LEAST * R - travel : -Infinity, L.BALL_SLACK);
  }
}

/** Returns the greatest speed of the surfaces that balls meet, m/s. */
function fastestSpeed(): f32 {
  const surfaces = <usize>load<u32>(L.HEADER, L.H_SURFACE);
  let most: f32 = 0;
  for (let b = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; b >= 0; b--) {
    const surface = surfaces + <usize>b * L.SURFACE_BYTES;
    if (!isMet(surface) || load<i32>(surface, L.SURFACE_STILL)) continue;
    look(surface);
    countWork(load<i32>(surface, L.SURFACE_COUNT) >> 2);
    most = max<f32>(most, speed);
  }
  return most;
}

/** Returns whether lists hold particles or triangles of a surface. */
// @inline
function isListed(surface: usize): bool {
  return load<i32>(surface, L.SURFACE_SOLID) !== L.SOLID_BALL && isMet(surface);
}

/** Makes the boxes of all runs and their motion in this substep. Fixed surfaces keep theirs during a tick. */
function boxRuns(): void {
  const surfaces = <usize>load<u32>(L.HEADER, L.H_SURFACE);
  const count = load<i32>(L.HEADER, L.H_SURFACE_COUNT);
  let box = <usize>load<u32>(L.HEADER, L.H_BALL_RUNS);
  for (let b = 0; b < count; b++) {
    const surface = surfaces + <usize>b * L.SURFACE_BYTES;
    if (!isListed(surface)) continue;
    if (fresh || !load<i32>(surface, L.SURFACE_STILL)) boxSurface(surface, box);
    box += runBytes(load<i32>(surface, L.SURFACE_COUNT)) + runBytes(load<i32>(surface, L.SURFACE_TRIANGLE_COUNT));
  }
  fresh = false;
}

/** Returns the size of the boxes of `count` particles or triangles, bytes. */
// @inline
function runBytes(count: i32): usize {
  return <usize>((count + RUN - 1) / RUN) * BOX_BYTES;
}

/** Makes the boxes of a surface's particles, then those of its triangles. */
function boxSurface(surface: usize, box: usize): void {
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  let at = <usize>load<u32>(surface, L.SURFACE_FIRST);
  const points = load<i32>(surface, L.SURFACE_COUNT);
  const triangles = load<i32>(surface, L.SURFACE_TRIANGLE_COUNT);
  countWork(points + triangles);
  for (let i = 0; i < points; box += BOX_BYTES) {
    let least = v128.load(at);
    let most = least;
    for (const end = min<i32>(i + RUN, points); i < end; i++, at += 16) {
      const from = v128.load(at + toPrev);
      const to = v128.load(at);
      least = f32x4.min(least, f32x4.min(from, to));
      most = f32x4.max(most, f32x4.max(from, to));
    }
    v128.store(box, least);
    v128.store(box, most, 16);
  }
  let t = <usize>load<u32>(surface, L.SURFACE_TRIANGLES);
  for (let i = 0; i < triangles; box += BOX_BYTES) {
    let least = v128.load(<usize>load<u32>(t));
    let most = least;
    for (const end = min<i32>(i + RUN, triangles); i < end; i++, t += 12) {
      boxTriangle(t, toPrev);
      least = f32x4.min(least, low);
      most = f32x4.max(most, high);
    }
    v128.store(box, least);
    v128.store(box, most, 16);
  }
}

/** Finds the box of a triangle's motion in this substep: low, high. */
// @inline
function boxTriangle(t: usize, toPrev: usize): void {
  const A = <usize>load<u32>(t);
  const B = <usize>load<u32>(t, 4);
  const C = <usize>load<u32>(t, 8);
  const a = v128.load(A);
  const b = v128.load(B);
  const c = v128.load(C);
  const a0 = v128.load(A + toPrev);
  const b0 = v128.load(B + toPrev);
  const c0 = v128.load(C + toPrev);
  low = f32x4.min(f32x4.min(f32x4.min(a, b), f32x4.min(c, a0)), f32x4.min(b0, c0));
  high = f32x4.max(f32x4.max(f32x4.max(a, b), f32x4.max(c, a0)), f32x4.max(b0, c0));
}

// sphere around the ball's motion: center, squared radius; and the list that is being made
let middle: v128 = i32x4(0, 0, 0, 0);
let far2: f32 = 0;
let list: usize;
/** Boxes and their members that were tested for it. */
let boxes = 0;
let members = 0;

/** Returns whether a box, by x y z, has no point in that sphere. */
// @inline
function misses(least: v128, most: v128): bool {
  const beyond = f32x4.max(f32x4.sub(least, middle), f32x4.sub(middle, most));
  const way = f32x4.max(beyond, f32x4.splat(0));
  return dotXyz(way, way) > far2;
}

/**
 * Lists particles and triangles of other bodies that come within `reach` plus their margin of the ball's center in this
 * substep.
 * @param short2 triangles with shorter edges are left out, squared, m^2
 */
function listThings(ball: usize, shape: usize, reach: f32, short2: f32): void {
  const surfaces = <usize>load<u32>(L.HEADER, L.H_SURFACE);
  const own = surfaces + <usize>load<i32>(ball, L.BALL_BODY) * L.SURFACE_BYTES;
  const count = load<i32>(L.HEADER, L.H_SURFACE_COUNT);
  const to = center32(shape);
  const half = f32x4.mul(f32x4.splat(0.5), f32x4.sub(to, centerBefore32(shape)));
  const way = Mathf.sqrt(dotXyz(half, half));
  middle = f32x4.sub(to, half);
  list = <usize>load<u32>(ball, L.BALL_LIST);
  boxes = members = 0;
  let box = <usize>load<u32>(L.HEADER, L.H_BALL_RUNS);
  for (let b = 0; b < count; b++) {
    const surface = surfaces + <usize>b * L.SURFACE_BYTES;
    if (!isListed(surface)) continue;
    const points = load<i32>(surface, L.SURFACE_COUNT);
    const triangles = load<i32>(surface, L.SURFACE_TRIANGLE_COUNT);
    const next = box + runBytes(points);
    if (meetsSurface(own, b)) {
      const far = reach + way + load<f32>(surface, L.SURFACE_RADIUS);
      far2 = far * far;
      listPoints(surface, points, box);
      listTriangles(surface, triangles, next, short2);
    }
    box = next + runBytes(triangles);
  }
  countWork((boxes >> 1) + members);
  store<i32>(ball, <i32>((list - <usize>load<u32>(ball, L.BALL_LIST)) >> 2), L.BALL_COUNT);
}

/** Lists particles in the sphere. @param box of the first run */
function listPoints(surface: usize, points: i32, box: usize): void {
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const first = <usize>load<u32>(surface, L.SURFACE_FIRST);
  boxes += points / RUN;
  for (let i = 0; i < points; i += RUN, box += BOX_BYTES) {
    if (misses(v128.load(box), v128.load(box, 16))) continue;
    members += RUN;
    const end = first + ((<usize>min<i32>(i + RUN, points)) << 4);
    for (let at = first + ((<usize>i) << 4); at < end; at += 16) {
      const from = v128.load(at + toPrev);
      const to = v128.load(at);
      if (misses(f32x4.min(from, to), f32x4.max(from, to))) continue;
      store<u32>(list, <u32>at | POINT);
      list += 4;
    }
  }
}

/** Lists triangles in the sphere, except small ones. @param box of the first run */
function listTriangles(surface: usize, triangles: i32, box: usize, short2: f32): void {
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const first = <usize>load<u32>(surface, L.SURFACE_TRIANGLES);
  boxes += triangles / RUN;
  for (let i = 0; i < triangles; i += RUN, box += BOX_BYTES) {
    if (misses(v128.load(box), v128.load(box, 16))) continue;
    members += RUN;
    const end = first + <usize>min<i32>(i + RUN, triangles) * 12;
    for (let t = first + <usize>i * 12; t < end; t += 12) {
      boxTriangle(t, toPrev);
      if (misses(low, high)) continue;
      const A = v128.load(<usize>load<u32>(t) + toPrev);
      const B = v128.load(<usize>load<u32>(t, 4) + toPrev);
      const C = v128.load(<usize>load<u32>(t, 8) + toPrev);
      if (max<f32>(square(f32x4.sub(A, B)), max<f32>(square(f32x4.sub(B, C)), square(f32x4.sub(C, A)))) < short2)
        continue;
      store<u32>(list, <u32>t);
      list += 4;
    }
  }
}

// @inline
function square(a: v128): f32 {
  const x = f32x4.extract_lane(a, 0);
  const y = f32x4.extract_lane(a, 1);
  const z = f32x4.extract_lane(a, 2);
  return x * x + y * y + z * z;
}
