/**
 * Heavy dynamic spheres against the triangles of other bodies and of mesh colliders, and against each other. A ball is
 * a rigid body by shape matching (rigid.ts), but it collides as a sphere, not by its particles:
 *   C = |c - q| - (R + r) >= 0,  q = sum b_i x_i the point of the triangle nearest to the center c, r the other body's
 *   margin
 *   dL = -C / (1/M + sum w_i b_i^2),  c += dL n / M,  x_i -= w_i b_i dL n,  n from q to c
 * Faces collide, not only vertices, so a cloth coarser than the ball holds it too. If all edges of a triangle are
 * short, its corners suffice, at a fifth of the cost: its middle is then within e^2/(6 R) of the sphere, 0.7 % of R.
 * Friction acts on the tangential displacement between the two surfaces and turns the ball: w_t = 1/M + R^2/I + sum w_i
 * b_i^2. ballSweep.ts finds the depth, swept through the substep. Restitution reverses the approach, positions included
 * (rigidContact.ts explains why). The part of a push beyond that makes no velocity (xPrev moves along). A triangle of a
 * rigid body moves the whole body. Both sides are pushed at one point, or friction would be a couple.
 * A ball that rests on colliders is carried by them here, too (settle). They carry a ball also through the particles
 * that lie on them (heldCorners.ts), and through layers on these (heldLayers.ts).
 * Triangles share corners, so a sweep of pushes leaves some inside: sweeps follow until none is deeper than 0.5 % of
 * the radius. Triangles that still are move with the ball for this substep, in their relative position at its start
 * (the rigid impact zone of Bridson et al. 2002).
 * Candidates: each ball lists particles and triangles near it (ballLists.ts). Per iteration a list entry costs a SIMD
 * box test, and the exact test only near the sphere.
 * A ball whose center begins inside a closed body is first pulled out of it (server/sim/intersections); until then the
 * two do not collide here. Serial, in ball and list order, once per iteration after the other contacts.
 * Limit: an iteration passes on a force of at most (w of the ball's neighbors)^-1 times their displacement. So much
 * heavier balls press light bodies deeper than their stiffness allows, until iterations or substeps are raised; nothing
 * passes through either way.
 */
import * as L from "../layout/layout";
import { isPrefactored, rigidRow } from "../state/owners";
import { RISE } from "../colliders/collide";
import {
  began,
  blocked,
  CORNER,
  depthOfPoint,
  depthOfTriangle,
  nx,
  ny,
  nz,
  setAnswer,
  TRIANGLE,
  wa,
  wb,
  wc,
} from "./ballSweep";
import { countWork } from "../state/work";
import { meetsSurface } from "../state/filters";
import { apart, CAUTION, high, isMet, keepLists, look, low, POINT, speed } from "./ballLists";
import { holdCorner, releaseCorner, yieldCorner } from "./heldCorners";
import { holdLayers, releaseLayers } from "./heldLayers";
import { islandOf, join, meetsFixed } from "../state/islands";
import { lowFrom, lowPrevFrom, place } from "../math/places";
import { layBall } from "./rigid";
import { measure, moveParticles } from "./rigidBody";
import { ROTATION_SCRATCH } from "../math/rotation";
import { center, center32, centerBefore, centerBefore32, respond, stick, touchBall } from "./ballResponse";

/**
 * Most sweeps, and the depth in radii (RESIDUE) that ends them: pushing a triangle out may push its neighbor in. (At
 * 1e-3 a cloth at rest takes all sweeps, 1 ms.)
 */
const SWEEPS = 8;
/** Turns of a ball's list and the colliders on which it rests. */
const TURNS = 2;
/** Counted work of a listed particle or triangle in a sweep. */
const UNITS_OF_DEPTH = 3;
/** Counted work of a listed particle or triangle whose corners may be held, and of each collider that they ask. */
const UNITS_OF_HOLD = 2;
const RESIDUE: f64 = 5e-3;
/** Enlarges the boxes of the broad phase for the rounding of float32 far from the origin. */
const ROUNDED: f64 = 1.002;
/** Most rounds of impacts between balls in an iteration: each passes an impact on along a chain. */
const IMPACTS = 64;

/**
 * Joins the islands of balls and bodies that may meet in this tick, because they exchange momentum. A ball that may
 * meet a collider's core mesh is not free. An impact passes speed on, so a body counts as fast as its island (Newton's
 * cradle: the last ball took over the speed, and lost it again as a body that met nothing).
 */
export function bindBalls(): void {
  const balls = load<i32>(L.HEADER, L.H_BALL_COUNT);
  if (!balls) return;
  const rows = <usize>load<u32>(L.HEADER, L.H_BALLS);
  const bodies = <usize>load<u32>(L.HEADER, L.H_BODIES);
  const count = load<i32>(L.HEADER, L.H_BODY_COUNT);
  measureBoxes(bodies, count);
  for (let joined = true; joined; ) {
    joined = false;
    for (let n = 0; n < balls; n++)
      for (let b = 0; b < count; b++)
        joined = joinBoth(bodies, load<i32>(rows + <usize>n * L.BALL_BYTES, L.BALL_BODY), b) || joined;
  }
  for (let n = 0; n < balls; n++) {
    const own = load<i32>(rows + <usize>n * L.BALL_BYTES, L.BALL_BODY);
    for (let b = count; b < load<i32>(L.HEADER, L.H_SURFACE_COUNT); b++)
      if (mayMeet(bodies, own, b)) meetsFixed(bodies + <usize>own * L.BODY_BYTES);
  }
}

/**
 * Measures box and speed of every body that balls may meet, and the greatest speed of each island. They use memory of
 * the momentum correction, which a substep writes before it reads.
 */
function measureBoxes(bodies: usize, count: i32): void {
  const surfaces = <usize>load<u32>(L.HEADER, L.H_SURFACE);
  for (let b = 0; b < count; b++) {
    const row = bodies + <usize>b * L.BODY_BYTES;
    look(surfaces + <usize>b * L.SURFACE_BYTES);
    v128.store(row, low, L.BODY_VELOCITY);
    v128.store(row, high, L.BODY_SPIN);
    store<f32>(row, speed, L.BODY_CENTER);
  }
  for (let b: u32 = 0; b < <u32>count; b++) {
    const all = islandOf(bodies, b);
    if (all !== b) quicken(bodies, all, speedOf(bodies, b));
  }
}

// @inline
function speedOf(bodies: usize, b: u32): f32 {
  return load<f32>(bodies + <usize>b * L.BODY_BYTES, L.BODY_CENTER);
}

/** Raises the speed of an island to at least `least`. */
function quicken(bodies: usize, island: u32, least: f32): void {
  store<f32>(bodies + <usize>island * L.BODY_BYTES, max<f32>(speedOf(bodies, island), least), L.BODY_CENTER);
}

/** Joins the islands of a ball's body and another one, if they may meet. @returns whether they were two islands */
function joinBoth(bodies: usize, own: i32, b: i32): bool {
  const first = islandOf(bodies, own);
  const second = islandOf(bodies, b);
  if (first === second || !mayMeet(bodies, own, b)) return false;
  const fastest = max<f32>(speedOf(bodies, first), speedOf(bodies, second));
  join(bodies, own, b);
  quicken(bodies, min<u32>(first, second), fastest);
  return true;
}

/** Returns whether a ball's body may meet a surface in this tick. */
function mayMeet(bodies: usize, own: i32, b: i32): bool {
  const surface = <usize>load<u32>(L.HEADER, L.H_SURFACE) + <usize>b * L.SURFACE_BYTES;
  const ball = <usize>load<u32>(L.HEADER, L.H_SURFACE) + <usize>own * L.SURFACE_BYTES;
  if (b === own || !isMet(surface) || !meetsSurface(ball, b)) return false;
  const row = bodies + <usize>own * L.BODY_BYTES;
  const other = bodies + <usize>b * L.BODY_BYTES;
  const fixed = b >= load<i32>(L.HEADER, L.H_BODY_COUNT);
  if (fixed) look(surface);
  const its = fixed ? speed : speedOf(bodies, islandOf(bodies, b));
  const tick = load<f32>(L.HEADER, L.H_TICK_SECONDS);
  const gap = f32x4.splat(
    load<f32>(surface, L.SURFACE_RADIUS) + CAUTION * tick * (speedOf(bodies, islandOf(bodies, own)) + its),
  );
  const least = fixed ? low : v128.load(other, L.BODY_VELOCITY);
  const most = fixed ? high : v128.load(other, L.BODY_SPIN);
  return !apart(
    f32x4.sub(least, gap),
    f32x4.add(most, gap),
    v128.load(row, L.BODY_VELOCITY),
    v128.load(row, L.BODY_SPIN),
  );
}

/** Measures all balls, and makes the lists that have no slack left. */
export function listBalls(scratch: usize): void {
  const balls = load<i32>(L.HEADER, L.H_BALL_COUNT);
  const rows = <usize>load<u32>(L.HEADER, L.H_BALLS);
  for (let n = 0; n < balls; n++) {
    const shape = <usize>load<u32>(rows + <usize>n * L.BALL_BYTES, L.BALL_SHAPE);
    // a ball that does not move is measured once a tick
    const moves = !load<i32>(<usize>load<u32>(shape, L.SHAPE_BODY), L.BODY_INACTIVE);
    if (!moves && load<i32>(L.HEADER, L.H_SUBSTEP)) continue;
    measure(shape, scratch);
  }
  keepLists(balls, rows);
}

/** Solves one iteration of all balls. @param scratch ROTATION_SCRATCH bytes and 3 TRIANGLE more */
export function solveBalls(scratch: usize): void {
  const balls = load<i32>(L.HEADER, L.H_BALL_COUNT);
  const rows = <usize>load<u32>(L.HEADER, L.H_BALLS);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  listBalls(scratch);
  let bounced = false;
  const holds = load<i32>(L.HEADER, L.H_COLLIDER_COUNT) !== 0 && load<u32>(L.HEADER, L.H_COLOR_MASKS) !== 0;
  const near = holds && visitAll(true);
  if (near) holdLayers();
  for (let n = 0; n < balls; n++) {
    const ball = rows + <usize>n * L.BALL_BYTES;
    touchFirm(ball, scratch + ROTATION_SCRATCH);
    settle(ball, scratch + ROTATION_SCRATCH);
    bounced = touchOthers(n, balls, rows) || bounced;
  }
  for (let round = 0; bounced && round < IMPACTS; round++) {
    bounced = false;
    for (let n = 0; n < balls; n++) bounced = touchOthers(n, balls, rows) || bounced;
  }
  if (near) {
    releaseLayers();
    visitAll(false);
  }
  for (let n = 0; n < balls; n++) {
    const shape = <usize>load<u32>(rows + <usize>n * L.BALL_BYTES, L.BALL_SHAPE);
    moveParticles(shape, toPrev, L.SHAPE_PUSH_STILL, L.SHAPE_TWIST_STILL);
    moveParticles(shape, 0, L.SHAPE_PUSH, L.SHAPE_TWIST);
  }
  for (
    let b = load<i32>(L.HEADER, L.H_BODY_COUNT), row = <usize>load<u32>(L.HEADER, L.H_BODIES);
    b > 0;
    b--, row += L.BODY_BYTES
  ) {
    const shape = <usize>load<u32>(row, L.BODY_RIGID);
    if (!shape || !load<i32>(shape, L.SHAPE_MEASURED)) continue;
    store<i32>(shape, 0, L.SHAPE_MEASURED);
    moveParticles(shape, toPrev, L.SHAPE_PUSH_STILL, L.SHAPE_TWIST_STILL);
    moveParticles(shape, 0, L.SHAPE_PUSH, L.SHAPE_TWIST);
  }
}

/** Visits the lists of all balls. @returns whether they hold anything of a soft body or of a mesh collider */
function visitAll(holds: bool): bool {
  let ball = <usize>load<u32>(L.HEADER, L.H_BALLS);
  let near = false;
  for (let n = load<i32>(L.HEADER, L.H_BALL_COUNT); n > 0; n--, ball += L.BALL_BYTES)
    near = visitListed(ball, holds) || near;
  return near;
}

/**
 * Holds the listed particles that are in colliders (heldCorners.ts), or ends their holds. @returns whether there are
 * any, except those of rigid bodies
 */
function visitListed(ball: usize, holds: bool): bool {
  const asked = holds ? load<i32>(L.HEADER, L.H_COLLIDER_COUNT) : 0;
  const count = load<i32>(ball, L.BALL_COUNT);
  countWork((UNITS_OF_HOLD + asked) * count);
  let any = false;
  for (let n = count, entry = <usize>load<u32>(ball, L.BALL_LIST); n > 0; n--, entry += 4) {
    const listed = load<u32>(entry);
    if (rigidRow(cornerOf(listed, 0))) continue;
    any = true;
    if (holds) holdEntry(listed, false);
    else for (let k: usize = 0; k < (listed & POINT ? 1 : 3); k++) releaseCorner(cornerOf(listed, k));
  }
  return any;
}

/** Holds the corners of a list entry that are in colliders. @returns whether there were any */
function holdEntry(listed: u32, again: bool): bool {
  let any = false;
  for (let k: usize = 0; k < (listed & POINT ? 1 : 3); k++) any = holdCorner(cornerOf(listed, k), again) || any;
  return any;
}

/** Collides ball n with all later ones. @returns whether two bounced off each other */
function touchOthers(n: i32, balls: i32, rows: usize): bool {
  const ball = rows + <usize>n * L.BALL_BYTES;
  const own = <usize>load<u32>(L.HEADER, L.H_SURFACE) + <usize>load<i32>(ball, L.BALL_BODY) * L.SURFACE_BYTES;
  const shape = <usize>load<u32>(ball, L.BALL_SHAPE);
  let bounced = false;
  for (let m = n + 1; m < balls; m++) {
    const other = rows + <usize>m * L.BALL_BYTES;
    if (meetsSurface(own, load<i32>(other, L.BALL_BODY)))
      bounced = touchBall(shape, <usize>load<u32>(other, L.BALL_SHAPE)) || bounced;
  }
  return bounced;
}

/**
 * Returns the depth of a list entry in the sphere, m; sets n, the weights and `blocked`. Boxes in float32 leave out
 * entries that do not come near.
 * @param room 3 TRIANGLE bytes: the corners relative to the center at the start, at the end, between; now, before: the
 * center
 */
function depthOf(listed: u32, shape: usize, room: usize, now: v128, before: v128, R: f64): f64 {
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const A = cornerOf(listed, 0);
  const row = rigidRow(A);
  const r = R + <f64>load<f32>(A + toPrev, 12);
  const box = f32x4.splat(<f32>(ROUNDED * r));
  const a0 = f32x4.sub(v128.load(A + toPrev), before);
  const a1 = f32x4.sub(placeOf(A, row), now);
  let least = f32x4.min(a0, a1);
  let most = f32x4.max(a0, a1);
  if (listed & POINT) {
    if (apart(least, most, f32x4.neg(box), box)) return 0;
    putPlaces(room, A, shape, row);
    return depthOfPoint(
      load<f64>(room),
      load<f64>(room, 8),
      load<f64>(room, 16),
      load<f64>(room, TRIANGLE),
      load<f64>(room, TRIANGLE + 8),
      load<f64>(room, TRIANGLE + 16),
      r,
    );
  }
  const B = cornerOf(listed, 1);
  const C = cornerOf(listed, 2);
  const b0 = f32x4.sub(v128.load(B + toPrev), before);
  const c0 = f32x4.sub(v128.load(C + toPrev), before);
  const b1 = f32x4.sub(placeOf(B, row), now);
  const c1 = f32x4.sub(placeOf(C, row), now);
  least = f32x4.min(f32x4.min(least, f32x4.min(b0, c0)), f32x4.min(b1, c1));
  most = f32x4.max(f32x4.max(most, f32x4.max(b0, c0)), f32x4.max(b1, c1));
  if (apart(least, most, f32x4.neg(box), box)) return 0;
  putPlaces(room, A, shape, row);
  putPlaces(room + CORNER, B, shape, row);
  putPlaces(room + 2 * CORNER, C, shape, row);
  return depthOfTriangle(room, r);
}

/**
 * Corners under a load leave at once: those within less than PRESSED of the margin, or LOADED times their approach in
 * this substep. (Without the latter a soft cube crept on a ball at 0.1 mm/s.)
 */
const PRESSED: f64 = 0.03125;
const LOADED: f64 = 4;

/**
 * Returns the part of a depth that is separated in this substep. Corners that began within their margin leave it no
 * faster than RISE: they are light, and deformed their body instead of moving it, which threw the ball off at 0.2 m/s.
 */
function risen(listed: u32, depth: f64, R: f64): f64 {
  const A = cornerOf(listed, 0);
  const margin: f64 = load<f32>(A + <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X), 12);
  const slow = <f64>RISE * margin * <f64>load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const within = min<f64>(margin, R + margin - began);
  if (!(depth > 0 && within > max<f64>(slow, PRESSED * margin)) || rigidRow(A) || isPrefactored(A)) return depth;
  if (!(within > LOADED * (depth - within))) return depth;
  for (let k: usize = 0; k < (listed & POINT ? 1 : 3); k++) if (load<f32>(cornerOf(listed, k), 12) === 0) return depth;
  return depth - (within - slow);
}

/** Stores the places of a particle relative to the ball's center, at the start of the substep and now. */
function putPlaces(to: usize, at: usize, shape: usize, row: usize): void {
  const toLow = lowFrom();
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const toLowPrev = lowPrevFrom() - toPrev;
  for (let k: usize = 0; k < 3; k++) {
    const x = at + (k << 2);
    const c = shape + (k << 3);
    store<f64>(to + (k << 3), place(x + toPrev, toLowPrev) - centerBefore(c));
    store<f64>(to + (k << 3), place(x, toLow) + pushOf(at, row, k) - center(c), TRIANGLE);
  }
}

/** Corner k of a list entry; for a particle the particle itself. */
// @inline
function cornerOf(listed: u32, k: usize): usize {
  return listed & POINT ? <usize>(listed & ~POINT) : <usize>load<u32>(<usize>listed + (k << 2));
}

/**
 * Solves fixed and rigid triangles, deepest first. If the sphere is in a flat face by more than rounding, it also hits
 * the edges of the triangles around the contact, which would deflect it. (A ball that met a box centrally at 2 m/s and
 * 4 substeps left it sideways with a quarter of its speed.)
 */
function touchFirm(ball: usize, room: usize): void {
  const shape = <usize>load<u32>(ball, L.BALL_SHAPE);
  const R = load<f64>(shape, L.SHAPE_RADIUS);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const now = center32(shape);
    const before = centerBefore32(shape);
    let deepest: f64 = 1e-5 * R;
    let found: u32 = 0;
    let fx: f64 = 0;
    let fy: f64 = 0;
    let fz: f64 = 0;
    let fa: f64 = 0;
    let fb: f64 = 0;
    let fc: f64 = 0;
    countWork(load<i32>(ball, L.BALL_COUNT));
    for (let n = load<i32>(ball, L.BALL_COUNT), entry = <usize>load<u32>(ball, L.BALL_LIST); n > 0; n--, entry += 4) {
      const listed = load<u32>(entry);
      const A = cornerOf(listed, 0);
      if (load<f32>(A, 12) !== 0 && !rigidRow(A)) continue;
      const depth = depthOf(listed, shape, room, now, before, R);
      if (!(depth > deepest) || blocked) continue;
      deepest = depth;
      found = listed;
      fx = nx;
      fy = ny;
      fz = nz;
      fa = wa;
      fb = wb;
      fc = wc;
    }
    if (!found) return;
    setAnswer(fx, fy, fz, fa, fb, fc);
    respond(shape, cornerOf(found, 0), cornerOf(found, 1), cornerOf(found, 2), deepest, R, room - ROTATION_SCRATCH);
  }
}

/**
 * Separates a ball from its list, by turns with the colliders on which it rests. (While only rigid.ts knew them, after
 * all lists, the ball rolled on in each substep under what friction had held on it: sheets crept at 2 mm/s.)
 */
function settle(ball: usize, room: usize): void {
  if (!load<i32>(ball, L.BALL_COUNT)) return;
  const shape = <usize>load<u32>(ball, L.BALL_SHAPE);
  for (let turn = 0; turn < TURNS; turn++) {
    const lies = layBall(shape);
    if (!lies && turn > 0) return;
    separate(ball, room);
    if (!lies) return;
  }
  layBall(shape);
}

/** Separates a ball from its list. Triangles that it is left in by more than a residue move with it. */
function separate(ball: usize, room: usize): void {
  for (let sweep = 0; sweep < SWEEPS; sweep++) if (!(touchListed(ball, room, false) > RESIDUE)) return;
  for (let sweep = 0; sweep < SWEEPS; sweep++) if (!(touchListed(ball, room, true) > 0)) return;
}

/**
 * Solves all of a ball's list, in its order.
 * @param room of `depthOf`
 * @param hold false: separates. true: corners of entries deeper than 4 residues move with the ball, in their relative
 * position at the start of the substep
 * @returns the greatest depth found, in radii
 */
function touchListed(ball: usize, room: usize, hold: bool): f64 {
  const shape = <usize>load<u32>(ball, L.BALL_SHAPE);
  const R = load<f64>(shape, L.SHAPE_RADIUS);
  const least: f64 = hold ? 4 * RESIDUE * R : 0;
  let deepest: f64 = 0;
  let now = center32(shape);
  let before = centerBefore32(shape);
  countWork(UNITS_OF_DEPTH * load<i32>(ball, L.BALL_COUNT));
  for (let n = load<i32>(ball, L.BALL_COUNT), entry = <usize>load<u32>(ball, L.BALL_LIST); n > 0; n--, entry += 4) {
    const listed = load<u32>(entry);
    let pressed = true;
    for (let turn = 0; turn < 2 && pressed; turn++) {
      const depth = risen(listed, depthOf(listed, shape, room, now, before, R), R);
      if (!(depth > least)) break;
      deepest = max<f64>(deepest, depth / R);
      if (!hold && !blocked) {
        const A = cornerOf(listed, 0);
        for (let k: usize = 0; k < (listed & POINT ? 1 : 3); k++) yieldCorner(cornerOf(listed, k), nx, ny, nz);
        respond(shape, A, cornerOf(listed, 1), cornerOf(listed, 2), depth, R, room - ROTATION_SCRATCH);
        // once more if that has pressed a corner into a collider
        pressed = holdEntry(listed, true);
      } else {
        for (let k: usize = 0; k < (listed & POINT ? 1 : 3); k++) stick(shape, cornerOf(listed, k));
        pressed = false;
      }
      now = center32(shape);
      before = centerBefore32(shape);
    }
  }
  return deepest;
}

/**
 * Returns a particle's position; for a rigid body, with the pushes of balls in this iteration.
 * @param row its SHAPE row, 0: none
 */
// @inline
function placeOf(at: usize, row: usize): v128 {
  const x = v128.load(at);
  if (!row || !load<i32>(row, L.SHAPE_MEASURED)) return x;
  return f32x4.add(x, f32x4(<f32>pushOf(at, row, 0), <f32>pushOf(at, row, 1), <f32>pushOf(at, row, 2), 0));
}

/** Returns component k of a particle's displacement by the pushes of balls on its rigid body in this iteration, m. */
function pushOf(at: usize, row: usize, k: usize): f64 {
  if (!row || !load<i32>(row, L.SHAPE_MEASURED)) return 0;
  const i = k === 2 ? 0 : k + 1;
  const j = k === 0 ? 2 : k - 1;
  const ri = <f64>load<f32>(at + (i << 2)) - load<f64>(row + (i << 3), L.SHAPE_CENTER);
  const rj = <f64>load<f32>(at + (j << 2)) - load<f64>(row + (j << 3), L.SHAPE_CENTER);
  return (
    load<f64>(row + (k << 3), L.SHAPE_PUSH) +
    load<f64>(row + (i << 3), L.SHAPE_TWIST) * rj -
    load<f64>(row + (j << 3), L.SHAPE_TWIST) * ri
  );
}
