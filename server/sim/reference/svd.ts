/**
 * Singular value decomposition F = U diag(sigma) V^T with rotations U and V, sigma_0 >= sigma_1 >= |sigma_2|; a
 * reflection in F shows as a negative sigma_2 (Irving et al. 2004, section 5). Eigenvectors of F^T F by cyclic Jacobi
 * (Golub & Van Loan, section 8.5).
 */
import {
  apply,
  column,
  columns,
  cross,
  dot,
  IDENTITY,
  multiply,
  norm,
  scale,
  subtract,
  transpose,
  type Matrix,
  type Vector,
} from "./vector.ts";

export interface Svd {
  U: Matrix;
  sigma: Vector;
  V: Matrix;
}

export function svd(F: Matrix): Svd {
  const { values, vectors } = symmetricEigen(multiply(transpose(F), F));
  const order = ([0, 1, 2] as (0 | 1 | 2)[]).sort((a, b) => values[b]! - values[a]!);
  const v0 = column(vectors, order[0]!);
  const v1 = column(vectors, order[1]!);
  const v2 = cross(v0, v1); // makes V a rotation

  // columns of U: F v_k, normalized, orthogonal to the previous ones
  const Fv0 = apply(F, v0);
  const sigma0 = norm(Fv0);
  const u0: Vector = sigma0 > 0 ? scale(1 / sigma0, Fv0) : [1, 0, 0];
  const Fv1 = apply(F, v1);
  const across = subtract(Fv1, scale(dot(u0, Fv1), u0));
  const size1 = norm(across);
  // a size of F v_1 below rounding gives no direction: the element has collapsed to a line
  const line = !(size1 > 1e-12 * sigma0);
  const u1 = line ? perpendicular(u0) : scale(1 / size1, across);
  const u2 = cross(u0, u1); // makes U a rotation
  return { U: columns(u0, u1, u2), sigma: [sigma0, line ? 0 : size1, dot(u2, apply(F, v2))], V: columns(v0, v1, v2) };
}

/** A unit vector perpendicular to the unit vector a: from the coordinate axis with the smallest component of a. */
export function perpendicular(a: Vector): Vector {
  const size = a.map(Math.abs);
  const k = size.indexOf(Math.min(...size));
  const axis: Vector = [k === 0 ? 1 : 0, k === 1 ? 1 : 0, k === 2 ? 1 : 0];
  const p = cross(axis, a);
  return scale(1 / norm(p), p);
}

/** Eigenvalues and eigenvectors (columns) of a symmetric matrix. */
function symmetricEigen(symmetric: Matrix): { values: number[]; vectors: Matrix } {
  let A = symmetric;
  let V = IDENTITY;
  for (let sweep = 0; sweep < 12; sweep++) {
    for (const [p, q] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ] as const) {
      const a = A[p][q];
      if (a === 0) continue;
      // the rotation by theta in the p-q plane that makes A_pq zero
      const cotangent = (A[q][q] - A[p][p]) / (2 * a);
      const t = Math.sign(cotangent || 1) / (Math.abs(cotangent) + Math.sqrt(cotangent * cotangent + 1));
      const c = 1 / Math.sqrt(t * t + 1);
      const s = t * c;
      const rotation: [[number, number, number], [number, number, number], [number, number, number]] = [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
      ];
      rotation[p][p] = c;
      rotation[q][q] = c;
      rotation[p][q] = s;
      rotation[q][p] = -s;
      A = multiply(transpose(rotation), multiply(A, rotation));
      V = multiply(V, rotation);
    }
  }
  return { values: [A[0][0], A[1][1], A[2][2]], vectors: V };
}
