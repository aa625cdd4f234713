/** Points of messages. */

/** x y z, m */
export type Point = [number, number, number];

/** The point (1-u-v) a + u b + v c of a surface triangle. */
export interface SurfacePoint {
  body: number;
  triangle: number;
  u: number;
  v: number;
}
