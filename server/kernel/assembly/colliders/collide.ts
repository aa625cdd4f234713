/**
 * Particles against analytic colliders: continuous (swept) test, non-penetration, Coulomb friction on displacements.
 *
 * Every collider is a signed distance d(p), convex along the motion xPrev -> x. So marching from tangent to tangent of
 * d - r (Newton's method) never jumps over a surface. A funnel's is only 1-Lipschitz, and there steps of d - r never do
 * (conservative advancement). So "no contact" is certain. Cull without marching: the motion stays clear while d(xPrev)
 * + d(x) - 2r > |x - xPrev|. A particle that enters and leaves again within the substep is put back at its entry.
 * Response, with the normal n at the contact and dx = x - xPrev:
 *   x moves out along n to the surface by depth p, from within the margin no faster than RISE;
 *   Coulomb friction, with q the part of p that dx approached: a tangential displacement dx_t up to mu_static q is
 *   removed; of a longer one the share mu q/|dx_t|;
 *   the push adds no velocity away from the collider, other than restitution (coefficients.ts).
 * Positions are float64 here, x plus its low word (math/places.ts), and pushes keep low words: with float32 a body on a
 * plane 56 m from the room's origin trembled at 5 mm/s.
 * A moving collider (motion.ts) is met in its own frame. There the particle's path in the substep is treated as a
 * straight line (rotation bends it by angle^2/8 of its distance from the center: 9 um at 1 m for 10 rad/s and 1/1200
 * s). So friction drags particles along, and an approaching wall passes on its own velocity.
 * Its functions are inlined: calls, which store all registers, took a third of the time of a particle that touches.
 */
import * as L from "../layout/layout";
import { distanceTo, nx, ny, nz } from "./colliderDistance";
import { mayBeAnswered } from "./colliderLanes";
import { bounce, findCoefficients, rests, rootBounce, rootStatic } from "./coefficients";
import { lowFrom, lowPrevFrom, place, put, rounding } from "../math/places";
import { meets } from "../state/filters";
import { hasMarks, marksOf } from "../state/marks";
import { inFrame, turnFromFrame, frameX, frameY, frameZ } from "./motion";

/**
 * A motion that is still near after MAX_MARCH steps counts as a hit, which errs on the safe side. (With steps of d - r
 * every grazing motion did: a block that landed at 2 m/s was held 0.1 mm too high, and slid on for half a second
 * without friction.)
 */
const MAX_MARCH = 24;
/**
 * Most steps along a concave collider. A wall of 1 m with a margin of 5 mm would take 400 steps of half the margin; a
 * motion that grazes longer is stopped on its way.
 */
const MAX_CONCAVE_MARCH = 64;
/**
 * A particle that began inside a collider, where a scene or a jump put it (MARK_SLOW), leaves by this part of its
 * margin a substep.
 */
const LEAVE: f32 = 0.0625;

/**
 * A particle that began within its margin, but clear of the collider, moves out by this many margins a second. The
 * whole gap takes half a second, too slow to compress anything.
 */
export const RISE: f32 = 2;

// normal of the last answer; each thread has its own instance
export let answerX: f32, answerY: f32, answerZ: f32;
/** Part of the motion at which it reached the surface; 0 if it began there. */
let answerT: f32;
// motion of the last answerMotion, in the collider's frame
export let fromX: f64, fromY: f64, fromZ: f64;
export let toX: f64, toY: f64, toZ: f64;

/**
 * Collides a motion from (px, py, pz) to (x, y, z), in the collider's frame, of a ball of radius r.
 * @returns how far the end must move out along the normal answerX answerY answerZ, m; not positive: no contact
 */
export function answer(c: usize, px: f64, py: f64, pz: f64, x: f64, y: f64, z: f64, r: f32): f32 {
  const dx = <f32>(x - px);
  const dy = <f32>(y - py);
  const dz = <f32>(z - pz);
  const move2 = dx * dx + dy * dy + dz * dz;
  // most are nowhere near: the motion's end is further from the collider's bounding ball than the motion is long. (a +
  // b)^2 <= 2 a^2 + 2 b^2 saves the root of move2
  const cx = <f32>x - load<f32>(c, L.COLLIDER_A);
  const cy = <f32>y - load<f32>(c, L.COLLIDER_A + 4);
  const cz = <f32>z - load<f32>(c, L.COLLIDER_A + 8);
  const bound = load<f32>(c, L.COLLIDER_BOUND) + r;
  if (cx * cx + cy * cy + cz * cz > 2 * (bound * bound + move2)) return 0;
  if (load<i32>(c, L.COLLIDER_TYPE) === L.COLLIDER_MESH) return 0; // a mesh collides by its triangles
  let d1 = distanceTo(c, x, y, z) - r;
  if (d1 > 0 && d1 * d1 > move2) return 0; // the surface is out of reach on the whole motion back from here
  let mx = nx;
  let my = ny;
  let mz = nz; // normal of the answer
  const d0 = distanceTo(c, px, py, pz) - r;
  const move = Mathf.sqrt(move2);
  let entry: f32 = 0;
  if (d0 <= 0) {
    // It began within the margin: it moves away from that surface, or further in. It may even end beyond another side,
    // which the end alone does not show on a thin plate.
    const inward = dx * nx + dy * ny + dz * nz;
    if (inward >= 0) {
      if (d1 > 0) return 0;
    } else if (d1 > 0 || nx * mx + ny * my + nz * mz < 0.5) {
      mx = nx;
      my = ny;
      mz = nz;
      d1 = d0 + inward;
    }
  } else if (d1 > 0 && d0 + d1 > move) return 0; // clear all the way
  if (d0 > 0 && move > 0) {
    // march to the entry
    if (load<i32>(c, L.COLLIDER_TYPE) === L.COLLIDER_FUNNEL)
      return answerConcave(c, px, py, pz, x, y, z, r, move, d0 / move, d1);
    let approach = -(dx * nx + dy * ny + dz * nz);
    let t: f32 = approach > 0 ? d0 / approach : 1;
    let step = 0;
    let hit = false;
    while (t < 1) {
      const d = distanceTo(c, px + t * dx, py + t * dy, pz + t * dz) - r;
      if (d <= 1e-4 * r || ++step > MAX_MARCH) {
        hit = true;
        break;
      }
      approach = -(dx * nx + dy * ny + dz * nz);
      t = approach > 0 ? t + d / approach : 1;
    }
    if (!hit && d1 > 0) return 0;
    entry = hit ? t : d0 / move;
    // If it went through to another side, or out again, it is put back at the entry. A shallow hit slides along the
    // surface where it ended.
    if (hit && (d1 > 0 || nx * mx + ny * my + nz * mz < 0.5)) {
      // depth along the entry normal
      const above = (dx - t * dx) * nx + (dy - t * dy) * ny + (dz - t * dz) * nz;
      mx = nx;
      my = ny;
      mz = nz;
      d1 = above;
    }
  }
  answerT = entry;
  answerX = mx;
  answerY = my;
  answerZ = mz;
  return -d1;
}

/**
 * Marches along a concave collider. A motion may graze it at the margin and enter further on. So a touch counts only on
 * the way in, and steps are at least half the margin, which cannot jump over the surface itself. A march that does not
 * end counts as a hit.
 * @param move length of the motion; t part of it that is clear; end distance of its end from the margin; the last
 * normal is that of the start
 */
function answerConcave(
  c: usize,
  px: f64,
  py: f64,
  pz: f64,
  x: f64,
  y: f64,
  z: f64,
  r: f32,
  move: f32,
  t: f32,
  end: f32,
): f32 {
  const dx = <f32>(x - px);
  const dy = <f32>(y - py);
  const dz = <f32>(z - pz);
  let hit = false;
  answerT = 0;
  for (let step = 0; t < 1; step++) {
    const d = distanceTo(c, px + t * dx, py + t * dy, pz + t * dz) - r;
    const inward = dx * nx + dy * ny + dz * nz < 0;
    hit = d <= 1e-4 * r && inward;
    if (d > -0.25 * r) answerT = t; // safe so far
    if (hit || step >= MAX_CONCAVE_MARCH) break;
    t += max<f32>(d, 0.5 * r) / move;
  }
  if (t >= 1 && end > 0) return 0;
  const ex = nx;
  const ey = ny;
  const ez = nz;
  distanceTo(c, x, y, z);
  answerX = nx;
  answerY = ny;
  answerZ = nz;
  if (t >= 1 || (end <= 0 && ex * nx + ey * ny + ez * nz >= 0.5)) return -end;
  answerX = ex;
  answerY = ey;
  answerZ = ez;
  // positive, so that the caller checks whether the answer is clear of the wall
  return max<f32>(1e-4 * r, -((dx - t * dx) * ex + (dy - t * dy) * ey + (dz - t * dz) * ez));
}

/**
 * Limits how far a particle of a body tangled with a collider moves out: `depth` within the margin r, `distance` at the
 * start of the substep.
 */
// @inline
function leave(depth: f32, marked: i32, distance: f32, r: f32): f32 {
  if (marked & L.MARK_WITHIN && distance < r) return 0;
  return distance < 0 ? min<f32>(depth, LEAVE * r) : depth;
}

/**
 * Moves a particle back above planes that other colliders have pushed it through: beside a table's foot the nearest way
 * out can be the table's underside. A plane has no other side. @returns whether it was below one
 */
export function raise(particle: usize, table: usize): bool {
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  const toLow = lowFrom();
  let any = false;
  for (let n = 0, c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, c += L.COLLIDER_BYTES) {
    if (load<i32>(c, L.COLLIDER_TYPE) !== L.COLLIDER_PLANE || load<u32>(c, L.COLLIDER_MOTION) || !meets(table, n))
      continue;
    const below = -distanceTo(c, place(particle, toLow), place(particle + 4, toLow), place(particle + 8, toLow));
    if (!(below > 0)) continue;
    shift(particle, toLow, below * nx, below * ny, below * nz);
    any = true;
  }
  return any;
}

/**
 * Moves the particles begin..end out of all colliders and corrects their velocities.
 * @param table colliders that they may touch (filters.ts)
 */
export function collide(begin: i32, end: i32, h: f32, table: usize): void {
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  if (!colliders) return;
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const anyMarks = hasMarks();
  let at = <usize>load<u32>(L.HEADER, L.H_X) + ((<usize>begin) << 4);
  let may = 0;
  for (let i = begin; i < end; i++, at += 16) {
    const lane = (i - begin) & 3;
    if (lane === 0) may = i + 4 <= end ? mayBeAnswered(at, at + toPrev, table) : 15;
    if (!((may >> lane) & 1) || load<f32>(at, 12) === 0) continue;
    if (!meetAll(at, at + toPrev, anyMarks ? marksOf(i) : 0, h, table)) continue;
    if (colliders > 1) raise(at, table);
    takeVelocity(at, at + toPrev, h);
  }
}

/** `answer` for the motion of the particle at `at` from (px, py, pz), in the frame of the collider. */
export function answerMotion(c: usize, at: usize, px: f64, py: f64, pz: f64, r: f32): f32 {
  const toLow = lowFrom();
  fromX = px;
  fromY = py;
  fromZ = pz;
  toX = place(at, toLow);
  toY = place(at + 4, toLow);
  toZ = place(at + 8, toLow);
  const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
  if (motion) {
    inFrame(motion, L.MOTION_S0, L.MOTION_R0, px, py, pz);
    fromX = frameX;
    fromY = frameY;
    fromZ = frameZ;
    inFrame(motion, L.MOTION_S1, L.MOTION_R1, toX, toY, toZ);
    toX = frameX;
    toY = frameY;
    toZ = frameZ;
  }
  return answer(c, fromX, fromY, fromZ, toX, toY, toZ, r);
}

/**
 * Collides a particle with all colliders in scene order, each with the motion from the original xPrev. @returns whether
 * one touched
 */
// @inline
function meetAll(at: usize, prev: usize, mark: i32, h: f32, table: usize): bool {
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  const prevLow = lowPrevFrom() - (prev - at);
  const originX = place(prev, prevLow);
  const originY = place(prev + 4, prevLow);
  const originZ = place(prev + 8, prevLow);
  // a particle that begins deep inside is pulled out with its neighbors (resolution.ts), or leaves slowly; thrown out
  // alone it would tear away. A plane has no core mesh to pull it out of
  const drawn = (mark & (L.MARK_WITHIN | L.MARK_INTERSECTING)) === L.MARK_WITHIN;
  let touched = false;
  for (let n = 0, c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, c += L.COLLIDER_BYTES) {
    if (!meets(table, n) || (drawn && load<i32>(c, L.COLLIDER_TYPE) !== L.COLLIDER_PLANE)) continue;
    const depth = answerMotion(c, at, originX, originY, originZ, load<f32>(prev, 12));
    if (depth > 0 && respond(c, at, prev, mark, h, fromX, fromY, fromZ, toX, toY, toZ, depth)) touched = true;
  }
  return touched;
}

/**
 * Applies a collider's `answer` of this depth to a particle, whose motion from (px, py, pz) to (x, y, z) is in the
 * collider's frame.
 * @returns whether it is a contact, not a slow exit
 */
// @inline
function respond(
  c: usize,
  at: usize,
  prev: usize,
  mark: i32,
  h: f32,
  px: f64,
  py: f64,
  pz: f64,
  x: f64,
  y: f64,
  z: f64,
  depth: f32,
): bool {
  const r = load<f32>(prev, 12);
  const marked = mark & (L.MARK_WITHIN | L.MARK_SLOW);
  if (marked && load<i32>(c, L.COLLIDER_TYPE) !== L.COLLIDER_PLANE) {
    const slowly = leave(depth, marked, distanceTo(c, px, py, pz), r);
    if (slowly < depth) {
      // moves the particle out slowly: this shift makes no velocity and no friction
      shiftFrom(c, at, lowFrom(), slowly * answerX, slowly * answerY, slowly * answerZ);
      shiftFrom(c, prev, lowPrevFrom() - (prev - at), slowly * answerX, slowly * answerY, slowly * answerZ);
      return false;
    }
  }
  const approach = <f32>-((x - px) * answerX + (y - py) * answerY + (z - pz) * answerZ);
  // the depth that friction acts on: older overlap exerts no pressure
  const grip = min<f32>(depth, max<f32>(approach, 0));
  moveOut(c, at, prev, mark, h, px, py, pz, x, y, z, riseBy(c, at, prev, depth, grip, h), grip, approach);
  return true;
}

/** Returns how far a particle moves out in this substep, after an answer of this depth. @param grip see moveOut */
export function riseBy(c: usize, at: usize, prev: usize, depth: f32, grip: f32, h: f32): f32 {
  const r = load<f32>(prev, 12);
  if (answerT !== 0 || depth <= grip + RISE * h * r) return depth;
  const within = min<f32>(r, max<f32>(0, r - distanceAtStart(c, at, prev)));
  return min<f32>(depth, max<f32>(0, depth - within) + RISE * h * r);
}

/**
 * Returns a particle's distance from a collider at the start of the substep, m. That is not xPrev if contact has moved
 * xPrev.
 */
function distanceAtStart(c: usize, at: usize, prev: usize): f32 {
  const starts = <usize>load<u32>(L.HEADER, L.H_START);
  const start = starts ? starts + (at - <usize>load<u32>(L.HEADER, L.H_X)) : prev;
  const toLow = lowPrevFrom() - (start - at);
  const x = place(start, toLow);
  const y = place(start + 4, toLow);
  const z = place(start + 8, toLow);
  const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
  if (!motion) return distanceTo(c, x, y, z);
  inFrame(motion, L.MOTION_S0, L.MOTION_R0, x, y, z);
  return distanceTo(c, frameX, frameY, frameZ);
}

/**
 * Moves a particle out of a collider by `depth` along the normal of its answer, with friction and restitution (see the
 * head).
 * @param grip the depth that friction acts on, m; approach the motion against the normal, m
 */
// @inline
function moveOut(
  c: usize,
  at: usize,
  prev: usize,
  mark: i32,
  h: f32,
  px: f64,
  py: f64,
  pz: f64,
  x: f64,
  y: f64,
  z: f64,
  depth: f32,
  grip: f32,
  approach: f32,
): void {
  const mx = answerX;
  const my = answerY;
  const mz = answerZ;
  const entry = answerT;
  const acc = at + (<usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X));
  const rough = load<f32>(acc, 12);
  findCoefficients(at, rough);
  const dx = <f32>(x - px);
  const dy = <f32>(y - py);
  const dz = <f32>(z - pz);
  // the whole push
  let kx = depth * mx;
  let ky = depth * my;
  let kz = depth * mz;
  const dn = (dx + kx) * mx + (dy + ky) * my + (dz + kz) * mz;
  const tx = dx + kx - dn * mx;
  const ty = dy + ky - dn * my;
  const tz = dz + kz - dn * mz;
  const slide = Mathf.sqrt(tx * tx + ty * ty + tz * tz);
  if (slide > 0 && !(mark & L.MARK_GLIDES)) {
    const cut = frictionCut(c, rough, grip, slide);
    kx -= cut * tx;
    ky -= cut * ty;
    kz -= cut * tz;
  }
  // Pushing out of one wall of a funnel can hit the other wall. Slow motions along it stay within half of the margin;
  // others stop where they entered, at the margin.
  const r = load<f32>(prev, 12);
  if (
    load<i32>(c, L.COLLIDER_TYPE) === L.COLLIDER_FUNNEL &&
    answer(c, px, py, pz, x + <f64>kx, y + <f64>ky, z + <f64>kz, 0.5 * r) > 0
  ) {
    const out = max<f32>(0, r - distanceTo(c, px + <f64>(entry * dx), py + <f64>(entry * dy), pz + <f64>(entry * dz)));
    kx = (entry - 1) * dx + out * nx;
    ky = (entry - 1) * dy + out * ny;
    kz = (entry - 1) * dz + out * nz;
  }
  // normal velocity: the rest of the approach, the bounce, or the particle's own way out, never a push away
  const own: f32 = rests(-approach, acc, h) ? 0 : -approach;
  const back = max<f32>(bounce(rootBounce * load<f32>(c, L.COLLIDER_RESTITUTION), approach, acc, h), own);
  const away = (dx + kx) * mx + (dy + ky) * my + (dz + kz) * mz - back;
  shiftFrom(c, at, lowFrom(), kx, ky, kz);
  // as a shift of xPrev, so that several colliders add up and the final velocity includes all of them
  if (away > 0 || back > 0) shiftFrom(c, prev, lowPrevFrom() - (prev - at), away * mx, away * my, away * mz);
}

/** Coulomb: returns the share of a displacement along a collider that friction removes. */
// @inline
export function frictionCut(c: usize, rough: f32, grip: f32, slide: f32): f32 {
  return slide <= rootStatic * load<f32>(c, L.COLLIDER_STATIC) * grip
    ? 1
    : min<f32>(1, (rough * load<f32>(c, L.COLLIDER_FRICTION) * grip) / slide);
}

/** Shifts a position, whose low words are `toLow` bytes further, by a vector in a collider's frame. */
// @inline
function shiftFrom(c: usize, at: usize, toLow: usize, x: f32, y: f32, z: f32): void {
  const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
  if (!motion) {
    shift(at, toLow, x, y, z);
    return;
  }
  turnFromFrame(motion, L.MOTION_R1, x, y, z);
  shift(at, toLow, <f32>frameX, <f32>frameY, <f32>frameZ);
}

// @inline
function shift(at: usize, toLow: usize, x: f32, y: f32, z: f32): void {
  put(at, place(at, toLow) + <f64>x, toLow);
  put(at + 4, place(at + 4, toLow) + <f64>y, toLow);
  put(at + 8, place(at + 8, toLow) + <f64>z, toLow);
}

/** Sets the velocity of a particle that has touched something, from its positions. */
// @inline
function takeVelocity(at: usize, prev: usize, h: f32): void {
  const v = at + (<usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X));
  const toLow = lowFrom();
  const toLowPrev = lowPrevFrom();
  const inverseH: f32 = 1 / h;
  const scale: f32 = inverseH / (1 + h * load<f32>(v, 12));
  store<f32>(v, (load<f32>(at) - load<f32>(prev) + <f32>rounding(at, toLow, toLowPrev)) * scale);
  store<f32>(v, (load<f32>(at, 4) - load<f32>(prev, 4) + <f32>rounding(at + 4, toLow, toLowPrev)) * scale, 4);
  store<f32>(v, (load<f32>(at, 8) - load<f32>(prev, 8) + <f32>rounding(at + 8, toLow, toLowPrev)) * scale, 8);
}
