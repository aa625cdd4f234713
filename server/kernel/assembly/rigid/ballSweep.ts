/**
 * Swept depth of a point or a triangle in a ball's sphere (balls.ts) during a substep.
 * In the ball's frame the corners move on straight lines from xPrev - cPrev to x - c. The distance from the center to
 * the moving triangle changes by at most the longest of the three motions. So steps of d - (R + r) along them never
 * jump into the sphere (conservative advancement, as in collide.ts). A triangle that enters is put back to where it
 * entered. All of it is float64: with float32 a ball on triangles of 2 km was pushed sideways at 3 cm/s.
 */
import { closestPoint, closestX, closestY, closestZ, weightA, weightB, weightC } from "../math/closestOnTriangle";

/** Bytes of a corner's position, three f64, and of the three of a triangle. */
export const CORNER: usize = 24;
export const TRIANGLE: usize = 72;
/** As in collide.ts: a motion that still grazes after MAX_MARCH steps counts as a hit. */
const MAX_MARCH = 24;
/**
 * A triangle that begins within the margin may come nearer, to this share of its distance, before it counts as going
 * through. With a value nearer to 1, triangles that slide along the sphere graze it for more than MAX_MARCH steps.
 */
const INNER: f64 = 0.98;

/**
 * The last answer: normal from the triangle to the center, weights of its corners. Each thread has its own instance.
 */
export let nx: f64, ny: f64, nz: f64, wa: f64, wb: f64, wc: f64;
/** True if no single normal keeps the motion out: the triangle must move with the ball. */
export let blocked = false;
/** Distance of the point, or of the triangle, from the center at the start of the substep, if the depth is positive. */
export let began: f64 = 0;

/** Restores an earlier answer. */
export function setAnswer(x: f64, y: f64, z: f64, a: f64, b: f64, c: f64): void {
  nx = x;
  ny = y;
  nz = z;
  wa = a;
  wb = b;
  wc = c;
  blocked = false;
}

/**
 * Returns the depth of a point that moves from x y z to X Y Z in a sphere of radius r around the origin, m: the
 * distance to separate along n; not positive: none. Like `depthOfTriangle`, with the entry in closed form. Sets n and
 * the weights.
 */
export function depthOfPoint(x: f64, y: f64, z: f64, X: f64, Y: f64, Z: f64, r: f64): f64 {
  const dx = X - x;
  const dy = Y - y;
  const dz = Z - z;
  const dd = dx * dx + dy * dy + dz * dz;
  const pd = x * dx + y * dy + z * dz;
  const pp = x * x + y * y + z * z;
  const end = sqrt(X * X + Y * Y + Z * Z);
  const start = sqrt(pp);
  began = start;
  const inner: f64 = start > r ? r : INNER * start;
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
  const t: f64 = room2 / (-pd + sqrt(under));
  if (t > 1) return r - end;
  const qx = x + t * dx;
  const qy = y + t * dy;
  const qz = z + t * dz;
  const k: f64 = -1 / sqrt(qx * qx + qy * qy + qz * qz);
  const ux = k * qx;
  const uy = k * qy;
  const uz = k * qz;
  if (ux * nx + uy * ny + uz * nz >= 0.5) return r - end;
  nx = ux;
  ny = uy;
  nz = uz;
  return r + nx * X + ny * Y + nz * Z;
}

let distance: f64;
let ux: f64;
let uy: f64;
let uz: f64; // results of the last `view`: distance from the center, and direction to it

/**
 * Finds the distance of the triangle at `corners` from the center (the origin), the direction to the center, and the
 * weights (closestOnTriangle.ts).
 */
function view(corners: usize): f64 {
  closestPoint(0, 0, 0, corners, corners + CORNER, corners + 2 * CORNER);
  distance = sqrt(closestX * closestX + closestY * closestY + closestZ * closestZ);
  const k: f64 = distance > 0 ? -1 / distance : 0;
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
function along(end: usize): f64 {
  const B = end + CORNER;
  const C = B + CORNER;
  return (
    nx * (wa * load<f64>(end) + wb * load<f64>(B) + wc * load<f64>(C)) +
    ny * (wa * load<f64>(end, 8) + wb * load<f64>(B, 8) + wc * load<f64>(C, 8)) +
    nz * (wa * load<f64>(end, 16) + wb * load<f64>(B, 16) + wc * load<f64>(C, 16))
  );
}

/**
 * Returns the depth of a moving triangle in a sphere of radius r around the origin.
 * @param room corners at the start (TRIANGLE bytes), at the end (the same), and room for those between
 * @returns distance to separate triangle and center along n, m; not positive: none. Sets n and the weights.
 */
export function depthOfTriangle(room: usize, r: f64): f64 {
  const end = room + TRIANGLE;
  let move2: f64 = 0;
  for (let k: usize = 0; k < TRIANGLE; k += CORNER) {
    const x = load<f64>(end + k) - load<f64>(room + k);
    const y = load<f64>(end + k, 8) - load<f64>(room + k, 8);
    const z = load<f64>(end + k, 16) - load<f64>(room + k, 16);
    move2 = max<f64>(move2, x * x + y * y + z * z);
  }
  const move = sqrt(move2);
  const d1 = view(end) - r;
  if (d1 > 0 && d1 > move) return 0;
  keepAnswer();
  const ex = ux;
  const ey = uy;
  const ez = uz;
  const d0 = view(room) - r;
  began = distance;
  blocked = false;
  // a triangle that begins within the margin must not go much deeper on its way
  let inner: f64 = d0 > 0 ? r : INNER * (r + d0);
  const from = r + d0 - inner;
  if (!(from > 0) || !(move > 0) || (d1 + r - inner > 0 && from + d1 + r - inner > move)) return -d1;
  let t: f64 = from / move;
  for (let step = 0; t < 1; step++) {
    between(room, t);
    const d = view(room + 2 * TRIANGLE) - inner;
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
function between(room: usize, t: f64): void {
  for (let k: usize = 0; k < TRIANGLE; k += 8) {
    const from = load<f64>(room + k);
    store<f64>(room + k, from + t * (load<f64>(room + k, TRIANGLE) - from), 2 * TRIANGLE);
  }
}
