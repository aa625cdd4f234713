/**
 * Bound of the release of older gaps between surfaces that can bend. The release makes no velocity, but it bends the
 * surface, and that energy drives bodies apart at the speed of the release. Two cubes that touched side by side were
 * released at 0.3 m/s, and left each other at that speed. The bound is a speed, and some falls of a substep: a pair
 * under a load sinks by about one of them in each. Balls have no bound (ballResponse.ts): a soft body of 100 times the
 * mass of the ball below it sinks faster, and a bounded release froze the room.
 */

/** Speed of the release, m/s. */
export const RELEASE_SPEED: f32 = 0.015;
/** Displacements by external acceleration. */
export const RELEASE_FALLS: f32 = 4;

/** Returns the largest release in a substep, m. @param fall displacement by external acceleration, m */
export function mostRelease(fall: f64, h: f64): f64 {
  return <f64>RELEASE_SPEED * h + <f64>RELEASE_FALLS * fall;
}
