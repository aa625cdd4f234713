/**
 * Keeps particles that the contact response moves (contactResponse.ts) out of colliders. The response runs after
 * collide.ts and rigid.ts, and must not move them back in. Mesh colliders are surfaces and not handled here.
 */
import * as L from "../layout/layout";
import { dotXyz } from "../math/lanes";
import { bodyOf } from "../state/owners";
import { findCoefficients } from "./coefficients";
import { frictionCut, raise } from "./collide";
import { distanceTo, nx, ny, nz } from "./colliderDistance";
import { meets } from "../state/filters";
import { fromFrame, inFrame, frameX, frameY, frameZ } from "./motion";

/** Rounding error of a distance to a collider, over the margin of the particle. */
const ROUNDING: f32 = 1e-3;

/** Facets of a curved core mesh lie deeper than its inset, by up to this factor. */
const DEEPER: f32 = 2;

/** Table of colliders that this particle's body may touch. */
// @inline
function tableOf(particle: usize): usize {
  return <usize>load<u32>(bodyOf(particle), L.BODY_MEETS);
}

/** Returns the depth of a point in a collider's margin r at one end of the substep, m; sets the normal there. */
function depthOf(c: usize, at: usize, r: f32, s: usize, R: usize): f32 {
  const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
  if (!motion) return r - distanceTo(c, load<f32>(at), load<f32>(at, 4), load<f32>(at, 8));
  inFrame(motion, s, R, load<f32>(at), load<f32>(at, 4), load<f32>(at, 8));
  return r - distanceTo(c, frameX, frameY, frameZ);
}

// @inline
function marginOf(particle: usize): f32 {
  return load<f32>(particle + <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X), 12);
}

/**
 * Returns whether the way out is known. A particle deeper than its margin in a body of finite thickness may be nearer
 * to another side than the one that it entered. A plane has one side, and surfaces go no deeper into a ball than to its
 * core.
 */
function shallow(c: usize, depth: f32, r: f32): bool {
  const type = load<i32>(c, L.COLLIDER_TYPE);
  return (
    depth <= 2 * r ||
    type === L.COLLIDER_PLANE ||
    ((type === L.COLLIDER_SPHERE || type === L.COLLIDER_CAPSULE) &&
      depth <= r + DEEPER * load<f32>(c, L.COLLIDER_INSET))
  );
}

/** The last collider that a particle has left. */
let left: usize = 0;

/** Moves a particle that is within the margin of a collider out of it. @returns whether it was within any */
export function leaveColliders(particle: usize): bool {
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  const table = tableOf(particle);
  const r = marginOf(particle);
  let any = false;
  for (let n = 0, c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, c += L.COLLIDER_BYTES) {
    if (load<i32>(c, L.COLLIDER_TYPE) === L.COLLIDER_MESH || !meets(table, n)) continue;
    const depth = depthOf(c, particle, r, L.MOTION_S1, L.MOTION_R1);
    const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
    if (!(depth > 0) || !shallow(c, depth, r)) continue;
    let x = load<f32>(particle) + depth * nx;
    let y = load<f32>(particle, 4) + depth * ny;
    let z = load<f32>(particle, 8) + depth * nz;
    if (motion) {
      fromFrame(motion, L.MOTION_S1, L.MOTION_R1, frameX + depth * nx, frameY + depth * ny, frameZ + depth * nz);
      x = <f32>frameX;
      y = <f32>frameY;
      z = <f32>frameZ;
    }
    store<f32>(particle, x);
    store<f32>(particle, y, 4);
    store<f32>(particle, z, 8);
    left = c;
    any = true;
  }
  if (any && colliders > 1) raise(particle, table);
  return any;
}

/**
 * Moves a particle in a collider's margin to the position that collide.ts will give it, with friction.
 * @returns whether it was in any margin
 */
export function restOnColliders(particle: usize): bool {
  const inside = v128.load(particle);
  if (!leaveColliders(particle)) return false;
  const at = v128.load(particle);
  const out = f32x4.sub(at, inside);
  const depth2 = dotXyz(out, out);
  if (!(depth2 > 0)) return true;
  const way = f32x4.sub(at, carried(particle));
  const across = f32x4.sub(way, f32x4.mul(out, f32x4.splat(dotXyz(way, out) / depth2)));
  const slide = Mathf.sqrt(dotXyz(across, across));
  const rough = load<f32>(particle + <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X), 12);
  findCoefficients(particle, rough);
  const cut = f32x4.splat(frictionCut(left, rough, Mathf.sqrt(depth2), slide));
  v128.store(particle, f32x4.sub(at, f32x4.replace_lane(f32x4.mul(across, cut), 3, 0)));
  return true;
}

/** Results of `layOnCollider`: displacement of the particle away from its collider, m, and their friction. */
export let laidX: f32, laidY: f32, laidZ: f32, laidFriction: f32;

/**
 * Moves a particle in a collider's margin out of it, above the place where it began, unless it came from further than
 * its margin: an obstacle may have been in its way. @returns whether it was moved
 */
export function layOnCollider(particle: usize): bool {
  const inside = v128.load(particle);
  if (!leaveColliders(particle)) return false;
  const at = v128.load(particle);
  const out = f32x4.sub(at, inside);
  const depth2 = dotXyz(out, out);
  const start = carried(particle);
  const along = depth2 > 0 ? f32x4.mul(out, f32x4.splat(dotXyz(f32x4.sub(at, start), out) / depth2)) : f32x4.splat(0);
  const r = marginOf(particle);
  const near = dotXyz(along, along) <= r * r;
  const to = near ? f32x4.add(start, along) : inside;
  v128.store(particle, f32x4.replace_lane(to, 3, f32x4.extract_lane(inside, 3)));
  laidX = f32x4.extract_lane(along, 0);
  laidY = f32x4.extract_lane(along, 1);
  laidZ = f32x4.extract_lane(along, 2);
  laidFriction =
    load<f32>(particle + <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X), 12) *
    load<f32>(left, L.COLLIDER_FRICTION);
  return near;
}

/** Returns the position that the particle would have if it had moved with the collider during the substep. */
function carried(particle: usize): v128 {
  const prev = particle + <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const motion = <usize>load<u32>(left, L.COLLIDER_MOTION);
  if (!motion) return v128.load(prev);
  inFrame(motion, L.MOTION_S0, L.MOTION_R0, load<f32>(prev), load<f32>(prev, 4), load<f32>(prev, 8));
  fromFrame(motion, L.MOTION_S1, L.MOTION_R1, frameX, frameY, frameZ);
  return f32x4(<f32>frameX, <f32>frameY, <f32>frameZ, 0);
}

/** Returns whether the particle is deeper in a collider's margin than at the start of the substep. */
export function entersCollider(particle: usize): bool {
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  const table = tableOf(particle);
  const r = marginOf(particle);
  const start = particle + <usize>load<u32>(L.HEADER, L.H_START) - <usize>load<u32>(L.HEADER, L.H_X);
  for (let n = 0, c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, c += L.COLLIDER_BYTES) {
    if (load<i32>(c, L.COLLIDER_TYPE) === L.COLLIDER_MESH || !meets(table, n)) continue;
    const depth = depthOf(c, particle, r, L.MOTION_S1, L.MOTION_R1);
    if (
      depth > ROUNDING * r &&
      shallow(c, depth, r) &&
      depth > depthOf(c, start, r, L.MOTION_S0, L.MOTION_R0) + ROUNDING * r
    )
      return true;
  }
  return false;
}
