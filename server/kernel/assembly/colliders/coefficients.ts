/**
 * Coefficients of a body's surface in contact with an analytic collider: static friction and restitution. Dynamic
 * friction is stored with every particle.
 */
import * as L from "../layout/layout";

// square roots of the coefficients of the last body found, and its particles; each instance belongs to one thread and
// one room
export let rootStatic: f32, rootBounce: f32;
let first: usize;
let end: usize;
/** SURFACE row that owns first .. end; its values may change between two ticks (sim/tuning/applyTuning.ts). */
let surface: usize;

/**
 * Sets rootStatic and rootBounce of the body that owns the particle at address `at`. Without a body (single motions, in
 * tests), static friction equals dynamic friction and restitution is 0.
 * @param rootDynamic square root of the particle's dynamic coefficient
 */
export function findCoefficients(at: usize, rootDynamic: f32): void {
  if (at >= first && at < end) {
    rootStatic = load<f32>(surface, L.SURFACE_STATIC);
    return;
  }
  const bodies = load<i32>(L.HEADER, L.H_BODY_COUNT);
  const surfaces = <usize>load<u32>(L.HEADER, L.H_SURFACE);
  for (let b = 0, row = <usize>load<u32>(L.HEADER, L.H_BODIES); b < bodies; b++, row += L.BODY_BYTES) {
    first = <usize>load<u32>(row, L.BODY_FIRST);
    end = first + ((<usize>load<i32>(row, L.BODY_COUNT)) << 4);
    if (at < first || at >= end) continue;
    surface = surfaces + <usize>b * L.SURFACE_BYTES;
    rootStatic = load<f32>(surface, L.SURFACE_STATIC);
    rootBounce = load<f32>(surface, L.SURFACE_RESTITUTION);
    return;
  }
  first = end = 0;
  rootStatic = rootDynamic;
  rootBounce = 0;
}

/**
 * Returns the displacement away from a surface in the next substep, after an `approach` in this one: restitution times
 * it (Newton). It is 0 if the approach is at most the displacement that the external acceleration at `acc` makes in two
 * substeps (Mueller et al. 2020, section 3.6): resting bodies do not hop.
 */
// @inline
export function bounce(restitution: f32, approach: f32, acc: usize, h: f32): f32 {
  return restitution > 0 && !rests(approach, acc, h) ? restitution * approach : 0;
}

/** Returns whether `approach` is at most the displacement of the external acceleration at `acc` in two substeps. */
// @inline
export function rests(approach: f32, acc: usize, h: f32): bool {
  const x = load<f32>(acc);
  const y = load<f32>(acc, 4);
  const z = load<f32>(acc, 8);
  return !(approach > 2 * h * h * Mathf.sqrt(x * x + y * y + z * z));
}
