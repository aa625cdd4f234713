/**
 * Core meshes of colliders that move: particles with w = 0 that go where the path takes them. In every substep xPrev is
 * where they are at its start, x where they are at its end and v = (x - xPrev)/h, so that to whatever meets them they
 * are particles like others. Nothing else moves them.
 *   x = s + R q, q the vertex from the collider's center in the scene's frame
 * q is float64, the difference of two float32 numbers, and so is the sum: unmoved (R = 1, s the center) they are
 * exactly where the scene puts them, and x at the end of a substep is, to the bit, xPrev at the start of the next.
 * Where a path begins again elsewhere (MOTION_JUMPS) both poses are the new one, and so are the safe positions: they
 * are not swept across the room. A collider may close on what has no room left: then the response to contacts
 * (contactResponse.ts) holds particles of its core mesh back, in the last resort. They go where they belong in the next
 * substep, and this as a motion like any other: put there, they would be on the other side of what held them.
 */
import {
  HEADER,
  H_X,
  H_XPREV,
  H_V,
  H_MOTIONS,
  H_MOTION_COUNT,
  H_TICK_SECONDS,
  MOTION_BYTES,
  MOTION_S0,
  MOTION_R0,
  MOTION_S1,
  MOTION_R1,
  MOTION_TRAVEL,
  MOTION_JUMPED,
  H_SAFE,
  H_LIST_VALID,
  MOTION_CORE,
  MOTION_CORE_COUNT,
  MOTION_CORE_POINTS,
  CORE_POINT_BYTES,
  MARK_LAGS,
} from "../layout/layout";
import { planMotions, poseAtEnd } from "./motion";
import { hasMarks, marksOf, numberOf, unmark } from "../state/marks";

/**
 * One substep of the core particles begin .. end of the collider with this MOTION row, whose poses are made.
 * @param h s
 */
export function moveCoreMesh(motion: usize, begin: i32, end: i32, h: f32): void {
  place(motion, begin, end, 1 / h);
  if (load<i32>(motion, MOTION_JUMPED)) forgetWay(motion, begin, end);
  const first = numberOf(<usize>load<u32>(motion, MOTION_CORE));
  if (hasMarks()) for (let i = begin; i < end; i++) unmark(first + i, MARK_LAGS);
}

/**
 * After a jump: safe where it is now, and nothing is known of who is near (front.ts). Whom it came down on is looked
 * for in the next tick (server/sim/intersections).
 */
function forgetWay(motion: usize, begin: i32, end: i32): void {
  if (!load<u32>(HEADER, H_SAFE)) return;
  const X = <usize>load<u32>(HEADER, H_X);
  const from = <usize>load<u32>(motion, MOTION_CORE) + ((<usize>begin) << 4);
  const bytes = (<usize>(end - begin)) << 4;
  const first = from - X;
  memory.copy(<usize>load<u32>(HEADER, H_SAFE) + first, from, bytes);
  store<i32>(HEADER, 0, H_LIST_VALID);
}

/** Has the response held back any particle of this core mesh in the last substep? */
function lags(motion: usize, count: i32): bool {
  const first = numberOf(<usize>load<u32>(motion, MOTION_CORE));
  if (hasMarks()) for (let i = 0; i < count; i++) if (marksOf(first + i) & MARK_LAGS) return true;
  return false;
}

/**
 * Once a tick, after `planMotions`, for whoever looks at the state before the first substep: x and xPrev where the tick
 * begins (a room that rested has skipped ticks), v the mean velocity of the whole tick; none where the path jumps. What
 * lags stays where it is.
 */
function beginCoreMeshes(): void {
  let motion = <usize>load<u32>(HEADER, H_MOTIONS);
  const toPrev = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X);
  for (let n = load<i32>(HEADER, H_MOTION_COUNT); n > 0; n--, motion += MOTION_BYTES) {
    const count = load<i32>(motion, MOTION_CORE_COUNT);
    if (!count || lags(motion, count)) continue;
    const travel = load<f32>(motion, MOTION_TRAVEL);
    if (travel > 0 && travel < Infinity) poseAtEnd(motion);
    place(motion, 0, count, 1 / load<f32>(HEADER, H_TICK_SECONDS));
    // what others read before the substeps is where the collider begins
    memory.copy(motion + MOTION_S1, motion + MOTION_S0, MOTION_S1 - MOTION_S0);
    for (let i = 0, x = <usize>load<u32>(motion, MOTION_CORE); i < count; i++, x += 16) {
      const w = load<f32>(x, 12);
      v128.store(x, v128.load(x + toPrev));
      store<f32>(x, w, 12);
    }
  }
}

/** Where all cores are at the start of the tick that comes: for a room that rests while its colliders go on. */
export function placeCoreMeshes(): void {
  planMotions();
  beginCoreMeshes();
}

/** xPrev from the first pose, x from the second, v between them. */
function place(motion: usize, begin: i32, end: i32, inverseH: f32): void {
  const toPrev = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X);
  const toV = <usize>load<u32>(HEADER, H_V) - <usize>load<u32>(HEADER, H_X);
  let x = <usize>load<u32>(motion, MOTION_CORE) + ((<usize>begin) << 4);
  let point = <usize>load<u32>(motion, MOTION_CORE_POINTS) + <usize>begin * CORE_POINT_BYTES;
  for (let i = begin; i < end; i++, x += 16, point += CORE_POINT_BYTES) {
    const a = load<f64>(point);
    const b = load<f64>(point, 8);
    const c = load<f64>(point, 16);
    for (let r: usize = 0; r < 3; r++) {
      const from = along(motion + MOTION_S0, motion + MOTION_R0, r, a, b, c);
      const to = along(motion + MOTION_S1, motion + MOTION_R1, r, a, b, c);
      const at = x + (r << 2);
      store<f32>(at + toPrev, from);
      store<f32>(at, to);
      store<f32>(at + toV, (to - from) * inverseH);
    }
  }
}

/** Component r of s + R (a, b, c). */
// @inline
function along(s: usize, R: usize, r: usize, a: f64, b: f64, c: f64): f32 {
  const row = R + 12 * r;
  return <f32>(
    (<f64>load<f32>(s + (r << 2)) + (<f64>load<f32>(row) * a + <f64>load<f32>(row, 4) * b + <f64>load<f32>(row, 8) * c))
  );
}
