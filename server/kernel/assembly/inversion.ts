/**
 * Flat, strongly compressed and inverted elements: the strain measures are continued beyond the point where the Saint Venant-Kirchhoff
 * stress turns back, so that the restoring stress never fades (Bender et al. 2014, section 4.2 and figure 2 b; Irving et al. 2004).
 *
 * F = U diag(sigma) V^T with rotations U, V; a reflection shows as a negative smallest sigma. For sigma_i < s0 = 1/sqrt 3 (58 %
 * compression) both measures go on linearly in sigma_i:
 *   q = sum_i eps_i^2      q_i = e0^2 + 2 e0 s0 (sigma_i - s0),  e0 = (s0^2 - 1)/2 = -1/3        (the clamped stress of figure 2 b)
 *   t = sum_i eps_i        t_i = e0 + s0 (sigma_i - s0)
 * Clamping by singular value and not only for det F < 0 lets a nearly flat element recover as fast as an inverted one.
 * Such a lane is solved as one scalar constraint of its continued energy E = mu V q + lambda V t^2 / 2, without accumulated multipliers
 * (the six of the regular path have no meaning here and start again from zero):
 *   P = V dPsi/dF = 2 mu V U diag(eps_i sigma_i) V^T + lambda V t U diag(sigma_i) V^T,  x_i -= w_i P b_i 2E / (sum_i w_i |P b_i|^2 + 2E/h^2)
 * Scalar float64: few lanes come here, and U needs the digits. No transcendental function, so the bits are the same everywhere.
 */

import { TET_K, TET_S, TET_LAMBDA } from "./layout";

const S0: f64 = 0.5773502691896257;
const E0: f64 = -1.0 / 3.0;

// one instance belongs to one thread, so plain globals are this thread's own
let a00: f64, a01: f64, a02: f64, a11: f64, a12: f64, a22: f64;
let v00: f64, v01: f64, v02: f64, v10: f64, v11: f64, v12: f64, v20: f64, v21: f64, v22: f64;

/** tan of the Jacobi rotation that clears `apq`, by the stable formula (Golub & Van Loan, section 8.5). */
@inline function jacobiTangent(app: f64, aqq: f64, apq: f64): f64 {
  const theta = (aqq - app) / (2.0 * apq);
  const t = 1.0 / (Math.abs(theta) + Math.sqrt(theta * theta + 1.0));
  return theta < 0.0 ? -t : t;
}

/** Eigenvectors of the symmetric a.. into the columns of v.., eigenvalues into a00 a11 a22; cyclic Jacobi, fixed number of sweeps. */
function diagonalize(): void {
  v00 = 1; v01 = 0; v02 = 0; v10 = 0; v11 = 1; v12 = 0; v20 = 0; v21 = 0; v22 = 1;
  // quadratic convergence: 3x3 is diagonal to float64 rounding after 5 sweeps
  for (let sweep = 0; sweep < 6; sweep++) {
    if (a01 != 0.0) {
      const t = jacobiTangent(a00, a11, a01), c = 1.0 / Math.sqrt(t * t + 1.0), s = t * c;
      a00 -= t * a01; a11 += t * a01; a01 = 0.0;
      const h = a02; a02 = c * h - s * a12; a12 = s * h + c * a12;
      let g = v00; v00 = c * g - s * v01; v01 = s * g + c * v01;
      g = v10; v10 = c * g - s * v11; v11 = s * g + c * v11;
      g = v20; v20 = c * g - s * v21; v21 = s * g + c * v21;
    }
    if (a02 != 0.0) {
      const t = jacobiTangent(a00, a22, a02), c = 1.0 / Math.sqrt(t * t + 1.0), s = t * c;
      a00 -= t * a02; a22 += t * a02; a02 = 0.0;
      const h = a01; a01 = c * h - s * a12; a12 = s * h + c * a12;
      let g = v00; v00 = c * g - s * v02; v02 = s * g + c * v02;
      g = v10; v10 = c * g - s * v12; v12 = s * g + c * v12;
      g = v20; v20 = c * g - s * v22; v22 = s * g + c * v22;
    }
    if (a12 != 0.0) {
      const t = jacobiTangent(a11, a22, a12), c = 1.0 / Math.sqrt(t * t + 1.0), s = t * c;
      a11 -= t * a12; a22 += t * a12; a12 = 0.0;
      const h = a01; a01 = c * h - s * a02; a02 = s * h + c * a02;
      let g = v01; v01 = c * g - s * v02; v02 = s * g + c * v02;
      g = v11; v11 = c * g - s * v12; v12 = s * g + c * v12;
      g = v21; v21 = c * g - s * v22; v22 = s * g + c * v22;
    }
  }
}

@inline function swap01(): void {
  let g = a00; a00 = a11; a11 = g;
  g = v00; v00 = v01; v01 = g; g = v10; v10 = v11; v11 = g; g = v20; v20 = v21; v21 = g;
}
@inline function swap12(): void {
  let g = a11; a11 = a22; a22 = g;
  g = v01; v01 = v02; v02 = g; g = v11; v11 = v12; v12 = g; g = v21; v21 = v22; v22 = g;
}

/** Replaces G in `scratch` (rows of four lanes: F, G) for lanes whose bit in `sound` is 0, and clears their multipliers and what they applied. */
export function solveInvertedLanes(scratch: usize, sound: i32, block: usize, inverseH2: f64): void {
  for (let lane = 0; lane < 4; lane++) if (!(sound & (1 << lane))) solveLane(scratch + (lane << 2), block + (lane << 2), inverseH2);
}

function solveLane(at: usize, element: usize, inverseH2: f64): void {
  const f00: f64 = load<f32>(at, 0), f01: f64 = load<f32>(at, 16), f02: f64 = load<f32>(at, 32);
  const f10: f64 = load<f32>(at, 48), f11: f64 = load<f32>(at, 64), f12: f64 = load<f32>(at, 80);
  const f20: f64 = load<f32>(at, 96), f21: f64 = load<f32>(at, 112), f22: f64 = load<f32>(at, 128);
  a00 = f00 * f00 + f10 * f10 + f20 * f20; a11 = f01 * f01 + f11 * f11 + f21 * f21; a22 = f02 * f02 + f12 * f12 + f22 * f22;
  a01 = f00 * f01 + f10 * f11 + f20 * f21; a02 = f00 * f02 + f10 * f12 + f20 * f22; a12 = f01 * f02 + f11 * f12 + f21 * f22;
  diagonalize();
  if (a00 < a11) swap01();
  if (a11 < a22) swap12();
  if (a00 < a11) swap01();
  // v2 = v0 x v1: a rotation whatever the swaps did
  v02 = v10 * v21 - v20 * v11; v12 = v20 * v01 - v00 * v21; v22 = v00 * v11 - v10 * v01;

  let u00 = f00 * v00 + f01 * v10 + f02 * v20, u10 = f10 * v00 + f11 * v10 + f12 * v20, u20 = f20 * v00 + f21 * v10 + f22 * v20;
  const s1 = Math.sqrt(u00 * u00 + u10 * u10 + u20 * u20);
  if (!(s1 > 1e-30)) { u00 = 1; u10 = 0; u20 = 0; } // collapsed to a point (or not a number): any direction will do. Sigma is a ratio of lengths: no unit
  else { u00 /= s1; u10 /= s1; u20 /= s1; }
  let u01 = f00 * v01 + f01 * v11 + f02 * v21, u11 = f10 * v01 + f11 * v11 + f12 * v21, u21 = f20 * v01 + f21 * v11 + f22 * v21;
  const along = u01 * u00 + u11 * u10 + u21 * u20;
  u01 -= along * u00; u11 -= along * u10; u21 -= along * u20;
  let s2 = Math.sqrt(u01 * u01 + u11 * u11 + u21 * u21);
  if (!(s2 > 1e-12 * s1) || !(s2 > 1e-30)) {
    // collapsed to a line: a perpendicular, from the coordinate axis least along u0
    s2 = 0;
    const ax = Math.abs(u00), ay = Math.abs(u10), az = Math.abs(u20);
    if (ax <= ay && ax <= az) { u01 = 0; u11 = -u20; u21 = u10; }
    else if (ay <= az) { u01 = u20; u11 = 0; u21 = -u00; }
    else { u01 = -u10; u11 = u00; u21 = 0; }
    const l = Math.sqrt(u01 * u01 + u11 * u11 + u21 * u21);
    u01 /= l; u11 /= l; u21 /= l;
  } else { u01 /= s2; u11 /= s2; u21 /= s2; }
  const u02 = u10 * u21 - u20 * u11, u12 = u20 * u01 - u00 * u21, u22 = u00 * u11 - u10 * u01;
  const s3 = u02 * (f00 * v02 + f01 * v12 + f02 * v22) + u12 * (f10 * v02 + f11 * v12 + f12 * v22) + u22 * (f20 * v02 + f21 * v12 + f22 * v22);

  const h1 = Math.max(s1, S0), h2 = Math.max(s2, S0), h3 = Math.max(s3, S0);
  const e1 = (h1 * h1 - 1.0) * 0.5, e2 = (h2 * h2 - 1.0) * 0.5, e3 = (h3 * h3 - 1.0) * 0.5;
  // min(sigma - s0, 0): how far beyond the turning point
  const b1 = Math.min(s1 - S0, 0.0), b2 = Math.min(s2 - S0, 0.0), b3 = Math.min(s3 - S0, 0.0);
  const q = e1 * e1 + e2 * e2 + e3 * e3 + 2.0 * E0 * S0 * (b1 + b2 + b3);
  const t = e1 + e2 + e3 + S0 * (b1 + b2 + b3);
  // mu V and lambda V from the compliance: S_normal = 1/(k V), S_coupling = -nu/(k V), S_shear = 1/(mu V)
  const sn: f64 = load<f32>(element, TET_S), nu = -(<f64>load<f32>(element, TET_S + 16)) / sn;
  const muV = 1.0 / <f64>load<f32>(element, TET_S + 32), lambdaV = nu / (sn * (1.0 + nu) * (1.0 - 2.0 * nu));
  const energy2 = 2.0 * muV * q + lambdaV * t * t;
  // singular values of P: (1/2) dq/dsigma_i = eps_i sigma_i and dt/dsigma_i = sigma_i, both at the clamped sigma
  const g1 = (2.0 * muV * e1 + lambdaV * t) * h1, g2 = (2.0 * muV * e2 + lambdaV * t) * h2, g3 = (2.0 * muV * e3 + lambdaV * t) * h3;
  const p00 = u00 * g1 * v00 + u01 * g2 * v01 + u02 * g3 * v02, p01 = u00 * g1 * v10 + u01 * g2 * v11 + u02 * g3 * v12, p02 = u00 * g1 * v20 + u01 * g2 * v21 + u02 * g3 * v22;
  const p10 = u10 * g1 * v00 + u11 * g2 * v01 + u12 * g3 * v02, p11 = u10 * g1 * v10 + u11 * g2 * v11 + u12 * g3 * v12, p12 = u10 * g1 * v20 + u11 * g2 * v21 + u12 * g3 * v22;
  const p20 = u20 * g1 * v00 + u21 * g2 * v01 + u22 * g3 * v02, p21 = u20 * g1 * v10 + u21 * g2 * v11 + u22 * g3 * v12, p22 = u20 * g1 * v20 + u21 * g2 * v21 + u22 * g3 * v22;
  // sum_i w_i |P b_i|^2 = sum over rows p of P of p K p^T
  const k00: f64 = load<f32>(element, TET_K), k11: f64 = load<f32>(element, TET_K + 16), k22: f64 = load<f32>(element, TET_K + 32);
  const k12: f64 = load<f32>(element, TET_K + 48), k02: f64 = load<f32>(element, TET_K + 64), k01: f64 = load<f32>(element, TET_K + 80);
  const W = rowK(p00, p01, p02, k00, k11, k22, k12, k02, k01) + rowK(p10, p11, p12, k00, k11, k22, k12, k02, k01) + rowK(p20, p21, p22, k00, k11, k22, k12, k02, k01);
  const denominator = W + energy2 * inverseH2, s = denominator > 0.0 ? -energy2 / denominator : 0.0;
  store<f32>(at, <f32>(s * p00), 144); store<f32>(at, <f32>(s * p01), 160); store<f32>(at, <f32>(s * p02), 176);
  store<f32>(at, <f32>(s * p10), 192); store<f32>(at, <f32>(s * p11), 208); store<f32>(at, <f32>(s * p12), 224);
  store<f32>(at, <f32>(s * p20), 240); store<f32>(at, <f32>(s * p21), 256); store<f32>(at, <f32>(s * p22), 272);
  for (let i = 0; i < 15; i++) store<f32>(element + (i << 4), 0, TET_LAMBDA); // TET_APPLIED follows
}

@inline function rowK(a: f64, b: f64, c: f64, k00: f64, k11: f64, k22: f64, k12: f64, k02: f64, k01: f64): f64 {
  return a * a * k00 + b * b * k11 + c * c * k22 + 2.0 * (b * c * k12 + a * c * k02 + a * b * k01);
}
