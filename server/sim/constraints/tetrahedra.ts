/** Rest shape of Saint Venant-Kirchhoff tetrahedra: D_m^-1 and V of each element (Bender et al. 2014, eq 9). */
import type { Plasticity, Vec3 } from "../../../shared/scene.ts";
import { rotationMatrix } from "../body/transform.ts";
import type { OrthotropicCompliance } from "../materials.ts";
import type { OrthotropicTetElements, PlasticTetElements, TetElements, TetShapes } from "./elements.ts";

/**
 * @param X float64[3N] m, undeformed positions
 * @param tets uint32[4n], positively oriented: det(X0-X3, X1-X3, X2-X3) > 0
 * @param lame mu, lambda in Pa
 */
export function tetElements(X: Float64Array, tets: Uint32Array, lame: { mu: number; lambda: number }): TetElements {
  return { kind: "tet", ...tetShapes(X, tets), mu: lame.mu, lambda: lame.lambda };
}

/**
 * Orthotropic: D_m is taken in the material's axes, so that F = D_s D_m^-1 maps them to the world and F^T F - I is in
 * them; at run time nothing rotates.
 * @param axes rotation vector from the body's own axes to the material's, degrees
 */
export function orthotropicElements(
  X: Float64Array,
  tets: Uint32Array,
  compliance: OrthotropicCompliance,
  axes?: Vec3,
): OrthotropicTetElements {
  return { kind: "tet-ortho", ...tetShapes(inAxes(X, axes), tets), compliance };
}

/** Elastoplastic, without plastic strain at first. */
export function plasticElements(
  X: Float64Array,
  tets: Uint32Array,
  compliance: OrthotropicCompliance,
  flow: Plasticity,
  axes?: Vec3,
): PlasticTetElements {
  return {
    kind: "tet-plastic",
    ...tetShapes(inAxes(X, axes), tets),
    compliance,
    flow,
    plasticStrain: new Float64Array((6 * tets.length) / 4),
  };
}

/** R^T X: coordinates along the material's axes, the columns of R. */
function inAxes(X: Float64Array, axes: Vec3 | undefined): Float64Array {
  const R = rotationMatrix(axes);
  const out = new Float64Array(X.length);
  for (let i = 0; i < X.length; i += 3)
    for (let r = 0; r < 3; r++) out[i + r] = R[r]! * X[i]! + R[3 + r]! * X[i + 1]! + R[6 + r]! * X[i + 2]!;
  return out;
}

function tetShapes(X: Float64Array, tets: Uint32Array): TetShapes {
  const n = tets.length / 4;
  const dmInverse = new Float64Array(9 * n);
  const volume = new Float64Array(n);
  for (let e = 0; e < n; e++) {
    const p3 = 3 * tets[4 * e + 3]!;
    const D: number[] = [];
    for (let row = 0; row < 3; row++)
      for (let column = 0; column < 3; column++) D.push(X[3 * tets[4 * e + column]! + row]! - X[p3 + row]!);
    const [a, b, c, d, f, g, h, i, j] = D as [number, number, number, number, number, number, number, number, number];
    const determinant = a * (f * j - g * i) - b * (d * j - g * h) + c * (d * i - f * h);
    if (!(determinant > 0)) throw new Error(`tetrahedron ${e}: volume ${determinant / 6} m^3 must be positive`);
    const cofactors = [
      f * j - g * i,
      c * i - b * j,
      b * g - c * f,
      g * h - d * j,
      a * j - c * h,
      c * d - a * g,
      d * i - f * h,
      b * h - a * i,
      a * f - b * d,
    ];
    for (let k = 0; k < 9; k++) dmInverse[9 * e + k] = cofactors[k]! / determinant;
    volume[e] = determinant / 6;
  }
  return { particles: tets, dmInverse, volume };
}
