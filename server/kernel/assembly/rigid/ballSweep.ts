/**
 * Swept depth of a point or a triangle in a ball's sphere (balls.ts) during a substep.
 * In the ball's frame the corners move on straight lines from xPrev - cPrev to x - c. The distance from the center to
 * the moving triangle changes by at most the longest of the three motions. So steps of d - (R + r) along them never
 * jump into the sphere (conservative advancement, as in collide.ts). A triangle that enters is put back to where it
 * entered.
 */
import { closestPoint, closestX, closestY, closestZ, weightA, weightB, weightC } from "../math/closestOnTriangle";

/** As in collide.ts: a motion that still grazes after MAX_MARCH steps counts as a hit. */
const MAX_MARCH = 24;
/**
 * A triangle that begins within the margin may come nearer, to this share of its distance, before it counts as going
 * through. With a value nearer to 1, triangles that slide along the sphere graze it for more than MAX_MARCH steps.
 */
const INNER: f32 = 0.98;

/**
 * The last answer: normal from the triangle to the center, weights of its corners. Each thread has its own instance.
 */
export let nx: f32, ny: f32, nz: f32, wa: f32, wb: f32, wc: f32;
/** True if no single normal keeps the motion out: the triangle must move with the ball. */
export let blocked = false;

/** Restores an earlier answer. */
export function setAnswer(x: f32, y: f32, z: f32, a: f32, b: f32, c: f32): void {
  nx = x;
  ny = y;
  nz = z;
  wa = a;
  wb = b;
  wc = c;
  blocked = false;
}

/**
 * Returns the depth of a moving point in a sphere of radius r around the origin, m: the distance to separate along n;
 * not positive: none. Like `depthOfTriangle`, with the entry in closed form. Sets n and the weights.
 */
export function depthOfPoint(p0: v128, p1: v128, r: f32): f32 {
  const x = f32x4.extract_lane(p0, 0);
  const y = f32x4.extract_lane(p0, 1);
  const z = f32x4.extract_lane(p0, 2);
  const X = f32x4.extract_lane(p1, 0);
  const Y = f32x4.extract_lane(p1, 1);
  const Z = f32x4.extract_lane(p1, 2);
  const dx = X - x;
  const dy = Y - y;
  const dz = Z - z;
  const dd = dx * dx + dy * dy + dz * dz;
  const pd = x * dx + y * dy + z * dz;
  const pp = x * x + y * y + z * z;
  const end = Mathf.sqrt(X * X + Y * Y + Z * Z);
  const start = Mathf.sqrt(pp);
  const inner: f32 = start > r ? r : INNER * start;
  wa = 1;
  wb = 0;
  wc = 0;
  blocked = false;
  if (end > 0) {
    nx = -X / end;
    ny = -Y / end;
    nz = -Z / end;
  } else {
    nx = 0;
    ny = 1;
    nz = 0;
  }
  const room2 = pp - inner * inner;
  const under = pd * pd - dd * room2;
  // it goes in and through the inner sphere before the end
  if (!(pd < 0 && under > 0 && start > 0)) return r - end;
  const t: f32 = room2 / (-pd + Mathf.sqrt(under));
  if (t > 1) return r - end;
  const qx = x + t * dx;
  const qy = y + t * dy;
  const qz = z + t * dz;
  const k: f32 = -1 / Mathf.sqrt(qx * qx + qy * qy + qz * qz);
  const ux = k * qx;
  const uy = k * qy;
  const uz = k * qz;
  if (ux * nx + uy * ny + uz * nz >= 0.5) return r - end;
  nx = ux;
  ny = uy;
  nz = uz;
  return r + nx * X + ny * Y + nz * Z;
}

let distance: f32;
let ux: f32;
let uy: f32;
let uz: f32; // results of the last `view`: distance from the center, and direction to it

/**
 * Finds the distance of the triangle at `corners` from the center (the origin), the direction to the center, and the
 * weights (closestOnTriangle.ts).
 */
function view(corners: usize): f32 {
  closestPoint(0, 0, 0, corners, corners + 16, corners + 32);
  distance = Mathf.sqrt(closestX * closestX + closestY * closestY + closestZ * closestZ);
  const k: f32 = distance > 0 ? -1 / distance : 0;
  ux = k * closestX;
  uy = k * closestY;
  uz = k * closestZ;
  return distance;
}

// @inline
function keepAnswer(): void {
  nx = ux;
  ny = uy;
  nz = uz;
  wa = weightA;
  wb = weightB;
  wc = weightC;
}

/** Returns n . (weighted point at the end, from the center). */
// @inline
function along(end: usize): f32 {
  return (
    nx * (wa * load<f32>(end) + wb * load<f32>(end, 16) + wc * load<f32>(end, 32)) +
    ny * (wa * load<f32>(end, 4) + wb * load<f32>(end, 20) + wc * load<f32>(end, 36)) +
    nz * (wa * load<f32>(end, 8) + wb * load<f32>(end, 24) + wc * load<f32>(end, 40))
  );
}

/**
 * Returns the depth of a moving triangle in a sphere of radius r around the origin.
 * @param room corners at the start (48 bytes), at the end (48), and room for those between
 * @returns distance to separate triangle and center along n, m; not positive: none. Sets n and the weights.
 */
export function depthOfTriangle(room: usize, r: f32): f32 {
  const end = room + 48;
  let move2: f32 = 0;
  for (let k: usize = 0; k < 48; k += 16) {
    const d = f32x4.sub(v128.load(end + k), v128.load(room + k));
    const x = f32x4.extract_lane(d, 0);
    const y = f32x4.extract_lane(d, 1);
    const z = f32x4.extract_lane(d, 2);
    move2 = max<f32>(move2, x * x + y * y + z * z);
  }
  const move = Mathf.sqrt(move2);
  const d1 = view(end) - r;
  if (d1 > 0 && d1 > move) return 0;
  keepAnswer();
  const ex = ux;
  const ey = uy;
  const ez = uz;
  const d0 = view(room) - r;
  blocked = false;
  // a triangle that begins within the margin must not go much deeper on its way
  let inner: f32 = d0 > 0 ? r : INNER * (r + d0);
  const from = r + d0 - inner;
  if (!(from > 0) || !(move > 0) || (d1 + r - inner > 0 && from + d1 + r - inner > move)) return -d1;
  let t: f32 = from / move;
  for (let step = 0; t < 1; step++) {
    between(room, t);
    const d = view(room + 96) - inner;
    if (d <= 1e-4 * r || step >= MAX_MARCH) {
      // a shallow hit slides to where it ended, and so does one that grazes: an edge within a flat face is no step; a
      // triangle that went through is put back to where it entered
      if (ux * ex + uy * ey + uz * ez >= 0.5) return -d1;
      const fx = nx;
      const fy = ny;
      const fz = nz;
      const fa = wa;
      const fb = wb;
      const fc = wc;
      keepAnswer();
      const depth = along(end) + r;
      if (depth > 0) return depth;
      // the point that touched moves away: does another come nearer?
      nx = fx;
      ny = fy;
      nz = fz;
      wa = fa;
      wb = fb;
      wc = fc;
      inner *= INNER;
      if (step >= MAX_MARCH || inner < 0.5 * r) {
        blocked = true;
        return r;
      }
    } else t += d / move;
  }
  return -d1;
}

// @inline
function between(room: usize, t: f32): void {
  const s = f32x4.splat(t);
  for (let k: usize = 0; k < 48; k += 16)
    v128.store(
      room + 96 + k,
      f32x4.add(v128.load(room + k), f32x4.mul(s, f32x4.sub(v128.load(room + 48 + k), v128.load(room + k)))),
    );
}
