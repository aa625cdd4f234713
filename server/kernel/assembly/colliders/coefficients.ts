/**
 * What a body's surface brings to a contact with an analytic collider beside its dynamic friction, which every particle
 * has at hand.
 */
import {
  HEADER,
  H_BODIES,
  H_BODY_COUNT,
  H_SURFACE,
  BODY_FIRST,
  BODY_COUNT,
  BODY_BYTES,
  SURFACE_STATIC,
  SURFACE_RESTITUTION,
  SURFACE_BYTES,
} from "../layout/layout";

// square roots of the coefficients of the last body found, and its particles; one instance belongs to one thread and
// one room
export let rootStatic: f32, rootBounce: f32;
let first: usize;
let end: usize;
/** SURFACE row of who owns first .. end: what it holds may be changed between two ticks (sim/tuning.ts). */
let surface: usize;

/**
 * Sets rootStatic and rootBounce of the body that owns the particle at address `at`. Where there is none (single
 * motions, in tests), it sticks as it slides and does not bounce.
 * @param rootDynamic square root of the particle's dynamic coefficient
 */
export function findCoefficients(at: usize, rootDynamic: f32): void {
  if (at >= first && at < end) {
    rootStatic = load<f32>(surface, SURFACE_STATIC);
    return;
  }
  const bodies = load<i32>(HEADER, H_BODY_COUNT);
  const surfaces = <usize>load<u32>(HEADER, H_SURFACE);
  for (let b = 0, row = <usize>load<u32>(HEADER, H_BODIES); b < bodies; b++, row += BODY_BYTES) {
    first = <usize>load<u32>(row, BODY_FIRST);
    end = first + ((<usize>load<i32>(row, BODY_COUNT)) << 4);
    if (at < first || at >= end) continue;
    surface = surfaces + <usize>b * SURFACE_BYTES;
    rootStatic = load<f32>(surface, SURFACE_STATIC);
    rootBounce = load<f32>(surface, SURFACE_RESTITUTION);
    return;
  }
  first = end = 0;
  rootStatic = rootDynamic;
  rootBounce = 0;
}

/**
 * Of the displacement `approach` that something made towards a surface in this substep, what it makes back in the next:
 * restitution times it (Newton), and nothing where the approach is what the external acceleration at `acc` makes in two
 * substeps (Mueller et al. 2020, section 3.6): what lies still does not hop.
 */
// @inline
export function bounce(restitution: f32, approach: f32, acc: usize, h: f32): f32 {
  return restitution > 0 && !rests(approach, acc, h) ? restitution * approach : 0;
}

/** Is `approach` no more than the external acceleration at `acc` makes in two substeps? */
// @inline
export function rests(approach: f32, acc: usize, h: f32): bool {
  const x = load<f32>(acc);
  const y = load<f32>(acc, 4);
  const z = load<f32>(acc, 8);
  return !(approach > 2 * h * h * Mathf.sqrt(x * x + y * y + z * z));
}
