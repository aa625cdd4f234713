/**
 * Finite elements in float64, written for the report without code of the solver: linear triangles and tetrahedra of
 * Saint Venant-Kirchhoff material, f = -V P D_m^-T with P = F S, S = C : eps (Bender et al. 2014, eqs 4-7, 9). The
 * solver uses compliances; here C is the stiffness tensor.
 */
type Triple = [number, number, number];

/** Plane-stress constants as in a scene, Pa. */
export interface SheetConstants {
  kWeft: number;
  kWarp: number;
  kShear: number;
  nuWeft: number;
  nuWarp: number;
}

/** Writes dE/dx of the three corners of triangle i, N, to out float64[9]. */
type SheetForce = (x: Float64Array, i: number, out: Float64Array) => void;

/**
 * @param X float64[3N] m, flat sheet or disjoint triangles; weft is the x axis projected onto the triangle
 * @param triangles uint32[3n], @param thickness m
 */
function sheetForce(X: Float64Array, triangles: Uint32Array, m: SheetConstants, thickness: number): SheetForce {
  const both = 1 - m.nuWeft * m.nuWarp;
  const c00 = m.kWeft / both;
  const c11 = m.kWarp / both;
  const c01 = (m.kWeft * m.nuWarp) / both;
  const c22 = m.kShear;
  const n = triangles.length / 3;
  const shape = new Float64Array(6 * n);
  const volume = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const [A, B, C] = [0, 1, 2].map((k) => at(X, triangles[3 * i + k]!)) as [Triple, Triple, Triple];
    const normal = cross(minus(B, A), minus(C, A));
    const twice = Math.hypot(...normal);
    const unit = times(1 / twice, normal);
    const weft = minus([1, 0, 0], times(unit[0], unit));
    const length = Math.hypot(...weft);
    const e1 = times(1 / length, weft);
    const e2 = cross(unit, e1);
    // gradient of a corner's shape function: perpendicular to the opposite side, with length 1/height
    [
      [B, C],
      [C, A],
      [A, B],
    ].forEach(([from, to], k) => {
      const g = times(1 / twice, cross(unit, minus(to!, from!)));
      shape[6 * i + 2 * k] = dot(g, e1);
      shape[6 * i + 2 * k + 1] = dot(g, e2);
    });
    volume[i] = (twice / 2) * thickness;
  }
  return (x, i, out) => {
    let a0 = 0;
    let a1 = 0;
    let a2 = 0;
    let b0 = 0;
    let b1 = 0;
    let b2 = 0; // columns of F
    for (let k = 0; k < 3; k++) {
      const p = 3 * triangles[3 * i + k]!;
      const g1 = shape[6 * i + 2 * k]!;
      const g2 = shape[6 * i + 2 * k + 1]!;
      a0 += x[p]! * g1;
      a1 += x[p + 1]! * g1;
      a2 += x[p + 2]! * g1;
      b0 += x[p]! * g2;
      b1 += x[p + 1]! * g2;
      b2 += x[p + 2]! * g2;
    }
    const e11 = (a0 * a0 + a1 * a1 + a2 * a2 - 1) / 2;
    const e22 = (b0 * b0 + b1 * b1 + b2 * b2 - 1) / 2;
    const gamma = a0 * b0 + a1 * b1 + a2 * b2;
    const s11 = c00 * e11 + c01 * e22;
    const s22 = c01 * e11 + c11 * e22;
    const s12 = c22 * gamma;
    const V = volume[i]!;
    for (let k = 0; k < 3; k++) {
      const g1 = shape[6 * i + 2 * k]!;
      const g2 = shape[6 * i + 2 * k + 1]!;
      const a = V * (s11 * g1 + s12 * g2);
      const b = V * (s12 * g1 + s22 * g2);
      out[3 * k] = a * a0 + b * b0;
      out[3 * k + 1] = a * a1 + b * b1;
      out[3 * k + 2] = a * a2 + b * b2;
    }
  };
}

/** Forces of a sheet's triangles, as (x, i) -> three vectors. */
export function sheetForces(
  X: Float64Array,
  triangles: Uint32Array,
  m: SheetConstants,
  thickness: number,
): (x: Float64Array, i: number) => Triple[] {
  const force = sheetForce(X, triangles, m, thickness);
  const out = new Float64Array(9);
  return (x, i) => {
    force(x, i, out);
    return [at(out, 0), at(out, 1), at(out, 2)];
  };
}

export interface ExplicitSheet {
  /** float64[3N] m, rest */
  X: Float64Array;
  /** float64[3N] m, initial positions; default X */
  start?: Float64Array;
  triangles: Uint32Array;
  constants: SheetConstants;
  /** m */
  thickness: number;
  /** kg/m^3 */
  density: number;
  /** fixed particles */
  fixed: ReadonlySet<number>;
  /** float64[3N] N, dead loads */
  load: Float64Array;
  /** 1/s */
  damping: number;
}

/**
 * Symplectic Euler in float64 from rest with lumped masses: the classical explicit finite element method.
 * @param h s; stable while sound crosses less than an element in it
 * @returns float64[3N] m, and the speed of the fastest particle at the end, m/s
 */
export function integrateSheet(
  sheet: ExplicitSheet,
  h: number,
  seconds: number,
  progress?: (done: number) => void,
): { x: Float64Array; speed: number } {
  const { X, triangles, constants, thickness, density, fixed, load, damping } = sheet;
  const n = triangles.length / 3;
  const x = Float64Array.from(sheet.start ?? X);
  const v = new Float64Array(X.length);
  const f = new Float64Array(X.length);
  const element = sheetForce(X, triangles, constants, thickness);
  const out = new Float64Array(9);
  const factor = new Float64Array(X.length);
  const mass = new Float64Array(X.length / 3);
  for (let i = 0; i < n; i++) {
    const [a, b, c] = [0, 1, 2].map((k) => at(X, triangles[3 * i + k]!)) as [Triple, Triple, Triple];
    const area = Math.hypot(...cross(minus(b, a), minus(c, a))) / 2;
    for (let k = 0; k < 3; k++) mass[triangles[3 * i + k]!]! += (density * thickness * area) / 3;
  }
  for (let k = 0; k < factor.length; k++) factor[k] = fixed.has(Math.floor(k / 3)) ? 0 : h / mass[Math.floor(k / 3)]!;
  const steps = Math.round(seconds / h);
  const keep = 1 - h * damping;
  for (let step = 0; step < steps; step++) {
    f.set(load);
    for (let i = 0; i < n; i++) {
      element(x, i, out);
      for (let k = 0; k < 3; k++) {
        const p = 3 * triangles[3 * i + k]!;
        f[p]! -= out[3 * k]!;
        f[p + 1]! -= out[3 * k + 1]!;
        f[p + 2]! -= out[3 * k + 2]!;
      }
    }
    for (let k = 0; k < x.length; k++) {
      v[k] = keep * v[k]! + factor[k]! * f[k]!;
      x[k]! += h * v[k]!;
    }
    if (progress && step % 10000 === 0) progress(step / steps);
  }
  return { x, speed: v.reduce((most, value) => Math.max(most, Math.abs(value)), 0) };
}

/**
 * @param X float64[3N] m, @param tets uint32[4n], @param k Pa, @param nu Poisson's ratio
 * @returns (x, i) -> dE/dx of the four corners of tetrahedron i, N
 */
export function solidForces(
  X: Float64Array,
  tets: Uint32Array,
  k: number,
  nu: number,
): (x: Float64Array, i: number) => Triple[] {
  const mu = k / 2 / (1 + nu);
  const lambda = (k * nu) / (1 + nu) / (1 - 2 * nu);
  const shapes = Array.from({ length: tets.length / 4 }, (_, i) => {
    const p = [0, 1, 2, 3].map((c) => at(X, tets[4 * i + c]!)) as [Triple, Triple, Triple, Triple];
    // area vector of the face opposite to a corner over three volumes, pointing at the corner
    const gradients = p.map((corner, c) => {
      const [a, b, d] = p.filter((_, other) => other !== c) as [Triple, Triple, Triple];
      const area = cross(minus(b, a), minus(d, a));
      return times(1 / dot(area, minus(corner, a)), area);
    });
    return { gradients, volume: Math.abs(dot(cross(minus(p[1], p[0]), minus(p[2], p[0])), minus(p[3], p[0]))) / 6 };
  });
  return (x, i) => {
    const { gradients, volume } = shapes[i]!;
    const corners = [0, 1, 2, 3].map((c) => at(x, tets[4 * i + c]!));
    const F = [0, 1, 2].map((r) =>
      [0, 1, 2].map((s) => corners.reduce((sum, corner, c) => sum + corner[r]! * gradients[c]![s]!, 0)),
    );
    const eps = [0, 1, 2].map((r) =>
      [0, 1, 2].map(
        (s) => (F[0]![r]! * F[0]![s]! + F[1]![r]! * F[1]![s]! + F[2]![r]! * F[2]![s]! - (r === s ? 1 : 0)) / 2,
      ),
    );
    const trace = eps[0]![0]! + eps[1]![1]! + eps[2]![2]!;
    const S = eps.map((row, r) => row.map((e, s) => 2 * mu * e + (r === s ? lambda * trace : 0)));
    return gradients.map((g) => {
      const Sg = S.map((row) => volume * dot(row as Triple, g)) as Triple;
      return F.map((row) => dot(row as Triple, Sg)) as Triple;
    });
  };
}

const at = (a: Float64Array, i: number): Triple => [a[3 * i]!, a[3 * i + 1]!, a[3 * i + 2]!];
const minus = (a: Triple, b: Triple): Triple => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (s: number, a: Triple): Triple => [s * a[0], s * a[1], s * a[2]];
const dot = (a: Triple, b: Triple): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Triple, b: Triple): Triple => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
