/** Twin of kernel/assembly/prefactored/tetrahedra.ts: Saint Venant-Kirchhoff tetrahedra that resist crushing. */
import type { TetElements } from "../constraints/elements.ts";
import { deformationGradient, shapeOf } from "./tetrahedron.ts";
import {
  apply,
  cross,
  determinant,
  IDENTITY,
  inner,
  linear,
  multiply,
  scale,
  trace,
  transpose,
  type Matrix,
  type Vector,
} from "./vector.ts";

/** Volume over that at rest below which a tetrahedron resists with mu (CRUSHED - J)^2, too. */
const CRUSHED = 0.3;

/** Elastic energy of tetrahedron i, J. */
export function crushableEnergy(x: Float64Array, e: TetElements, i: number): number {
  const F = deformationGradient(x, e, i);
  const strain = strainOf(F);
  const missing = Math.max(0, CRUSHED - determinant(F));
  const t = trace(strain);
  return e.volume[i]! * (e.mu * (inner(strain, strain) + missing * missing) + (e.lambda / 2) * t * t);
}

const cofactor = ([a, b, c]: Matrix): Matrix => [cross(b, c), cross(c, a), cross(a, b)];
const strainOf = (F: Matrix): Matrix => linear(0.5, multiply(transpose(F), F), -0.5, IDENTITY);

/** Its gradient at the four corners, N. */
export function crushableGradient(x: Float64Array, e: TetElements, i: number): readonly Vector[] {
  const F = deformationGradient(x, e, i);
  const strain = strainOf(F);
  const stress = linear(2 * e.mu, strain, e.lambda * trace(strain), IDENTITY);
  const missing = Math.max(0, CRUSHED - determinant(F));
  const P = linear(1, multiply(F, stress), -2 * e.mu * missing, cofactor(F));
  return shapeOf(e, i).map((b) => scale(e.volume[i]!, apply(P, b)));
}
