/**
 * Closest point of a triangle to a point, by Voronoi regions (Ericson 2005, Real-Time Collision Detection, section
 * 5.1.5).
 */

/** Barycentric weights (of a, b, c) and position of the last result; each thread has its own instance. */
export let weightA: f32, weightB: f32, weightC: f32;
export let closestX: f32, closestY: f32, closestZ: f32;

function set(a: f32, b: f32, c: f32, A: usize, B: usize, C: usize): void {
  weightA = a;
  weightB = b;
  weightC = c;
  closestX = a * load<f32>(A) + b * load<f32>(B) + c * load<f32>(C);
  closestY = a * load<f32>(A, 4) + b * load<f32>(B, 4) + c * load<f32>(C, 4);
  closestZ = a * load<f32>(A, 8) + b * load<f32>(B, 8) + c * load<f32>(C, 8);
}

/** @param A, B, C addresses of the corners' f32x4 positions */
export function closestPoint(px: f32, py: f32, pz: f32, A: usize, B: usize, C: usize): void {
  const ax = load<f32>(A);
  const ay = load<f32>(A, 4);
  const az = load<f32>(A, 8);
  const ux = load<f32>(B) - ax;
  const uy = load<f32>(B, 4) - ay;
  const uz = load<f32>(B, 8) - az;
  const vx = load<f32>(C) - ax;
  const vy = load<f32>(C, 4) - ay;
  const vz = load<f32>(C, 8) - az;
  let qx = px - ax;
  let qy = py - ay;
  let qz = pz - az;
  const d1 = ux * qx + uy * qy + uz * qz;
  const d2 = vx * qx + vy * qy + vz * qz;
  if (d1 <= 0 && d2 <= 0) {
    set(1, 0, 0, A, B, C);
    return;
  }
  qx = px - load<f32>(B);
  qy = py - load<f32>(B, 4);
  qz = pz - load<f32>(B, 8);
  const d3 = ux * qx + uy * qy + uz * qz;
  const d4 = vx * qx + vy * qy + vz * qz;
  if (d3 >= 0 && d4 <= d3) {
    set(0, 1, 0, A, B, C);
    return;
  }
  const vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) {
    const s = d1 / (d1 - d3);
    set(1 - s, s, 0, A, B, C);
    return;
  }
  qx = px - load<f32>(C);
  qy = py - load<f32>(C, 4);
  qz = pz - load<f32>(C, 8);
  const d5 = ux * qx + uy * qy + uz * qz;
  const d6 = vx * qx + vy * qy + vz * qz;
  if (d6 >= 0 && d5 <= d6) {
    set(0, 0, 1, A, B, C);
    return;
  }
  const vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) {
    const s = d2 / (d2 - d6);
    set(1 - s, 0, s, A, B, C);
    return;
  }
  const va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const s = (d4 - d3) / (d4 - d3 + (d5 - d6));
    set(0, 1 - s, s, A, B, C);
    return;
  }
  const scale: f32 = 1 / (va + vb + vc);
  set(1 - vb * scale - vc * scale, vb * scale, vc * scale, A, B, C);
}
