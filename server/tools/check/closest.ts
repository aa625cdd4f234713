/**
 * Direction between the nearest points of two small primitives (points, edges, triangles): the first guess of a
 * separation direction. Uses the Voronoi regions of a triangle, and clamping for two segments (Ericson 2005, 5.1.5 and
 * 5.1.9). In degenerate cases a guess may be wrong or NaN; the caller verifies it.
 */

/** float64[3 x 6] corners: those of the first primitive, then those of the second. */
export const corners = new Float64Array(18);
/** float64[3] from the second primitive to the first; any length. Result of the functions below. */
export const direction = new Float64Array(3);

const best = new Float64Array(3);
let least = 0;

function keep(x: number, y: number, z: number, sign: number): void {
  const square = x * x + y * y + z * z;
  if (!(square < least)) return;
  least = square;
  best[0] = sign * x;
  best[1] = sign * y;
  best[2] = sign * z;
}

/** Vector from the triangle at b to the point at p (offsets in `corners`), times sign. */
function pointTriangle(p: number, b: number, sign: number): void {
  const P = corners;
  const ax = P[b]!;
  const ay = P[b + 1]!;
  const az = P[b + 2]!;
  const ux = P[b + 3]! - ax;
  const uy = P[b + 4]! - ay;
  const uz = P[b + 5]! - az;
  const vx = P[b + 6]! - ax;
  const vy = P[b + 7]! - ay;
  const vz = P[b + 8]! - az;
  const x = P[p]! - ax;
  const y = P[p + 1]! - ay;
  const z = P[p + 2]! - az;
  const d1 = ux * x + uy * y + uz * z;
  const d2 = vx * x + vy * y + vz * z;
  if (d1 <= 0 && d2 <= 0) return keep(x, y, z, sign);
  const uu = ux * ux + uy * uy + uz * uz;
  const uv = ux * vx + uy * vy + uz * vz;
  const vv = vx * vx + vy * vy + vz * vz;
  const d3 = d1 - uu;
  const d4 = d2 - uv;
  const d5 = d1 - uv;
  const d6 = d2 - vv;
  let s: number;
  let t: number;
  const vc = d1 * d4 - d3 * d2;
  const vb = d5 * d2 - d1 * d6;
  const va = d3 * d6 - d5 * d4;
  if (d3 >= 0 && d4 <= d3) [s, t] = [1, 0];
  else if (d6 >= 0 && d5 <= d6) [s, t] = [0, 1];
  else if (vc <= 0 && d1 >= 0 && d3 <= 0) [s, t] = [d1 / (d1 - d3), 0];
  else if (vb <= 0 && d2 >= 0 && d6 <= 0) [s, t] = [0, d2 / (d2 - d6)];
  else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    t = (d4 - d3) / (d4 - d3 + (d5 - d6));
    s = 1 - t;
  } else {
    const sum = 1 / (va + vb + vc);
    [s, t] = [vb * sum, vc * sum];
  }
  keep(x - s * ux - t * vx, y - s * uy - t * vy, z - s * uz - t * vz, sign);
}

const clamp = (value: number): number => (value < 0 ? 0 : value > 1 ? 1 : value);

/** Vector from segment c d to segment a b (offsets in `corners`). */
function segments(a: number, b: number, c: number, d: number): void {
  const P = corners;
  const ux = P[b]! - P[a]!;
  const uy = P[b + 1]! - P[a + 1]!;
  const uz = P[b + 2]! - P[a + 2]!;
  const vx = P[d]! - P[c]!;
  const vy = P[d + 1]! - P[c + 1]!;
  const vz = P[d + 2]! - P[c + 2]!;
  const x = P[a]! - P[c]!;
  const y = P[a + 1]! - P[c + 1]!;
  const z = P[a + 2]! - P[c + 2]!;
  const uu = ux * ux + uy * uy + uz * uz;
  const vv = vx * vx + vy * vy + vz * vz;
  const uv = ux * vx + uy * vy + uz * vz;
  const uw = ux * x + uy * y + uz * z;
  const vw = vx * x + vy * y + vz * z;
  const denominator = uu * vv - uv * uv;
  let s = denominator > 0 ? clamp((uv * vw - uw * vv) / denominator) : 0;
  let t = vv > 0 ? (uv * s + vw) / vv : 0;
  if (t < 0 || t > 1) {
    t = clamp(t);
    s = uu > 0 ? clamp((uv * t - uw) / uu) : 0;
  }
  keep(x + s * ux - t * vx, y + s * uy - t * vy, z + s * uz - t * vz, 1);
}

/**
 * Sets `direction` to the vector between the nearest points of the primitives in `corners`: a corners of the first, b
 * of the second. Supports 1-3, 2-2, 2-3 and 3-3.
 */
export function nearest(a: number, b: number): void {
  least = Infinity;
  best.fill(0);
  const second = 3 * a;
  if (b === 3) for (let i = 0; i < a; i++) pointTriangle(3 * i, second, 1);
  if (a === 3) for (let j = 0; j < b; j++) pointTriangle(second + 3 * j, 0, -1);
  const edgesA = a === 3 ? 3 : a - 1;
  const edgesB = b === 3 ? 3 : b - 1;
  for (let i = 0; i < edgesA; i++)
    for (let j = 0; j < edgesB; j++) segments(3 * i, 3 * ((i + 1) % a), second + 3 * j, second + 3 * ((j + 1) % b));
  direction.set(best);
}

/** Sets `direction` to the vector between the centroids of the two primitives. */
export function middles(a: number, b: number): void {
  for (let r = 0; r < 3; r++) {
    let first = 0;
    let second = 0;
    for (let i = 0; i < a; i++) first += corners[3 * i + r]!;
    for (let j = 0; j < b; j++) second += corners[3 * (a + j) + r]!;
    direction[r] = first / a - second / b;
  }
}

/**
 * Sets `direction` to a normal that points to the first primitive's side: of the second primitive's triangle (`of` = 3
 * * a), of the first's (0), or the common normal of two edges.
 */
export function normal(a: number, b: number, of: number): void {
  const P = corners;
  const edges = a === 2 && b === 2;
  const base = edges ? 0 : of;
  const other = edges ? 6 : of;
  const from = edges ? 6 : of;
  const last = edges ? 9 : of + 6;
  const ux = P[base + 3]! - P[base]!;
  const uy = P[base + 4]! - P[base + 1]!;
  const uz = P[base + 5]! - P[base + 2]!;
  const vx = P[last]! - P[from]!;
  const vy = P[last + 1]! - P[from + 1]!;
  const vz = P[last + 2]! - P[from + 2]!;
  const nx = uy * vz - uz * vy;
  const ny = uz * vx - ux * vz;
  const nz = ux * vy - uy * vx;
  const at = of === 0 && !edges ? 3 * a : 0;
  const x = P[at]! - P[other]!;
  const y = P[at + 1]! - P[other + 1]!;
  const z = P[at + 2]! - P[other + 2]!;
  const side = nx * x + ny * y + nz * z;
  const sign = side < 0 !== (of === 0 && !edges) ? -1 : 1;
  direction[0] = sign * nx;
  direction[1] = sign * ny;
  direction[2] = sign * nz;
}
