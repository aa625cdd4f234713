/**
 * Closest point of a triangle to a point, by Voronoi regions (Ericson 2005, Real-Time Collision Detection, section
 * 5.1.5).
 */

/** Barycentric weights (of a, b, c) and position of the last result; each thread has its own instance. */
export let weightA: f64, weightB: f64, weightC: f64;
export let closestX: f64, closestY: f64, closestZ: f64;

function set(a: f64, b: f64, c: f64, A: usize, B: usize, C: usize): void {
  weightA = a;
  weightB = b;
  weightC = c;
  closestX = a * load<f64>(A) + b * load<f64>(B) + c * load<f64>(C);
  closestY = a * load<f64>(A, 8) + b * load<f64>(B, 8) + c * load<f64>(C, 8);
  closestZ = a * load<f64>(A, 16) + b * load<f64>(B, 16) + c * load<f64>(C, 16);
}

/** @param A, B, C addresses of the corners' positions, three f64 each */
export function closestPoint(px: f64, py: f64, pz: f64, A: usize, B: usize, C: usize): void {
  const ax = load<f64>(A);
  const ay = load<f64>(A, 8);
  const az = load<f64>(A, 16);
  const ux = load<f64>(B) - ax;
  const uy = load<f64>(B, 8) - ay;
  const uz = load<f64>(B, 16) - az;
  const vx = load<f64>(C) - ax;
  const vy = load<f64>(C, 8) - ay;
  const vz = load<f64>(C, 16) - az;
  let qx = px - ax;
  let qy = py - ay;
  let qz = pz - az;
  const d1 = ux * qx + uy * qy + uz * qz;
  const d2 = vx * qx + vy * qy + vz * qz;
  if (d1 <= 0 && d2 <= 0) {
    set(1, 0, 0, A, B, C);
    return;
  }
  qx = px - load<f64>(B);
  qy = py - load<f64>(B, 8);
  qz = pz - load<f64>(B, 16);
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
  qx = px - load<f64>(C);
  qy = py - load<f64>(C, 8);
  qz = pz - load<f64>(C, 16);
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
  const scale: f64 = 1 / (va + vb + vc);
  set(1 - vb * scale - vc * scale, vb * scale, vc * scale, A, B, C);
}
