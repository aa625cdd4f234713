/**
 * Twin of kernel/assembly/implicit/rigidMotion.ts: of what a step minimizes, a rigid motion changes the inertia only,
 * c/2 sum m |y - xt|^2, so a body that nothing holds, or bodies that touch only each other, are moved to where that is
 * least: it keeps its momentum and angular momentum exactly, which conjugate gradients that end early do not.
 *   y = S + Q (y - Y),  S, Y = centers of mass of xt, y;   Q = Cayley's rotation by one Newton step,
 *   sum m ((q.d) 1 - (q d^T + d q^T)/2) w = sum m q x d,   q = y - Y,  d = xt - S
 */

/** By body: @param masses float64[n] kg, none of them 0; ys float64[3n] inout; targets float64[3n] xt */
export function moveRigidly(
  masses: readonly Float64Array[],
  ys: readonly Float64Array[],
  targets: readonly Float64Array[],
): void {
  const Y = centerOf(masses, ys);
  const S = centerOf(masses, targets);
  let [t0, t1, t2, h00, h11, h22, h12, h02, h01] = [0, 0, 0, 0, 0, 0, 0, 0, 0];
  masses.forEach((mass, n) => {
    const y = ys[n]!;
    const target = targets[n]!;
    for (let i = 0; i < mass.length; i++) {
      const m = mass[i]!;
      const [a, b, c] = [y[3 * i]! - Y[0]!, y[3 * i + 1]! - Y[1]!, y[3 * i + 2]! - Y[2]!];
      const [u, v, w] = [target[3 * i]! - S[0]!, target[3 * i + 1]! - S[1]!, target[3 * i + 2]! - S[2]!];
      t0 += m * (b * w - c * v);
      t1 += m * (c * u - a * w);
      t2 += m * (a * v - b * u);
      h00 += m * (b * v + c * w);
      h11 += m * (a * u + c * w);
      h22 += m * (a * u + b * v);
      h12 -= 0.5 * m * (b * w + c * v);
      h02 -= 0.5 * m * (a * w + c * u);
      h01 -= 0.5 * m * (a * v + b * u);
    }
  });
  const [k0, k1, k2] = [h11 * h22 - h12 * h12, h02 * h12 - h01 * h22, h01 * h12 - h02 * h11];
  const determinant = h00 * k0 + h01 * k1 + h02 * k2;
  let [a0, a1, a2] = [0, 0, 0];
  // a body without width has no turn about its axis
  if (determinant > 0) {
    const half = 0.5 / determinant;
    a0 = half * (k0 * t0 + k1 * t1 + k2 * t2);
    a1 = half * (k1 * t0 + (h00 * h22 - h02 * h02) * t1 + (h01 * h02 - h00 * h12) * t2);
    a2 = half * (k2 * t0 + (h01 * h02 - h00 * h12) * t1 + (h00 * h11 - h01 * h01) * t2);
  }
  const scale = 2 / (1 + (a0 * a0 + a1 * a1 + a2 * a2));
  for (const y of ys) {
    for (let i = 0; i < y.length; i += 3) {
      const [a, b, c] = [y[i]! - Y[0]!, y[i + 1]! - Y[1]!, y[i + 2]! - Y[2]!];
      const [u, v, w] = [a1 * c - a2 * b, a2 * a - a0 * c, a0 * b - a1 * a];
      y[i] = S[0]! + (a + scale * (u + (a1 * w - a2 * v)));
      y[i + 1] = S[1]! + (b + scale * (v + (a2 * u - a0 * w)));
      y[i + 2] = S[2]! + (c + scale * (w + (a0 * v - a1 * u)));
    }
  }
}

function centerOf(masses: readonly Float64Array[], xs: readonly Float64Array[]): number[] {
  let [total, a, b, c] = [0, 0, 0, 0];
  masses.forEach((mass, n) => {
    const x = xs[n]!;
    for (let i = 0; i < mass.length; i++) {
      const m = mass[i]!;
      total += m;
      a += m * x[3 * i]!;
      b += m * x[3 * i + 1]!;
      c += m * x[3 * i + 2]!;
    }
  });
  return [a / total, b / total, c / total];
}
