/**
 * Saint Venant-Kirchhoff membranes of an implicit body, E = V/2 eps^T C eps (../constraints/triangle.ts), and its
 * bending stencils, E = (|K x| - rest)^2 / (2 alpha) (../constraints/bending.ts), and their gradients, in float64.
 * Products (sheetProducts.ts) are with the membrane's Hessian, stress part projected to be positive semidefinite, and
 * with K^T K / alpha, which is the stencil's where it is flat at rest and never below it elsewhere. Twin:
 * sim/reference/implicit/elements.ts, same operations in the same order.
 */
import {
  IMPLICIT_TRIANGLES,
  IMPLICIT_TRIANGLE_COUNT,
  IMPLICIT_BENDS,
  IMPLICIT_BEND_COUNT,
  IMPLICIT_C00,
  IMPLICIT_C01,
  IMPLICIT_C11,
  IMPLICIT_C22,
  IMPLICIT_TRIANGLE_DM,
  IMPLICIT_TRIANGLE_VOLUME,
  IMPLICIT_TRIANGLE_BYTES,
  IMPLICIT_BEND_K,
  IMPLICIT_BEND_ALPHA,
  IMPLICIT_BEND_REST,
  IMPLICIT_BEND_BYTES,
  IMPLICIT_QUADS,
  QUAD_BYTES,
  QUAD_F,
  QUAD_STRESS,
} from "../layout/layout";
import { LANES } from "../layout/sizes";

// columns of the last deformation, weft and warp
let u0: f64 = 0;
let u1: f64 = 0;
let u2: f64 = 0;
let v0: f64 = 0;
let v1: f64 = 0;
let v2: f64 = 0;
// the last weft, warp and shear: strain or stress
let s0: f64 = 0;
let s1: f64 = 0;
let s2: f64 = 0;
// K x of the last stencil
let k0: f64 = 0;
let k1: f64 = 0;
let k2: f64 = 0;

/** sum_j x_j b_j^T -> u, v. */
// @inline
function deform(x: usize, triangle: usize): void {
  const p0 = x + <usize>load<u32>(triangle);
  const p1 = x + <usize>load<u32>(triangle, 4);
  const p2 = x + <usize>load<u32>(triangle, 8);
  const m0 = load<f64>(triangle, IMPLICIT_TRIANGLE_DM);
  const m1 = load<f64>(triangle, IMPLICIT_TRIANGLE_DM + 8);
  const m2 = load<f64>(triangle, IMPLICIT_TRIANGLE_DM + 16);
  const m3 = load<f64>(triangle, IMPLICIT_TRIANGLE_DM + 24);
  let a = load<f64>(p0) - load<f64>(p2);
  let b = load<f64>(p1) - load<f64>(p2);
  u0 = a * m0 + b * m2;
  v0 = a * m1 + b * m3;
  a = load<f64>(p0, 8) - load<f64>(p2, 8);
  b = load<f64>(p1, 8) - load<f64>(p2, 8);
  u1 = a * m0 + b * m2;
  v1 = a * m1 + b * m3;
  a = load<f64>(p0, 16) - load<f64>(p2, 16);
  b = load<f64>(p1, 16) - load<f64>(p2, 16);
  u2 = a * m0 + b * m2;
  v2 = a * m1 + b * m3;
}

// @inline
function strain(): void {
  s0 = 0.5 * (u0 * u0 + u1 * u1 + u2 * u2 - 1);
  s1 = 0.5 * (v0 * v0 + v1 * v1 + v2 * v2 - 1);
  s2 = u0 * v0 + u1 * v1 + u2 * v2;
}

/** s = C s */
// @inline
function toStress(row: usize): void {
  const weft = s0;
  s0 = load<f64>(row, IMPLICIT_C00) * weft + load<f64>(row, IMPLICIT_C01) * s1;
  s1 = load<f64>(row, IMPLICIT_C01) * weft + load<f64>(row, IMPLICIT_C11) * s1;
  s2 = load<f64>(row, IMPLICIT_C22) * s2;
}

/** One coordinate: g += P b_j of the three corners. */
// @inline
function scatter(triangle: usize, g: usize, weft: f64, warp: f64): void {
  const p0 = g + <usize>load<u32>(triangle);
  const p1 = g + <usize>load<u32>(triangle, 4);
  const p2 = g + <usize>load<u32>(triangle, 8);
  const first = load<f64>(triangle, IMPLICIT_TRIANGLE_DM) * weft + load<f64>(triangle, IMPLICIT_TRIANGLE_DM + 8) * warp;
  const second =
    load<f64>(triangle, IMPLICIT_TRIANGLE_DM + 16) * weft + load<f64>(triangle, IMPLICIT_TRIANGLE_DM + 24) * warp;
  store<f64>(p0, load<f64>(p0) + first);
  store<f64>(p1, load<f64>(p1) + second);
  store<f64>(p2, load<f64>(p2) - (first + second));
}

// @inline
function endOfTriangles(row: usize): usize {
  return (
    <usize>load<u32>(row, IMPLICIT_TRIANGLES) + <usize>load<i32>(row, IMPLICIT_TRIANGLE_COUNT) * IMPLICIT_TRIANGLE_BYTES
  );
}

/** J at the vector x. */
export function energyOfTriangles(row: usize, x: usize): f64 {
  const end = endOfTriangles(row);
  let sum: f64 = 0;
  for (let triangle = <usize>load<u32>(row, IMPLICIT_TRIANGLES); triangle < end; triangle += IMPLICIT_TRIANGLE_BYTES) {
    deform(x, triangle);
    strain();
    const a = s0;
    const b = s1;
    const c = s2;
    toStress(row);
    sum += 0.5 * load<f64>(triangle, IMPLICIT_TRIANGLE_VOLUME) * (a * s0 + b * s1 + c * s2);
  }
  return sum;
}

/** g += dE/dx at x; keeps what products need. @returns J at x, as energyOfTriangles has it */
export function linearizeTriangles(row: usize, x: usize, g: usize): f64 {
  let sum: f64 = 0;
  let quad = <usize>load<u32>(row, IMPLICIT_QUADS);
  let lane: usize = 0;
  const end = endOfTriangles(row);
  for (let triangle = <usize>load<u32>(row, IMPLICIT_TRIANGLES); triangle < end; triangle += IMPLICIT_TRIANGLE_BYTES) {
    deform(x, triangle);
    keepDeformation(quad + lane);
    strain();
    const V = load<f64>(triangle, IMPLICIT_TRIANGLE_VOLUME);
    const a = s0;
    const b = s1;
    const c = s2;
    toStress(row);
    sum += 0.5 * V * (a * s0 + b * s1 + c * s2);
    scatter(triangle, g, V * (s0 * u0 + s2 * v0), V * (s2 * u0 + s1 * v0));
    scatter(triangle, g + 8, V * (s0 * u1 + s2 * v1), V * (s2 * u1 + s1 * v1));
    scatter(triangle, g + 16, V * (s0 * u2 + s2 * v2), V * (s2 * u2 + s1 * v2));
    positivePart();
    store<f32>(quad + lane, <f32>s0, QUAD_STRESS);
    store<f32>(quad + lane, <f32>s1, QUAD_STRESS + LANES);
    store<f32>(quad + lane, <f32>s2, QUAD_STRESS + 2 * LANES);
    lane += 4;
    if (lane < <usize>LANES) continue;
    lane = 0;
    quad += QUAD_BYTES;
  }
  return sum;
}

// @inline
function keepDeformation(at: usize): void {
  store<f32>(at, <f32>u0, QUAD_F);
  store<f32>(at, <f32>u1, QUAD_F + LANES);
  store<f32>(at, <f32>u2, QUAD_F + 2 * LANES);
  store<f32>(at, <f32>v0, QUAD_F + 3 * LANES);
  store<f32>(at, <f32>v1, QUAD_F + 4 * LANES);
  store<f32>(at, <f32>v2, QUAD_F + 5 * LANES);
}

/** The stress without its negative eigenvalues. */
// @inline
function positivePart(): void {
  const middle = 0.5 * (s0 + s1);
  const half = 0.5 * (s0 - s1);
  const radius = sqrt<f64>(half * half + s2 * s2);
  const high = middle + radius;
  const low = middle - radius;
  if (low >= 0) return;
  if (high <= 0) {
    s0 = 0;
    s1 = 0;
    s2 = 0;
    return;
  }
  const scale = high / (high - low);
  s0 = scale * (s0 - low);
  s1 = scale * (s1 - low);
  s2 = scale * s2;
}

/** K x -> k0 .. k2. @returns |K x| */
// @inline
function curvature(x: usize, bend: usize): f64 {
  const p0 = x + <usize>load<u32>(bend);
  const p1 = x + <usize>load<u32>(bend, 4);
  const p2 = x + <usize>load<u32>(bend, 8);
  const p3 = x + <usize>load<u32>(bend, 12);
  const K1 = load<f64>(bend, IMPLICIT_BEND_K + 8);
  const K2 = load<f64>(bend, IMPLICIT_BEND_K + 16);
  const K3 = load<f64>(bend, IMPLICIT_BEND_K + 24);
  let o = load<f64>(p0);
  k0 = K1 * (load<f64>(p1) - o) + K2 * (load<f64>(p2) - o) + K3 * (load<f64>(p3) - o);
  o = load<f64>(p0, 8);
  k1 = K1 * (load<f64>(p1, 8) - o) + K2 * (load<f64>(p2, 8) - o) + K3 * (load<f64>(p3, 8) - o);
  o = load<f64>(p0, 16);
  k2 = K1 * (load<f64>(p1, 16) - o) + K2 * (load<f64>(p2, 16) - o) + K3 * (load<f64>(p3, 16) - o);
  return sqrt<f64>(k0 * k0 + k1 * k1 + k2 * k2);
}

/** One coordinate: g_j += K_j f. */
// @inline
function scatterBend(bend: usize, g: usize, f: f64): void {
  const p0 = g + <usize>load<u32>(bend);
  const p1 = g + <usize>load<u32>(bend, 4);
  const p2 = g + <usize>load<u32>(bend, 8);
  const p3 = g + <usize>load<u32>(bend, 12);
  const f1 = load<f64>(bend, IMPLICIT_BEND_K + 8) * f;
  const f2 = load<f64>(bend, IMPLICIT_BEND_K + 16) * f;
  const f3 = load<f64>(bend, IMPLICIT_BEND_K + 24) * f;
  store<f64>(p1, load<f64>(p1) + f1);
  store<f64>(p2, load<f64>(p2) + f2);
  store<f64>(p3, load<f64>(p3) + f3);
  store<f64>(p0, load<f64>(p0) - (f1 + f2 + f3));
}

// @inline
function endOfBends(row: usize): usize {
  return <usize>load<u32>(row, IMPLICIT_BENDS) + <usize>load<i32>(row, IMPLICIT_BEND_COUNT) * IMPLICIT_BEND_BYTES;
}

/** J at the vector x. */
export function energyOfBends(row: usize, x: usize): f64 {
  const end = endOfBends(row);
  let sum: f64 = 0;
  for (let bend = <usize>load<u32>(row, IMPLICIT_BENDS); bend < end; bend += IMPLICIT_BEND_BYTES) {
    const beyond = curvature(x, bend) - load<f64>(bend, IMPLICIT_BEND_REST);
    sum += (0.5 * (beyond * beyond)) / load<f64>(bend, IMPLICIT_BEND_ALPHA);
  }
  return sum;
}

/**
 * g += dE/dx at x; straightened exactly, a stencil has no direction to bend back to.
 * @returns J at x, as energyOfBends has it
 */
export function linearizeBends(row: usize, x: usize, g: usize): f64 {
  let sum: f64 = 0;
  const end = endOfBends(row);
  for (let bend = <usize>load<u32>(row, IMPLICIT_BENDS); bend < end; bend += IMPLICIT_BEND_BYTES) {
    const length = curvature(x, bend);
    const rest = load<f64>(bend, IMPLICIT_BEND_REST);
    const alpha = load<f64>(bend, IMPLICIT_BEND_ALPHA);
    const beyond = length - rest;
    const scale = (length > 0 ? 1 - rest / length : 1) / alpha;
    sum += (0.5 * (beyond * beyond)) / alpha;
    scatterBend(bend, g, scale * k0);
    scatterBend(bend, g + 8, scale * k1);
    scatterBend(bend, g + 16, scale * k2);
  }
  return sum;
}
