/**
 * Elements of implicit sheets in float64: energies and gradients of Saint Venant-Kirchhoff membranes, E = V/2 eps^T C
 * eps (../constraints/triangle.ts), and of bending stencils, E = (|K x| - rest)^2 / (2 alpha)
 * (../constraints/bending.ts). Products (sheetProducts.ts) use the membrane's Hessian with its stress part projected to
 * be positive semidefinite. For bending they use K^T K / alpha: the Hessian of a stencil that is flat at rest, and an
 * upper bound otherwise. A viscous sheet (Kelvin and Voigt) adds V theta/2 D^T C D, D = eps - eps_p, and theta |K x -
 * k_p|^2 / (2 alpha), with theta, eps_p and k_p of viscosity.ts. Twin: sim/reference/implicit/elements.ts, same
 * operations in the same order.
 */
import * as L from "../layout/layout";
import { LANES } from "../layout/sizes";

// columns of the last deformation, weft and warp: x and y, then z
let u01: v128 = f64x2.splat(0);
let u2: f64 = 0;
let v01: v128 = f64x2.splat(0);
let v2: f64 = 0;
// last weft, warp and shear: strain or stress
let s0: f64 = 0;
let s1: f64 = 0;
let s2: f64 = 0;
// K x of the last stencil: x and y, then z
let k01: v128 = f64x2.splat(0);
let k2: f64 = 0;
// unit vector across its two edges
let n01: v128 = f64x2.splat(0);
let n2: f64 = 0;

/** Returns a - b, for x and y of two entries. */
// @inline
function differ(a: usize, b: v128): v128 {
  return f64x2.sub(v128.load(a), b);
}

/** a s + b t */
// @inline
function mix(a: v128, s: f64, b: v128, t: f64): v128 {
  return f64x2.add(f64x2.mul(f64x2.splat(s), a), f64x2.mul(f64x2.splat(t), b));
}

/** Returns a . b; each vector is given as x and y, then z. */
// @inline
function dot(a01: v128, a2: f64, b01: v128, b2: f64): f64 {
  const both = f64x2.mul(a01, b01);
  return f64x2.extract_lane(both, 0) + f64x2.extract_lane(both, 1) + a2 * b2;
}

/** sum_j x_j b_j^T -> u, v. */
// @inline
function deform(x: usize, triangle: usize): void {
  const p0 = x + <usize>load<u32>(triangle);
  const p1 = x + <usize>load<u32>(triangle, 4);
  const p2 = x + <usize>load<u32>(triangle, 8);
  const m0 = load<f64>(triangle, L.IMPLICIT_TRIANGLE_DM);
  const m1 = load<f64>(triangle, L.IMPLICIT_TRIANGLE_DM + 8);
  const m2 = load<f64>(triangle, L.IMPLICIT_TRIANGLE_DM + 16);
  const m3 = load<f64>(triangle, L.IMPLICIT_TRIANGLE_DM + 24);
  const origin = v128.load(p2);
  const a01 = differ(p0, origin);
  const b01 = differ(p1, origin);
  u01 = mix(a01, m0, b01, m2);
  v01 = mix(a01, m1, b01, m3);
  const a2 = load<f64>(p0, 16) - load<f64>(p2, 16);
  const b2 = load<f64>(p1, 16) - load<f64>(p2, 16);
  u2 = a2 * m0 + b2 * m2;
  v2 = a2 * m1 + b2 * m3;
}

// @inline
function strain(): void {
  s0 = 0.5 * (dot(u01, u2, u01, u2) - 1);
  s1 = 0.5 * (dot(v01, v2, v01, v2) - 1);
  s2 = dot(u01, u2, v01, v2);
}

/** s = stiffening C s */
// @inline
function toStress(row: usize): void {
  const weft = s0;
  const stiffening = load<f64>(row, L.IMPLICIT_STIFFENING);
  s0 = stiffening * (load<f64>(row, L.IMPLICIT_C00) * weft + load<f64>(row, L.IMPLICIT_C01) * s1);
  s1 = stiffening * (load<f64>(row, L.IMPLICIT_C01) * weft + load<f64>(row, L.IMPLICIT_C11) * s1);
  s2 = stiffening * (load<f64>(row, L.IMPLICIT_C22) * s2);
}

/** s -= the strain at `past`. @returns address of the next triangle's strain */
// @inline
function subtractPast(past: usize): usize {
  s0 -= load<f64>(past);
  s1 -= load<f64>(past, 8);
  s2 -= load<f64>(past, 16);
  return past + 24;
}

/** Stores the strains from which the step's rates are measured, like `keepPastOfTets`. */
export function keepPastOfTriangles(row: usize, x: usize, x1: usize, a: f64, b: f64, share: f64): void {
  const end = endOfTriangles(row);
  let past = <usize>load<u32>(row, L.IMPLICIT_PAST);
  for (
    let triangle = <usize>load<u32>(row, L.IMPLICIT_TRIANGLES);
    triangle < end;
    triangle += L.IMPLICIT_TRIANGLE_BYTES, past += 24
  ) {
    memory.fill(past, 0, 24);
    addPast(past, x, triangle, share * a);
    if (b !== 0) addPast(past, x1, triangle, share * b);
  }
}

function addPast(past: usize, x: usize, triangle: usize, factor: f64): void {
  deform(x, triangle);
  strain();
  store<f64>(past, load<f64>(past) + factor * s0);
  store<f64>(past, load<f64>(past, 8) + factor * s1, 8);
  store<f64>(past, load<f64>(past, 16) + factor * s2, 16);
}

/** g += P b_j of the three corners, P by its columns weft and warp. */
// @inline
function scatter(triangle: usize, g: usize, weft01: v128, weft2: f64, warp01: v128, warp2: f64): void {
  const p0 = g + <usize>load<u32>(triangle);
  const p1 = g + <usize>load<u32>(triangle, 4);
  const p2 = g + <usize>load<u32>(triangle, 8);
  const m0 = load<f64>(triangle, L.IMPLICIT_TRIANGLE_DM);
  const m1 = load<f64>(triangle, L.IMPLICIT_TRIANGLE_DM + 8);
  const m2 = load<f64>(triangle, L.IMPLICIT_TRIANGLE_DM + 16);
  const m3 = load<f64>(triangle, L.IMPLICIT_TRIANGLE_DM + 24);
  const first01 = mix(weft01, m0, warp01, m1);
  const second01 = mix(weft01, m2, warp01, m3);
  v128.store(p0, f64x2.add(v128.load(p0), first01));
  v128.store(p1, f64x2.add(v128.load(p1), second01));
  v128.store(p2, f64x2.sub(v128.load(p2), f64x2.add(first01, second01)));
  const first2 = m0 * weft2 + m1 * warp2;
  const second2 = m2 * weft2 + m3 * warp2;
  store<f64>(p0, load<f64>(p0, 16) + first2, 16);
  store<f64>(p1, load<f64>(p1, 16) + second2, 16);
  store<f64>(p2, load<f64>(p2, 16) - (first2 + second2), 16);
}

// @inline
function endOfTriangles(row: usize): usize {
  return (
    <usize>load<u32>(row, L.IMPLICIT_TRIANGLES) +
    <usize>load<i32>(row, L.IMPLICIT_TRIANGLE_COUNT) * L.IMPLICIT_TRIANGLE_BYTES
  );
}

/** J at the vector x. */
export function energyOfTriangles(row: usize, x: usize): f64 {
  const end = endOfTriangles(row);
  let past = <usize>load<u32>(row, L.IMPLICIT_PAST);
  let sum: f64 = 0;
  for (
    let triangle = <usize>load<u32>(row, L.IMPLICIT_TRIANGLES);
    triangle < end;
    triangle += L.IMPLICIT_TRIANGLE_BYTES
  ) {
    deform(x, triangle);
    strain();
    if (past) past = subtractPast(past);
    const a = s0;
    const b = s1;
    const c = s2;
    toStress(row);
    sum += 0.5 * load<f64>(triangle, L.IMPLICIT_TRIANGLE_VOLUME) * (a * s0 + b * s1 + c * s2);
  }
  return sum;
}

/** g += dE/dx at x; stores data for products. @returns J at x, as energyOfTriangles has it */
export function linearizeTriangles(row: usize, x: usize, g: usize): f64 {
  let sum: f64 = 0;
  let quad = <usize>load<u32>(row, L.IMPLICIT_QUADS);
  let lane: usize = 0;
  const end = endOfTriangles(row);
  let past = <usize>load<u32>(row, L.IMPLICIT_PAST);
  for (
    let triangle = <usize>load<u32>(row, L.IMPLICIT_TRIANGLES);
    triangle < end;
    triangle += L.IMPLICIT_TRIANGLE_BYTES
  ) {
    deform(x, triangle);
    keepDeformation(quad + lane);
    strain();
    if (past) past = subtractPast(past);
    const V = load<f64>(triangle, L.IMPLICIT_TRIANGLE_VOLUME);
    const a = s0;
    const b = s1;
    const c = s2;
    toStress(row);
    sum += 0.5 * V * (a * s0 + b * s1 + c * s2);
    scatter(
      triangle,
      g,
      f64x2.mul(f64x2.splat(V), mix(u01, s0, v01, s2)),
      V * (s0 * u2 + s2 * v2),
      f64x2.mul(f64x2.splat(V), mix(u01, s2, v01, s1)),
      V * (s2 * u2 + s1 * v2),
    );
    positivePart();
    store<f32>(quad + lane, <f32>s0, L.QUAD_STRESS);
    store<f32>(quad + lane, <f32>s1, L.QUAD_STRESS + LANES);
    store<f32>(quad + lane, <f32>s2, L.QUAD_STRESS + 2 * LANES);
    lane += 4;
    if (lane < <usize>LANES) continue;
    lane = 0;
    quad += L.QUAD_BYTES;
  }
  return sum;
}

// @inline
function keepDeformation(at: usize): void {
  store<f32>(at, <f32>f64x2.extract_lane(u01, 0), L.QUAD_F);
  store<f32>(at, <f32>f64x2.extract_lane(u01, 1), L.QUAD_F + LANES);
  store<f32>(at, <f32>u2, L.QUAD_F + 2 * LANES);
  store<f32>(at, <f32>f64x2.extract_lane(v01, 0), L.QUAD_F + 3 * LANES);
  store<f32>(at, <f32>f64x2.extract_lane(v01, 1), L.QUAD_F + 4 * LANES);
  store<f32>(at, <f32>v2, L.QUAD_F + 5 * LANES);
}

/** Removes the negative eigenvalues of the stress. */
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

/** K x -> k. @returns |K x|^2 */
// @inline
function curvature(x: usize, bend: usize): f64 {
  const p0 = x + <usize>load<u32>(bend);
  const p1 = x + <usize>load<u32>(bend, 4);
  const p2 = x + <usize>load<u32>(bend, 8);
  const p3 = x + <usize>load<u32>(bend, 12);
  const K1 = load<f64>(bend, L.IMPLICIT_BEND_K + 8);
  const K2 = load<f64>(bend, L.IMPLICIT_BEND_K + 16);
  const K3 = load<f64>(bend, L.IMPLICIT_BEND_K + 24);
  const origin = v128.load(p0);
  k01 = f64x2.add(mix(differ(p1, origin), K1, differ(p2, origin), K2), f64x2.mul(f64x2.splat(K3), differ(p3, origin)));
  const o = load<f64>(p0, 16);
  k2 = K1 * (load<f64>(p1, 16) - o) + K2 * (load<f64>(p2, 16) - o) + K3 * (load<f64>(p3, 16) - o);
  return dot(k01, k2, k01, k2);
}

/** Returns (|K x| - rest)^2. @param square |K x|^2 */
// @inline
function beyond2(square: f64, rest: f64): f64 {
  if (rest === 0) return square;
  const beyond = sqrt<f64>(square) - rest;
  return beyond * beyond;
}

/** g_j += K_j f */
// @inline
function scatterBend(bend: usize, g: usize, f01: v128, f2: f64): void {
  const p0 = g + <usize>load<u32>(bend);
  const p1 = g + <usize>load<u32>(bend, 4);
  const p2 = g + <usize>load<u32>(bend, 8);
  const p3 = g + <usize>load<u32>(bend, 12);
  const K1 = load<f64>(bend, L.IMPLICIT_BEND_K + 8);
  const K2 = load<f64>(bend, L.IMPLICIT_BEND_K + 16);
  const K3 = load<f64>(bend, L.IMPLICIT_BEND_K + 24);
  const a01 = f64x2.mul(f64x2.splat(K1), f01);
  const b01 = f64x2.mul(f64x2.splat(K2), f01);
  const c01 = f64x2.mul(f64x2.splat(K3), f01);
  v128.store(p1, f64x2.add(v128.load(p1), a01));
  v128.store(p2, f64x2.add(v128.load(p2), b01));
  v128.store(p3, f64x2.add(v128.load(p3), c01));
  v128.store(p0, f64x2.sub(v128.load(p0), f64x2.add(f64x2.add(a01, b01), c01)));
  store<f64>(p1, load<f64>(p1, 16) + K1 * f2, 16);
  store<f64>(p2, load<f64>(p2, 16) + K2 * f2, 16);
  store<f64>(p3, load<f64>(p3, 16) + K3 * f2, 16);
  store<f64>(p0, load<f64>(p0, 16) - (K1 * f2 + K2 * f2 + K3 * f2), 16);
}

// @inline
function endOfBends(row: usize): usize {
  return <usize>load<u32>(row, L.IMPLICIT_BENDS) + <usize>load<i32>(row, L.IMPLICIT_BEND_COUNT) * L.IMPLICIT_BEND_BYTES;
}

/** Address of the stencils' values, behind those of the triangles; 0: none. */
// @inline
function pastOfBends(row: usize): usize {
  const past = <usize>load<u32>(row, L.IMPLICIT_PAST);
  return past ? past + 24 * <usize>load<i32>(row, L.IMPLICIT_TRIANGLE_COUNT) : 0;
}

/** J at the vector x. */
export function energyOfBends(row: usize, x: usize): f64 {
  const end = endOfBends(row);
  const viscous = load<f64>(row, L.IMPLICIT_STIFFENING) - 1;
  let past = pastOfBends(row);
  let sum: f64 = 0;
  for (let bend = <usize>load<u32>(row, L.IMPLICIT_BENDS); bend < end; bend += L.IMPLICIT_BEND_BYTES) {
    let square = beyond2(curvature(x, bend), load<f64>(bend, L.IMPLICIT_BEND_REST));
    if (past) {
      square += viscous * sinceSquared(past);
      past += 24;
    }
    sum += 0.5 * square * load<f64>(bend, L.IMPLICIT_BEND_STIFFNESS);
  }
  return sum;
}

/** Returns |K x - k_p|^2 of the last stencil. */
// @inline
function sinceSquared(past: usize): f64 {
  const since01 = f64x2.sub(k01, v128.load(past));
  const since2 = k2 - load<f64>(past, 16);
  return dot(since01, since2, since01, since2);
}

/**
 * Stores each stencil's earlier curvature, a K x + b K x1, behind the triangles' strains. Viscous forces follow from
 * the change since. Both terms are turned with the stencil's frame, from x and x1 to y.
 */
export function keepPastOfBends(row: usize, x: usize, x1: usize, y: usize, a: f64, b: f64): void {
  const end = endOfBends(row);
  let past = pastOfBends(row);
  for (let bend = <usize>load<u32>(row, L.IMPLICIT_BENDS); bend < end; bend += L.IMPLICIT_BEND_BYTES, past += 24) {
    curvature(x, bend);
    frame(x, bend);
    let along = a * dot(u01, u2, k01, k2);
    let across = a * dot(v01, v2, k01, k2);
    let out = a * dot(n01, n2, k01, k2);
    if (b !== 0) {
      curvature(x1, bend);
      frame(x1, bend);
      along += b * dot(u01, u2, k01, k2);
      across += b * dot(v01, v2, k01, k2);
      out += b * dot(n01, n2, k01, k2);
    }
    frame(y, bend);
    v128.store(past, f64x2.add(mix(u01, along, v01, across), f64x2.mul(f64x2.splat(out), n01)));
    store<f64>(past, along * u2 + across * v2 + out * n2, 16);
  }
}

/**
 * Unit vectors of a stencil -> u along its first edge, n across its two edges, v across both; zero if its particles are
 * collinear.
 */
function frame(x: usize, bend: usize): void {
  const p0 = x + <usize>load<u32>(bend);
  const p1 = x + <usize>load<u32>(bend, 4);
  const p2 = x + <usize>load<u32>(bend, 8);
  const p3 = x + <usize>load<u32>(bend, 12);
  u01 = differ(p1, v128.load(p0));
  u2 = load<f64>(p1, 16) - load<f64>(p0, 16);
  n01 = differ(p3, v128.load(p2));
  n2 = load<f64>(p3, 16) - load<f64>(p2, 16);
  cross();
  let length = sqrt<f64>(dot(v01, v2, v01, v2));
  let over = length > 0 ? 1 / length : 0;
  n01 = f64x2.mul(f64x2.splat(over), v01);
  n2 = over * v2;
  length = sqrt<f64>(dot(u01, u2, u01, u2));
  over = length > 0 ? 1 / length : 0;
  u01 = f64x2.mul(f64x2.splat(over), u01);
  u2 = over * u2;
  cross();
}

/** u x n -> v */
// @inline
function cross(): void {
  const ux = f64x2.extract_lane(u01, 0);
  const uy = f64x2.extract_lane(u01, 1);
  const nx = f64x2.extract_lane(n01, 0);
  const ny = f64x2.extract_lane(n01, 1);
  v01 = f64x2(uy * n2 - u2 * ny, u2 * nx - ux * n2);
  v2 = ux * ny - uy * nx;
}

/**
 * g += dE/dx at x. A curved stencil that is exactly flat gets no force: its direction is undefined.
 * @returns J at x, as energyOfBends has it
 */
export function linearizeBends(row: usize, x: usize, g: usize): f64 {
  let sum: f64 = 0;
  const end = endOfBends(row);
  const viscous = load<f64>(row, L.IMPLICIT_STIFFENING) - 1;
  let past = pastOfBends(row);
  for (let bend = <usize>load<u32>(row, L.IMPLICIT_BENDS); bend < end; bend += L.IMPLICIT_BEND_BYTES) {
    const square = curvature(x, bend);
    const rest = load<f64>(bend, L.IMPLICIT_BEND_REST);
    const k = load<f64>(bend, L.IMPLICIT_BEND_STIFFNESS);
    let beyond = beyond2(square, rest);
    const f = rest !== 0 && square > 0 ? (1 - rest / sqrt<f64>(square)) * k : k;
    let f01 = f64x2.mul(f64x2.splat(f), k01);
    let f2 = f * k2;
    if (past) {
      beyond += viscous * sinceSquared(past);
      f01 = f64x2.add(f01, f64x2.mul(f64x2.splat(viscous * k), f64x2.sub(k01, v128.load(past))));
      f2 += viscous * k * (k2 - load<f64>(past, 16));
      past += 24;
    }
    sum += 0.5 * beyond * k;
    scatterBend(bend, g, f01, f2);
  }
  return sum;
}
