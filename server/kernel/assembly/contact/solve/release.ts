/**
 * Bound of the release of older gaps between surfaces that can bend. The release makes no velocity, but it bends the
 * surface, and that energy drives bodies apart at the speed of the release. Two cubes that touched side by side were
 * released at 0.3 m/s, and left each other at that speed. The bound is a share of the gap at rest in a tick, and some
 * falls of a substep: a pair under a load sinks by about one of them in each. Both scale with the scene. Fast pairs
 * have no bound: a sheet thrown along another one stayed compressed, and the exact check, whose responses stick,
 * braked it. Nor have balls (ballResponse.ts): a soft body of 100 times the mass of the ball below it sinks faster,
 * and a bounded release froze the room.
 */
import * as L from "../../layout/layout";

/** Share of the gap at rest that a tick opens: 0.015 m/s for 5 mm at 60 Hz. */
const OPENED: f32 = 0.05;
/** Displacements by external acceleration. */
export const RELEASE_FALLS: f32 = 4;
/** Displacement of the two against each other in a substep, over the share of the gap, from which a pair is fast. */
export const FAST: f32 = 16;

/** Share of the gap at rest that a substep opens without external acceleration. */
export function openedShare(): f32 {
  return OPENED / <f32>load<i32>(L.HEADER, L.H_SUBSTEPS);
}

/**
 * Returns the largest release in a substep, m.
 * @param r gap at rest; fall displacement by external acceleration, m
 * @param squared displacement against each other, m^2
 */
export function mostRelease(r: f64, fall: f64, squared: f64): f64 {
  const slow = <f64>openedShare() * r;
  const fast = <f64>FAST * slow;
  return squared > fast * fast ? Infinity : slow + <f64>RELEASE_FALLS * fall;
}
