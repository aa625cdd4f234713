/**
 * Calms a body without changing its momentum. Its velocities approach those of the rigid motion with its momentum P and
 * its angular momentum L about its center c.
 *   V = P/M,  w = I^-1 L,  v <- u + keep (v - u),  u = V + w x (x - c)
 * Sums are float64 and serial.
 */

/**
 * @param f32 of the room
 * @param x index of the body's first particle: x y z and inverse mass (all inverse masses above 0)
 * @param v index of its first velocity: vx vy vz and another value
 * @param keep share of the deformation velocity that is left, 0 .. 1
 */
export function calmDeformation(f32: Float32Array, x: number, v: number, count: number, keep: number): void {
  const [center, velocity, spin] = rigidMotion(f32, x, v, count);
  for (let i = 0, p = x, q = v; i < count; i++, p += 4, q += 4) {
    const r = [0, 1, 2].map((k) => f32[p + k]! - center[k]!);
    for (let k = 0; k < 3; k++) {
      const [a, b] = [(k + 1) % 3, (k + 2) % 3];
      const u = velocity[k]! + spin[a]! * r[b]! - spin[b]! * r[a]!;
      f32[q + k] = u + keep * (f32[q + k]! - u);
    }
  }
}

/** @returns center, m; velocity, m/s; spin, 1/s */
function rigidMotion(f32: Float32Array, x: number, v: number, count: number): [number[], number[], number[]] {
  // relative to the first particle, to keep digits
  const origin = [f32[x]!, f32[x + 1]!, f32[x + 2]!];
  let mass = 0;
  const center = [0, 0, 0];
  const velocity = [0, 0, 0];
  for (let i = 0, p = x, q = v; i < count; i++, p += 4, q += 4) {
    const m = 1 / f32[p + 3]!;
    mass += m;
    for (let k = 0; k < 3; k++) {
      center[k]! += m * (f32[p + k]! - origin[k]!);
      velocity[k]! += m * f32[q + k]!;
    }
  }
  for (let k = 0; k < 3; k++) {
    center[k] = origin[k]! + center[k]! / mass;
    velocity[k]! /= mass;
  }
  return [center, velocity, spinOf(f32, x, v, count, center)];
}

function spinOf(f32: Float32Array, x: number, v: number, count: number, center: readonly number[]): number[] {
  const L = [0, 0, 0];
  // sum m r r^T: xx yy zz yz xz xy
  const q = [0, 0, 0, 0, 0, 0];
  for (let i = 0, p = x, s = v; i < count; i++, p += 4, s += 4) {
    const m = 1 / f32[p + 3]!;
    const [rx, ry, rz] = [f32[p]! - center[0]!, f32[p + 1]! - center[1]!, f32[p + 2]! - center[2]!] as const;
    L[0]! += m * (ry * f32[s + 2]! - rz * f32[s + 1]!);
    L[1]! += m * (rz * f32[s]! - rx * f32[s + 2]!);
    L[2]! += m * (rx * f32[s + 1]! - ry * f32[s]!);
    [rx * rx, ry * ry, rz * rz, ry * rz, rx * rz, rx * ry].forEach((c, k) => (q[k]! += m * c));
  }
  const [xx, yy, zz, yz, xz, xy] = q as [number, number, number, number, number, number];
  const trace = 2 * (xx + yy + zz);
  const [i00, i11, i22] = [yy + zz, xx + zz, xx + yy];
  const k = [i11 * i22 - yz * yz, xz * yz + xy * i22, xy * yz + xz * i11] as const;
  const determinant = i00 * k[0] - xy * k[1] - xz * k[2];
  // particles on a line do not define a spin about it
  if (!(determinant > 1e-9 * trace ** 3)) return [0, 0, 0];
  const k11 = i00 * i22 - xz * xz;
  const k12 = xy * xz + yz * i00;
  const k22 = i00 * i11 - xy * xy;
  return [
    (k[0] * L[0]! + k[1] * L[1]! + k[2] * L[2]!) / determinant,
    (k[1] * L[0]! + k11 * L[1]! + k12 * L[2]!) / determinant,
    (k[2] * L[0]! + k12 * L[1]! + k22 * L[2]!) / determinant,
  ];
}
