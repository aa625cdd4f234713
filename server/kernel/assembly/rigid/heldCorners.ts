/**
 * Particles between a ball, or another rigid body, and a collider. Colliders answer after these (rigid.ts,
 * collide.ts), so a ball of 200 g that pressed a particle of cloth of 60 mg into the floor met no resistance: it sank
 * until the exact response carried it, without friction. While balls and rigid contacts (rigidContact.ts) are solved,
 * such particles lie on their collider and move with it, as if their mass were infinite: the collider carries what
 * presses on them. Their displacement is the collider's, not theirs: the trembling of a sheet would hit the ball like
 * a hammer. Friction of the ball is limited by the collider's, too, and where the collider's is the smaller one, the
 * ball drags the particle along.
 */
import * as L from "../layout/layout";
import { laidFriction, laidX, laidY, laidZ, layOnCollider } from "../colliders/leaveColliders";
import { rigidRow } from "../state/owners";
import { lowFrom, place, put } from "../math/places";

/** Fourth lane of the color mask of a particle that was examined. A held particle has its inverse mass there. */
const SEEN: f32 = -1;

/** Displacement of a held particle onto its collider, and its inverse mass: color masks are 0 outside of the passes. */
// @inline
function maskOf(particle: usize): usize {
  return particle + (<usize>load<u32>(L.HEADER, L.H_COLOR_MASKS) - <usize>load<u32>(L.HEADER, L.H_X));
}

/** The same of its position before, and its friction with the collider, behind the masks. */
// @inline
function beforeOf(particle: usize): usize {
  return maskOf(particle) + ((<usize>load<i32>(L.HEADER, L.H_PARTICLES)) << 4);
}

/**
 * Fourth lane of `beforeOf`: friction with the collider; of a particle on a layer LAYER minus the friction there, which
 * is below 0. The mask of a particle on a layer has the support's normal.
 */
const LAYER: f32 = -1;

/** Returns whether a held particle lies on a layer, not on a collider. */
// @inline
function isOnLayer(particle: usize): bool {
  return load<f32>(beforeOf(particle), 12) <= LAYER;
}

/** Friction of a held particle with its support. */
// @inline
function supportFriction(particle: usize): f64 {
  const kept = load<f32>(beforeOf(particle), 12);
  return kept <= LAYER ? LAYER - kept : kept;
}

// @inline
function toPrev(): usize {
  return <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
}

/**
 * Holds a particle that is in a collider. @param again also if it was examined before @returns whether it is held now
 */
export function holdCorner(particle: usize, again: bool): bool {
  if (load<f32>(particle, 12) === 0 || !load<u32>(L.HEADER, L.H_COLOR_MASKS)) return false;
  const mask = maskOf(particle);
  if ((!again && load<f32>(mask, 12) !== 0) || rigidRow(particle)) return false;
  store<f32>(mask, SEEN, 12);
  const inside = v128.load(particle);
  if (!layOnCollider(particle)) return false;
  const prev = particle + toPrev();
  const onto = f32x4.sub(v128.load(particle), inside);
  const before = f32x4.replace_lane(f32x4(laidX, laidY, laidZ, 0), 3, laidFriction);
  v128.store(mask, f32x4.replace_lane(onto, 3, f32x4.extract_lane(inside, 3)));
  v128.store(beforeOf(particle), before);
  v128.store(prev, f32x4.add(v128.load(prev), f32x4.replace_lane(before, 3, 0)));
  store<f32>(particle, 0, 12);
  return true;
}

/** Inverse mass of a held particle, 1/kg; 0: it is not held. */
// @inline
function heldMass(particle: usize): f64 {
  if (load<f32>(particle, 12) !== 0 || !load<u32>(L.HEADER, L.H_COLOR_MASKS)) return 0;
  return max<f32>(0, load<f32>(maskOf(particle), 12));
}

/** Whether a particle was examined. */
// @inline
export function isSeen(particle: usize): bool {
  return load<f32>(maskOf(particle), 12) !== 0;
}

/** Least cosine between the normal of a support and that of the ball that presses onto it. */
const ONTO: f64 = Math.SQRT1_2;

/**
 * Holds a particle on one side of a near pair where it is. Its displacement is that of the other side, which is held.
 * @param sign 1: the side with positive weights, -1: the other one
 */
export function holdOnLayer(particle: usize, lane: usize, sign: f32): void {
  let carried = f32x4.splat(0);
  for (let k: usize = 0; k < 64; k += 16) {
    const b: f32 = -sign * load<f32>(lane + k, L.CONTACT_BLOCK_WEIGHT);
    const at = <usize>load<u32>(lane + k);
    if (b > 0)
      carried = f32x4.add(carried, f32x4.mul(f32x4.splat(b), f32x4.sub(v128.load(at), v128.load(at + toPrev()))));
  }
  const prev = particle + toPrev();
  const own = f32x4.sub(v128.load(particle), v128.load(prev));
  const before = f32x4.replace_lane(f32x4.sub(own, carried), 3, 0);
  const n = f32x4(
    sign * load<f32>(lane, L.CONTACT_BLOCK_NORMAL),
    sign * load<f32>(lane, L.CONTACT_BLOCK_NORMAL + 16),
    sign * load<f32>(lane, L.CONTACT_BLOCK_NORMAL + 32),
    load<f32>(particle, 12),
  );
  v128.store(maskOf(particle), n);
  v128.store(beforeOf(particle), f32x4.replace_lane(before, 3, LAYER - load<f32>(lane, L.CONTACT_BLOCK_DYNAMIC)));
  v128.store(prev, f32x4.add(v128.load(prev), before));
  store<f32>(particle, 0, 12);
}

/** Ends the hold of a particle on a layer, if a ball in direction n does not press it onto its support. */
export function yieldCorner(particle: usize, nx: f64, ny: f64, nz: f64): void {
  if (!isHeld(particle) || !isOnLayer(particle)) return;
  const n = maskOf(particle);
  const along = nx * <f64>load<f32>(n) + ny * <f64>load<f32>(n, 4) + nz * <f64>load<f32>(n, 8);
  if (!(along > ONTO)) releaseCorner(particle);
}

/** Returns whether a particle is held. */
// @inline
export function isHeld(particle: usize): bool {
  return heldMass(particle) > 0;
}

/** Ends a particle's hold. Its collider answers to its depth. */
export function releaseCorner(particle: usize): void {
  if (!load<u32>(L.HEADER, L.H_COLOR_MASKS)) return;
  const mask = maskOf(particle);
  const onto = v128.load(mask);
  const w = f32x4.extract_lane(onto, 3);
  if (w === 0) return;
  v128.store(mask, f32x4.splat(0));
  if (w < 0) return;
  const prev = particle + toPrev();
  const moved = isOnLayer(particle) ? f32x4.splat(0) : onto;
  v128.store(particle, f32x4.replace_lane(f32x4.sub(v128.load(particle), moved), 3, w));
  v128.store(prev, f32x4.sub(v128.load(prev), f32x4.replace_lane(v128.load(beforeOf(particle)), 3, 0)));
}

/** Returns the least friction of those corners of a triangle that are held, at most `friction`. */
export function heldFriction(A: usize, B: usize, C: usize, friction: f64): f64 {
  return min<f64>(frictionUnder(A, friction), min<f64>(frictionUnder(B, friction), frictionUnder(C, friction)));
}

function frictionUnder(particle: usize, friction: f64): f64 {
  return isHeld(particle) ? min<f64>(friction, supportFriction(particle)) : friction;
}

/**
 * Drags the held corners of a triangle along, if a ball slips by `slip` along t.
 * @param a, b, c weights of the corners; heavy 1/kg of the ball there; most limit of friction, kg m
 * @returns the friction, kg m
 */
export function dragHeld(
  A: usize,
  B: usize,
  C: usize,
  a: f64,
  b: f64,
  c: f64,
  slip: f64,
  heavy: f64,
  most: f64,
  tx: f64,
  ty: f64,
  tz: f64,
): f64 {
  const p = a * heldMass(A);
  const q = b * heldMass(B);
  const s = c * heldMass(C);
  const light = a * p + b * q + c * s;
  if (!(light > 0)) return 0;
  const cut = min<f64>(slip / (light + heavy), most);
  move(A, p * cut, tx, ty, tz);
  move(B, q * cut, tx, ty, tz);
  move(C, s * cut, tx, ty, tz);
  return cut;
}

function move(at: usize, by: f64, x: f64, y: f64, z: f64): void {
  if (by === 0) return;
  const low = lowFrom();
  put(at, place(at, low) + by * x, low);
  put(at + 4, place(at + 4, low) + by * y, low);
  put(at + 8, place(at + 8, low) + by * z, low);
}
