/**
 * The contact of a particle's motion with the colliders, as numbers: for bodies that answer it as a whole
 * (prefactored/press.ts). collide.ts moves single particles by the same rules.
 */
import * as L from "../layout/layout";
import { lowPrevFrom, place } from "../math/places";
import { meets } from "../state/filters";
import { findCoefficients, rootStatic } from "./coefficients";
import { answerMotion, answerX, answerY, answerZ, fromX, fromY, fromZ, riseBy, toX, toY, toZ } from "./collide";
import { distanceTo, nx, ny, nz } from "./colliderDistance";
import { frameX, frameY, frameZ, turnFromFrame } from "./motion";

// the touch of the last particle with one, in the world; each thread has its own instance
/** Outward normal. */
export let normal: v128 = f32x4.splat(0);
/** Distance by which the particle must move out, m; negative: it is outside by so much. */
export let depth: f32 = 0;
/** Motion against the normal, m. */
export let approach: f32 = 0;
/** Motion along the collider, m. */
export let slide: v128 = f32x4.splat(0);
/** Coefficients of static and dynamic friction. */
export let grips: f32 = 0;
export let rubs: f32 = 0;

/**
 * Finds the collider that a particle must move out of furthest.
 * @param at particle; prev its place at the start of the substep, and radius; table colliders that it may touch
 * @param near whether the nearest collider counts if it is out of all
 */
export function findTouch(at: usize, prev: usize, h: f32, table: usize, near: bool): bool {
  const toLowPrev = lowPrevFrom() - (prev - at);
  const x = place(prev, toLowPrev);
  const y = place(prev + 4, toLowPrev);
  const z = place(prev + 8, toLowPrev);
  const r = load<f32>(prev, 12);
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  let found = false;
  for (let n = 0, c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, c += L.COLLIDER_BYTES) {
    if (!meets(table, n) || load<i32>(c, L.COLLIDER_TYPE) === L.COLLIDER_MESH) continue;
    const out = answerMotion(c, at, x, y, z, r);
    if (out > 0) {
      if (found && depth >= out) continue;
      found = true;
      take(c, at, prev, out, answerX, answerY, answerZ, h);
    } else if (near) {
      const clear = distanceTo(c, toX, toY, toZ) - r;
      if (found && depth >= -clear) continue;
      found = true;
      take(c, at, prev, -clear, nx, ny, nz, h);
    }
  }
  return found;
}

/** Takes the touch with one collider, whose normal is in its frame. */
function take(c: usize, at: usize, prev: usize, out: f32, mx: f32, my: f32, mz: f32, h: f32): void {
  const acc = at + (<usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X));
  const rough = load<f32>(acc, 12);
  const way = f32x4(<f32>(toX - fromX), <f32>(toY - fromY), <f32>(toZ - fromZ), 0);
  const n = f32x4(mx, my, mz, 0);
  const along = f32x4.mul(n, way);
  approach = -(f32x4.extract_lane(along, 0) + f32x4.extract_lane(along, 1) + f32x4.extract_lane(along, 2));
  depth = out > 0 ? riseBy(c, at, prev, out, min<f32>(out, max<f32>(approach, 0)), h) : out;
  normal = inWorld(c, n);
  slide = inWorld(c, f32x4.add(way, f32x4.mul(f32x4.splat(approach), n)));
  findCoefficients(at, rough);
  grips = rootStatic * load<f32>(c, L.COLLIDER_STATIC);
  rubs = rough * load<f32>(c, L.COLLIDER_FRICTION);
}

function inWorld(c: usize, a: v128): v128 {
  const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
  if (!motion) return a;
  turnFromFrame(motion, L.MOTION_R1, f32x4.extract_lane(a, 0), f32x4.extract_lane(a, 1), f32x4.extract_lane(a, 2));
  return f32x4(<f32>frameX, <f32>frameY, <f32>frameZ, 0);
}
