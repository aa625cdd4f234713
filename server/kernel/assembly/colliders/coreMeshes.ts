/**
 * Core meshes of moving colliders: particles with w = 0 that follow the path. In every substep xPrev is their place at
 * its start, x that at its end and v = (x - xPrev)/h, so contact treats them like other particles. Nothing else moves
 * them.
 *   x = s + R q, q the vertex from the collider's center in the scene's frame
 * q and the sum are float64, q the difference of two float32 numbers. So an unmoved collider (R = 1, s the center) is
 * exactly where the scene puts it. x at the end of a substep is bitwise xPrev at the start of the next.
 * If a path restarts elsewhere (MOTION_JUMPS), both poses are the new one, and so are the safe positions: they are not
 * swept across the room. A collider may squeeze a body that has no room left. To rigid bodies it yields as a whole
 * (contact/solve/movers.ts). To others the contact response (contactResponse.ts) holds back particles of its core mesh,
 * in the last resort. They return to the path in the next substep by an ordinary motion: put there at once, they would
 * be on the other side of the body that held them.
 */
import * as L from "../layout/layout";
import { planMotions, poseAtEnd } from "./motion";
import { hasMarks, marksOf, numberOf, unmark } from "../state/marks";

/**
 * Moves the core particles begin .. end of the collider with this MOTION row by one substep. Call moveColliders
 * (motion.ts) first: it sets the collider's poses.
 * @param h s
 */
export function moveCoreMesh(motion: usize, begin: i32, end: i32, h: f32): void {
  place(motion, begin, end, 1 / h);
  if (load<i32>(motion, L.MOTION_JUMPED)) forgetWay(motion, begin, end);
  const first = numberOf(<usize>load<u32>(motion, L.MOTION_CORE));
  if (hasMarks()) for (let i = begin; i < end; i++) unmark(first + i, L.MARK_LAGS);
}

/**
 * After a jump: makes the new positions safe, and forgets the front (bvttFront.ts). Bodies that the collider landed on
 * are found in the next tick (server/sim/intersections).
 */
function forgetWay(motion: usize, begin: i32, end: i32): void {
  if (!load<u32>(L.HEADER, L.H_SAFE)) return;
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const from = <usize>load<u32>(motion, L.MOTION_CORE) + ((<usize>begin) << 4);
  const bytes = (<usize>(end - begin)) << 4;
  const first = from - X;
  memory.copy(<usize>load<u32>(L.HEADER, L.H_SAFE) + first, from, bytes);
  store<i32>(L.HEADER, 0, L.H_LIST_VALID);
}

/** Returns whether the response has held back any particle of this core mesh in the last substep. */
function lags(motion: usize, count: i32): bool {
  const first = numberOf(<usize>load<u32>(motion, L.MOTION_CORE));
  if (hasMarks()) for (let i = 0; i < count; i++) if (marksOf(first + i) & L.MARK_LAGS) return true;
  return false;
}

/**
 * Once a tick, after `planMotions`, sets the state that is read before the first substep: x and xPrev where the tick
 * begins (a room at rest skips ticks), v the mean velocity of the tick, 0 if the path jumps. Core meshes that lag stay
 * where they are.
 */
function beginCoreMeshes(): void {
  let motion = <usize>load<u32>(L.HEADER, L.H_MOTIONS);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  for (let n = load<i32>(L.HEADER, L.H_MOTION_COUNT); n > 0; n--, motion += L.MOTION_BYTES) {
    const count = load<i32>(motion, L.MOTION_CORE_COUNT);
    if (!count || lags(motion, count)) continue;
    const travel = load<f32>(motion, L.MOTION_TRAVEL);
    if (travel > 0 && travel < Infinity) poseAtEnd(motion);
    place(motion, 0, count, 1 / load<f32>(L.HEADER, L.H_TICK_SECONDS));
    // until the first substep, the collider is at its first pose
    memory.copy(motion + L.MOTION_S1, motion + L.MOTION_S0, L.MOTION_S1 - L.MOTION_S0);
    for (let i = 0, x = <usize>load<u32>(motion, L.MOTION_CORE); i < count; i++, x += 16) {
      const w = load<f32>(x, 12);
      v128.store(x, v128.load(x + toPrev));
      store<f32>(x, w, 12);
    }
  }
}

/** Places all cores at the start of the next tick, for a room that rests while its colliders move on. */
export function placeCoreMeshes(): void {
  planMotions();
  beginCoreMeshes();
}

/** Sets xPrev from the first pose, x from the second, and v between them. */
function place(motion: usize, begin: i32, end: i32, inverseH: f32): void {
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  let x = <usize>load<u32>(motion, L.MOTION_CORE) + ((<usize>begin) << 4);
  let point = <usize>load<u32>(motion, L.MOTION_CORE_POINTS) + <usize>begin * L.CORE_POINT_BYTES;
  for (let i = begin; i < end; i++, x += 16, point += L.CORE_POINT_BYTES) {
    const a = load<f64>(point);
    const b = load<f64>(point, 8);
    const c = load<f64>(point, 16);
    for (let r: usize = 0; r < 3; r++) {
      const from = along(motion + L.MOTION_S0, motion + L.MOTION_R0, r, a, b, c);
      const to = along(motion + L.MOTION_S1, motion + L.MOTION_R1, r, a, b, c);
      const at = x + (r << 2);
      store<f32>(at + toPrev, from);
      store<f32>(at, to);
      store<f32>(at + toV, (to - from) * inverseH);
    }
  }
}

/** Returns component r of s + R (a, b, c). */
// @inline
function along(s: usize, R: usize, r: usize, a: f64, b: f64, c: f64): f32 {
  const row = R + 12 * r;
  return <f32>(
    (<f64>load<f32>(s + (r << 2)) + (<f64>load<f32>(row) * a + <f64>load<f32>(row, 4) * b + <f64>load<f32>(row, 8) * c))
  );
}
