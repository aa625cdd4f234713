/**
 * Bending of a flat sheet of rectangles, each cut along either diagonal: a plate of rigidity B in every direction, for
 * any sides of the rectangles.
 *
 *   l---c---r    at a vertex between two sides in line, p and p' long, m their mean:
 *       |          C = m (x_c - x_l)/p + m (x_c - x_r)/p' = -m^2 k_xx,   alpha = m^4/(B A),  A a quarter of the
 *                  rectangles around c
 *       s        across a rectangle's diagonal:
 *                  C = x_a + x_b - x_c - x_d = +-p q k_xz,               alpha = p q/(2 B)
 *
 * Summed, E = B/2 (k_xx^2 + 2 k_xz^2 + k_zz^2) per area, the plate with nu = 0: a cylinder of curvature kappa stores
 * B/2 kappa^2 in every direction, and so does a strip with free sides. On equal rectangles a quadratic surface leaves
 * no force on any inner vertex. A cylinder along the sides has forces only at its ends: no vertex yields, and the
 * rigidity is exact even for a strip one rectangle wide.
 *
 * The stencils are the paper's (Bender et al. 2014, section 4.3; bending.ts), and the same number. An edge between
 * right angles of its two triangles has K = (0, 2r, -r, -r), a difference along a line. With alternating diagonals
 * every other vertex has it twice; averaged over both ways to alternate, each has it once. A diagonal has K = (s, s,
 * -s, -s) either way, s = p/q + q/p, and gets 2/s^2 of the paper's weight, 1/2 for squares.
 *
 * Tried, on squares: the hinges of alternating diagonals: along the sides 5/6 B, along the diagonals 4/3 B, a free
 * strip 0.80 B. With isotropic weights (4/3 sides, 2/3 diagonals) every cylinder has B, but nu = -1/4, a free strip
 * 0.94 B; 1:2 rectangles have no such weights. All diagonals one way: no vertex yields, but k_xz (k_xx + k_zz) stays.
 */
import type { BendElements } from "./bend.ts";

/** Largest cosine of a right angle: files have 4 digits. */
const RIGHT = 1e-3;

/** Stencils of a sheet that were found so far, and their source. */
interface Found {
  plane: Float64Array;
  /** float64[3N] m: for the sheet's curvature at rest */
  X: Float64Array;
  particles: number[];
  K: number[];
  alpha: number[];
  rest: number[];
}

/**
 * @param X float64[3N] m, undeformed positions
 * @param plane float64[2N] m, the same in the sheet's plane (flattened.ts)
 * @param triangles uint32[3n]
 * @param rigidity B, N m
 * @returns undefined unless all triangles are halves of rectangles
 */
export function rectangularBending(
  X: Float64Array,
  plane: Float64Array,
  triangles: Uint32Array,
  rigidity: number,
): BendElements | undefined {
  const rectangles = pairUp(plane, triangles);
  if (!rectangles) return undefined;
  const count = plane.length / 2;
  const sides: Set<number>[] = Array.from({ length: count }, () => new Set());
  const quarter = new Float64Array(count);
  const from: number[][] = Array.from({ length: count }, () => []);
  const out: Found = { plane, X, particles: [], K: [], alpha: [], rest: [] };
  rectangles.forEach(({ corners, area }, i) => {
    from[Math.min(...corners)]!.push(i);
    const [a, b, c, d] = corners;
    for (const [p, q] of [
      [a, c],
      [c, b],
      [b, d],
      [d, a],
    ] as const) {
      sides[p]!.add(q);
      sides[q]!.add(p);
      quarter[p]! += area / 4;
    }
  });
  for (let v = 0; v < count; v++) {
    const around = [...sides[v]!];
    for (let i = 0; i < around.length; i++) {
      for (let j = i + 1; j < around.length; j++)
        addLine(out, [v, around.find((_, k) => k !== i && k !== j)!, around[i]!, around[j]!], quarter[v]! * rigidity);
    }
    for (const i of from[v]!) {
      const { corners, area } = rectangles[i]!;
      addStencil(out, corners, 1, area / (2 * rigidity));
    }
  }
  return {
    kind: "bend",
    particles: Uint32Array.from(out.particles),
    K: Float64Array.from(out.K),
    alpha: Float64Array.from(out.alpha),
    rest: Float64Array.from(out.rest),
  };
}

/** Ends a b of a diagonal, the other corners c d, and the area, m^2. */
interface Rectangle {
  corners: [number, number, number, number];
  area: number;
}

/** Joins triangles to rectangles over their longest sides; undefined if one remains. */
function pairUp(plane: Float64Array, triangles: Uint32Array): Rectangle[] | undefined {
  const open = new Map<string, number>();
  const rectangles: Rectangle[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    const right = [0, 1, 2].find((k) => {
      const [p, a, b] = [0, 1, 2].map((i) => triangles[t + ((k + i) % 3)]!) as [number, number, number];
      return Math.abs(cosine(plane, p, a, b)) < RIGHT;
    });
    if (right === undefined) return undefined;
    const [c, a, b] = [0, 1, 2].map((i) => triangles[t + ((right + i) % 3)]!) as [number, number, number];
    const key = a < b ? `${a},${b}` : `${b},${a}`;
    const d = open.get(key);
    if (d === undefined) {
      open.set(key, c);
      continue;
    }
    // two right angles over the same longest side form a rectangle if the sides have equal lengths, else a kite
    if (Math.abs(cosine(plane, a, c, d)) >= RIGHT || Math.abs(cosine(plane, b, c, d)) >= RIGHT) return undefined;
    open.delete(key);
    rectangles.push({ corners: [a, b, c, d], area: length(plane, a, c) * length(plane, b, c) });
  }
  return open.size === 0 ? rectangles : undefined;
}

/** Adds the difference along l c r, unless they are not on a line; s is any other neighbor of c. */
function addLine(out: Found, [c, s, l, r]: [number, number, number, number], AB: number): void {
  if (cosine(out.plane, c, l, r) > -0.5) return; // sides meet at 90 or 180 degrees
  const p = length(out.plane, c, l);
  const q = length(out.plane, c, r);
  const mean = (p + q) / 2;
  addStencil(out, [c, s, l, r], (2 * mean * mean) / (p * q), (mean * mean * mean * mean) / AB);
}

/**
 * Adds a stencil. K is the multiple in which corner a has `first`, with sum K = 0 and sum K x = 0 in the plane. It is
 * (2, 0, -1, -1) for a line and (1, 1, -1, -1) for a rectangle. If the corners are not exactly that, other values keep
 * the rest state at rest.
 * @param corners a b c d
 */
function addStencil(
  out: Found,
  corners: readonly [number, number, number, number],
  first: number,
  alpha: number,
): void {
  const [a, b, c, d] = corners;
  const { plane, X } = out;
  const twice = (p: number, q: number, r: number): number =>
    (plane[2 * q]! - plane[2 * p]!) * (plane[2 * r + 1]! - plane[2 * p + 1]!) -
    (plane[2 * q + 1]! - plane[2 * p + 1]!) * (plane[2 * r]! - plane[2 * p]!);
  // a in barycentric coordinates of b c d
  const whole = twice(b, c, d);
  const parts = [twice(a, c, d) / whole, twice(b, a, d) / whole, twice(b, c, a) / whole].map((part) =>
    Math.abs(part) < 1e-9 ? 0 : part,
  );
  const K = [first, ...parts.map((part) => -first * part)];
  const bent = [0, 1, 2].map((r) => corners.reduce((sum, v, i) => sum + K[i]! * (X[3 * v + r]! - X[3 * a + r]!), 0));
  const left = Math.sqrt(bent[0]! * bent[0]! + bent[1]! * bent[1]! + bent[2]! * bent[2]!);
  out.particles.push(...corners);
  out.K.push(...K);
  out.alpha.push(alpha);
  out.rest.push(left < 1e-9 * first * length(plane, a, c) ? 0 : left); // rounding, as in bending.ts
}

function length(plane: Float64Array, a: number, b: number): number {
  const x = plane[2 * b]! - plane[2 * a]!;
  const y = plane[2 * b + 1]! - plane[2 * a + 1]!;
  return Math.sqrt(x * x + y * y);
}

/** Cosine of the angle at p between a and b. */
function cosine(plane: Float64Array, p: number, a: number, b: number): number {
  const ux = plane[2 * a]! - plane[2 * p]!;
  const uy = plane[2 * a + 1]! - plane[2 * p + 1]!;
  const vx = plane[2 * b]! - plane[2 * p]!;
  const vy = plane[2 * b + 1]! - plane[2 * p + 1]!;
  return (ux * vx + uy * vy) / Math.sqrt((ux * ux + uy * uy) * (vx * vx + vy * vy));
}
