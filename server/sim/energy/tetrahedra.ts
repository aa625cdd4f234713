/** Elastic energy of Saint Venant-Kirchhoff tetrahedra, E = V (mu eps:eps + lambda/2 (tr eps)^2), as the kernel continues it where they are crushed. */
import type { TetElements } from "../constraints/elements.ts";
import { tetrahedronEnergy } from "../reference/tetrahedron.ts";

/** J. @param x float64[3N] m */
export function tetEnergy(x: Float64Array, e: TetElements, i: number): number {
  const { particles, dmInverse: m } = e, d = 9 * i, p3 = 3 * particles[4 * i + 3]!, F = [0, 0, 0, 0, 0, 0, 0, 0, 0];
  for (let c = 0; c < 3; c++) {
    const p = 3 * particles[4 * i + c]!;
    for (let r = 0; r < 3; r++) {
      const edge = x[p + r]! - x[p3 + r]!;
      for (let a = 0; a < 3; a++) F[3 * r + a]! += edge * m[d + 3 * c + a]!;
    }
  }
  const [a, b, c, f, g, h, k, l, n] = F as [number, number, number, number, number, number, number, number, number];
  const xx = (a * a + f * f + k * k - 1) / 2, yy = (b * b + g * g + l * l - 1) / 2, zz = (c * c + h * h + n * n - 1) / 2;
  const yz = (b * c + g * h + l * n) / 2, xz = (a * c + f * h + k * n) / 2, xy = (a * b + f * g + k * l) / 2;
  const q = xx * xx + yy * yy + zz * zz + 2 * (yz * yz + xz * xz + xy * xy), t = xx + yy + zz;
  // No principal strain is below -sqrt q, so where q < 1/9 every squared stretch is above 1/3 and nothing is continued. An inverted element is
  // recognized by its volume.
  const volume = a * (g * n - h * l) + b * (h * k - f * n) + c * (f * l - g * k);
  return q < 1 / 9 && volume > 0 ? e.volume[i]! * (e.mu * q + (e.lambda / 2) * t * t) : tetrahedronEnergy(x, e, i);
}
