/**
 * Finds the body or surface of a particle. Their rows, in the order of their particles, begin with the address of the
 * first one.
 */
import * as L from "../layout/layout";
import { hasMarks, mark, marksOf, numberOf } from "./marks";

/** Returns the last of `count` rows whose first particle is not behind the given one. */
function rowOf(rows: usize, count: i32, bytes: usize, particle: usize): usize {
  let low = 0;
  let high = count;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (<usize>load<u32>(rows + <usize>middle * bytes) <= particle) low = middle;
    else high = middle;
  }
  return rows + <usize>low * bytes;
}

/** BODY row of the body that owns a particle. */
export function bodyOf(particle: usize): usize {
  return rowOf(<usize>load<u32>(L.HEADER, L.H_BODIES), load<i32>(L.HEADER, L.H_BODY_COUNT), L.BODY_BYTES, particle);
}

/** SURFACE row number n. */
// @inline
export function surfaceAt(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_SURFACE) + <usize>n * L.SURFACE_BYTES;
}

/** SURFACE row of the surface that owns a particle; also for particles of a core mesh. */
export function surfaceOf(particle: usize): usize {
  return rowOf(
    <usize>load<u32>(L.HEADER, L.H_SURFACE),
    load<i32>(L.HEADER, L.H_SURFACE_COUNT),
    L.SURFACE_BYTES,
    particle,
  );
}

/** MOTION row of the collider that owns a particle of a core mesh; 0: it does not move. */
export function motionOf(particle: usize): usize {
  let motion = <usize>load<u32>(L.HEADER, L.H_MOTIONS);
  for (let n = load<i32>(L.HEADER, L.H_MOTION_COUNT); n > 0; n--, motion += L.MOTION_BYTES) {
    const core = <usize>load<u32>(motion, L.MOTION_CORE);
    if (particle >= core && particle < core + ((<usize>load<i32>(motion, L.MOTION_CORE_COUNT)) << 4)) return motion;
  }
  return 0;
}

/** SHAPE row of the rigid body that owns a particle; 0: none. */
// @inline
export function rigidOf(particle: usize): usize {
  return <usize>load<u32>(bodyOf(particle), L.BODY_RIGID);
}

/** The same for contact, which looks for a body only if the particle's mark says that it is rigid. */
export function rigidRow(particle: usize): usize {
  return hasMarks() && marksOf(numberOf(particle)) & L.MARK_RIGID ? rigidOf(particle) : 0;
}

/** Returns whether a particle's body is prefactored. */
export function isPrefactored(particle: usize): bool {
  return hasMarks() && load<u32>(bodyOf(particle), L.BODY_PREFACTORED) !== 0;
}

/** Marks a particle of a prefactored body that another body pushes. @returns false: its body is not prefactored */
export function noteMet(particle: usize): bool {
  if (!isPrefactored(particle)) return false;
  mark(numberOf(particle), L.MARK_MET);
  return true;
}
