/**
 * Elastic energy of Saint Venant-Kirchhoff tetrahedra, continued for crushed ones like in the kernel:
 *   isotropic              E = V (mu eps:eps + lambda/2 (tr eps)^2)
 *   orthotropic, plastic   E = V/2 (eps - eps_pl) : C (eps - eps_pl)
 * The plain formulas are written out here, because the twins are ten times slower and the ledger computes every element
 * in every substep.
 */
import type { Form } from "../constraints/constraint.ts";
import type { OrthotropicTetElements, PlasticTetElements, TetElements, TetShapes } from "../constraints/elements.ts";
import { orthotropicTensor } from "../scene/materialConstants.ts";
import { crushableEnergy } from "../reference/crushable.ts";
import { orthotropicEnergy } from "../reference/orthotropic.ts";
import { tetrahedronEnergy } from "../reference/tetrahedron.ts";

/** Green's strain of the last call of `strainOf`: 11 22 33, then gamma 23 13 12. */
const eps = new Float64Array(6);

/**
 * Sets `eps`.
 * @returns false if the element may be crushed so far that its energy is continued
 */
function strainOf(x: Float64Array, { particles, dmInverse: m }: TetShapes, i: number): boolean {
  const d = 9 * i;
  const p3 = 3 * particles[4 * i + 3]!;
  const F = [0, 0, 0, 0, 0, 0, 0, 0, 0];
  for (let c = 0; c < 3; c++) {
    const p = 3 * particles[4 * i + c]!;
    for (let r = 0; r < 3; r++) {
      const edge = x[p + r]! - x[p3 + r]!;
      for (let a = 0; a < 3; a++) F[3 * r + a]! += edge * m[d + 3 * c + a]!;
    }
  }
  const [a, b, c, f, g, h, k, l, n] = F as [number, number, number, number, number, number, number, number, number];
  eps[0] = (a * a + f * f + k * k - 1) / 2;
  eps[1] = (b * b + g * g + l * l - 1) / 2;
  eps[2] = (c * c + h * h + n * n - 1) / 2;
  eps[3] = b * c + g * h + l * n;
  eps[4] = a * c + f * h + k * n;
  eps[5] = a * b + f * g + k * l;
  // No principal strain is below -|eps|. So if |eps| < 1/3, every squared stretch is above 1/3 and the energy is not
  // continued. An inverted element is recognized by its volume.
  return square() < 1 / 9 && a * (g * n - h * l) + b * (h * k - f * n) + c * (f * l - g * k) > 0;
}

/** eps:eps */
function square(): number {
  return (
    eps[0]! * eps[0]! +
    eps[1]! * eps[1]! +
    eps[2]! * eps[2]! +
    (eps[3]! * eps[3]! + eps[4]! * eps[4]! + eps[5]! * eps[5]!) / 2
  );
}

/**
 * Elastic energy, J.
 * @param x float64[3N] m
 */
export function tetEnergy(x: Float64Array, e: TetElements, i: number, form?: Form): number {
  if (!strainOf(x, e, i)) return (form === "prefactored" ? crushableEnergy : tetrahedronEnergy)(x, e, i);
  const trace = eps[0]! + eps[1]! + eps[2]!;
  return e.volume[i]! * (e.mu * square() + (e.lambda / 2) * trace * trace);
}

const tensors = new WeakMap<object, number[][]>();

/**
 * Elastic energy, J.
 * @param x float64[3N] m
 */
export function orthotropicTetEnergy(
  x: Float64Array,
  e: OrthotropicTetElements | PlasticTetElements,
  i: number,
): number {
  if (!strainOf(x, e, i)) return orthotropicEnergy(x, e, i);
  let tensor = tensors.get(e.compliance);
  let sum = 0;
  if (!tensor) tensors.set(e.compliance, (tensor = orthotropicTensor(e.compliance)));
  if (e.kind === "tet-plastic") for (let I = 0; I < 6; I++) eps[I]! -= e.plasticStrain[6 * i + I]!;
  for (let I = 0; I < 6; I++) for (let J = 0; J < 6; J++) sum += tensor[I]![J]! * eps[I]! * eps[J]!;
  return (e.volume[i]! / 2) * sum;
}
