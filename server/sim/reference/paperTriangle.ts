/**
 * Twin of kernel/assembly/constraints/paper/paperTriangle.ts: energy of a cloth triangle whose strain continues
 * linearly below the singular value s0 = 1/sqrt 3 (Bender et al. 2014, section 4.2 and figure 2 b, applied to sheets of
 * any elasticity tensor).
 *
 *   F = U diag(s) V^T (3x2, s >= 0),  eps = V diag(t) V^T,  t_i = (s_i^2 - 1)/2 above s0, e0 + s0 (s_i - s0) below
 */
import type { TriangleElements } from "../constraints/elements.ts";
import { fabricGradient, shapeOf, sheetStress } from "./triangle.ts";
import { perpendicular } from "./svd.ts";
import { add, combine, dot, norm, scale, subtract, type Vector } from "./vector.ts";

const S0 = 1 / Math.sqrt(3);
const E0 = -1 / 3;

interface Frame {
  /** s_0 >= s_1 >= 0 */
  s: [number, number];
  /** columns of V */
  v: [[number, number], [number, number]];
  /** columns of U */
  u: [Vector, Vector];
}

function frameOf([f0, f1]: [Vector, Vector]): Frame {
  const a = dot(f0, f0);
  const b = dot(f1, f1);
  const off = dot(f0, f1);
  // eigenvectors of F^T F at half the angle
  const angle = 0.5 * Math.atan2(2 * off, a - b);
  const c = Math.cos(angle);
  const d = Math.sin(angle);
  const v: Frame["v"] = [
    [c, d],
    [-d, c],
  ];
  const Fv0 = combine(v[0], [f0, f1]);
  const s0 = norm(Fv0);
  const u0: Vector = s0 > 0 ? scale(1 / s0, Fv0) : [1, 0, 0];
  const Fv1 = combine(v[1], [f0, f1]);
  const across = subtract(Fv1, scale(dot(Fv1, u0), u0));
  const s1 = norm(across);
  const line = !(s1 > 1e-12 * s0);
  return { s: [s0, line ? 0 : s1], v, u: [u0, line ? perpendicular(u0) : scale(1 / s1, across)] };
}

function continuedStrain({ s, v }: Frame): { t: [number, number]; strain: [number, number, number] } {
  const [t0, t1] = s.map((si) => (si < S0 ? E0 + S0 * (si - S0) : (si * si - 1) / 2)) as [number, number];
  const entry = (a: 0 | 1, b: 0 | 1): number => t0 * v[0][a] * v[0][b] + t1 * v[1][a] * v[1][b];
  return { t: [t0, t1], strain: [entry(0, 0), entry(1, 1), 2 * entry(0, 1)] };
}

/** Energy of triangle i, J. */
export function continuedTriangleEnergy(x: Float64Array, e: TriangleElements, i: number): number {
  const { strain } = continuedStrain(frameOf(fabricGradient(x, e, i)));
  const stress = sheetStress(e, i, strain);
  return 0.5 * (stress[0] * strain[0] + stress[1] * strain[1] + stress[2] * strain[2]);
}

/** dE/dx_j of the three corners, N. */
export function continuedTriangleGradient(x: Float64Array, e: TriangleElements, i: number): Vector[] {
  const frame = frameOf(fabricGradient(x, e, i));
  const { s, v, u } = frame;
  const { t, strain } = continuedStrain(frame);
  const [xx, yy, xy] = sheetStress(e, i, strain);
  // T = V^T S V
  const inFrame = (a: readonly [number, number], b: readonly [number, number]): number =>
    xx * a[0] * b[0] + yy * a[1] * b[1] + xy * (a[0] * b[1] + a[1] * b[0]);
  const sum = s[0] + s[1];
  const r = s[1] >= S0 ? 0.5 : s[0] < S0 ? (sum > 0 ? S0 / sum : 0) : (t[0] - t[1]) / ((s[0] - s[1]) * sum);
  const shear = 2 * r * inFrame(v[0], v[1]);
  // columns of dE/dF V, then of dE/dF
  const g0 = combine([inFrame(v[0], v[0]) * Math.max(s[0], S0), shear * s[1]], u);
  const g1 = combine([shear * s[0], inFrame(v[1], v[1]) * Math.max(s[1], S0)], u);
  const P = [0, 1].map((k) => add(scale(v[0][k]!, g0), scale(v[1][k]!, g1)));
  return shapeOf(e, i).map((b) => combine(b, P));
}
