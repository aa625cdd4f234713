/**
 * Integrals of Kelvin's solution over triangles (Brebbia 1978): the displacement in an infinite body, in direction j at
 * y, by a unit force in direction i at x, and the traction there on a surface of normal n,
 *
 *   U_ij = ((3 - 4 nu) d_ij + r_i r_j) / (16 pi mu (1 - nu) R)
 *   T_ij = -((d_ij (1 - 2 nu) + 3 r_i r_j) (r . n) - (1 - 2 nu) (r_i n_j - r_j n_i)) / (8 pi (1 - nu) R^2)
 *
 * with R r = y - x, |r| = 1. Displacement and traction are linear on each triangle: the integrals use the hat functions
 * of its corners. A near triangle is divided until its parts are far for their size. If x is a corner of the triangle,
 * it becomes the apex of a square folded into it (Duffy 1982), whose Jacobian cancels one power of R: enough for U, and
 * for T with the hats of the other two corners. T with the hat of x itself is never needed (boundaryElements.ts).
 */

/** Degree 5, seven points: barycentric coordinates and weights of a triangle of area 1 (Radon 1948). */
const ROOT = Math.sqrt(15);
const NEAR_CENTER = (9 + 2 * ROOT) / 21;
const NEAR_CORNER = (9 - 2 * ROOT) / 21;
const RULE = [
  [1 / 3, 1 / 3, 9 / 40],
  ...ring((1 - NEAR_CENTER) / 2, NEAR_CENTER, (155 + ROOT) / 1200),
  ...ring((1 - NEAR_CORNER) / 2, NEAR_CORNER, (155 - ROOT) / 1200),
] as readonly (readonly [number, number, number])[];

function ring(a: number, b: number, weight: number): [number, number, number][] {
  return [
    [a, a, weight],
    [b, a, weight],
    [a, b, weight],
  ];
}

/** Gauss and Legendre's eight points on [0, 1]. */
const GAUSS: readonly (readonly [number, number])[] = [
  [0.1834346424956498, 0.362683783378362],
  [0.525532409916329, 0.3137066458778873],
  [0.7966664774136267, 0.2223810344533745],
  [0.9602898564975363, 0.1012285362903763],
].flatMap(([at, weight]) => [[0.5 - 0.5 * at!, 0.5 * weight!] as const, [0.5 + 0.5 * at!, 0.5 * weight!] as const]);

/**
 * Triangles further away than this many times their longest side count as far; nearer ones are divided at most
 * MOST_DIVISIONS times.
 */
const FAR = 1.5;
const MOST_DIVISIONS = 5;
const CORNERS = Float64Array.of(0, 0, 1, 0, 0, 1);

export interface Isotropic {
  /** Pa */
  shearModulus: number;
  poissonsRatio: number;
}

export class BoundaryIntegrals {
  /** Integrals over the last triangle: float64[3][9], for each corner's hat row by row, of U_ij and of T_ij. */
  readonly U = new Float64Array(27);
  readonly T = new Float64Array(27);
  private readonly nu: number;
  private readonly ofU: number;
  private readonly ofT: number;
  /** First corner, the two sides from it, unit normal, twice the area, square of the longest side. */
  private readonly a = new Float64Array(3);
  private readonly b = new Float64Array(3);
  private readonly c = new Float64Array(3);
  private readonly n = new Float64Array(3);
  private twice = 0;
  private side2 = 0;
  private readonly x = new Float64Array(3);

  constructor({ shearModulus, poissonsRatio }: Isotropic) {
    this.nu = poissonsRatio;
    this.ofU = 1 / (16 * Math.PI * shearModulus * (1 - poissonsRatio));
    this.ofT = -1 / (8 * Math.PI * (1 - poissonsRatio));
  }

  /**
   * @param positions float64[3N] m
   * @param corners of the triangle, counterclockwise from outside
   * @param x float64[3], m
   * @param corner number of the corner at x, 0 to 2; -1: none
   */
  over(positions: Float64Array, corners: readonly number[], x: ArrayLike<number>, corner: number): void {
    const [p, q, s] = corners as [number, number, number];
    for (let k = 0; k < 3; k++) {
      this.a[k] = positions[3 * p + k]!;
      this.b[k] = positions[3 * q + k]! - this.a[k]!;
      this.c[k] = positions[3 * s + k]! - this.a[k]!;
      this.x[k] = x[k]!;
    }
    this.measure();
    this.U.fill(0);
    this.T.fill(0);
    if (corner < 0) this.divide(CORNERS, 0);
    else this.fold(corner);
  }

  private measure(): void {
    const { b, c, n } = this;
    n[0] = b[1]! * c[2]! - b[2]! * c[1]!;
    n[1] = b[2]! * c[0]! - b[0]! * c[2]!;
    n[2] = b[0]! * c[1]! - b[1]! * c[0]!;
    this.twice = Math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (let k = 0; k < 3; k++) n[k]! /= this.twice;
    let [bb, cc, dd] = [0, 0, 0];
    for (let k = 0; k < 3; k++) {
      bb += b[k]! * b[k]!;
      cc += c[k]! * c[k]!;
      dd += (b[k]! - c[k]!) * (b[k]! - c[k]!);
    }
    this.side2 = Math.max(bb, cc, dd);
  }

  /**
   * @param at (u, v) of the corners of a part of the triangle
   * @param depth the part is 4^-depth of the triangle
   */
  private divide(at: Float64Array, depth: number): void {
    const u = (at[0]! + at[2]! + at[4]!) / 3;
    const v = (at[1]! + at[3]! + at[5]!) / 3;
    let d2 = 0;
    for (let k = 0; k < 3; k++) {
      const d = this.a[k]! + u * this.b[k]! + v * this.c[k]! - this.x[k]!;
      d2 += d * d;
    }
    const share = 1 / 4 ** depth;
    if (depth === MOST_DIVISIONS || d2 > FAR * FAR * this.side2 * share) {
      for (const [s, t, weight] of RULE) {
        const r = 1 - s - t;
        this.add(
          r * at[0]! + s * at[2]! + t * at[4]!,
          r * at[1]! + s * at[3]! + t * at[5]!,
          0.5 * weight * share * this.twice,
        );
      }
      return;
    }
    const middles = Float64Array.from(at, (value, k) => 0.5 * (value + at[(k + 2) % 6]!));
    for (let k = 0; k < 3; k++) {
      const before = 2 * ((k + 2) % 3);
      this.divide(
        Float64Array.of(
          at[2 * k]!,
          at[2 * k + 1]!,
          middles[2 * k]!,
          middles[2 * k + 1]!,
          middles[before]!,
          middles[before + 1]!,
        ),
        depth + 1,
      );
    }
    this.divide(middles, depth + 1);
  }

  /** Integrates with x at a corner: (u, v) = corner + s ((1 - t) (second - corner) + t (third - corner)). */
  private fold(corner: number): void {
    const [i, j, k] = [corner, (corner + 1) % 3, (corner + 2) % 3];
    const u = (s: number, t: number, r: number): number =>
      (1 - s) * CORNERS[2 * i + r]! + s * ((1 - t) * CORNERS[2 * j + r]! + t * CORNERS[2 * k + r]!);
    for (const [s, ofS] of GAUSS)
      for (const [t, ofT] of GAUSS) this.add(u(s, t, 0), u(s, t, 1), ofS * ofT * s * this.twice);
  }

  /**
   * Adds one point of the triangle.
   * @param area that the point represents, m^2
   */
  private add(u: number, v: number, area: number): void {
    const { a, b, c, n, x, nu } = this;
    const dx = a[0]! + u * b[0]! + v * c[0]! - x[0]!;
    const dy = a[1]! + u * b[1]! + v * c[1]! - x[1]!;
    const dz = a[2]! + u * b[2]! + v * c[2]! - x[2]!;
    const R = Math.sqrt(dx * dx + dy * dy + dz * dz);
    const r = [dx / R, dy / R, dz / R];
    const rn = r[0]! * n[0]! + r[1]! * n[1]! + r[2]! * n[2]!;
    const byU = (area * this.ofU) / R;
    const byT = (area * this.ofT) / (R * R);
    const hats = [1 - u - v, u, v];
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 3; j++) {
        const same = i === j ? 1 : 0;
        const U = byU * ((3 - 4 * nu) * same + r[i]! * r[j]!);
        const T =
          byT * (((1 - 2 * nu) * same + 3 * r[i]! * r[j]!) * rn - (1 - 2 * nu) * (r[i]! * n[j]! - r[j]! * n[i]!));
        for (let h = 0; h < 3; h++) {
          this.U[9 * h + 3 * i + j]! += hats[h]! * U;
          this.T[9 * h + 3 * i + j]! += hats[h]! * T;
        }
      }
  }
}
