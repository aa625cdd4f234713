/**
 * Elastic energy densities of isotropic solids with first and second derivatives by the deformation gradient, in
 * float64, for static solutions. Written from the equations alone, so that a mistake of the solver is not repeated
 * here.
 *
 *   stvk                Psi = mu E:E + lambda/2 (tr E)^2,  E = (F^T F - I)/2            Bender et al. 2014, eqs 4 and 5
 *   neo-hookean         Psi = mu/2 (I1 - log I3 - 3) + lambda/8 log(I3)^2               Bender et al. 2014, eq 8
 *   stable-neo-hookean  Psi = mu/2 (I1 - 3) + l/2 (J - 1 - mu/l)^2,  l = lambda + mu    Macklin & Mueller 2021,
 *                                                                                       eqs 4 to 8
 *
 * The second derivative of J at rest subtracts mu from l. With l = lambda + mu, k and nu of small strains are therefore
 * the given ones (Smith et al. 2018, section 3.4). No model is continued past its limits: an inverted element has
 * infinite energy.
 *
 * Matrices are flat, row by row: F[3 i + a] = F_ia; a tangent A[9 (3 i + a) + (3 k + b)] = d P_ia / d F_kb.
 */
import type { IsotropicMaterial } from "../../shared/scene/sceneMaterials.ts";

export type StaticModel = NonNullable<IsotropicMaterial["model"]>;
type Nine = [number, number, number, number, number, number, number, number, number];

/** Psi in J/m^3 and its derivatives. `out` is overwritten. */
export interface Density {
  energy(F: Float64Array): number;
  /** P = dPsi/dF, Pa. @param out float64[9] */
  stress(F: Float64Array, out: Float64Array): void;
  /** dP/dF, Pa. @param out float64[81] */
  tangent(F: Float64Array, out: Float64Array): void;
}

/** det F */
export function determinant3(F: Float64Array): number {
  const [a, b, c, d, e, f, g, h, i] = F as unknown as Nine;
  return a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g);
}

/** cof F = dJ/dF = J F^-T */
function cofactors(F: Float64Array, out: Float64Array): void {
  const [a, b, c, d, e, f, g, h, i] = F as unknown as Nine;
  out[0] = e * i - f * h;
  out[1] = f * g - d * i;
  out[2] = d * h - e * g;
  out[3] = c * h - b * i;
  out[4] = a * i - c * g;
  out[5] = b * g - a * h;
  out[6] = b * f - c * e;
  out[7] = c * d - a * f;
  out[8] = a * e - b * d;
}

/** out += s d(cof F)/dF: if i, k, m are all different and a, b, n too, d cof_ia / d F_kb = sign(ikm) sign(abn) F_mn. */
function addCofactorTangent(F: Float64Array, s: number, out: Float64Array): void {
  for (let i = 0; i < 3; i++)
    for (let a = 0; a < 3; a++)
      for (let up = 1; up < 3; up++)
        for (let right = 1; right < 3; right++) {
          const k = (i + up) % 3;
          const b = (a + right) % 3;
          const m = 3 - i - k;
          const n = 3 - a - b;
          out[9 * (3 * i + a) + 3 * k + b]! += (up === right ? s : -s) * F[3 * m + n]!;
        }
}

const square = (F: Float64Array): number => F.reduce((sum, f) => sum + f * f, 0);

function stVenantKirchhoff(mu: number, lambda: number): Density {
  const S = new Float64Array(9);
  // S = 2 mu E + lambda tr E; returns Psi
  const second = (F: Float64Array): number => {
    let trace = 0;
    let contraction = 0;
    for (let a = 0; a < 3; a++)
      for (let b = 0; b < 3; b++) {
        const E = (F[a]! * F[b]! + F[3 + a]! * F[3 + b]! + F[6 + a]! * F[6 + b]! - (a === b ? 1 : 0)) / 2;
        S[3 * a + b] = 2 * mu * E;
        contraction += E * E;
        if (a === b) trace += E;
      }
    for (let a = 0; a < 9; a += 4) S[a]! += lambda * trace;
    return mu * contraction + (lambda / 2) * trace * trace;
  };
  return {
    energy: second,
    stress(F, out) {
      second(F);
      for (let i = 0; i < 3; i++)
        for (let a = 0; a < 3; a++)
          out[3 * i + a] = F[3 * i]! * S[a]! + F[3 * i + 1]! * S[3 + a]! + F[3 * i + 2]! * S[6 + a]!;
    },
    tangent(F, out) {
      second(F);
      for (let i = 0; i < 3; i++)
        for (let k = 0; k < 3; k++) {
          const rows = F[3 * i]! * F[3 * k]! + F[3 * i + 1]! * F[3 * k + 1]! + F[3 * i + 2]! * F[3 * k + 2]!;
          for (let a = 0; a < 3; a++)
            for (let b = 0; b < 3; b++) {
              out[9 * (3 * i + a) + 3 * k + b] =
                (i === k ? S[3 * b + a]! : 0) +
                mu * (F[3 * i + b]! * F[3 * k + a]! + (a === b ? rows : 0)) +
                lambda * F[3 * i + a]! * F[3 * k + b]!;
            }
        }
    },
  };
}

function neoHookean(mu: number, lambda: number): Density {
  const C = new Float64Array(9);
  return {
    energy(F) {
      const J = determinant3(F);
      if (!(J > 0)) return Infinity;
      const log = Math.log(J); // log I3 = 2 log J
      return (mu / 2) * (square(F) - 2 * log - 3) + (lambda / 2) * log * log;
    },
    stress(F, out) {
      const J = determinant3(F);
      const s = (lambda * Math.log(J) - mu) / J;
      cofactors(F, C);
      for (let i = 0; i < 9; i++) out[i] = mu * F[i]! + s * C[i]!;
    },
    tangent(F, out) {
      const J = determinant3(F);
      const s = (lambda * Math.log(J) - mu) / J;
      const slope = (lambda / J - s) / J; // ds/dJ
      cofactors(F, C);
      for (let p = 0; p < 9; p++)
        for (let q = 0; q < 9; q++) out[9 * p + q] = (p === q ? mu : 0) + slope * C[p]! * C[q]!;
      addCofactorTangent(F, s, out);
    },
  };
}

function stableNeoHookean(mu: number, lambda: number): Density {
  const C = new Float64Array(9);
  const l = lambda + mu;
  const rest = 1 + mu / l;
  return {
    energy(F) {
      const beyond = determinant3(F) - rest;
      return (mu / 2) * (square(F) - 3) + (l / 2) * (beyond * beyond - (1 - rest) ** 2); // zero at rest
    },
    stress(F, out) {
      const s = l * (determinant3(F) - rest);
      cofactors(F, C);
      for (let i = 0; i < 9; i++) out[i] = mu * F[i]! + s * C[i]!;
    },
    tangent(F, out) {
      cofactors(F, C);
      for (let p = 0; p < 9; p++) for (let q = 0; q < 9; q++) out[9 * p + q] = (p === q ? mu : 0) + l * C[p]! * C[q]!;
      addCofactorTangent(F, l * (determinant3(F) - rest), out);
    },
  };
}

/** @param youngsModulus k, Pa; poissonsRatio nu, 0 <= nu < 0.5 */
export function densityOf(model: StaticModel, youngsModulus: number, poissonsRatio: number): Density {
  const k = youngsModulus;
  const nu = poissonsRatio;
  const mu = k / (2 * (1 + nu));
  const lambda = (k * nu) / ((1 + nu) * (1 - 2 * nu));
  switch (model) {
    case "stvk":
      return stVenantKirchhoff(mu, lambda);
    case "neo-hookean":
      return neoHookean(mu, lambda);
    case "stable-neo-hookean":
      return stableNeoHookean(mu, lambda);
  }
}
