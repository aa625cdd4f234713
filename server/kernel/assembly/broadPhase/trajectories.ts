/**
 * Tests whether two primitives whose corners move straight, p + t d with t from 0 to 1, stay further apart than a
 * distance R. A direction n that separates them is the proof. Along n every corner moves linearly. So the least
 * difference of a corner of the first and one of the second is a concave function of t, and its minimum is at one of
 * both ends. If it is above R at both, no two points ever come within R.
 * The first direction is that between the closest points at the start. Alone it would list all pairs with g - a <= R, g
 * the gap, a the largest approach of two corners along n. The next one is that between these two points at the time of
 * their least distance, and so on. For primitives that do not rotate, this converges to the best separating direction.
 * "Apart" is proved but for rounding in float64, 2^-50 of lengths and trajectories; the other answer may be wrong. Any
 * direction gives a valid proof: errors in n cost only time. If the corners have no relative motion, the answer is
 * "apart": only pairs further apart than R at the start are tested.
 */
import {
  closestEdges,
  closestVertexTriangle,
  differenceX,
  differenceY,
  differenceZ,
  edgeS,
  edgeT,
  weightB,
  weightC,
} from "../math/closestPoints";

// @inline
function dot(a: v128, from: v128, x: f64, y: f64, z: f64): f64 {
  return (
    (<f64>f32x4.extract_lane(a, 0) - <f64>f32x4.extract_lane(from, 0)) * x +
    (<f64>f32x4.extract_lane(a, 1) - <f64>f32x4.extract_lane(from, 1)) * y +
    (<f64>f32x4.extract_lane(a, 2) - <f64>f32x4.extract_lane(from, 2)) * z
  );
}

/** Returns whether b, c and d have the same displacement as a. */
// @inline
function together(a: v128, b: v128, c: v128, d: v128): bool {
  return (v128.bitmask<i32>(v128.and(v128.and(f32x4.eq(a, b), f32x4.eq(a, c)), f32x4.eq(a, d))) & 7) === 7;
}

/** Returns x at time t relative to `from`, which moves too: rounded to float32, enough for a direction. */
// @inline
function seen(x: v128, from: v128, trajectory: v128, fromTrajectory: v128, t: v128): v128 {
  return f32x4.add(f32x4.sub(x, from), f32x4.mul(t, f32x4.sub(trajectory, fromTrajectory)));
}

/**
 * Number of directions after the first. For two tilted sheets of 98 particles flying through each other at 100 m/s, 1,
 * 2, 3, 4 directions list 2939, 398, 160, 160 pairs; 160 do meet.
 */
const ROUNDS = 3;

/**
 * Returns the time of least distance of two points that are differenceX... apart at time t and whose trajectories
 * differ by r.
 */
// @inline
function nearestTime(t: f32, r: v128): f32 {
  const x = <f64>f32x4.extract_lane(r, 0);
  const y = <f64>f32x4.extract_lane(r, 1);
  const z = <f64>f32x4.extract_lane(r, 2);
  return <f32>(
    min<f64>(1, max<f64>(0, <f64>t - (differenceX * x + differenceY * y + differenceZ * z) / (x * x + y * y + z * z)))
  );
}

// @inline
function times(weight: f32, a: v128, from: v128): v128 {
  return f32x4.mul(f32x4.splat(weight), f32x4.sub(a, from));
}

// vertex p, triangle a b c

/** Tests the direction (x, y, z) / length of the last difference of closestPoints.ts. NaN counts as apart. */
// @inline
function partsVertex(p: v128, a: v128, b: v128, c: v128, dp: v128, da: v128, db: v128, dc: v128, reach: f64): bool {
  const x = differenceX;
  const y = differenceY;
  const z = differenceZ;
  const limit = -reach * Math.sqrt(x * x + y * y + z * z);
  const A = dot(a, p, x, y, z);
  const B = dot(b, p, x, y, z);
  const C = dot(c, p, x, y, z);
  if (max<f64>(max<f64>(A, B), C) >= limit) return false;
  return !(max<f64>(max<f64>(A + dot(da, dp, x, y, z), B + dot(db, dp, x, y, z)), C + dot(dc, dp, x, y, z)) >= limit);
}

/**
 * Call just after closestVertexTriangle(p, a, b, c), for a pair further apart than `reach`.
 * @param dp, da, db, dc trajectories, m; reach R, m
 */
export function vertexTriangleStaysApart(
  p: v128,
  a: v128,
  b: v128,
  c: v128,
  dp: v128,
  da: v128,
  db: v128,
  dc: v128,
  reach: f64,
): bool {
  if (together(dp, da, db, dc) || partsVertex(p, a, b, c, dp, da, db, dc, reach)) return true;
  let time: f32 = 0;
  for (let n = 0; n < ROUNDS; n++) {
    time = nearestTime(time, f32x4.sub(f32x4.sub(f32x4.sub(dp, da), times(weightB, db, da)), times(weightC, dc, da)));
    const t = f32x4.splat(time);
    if (
      !(
        closestVertexTriangle(f32x4.splat(0), seen(a, p, da, dp, t), seen(b, p, db, dp, t), seen(c, p, dc, dp, t)) >
        reach * reach
      )
    )
      return false;
    if (partsVertex(p, a, b, c, dp, da, db, dc, reach)) return true;
  }
  return false;
}

// edge a0 a1, edge b0 b1

// @inline
function partsEdges(
  a0: v128,
  a1: v128,
  b0: v128,
  b1: v128,
  da0: v128,
  da1: v128,
  db0: v128,
  db1: v128,
  reach: f64,
): bool {
  const x = differenceX;
  const y = differenceY;
  const z = differenceZ;
  const limit = reach * Math.sqrt(x * x + y * y + z * z);
  const A = dot(a1, a0, x, y, z);
  const C = dot(b0, a0, x, y, z);
  const D = dot(b1, a0, x, y, z);
  if (min<f64>(0, A) - max<f64>(C, D) <= limit) return false;
  return !(
    min<f64>(0, A + dot(da1, da0, x, y, z)) - max<f64>(C + dot(db0, da0, x, y, z), D + dot(db1, da0, x, y, z)) <=
    limit
  );
}

/** Call just after closestEdges(a0, a1, b0, b1); @see vertexTriangleStaysApart */
export function edgesStayApart(
  a0: v128,
  a1: v128,
  b0: v128,
  b1: v128,
  da0: v128,
  da1: v128,
  db0: v128,
  db1: v128,
  reach: f64,
): bool {
  if (together(da0, da1, db0, db1) || partsEdges(a0, a1, b0, b1, da0, da1, db0, db1, reach)) return true;
  let time: f32 = 0;
  for (let n = 0; n < ROUNDS; n++) {
    time = nearestTime(time, f32x4.sub(f32x4.add(f32x4.sub(da0, db0), times(edgeS, da1, da0)), times(edgeT, db1, db0)));
    const t = f32x4.splat(time);
    if (
      !(
        closestEdges(f32x4.splat(0), seen(a1, a0, da1, da0, t), seen(b0, a0, db0, da0, t), seen(b1, a0, db1, da0, t)) >
        reach * reach
      )
    )
      return false;
    if (partsEdges(a0, a1, b0, b1, da0, da1, db0, db1, reach)) return true;
  }
  return false;
}
