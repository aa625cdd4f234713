/**
 * Shape matching (Mueller, Heidelberger, Teschner & Gross 2005, Meshless deformations based on shape matching; seed
 * 003): one constraint over all particles of a body, which pulls them to the best-fitting moved copy of the rest shape
 * q (q from its center of mass).
 *   c = sum m x / sum m,  A_pq = sum m (x - c) (S_p q)^T,  R = the rotation nearest to A_pq            (rotation.ts)
 *   rigid    goal g = c + R q: after the iteration the body is a rigid copy of its rest shape, to rounding
 *   linear   g = c + (beta A' + (1 - beta) R) S_p q,  A = A_pq A_qq^-1,  A' = A / det(A)^(1/3)         (unit volume)
 *   x += (g - x - aT l)/(1 + aT),  aT = 1/(rate h^2),  l the sum of what earlier iterations of this substep moved
 * The last line is XPBD with a compliance in proportion to mass: a spring whose rate over mass is rate = alpha/(1 -
 * alpha) * 3600 1/s^2, so that alpha is the part of the way that one step of 1/60 s goes, and any other step and any
 * number of iterations act as that spring. (The paper's alpha a step makes a body stiffer with every substep.)
 * Both goals keep the momentum: sum m (g - x) = 0, and sum m (x - c) x (g - c) is the axial vector of A_pq R^T and of
 * A_pq A_qq^-1 A_pq^T, which are symmetric.
 * Plastic (section 4.5 there, with the yield of Bender et al. 2014): S = R^T A, E = (S^T S - 1)/2. Where |dev E| >
 * yield,
 *   S_p <- (1 + min(1, creep h) dev E) S_p, back to unit volume, unless the plastic strain |(S_p^T S_p - 1)/2| would
 *   pass max.
 * Sums are float64 in particle order from the first particle, so a body far from the origin loses nothing but the
 * rounding of its positions. A pinned particle counts a million times its body's mass and stays. Bodies are
 * independent: one chunk each.
 */
import {
  HEADER,
  H_X,
  H_XPREV,
  H_V,
  H_SHAPES,
  PASS_FIRST,
  PASS_LAST,
  SHAPE_FIRST,
  SHAPE_COUNT,
  SHAPE_REST,
  SHAPE_MEMORY,
  SHAPE_LINEAR,
  SHAPE_RATE,
  SHAPE_BETA,
  SHAPE_YIELD,
  SHAPE_CREEP,
  SHAPE_MAX,
  SHAPE_MOMENT,
  SHAPE_PLASTIC,
  SHAPE_ROUNDING,
  SHAPE_BYTES,
} from "../layout/layout";
import { lowFrom, moveTo, roundingFrom, word } from "../math/places";
import { fitRotation, r00, r01, r02, r10, r11, r12, r20, r21, r22 } from "../math/rotation";

/**
 * Bodies below this volume (of rest) are on their way through a plane, where A' says nothing: it is faded out. A' is
 * then at most twice A.
 */
const FLAT: f64 = 0.125;

// G of the last shape: the map from the undeformed rest shape to goals, row by row
let g00: f64;
let g01: f64;
let g02: f64;
let g10: f64;
let g11: f64;
let g12: f64;
let g20: f64;
let g21: f64;
let g22: f64;

/**
 * One iteration of the rows begin .. end.
 * @param pass PASS_FIRST and PASS_LAST, added; h s; scratch ROTATION_SCRATCH bytes
 */
export function solveShapes(begin: i32, end: i32, pass: i32, h: f32, scratch: usize): void {
  const rows = <usize>load<u32>(HEADER, H_SHAPES);
  for (let n = begin; n < end; n++) solveShape(rows + <usize>n * SHAPE_BYTES, pass, h, scratch);
}

function solveShape(row: usize, pass: i32, h: f64, scratch: usize): void {
  const first = <usize>load<u32>(row, SHAPE_FIRST);
  const count = load<i32>(row, SHAPE_COUNT);
  const rest = <usize>load<u32>(row, SHAPE_REST);
  const ox: f64 = load<f32>(first);
  const oy: f64 = load<f32>(first, 4);
  const oz: f64 = load<f32>(first, 8);
  let M: f64 = 0;
  let sx: f64 = 0;
  let sy: f64 = 0;
  let sz: f64 = 0;
  let a00: f64 = 0;
  let a01: f64 = 0;
  let a02: f64 = 0;
  let a10: f64 = 0;
  let a11: f64 = 0;
  let a12: f64 = 0;
  let a20: f64 = 0;
  let a21: f64 = 0;
  let a22: f64 = 0;
  const toLow = lowFrom();
  const toRounding = roundingFrom();
  for (let i = 0, at = first, q = rest; i < count; i++, at += 16, q += 32) {
    const m = load<f64>(q, 24);
    const x = m * (<f64>load<f32>(at) - ox + word(at, toLow));
    const y = m * (<f64>load<f32>(at, 4) - oy + word(at + 4, toLow));
    const z = m * (<f64>load<f32>(at, 8) - oz + word(at + 8, toLow));
    const u = load<f64>(q);
    const v = load<f64>(q, 8);
    const w = load<f64>(q, 16);
    M += m;
    sx += x;
    sy += y;
    sz += z;
    // sum m q = 0, so the center need not be known yet
    a00 += x * u;
    a01 += x * v;
    a02 += x * w;
    a10 += y * u;
    a11 += y * v;
    a12 += y * w;
    a20 += z * u;
    a21 += z * v;
    a22 += z * w;
  }
  const cx = ox + sx / M;
  const cy = oy + sy / M;
  const cz = oz + sz / M;
  if (load<i32>(row, SHAPE_LINEAR)) linearGoal(row, pass, h, scratch, a00, a01, a02, a10, a11, a12, a20, a21, a22);
  else {
    fitRotation(scratch, a00, a01, a02, a10, a11, a12, a20, a21, a22);
    g00 = r00;
    g01 = r01;
    g02 = r02;
    g10 = r10;
    g11 = r11;
    g12 = r12;
    g20 = r20;
    g21 = r21;
    g22 = r22;
  }
  const rigid = load<i32>(row, SHAPE_LINEAR) === 0;
  if (rigid && pass & PASS_FIRST) beginRounding(row, cx, cy, cz, h);
  let px: f64 = 0;
  let py: f64 = 0;
  let pz: f64 = 0;
  let lx: f64 = 0;
  let ly: f64 = 0;
  let lz: f64 = 0;
  let held = false; // what rounding adds
  const rate = load<f64>(row, SHAPE_RATE);
  const aT: f64 = 1 / (rate * h * h);
  const way: f64 = 1 / (1 + aT);
  const moves = <usize>load<u32>(row, SHAPE_MEMORY);
  for (let i = 0, at = first, q = rest, l = moves; i < count; i++, at += 16, q += 32, l += 16) {
    if (load<f32>(at, 12) === 0) {
      held = true;
      continue;
    }
    const u = load<f64>(q);
    const v = load<f64>(q, 8);
    const w = load<f64>(q, 16);
    const x = <f64>load<f32>(at) + word(at, toLow);
    const y = <f64>load<f32>(at, 4) + word(at + 4, toLow);
    const z = <f64>load<f32>(at, 8) + word(at + 8, toLow);
    let dx = cx + g00 * u + g01 * v + g02 * w - x;
    let dy = cy + g10 * u + g11 * v + g12 * w - y;
    let dz = cz + g20 * u + g21 * v + g22 * w - z;
    if (aT > 0) {
      const old = pass & PASS_FIRST ? f32x4.splat(0) : moves ? v128.load(l) : f32x4.splat(0);
      const ox: f64 = f32x4.extract_lane(old, 0);
      const oy: f64 = f32x4.extract_lane(old, 1);
      const oz: f64 = f32x4.extract_lane(old, 2);
      dx = (dx - aT * ox) * way;
      dy = (dy - aT * oy) * way;
      dz = (dz - aT * oz) * way;
      if (moves) {
        store<f32>(l, <f32>(ox + dx));
        store<f32>(l, <f32>(oy + dy), 4);
        store<f32>(l, <f32>(oz + dz), 8);
      }
    }
    moveTo(at, x + dx, toLow, toRounding);
    moveTo(at + 4, y + dy, toLow, toRounding);
    moveTo(at + 8, z + dz, toLow, toRounding);
    const m = load<f64>(q, 24);
    const a = m * (<f64>load<f32>(at) + word(at, toLow) - x);
    const b = m * (<f64>load<f32>(at, 4) + word(at + 4, toLow) - y);
    const c = m * (<f64>load<f32>(at, 8) + word(at + 8, toLow) - z);
    // goals keep the momentum: what they sum up to is rounding
    px += a;
    py += b;
    pz += c;
    lx += (y - cy) * c - (z - cz) * b;
    ly += (z - cz) * a - (x - cx) * c;
    lz += (x - cx) * b - (y - cy) * a;
  }
  // what is fixed takes momentum
  if (rigid && held) memory.fill(row + SHAPE_ROUNDING, 0, 48);
  else if (rigid) noteRounding(row, px, py, pz, lx, ly, lz);
}

/** What the rounding of the prediction x = xPrev + h v has moved. */
function beginRounding(row: usize, cx: f64, cy: f64, cz: f64, h: f64): void {
  const count = load<i32>(row, SHAPE_COUNT);
  const X = <usize>load<u32>(HEADER, H_X);
  const toPrev = <usize>load<u32>(HEADER, H_XPREV) - X;
  const toV = <usize>load<u32>(HEADER, H_V) - X;
  const toRounding = roundingFrom();
  let px: f64 = 0;
  let py: f64 = 0;
  let pz: f64 = 0;
  let lx: f64 = 0;
  let ly: f64 = 0;
  let lz: f64 = 0;
  for (
    let i = 0, at = <usize>load<u32>(row, SHAPE_FIRST), q = <usize>load<u32>(row, SHAPE_REST);
    i < count;
    i++, at += 16, q += 32
  ) {
    if (load<f32>(at, 12) === 0) continue;
    const m = load<f64>(q, 24);
    const x: f64 = load<f32>(at);
    const y: f64 = load<f32>(at, 4);
    const z: f64 = load<f32>(at, 8);
    const prev = at + toPrev;
    const v = at + toV;
    const a = m * (x - <f64>load<f32>(prev) + word(at, toRounding) - h * <f64>load<f32>(v));
    const b = m * (y - <f64>load<f32>(prev, 4) + word(at + 4, toRounding) - h * <f64>load<f32>(v, 4));
    const c = m * (z - <f64>load<f32>(prev, 8) + word(at + 8, toRounding) - h * <f64>load<f32>(v, 8));
    px += a;
    py += b;
    pz += c;
    lx += (y - cy) * c - (z - cz) * b;
    ly += (z - cz) * a - (x - cx) * c;
    lz += (x - cx) * b - (y - cy) * a;
  }
  memory.fill(row + SHAPE_ROUNDING, 0, 48);
  noteRounding(row, px, py, pz, lx, ly, lz);
}

/** Adds to what rounding has moved a rigid body by. */
export function noteRounding(row: usize, px: f64, py: f64, pz: f64, lx: f64, ly: f64, lz: f64): void {
  const at = row + SHAPE_ROUNDING;
  store<f64>(at, load<f64>(at) + px);
  store<f64>(at, load<f64>(at, 8) + py, 8);
  store<f64>(at, load<f64>(at, 16) + pz, 16);
  store<f64>(at, load<f64>(at, 24) + lx, 24);
  store<f64>(at, load<f64>(at, 32) + ly, 32);
  store<f64>(at, load<f64>(at, 40) + lz, 40);
}

/** Sets G for the linear mode from A_pq of the undeformed rest shape, and lets the rest shape flow. */
function linearGoal(
  row: usize,
  pass: i32,
  h: f64,
  scratch: usize,
  a00: f64,
  a01: f64,
  a02: f64,
  a10: f64,
  a11: f64,
  a12: f64,
  a20: f64,
  a21: f64,
  a22: f64,
): void {
  const k = row + SHAPE_MOMENT;
  const P = row + SHAPE_PLASTIC;
  const p00 = load<f64>(P);
  const p01 = load<f64>(P, 8);
  const p02 = load<f64>(P, 16);
  const p10 = load<f64>(P, 24);
  const p11 = load<f64>(P, 32);
  const p12 = load<f64>(P, 40);
  const p20 = load<f64>(P, 48);
  const p21 = load<f64>(P, 56);
  const p22 = load<f64>(P, 64);
  // R from A_pq S_p^T
  fitRotation(
    scratch,
    a00 * p00 + a01 * p01 + a02 * p02,
    a00 * p10 + a01 * p11 + a02 * p12,
    a00 * p20 + a01 * p21 + a02 * p22,
    a10 * p00 + a11 * p01 + a12 * p02,
    a10 * p10 + a11 * p11 + a12 * p12,
    a10 * p20 + a11 * p21 + a12 * p22,
    a20 * p00 + a21 * p01 + a22 * p02,
    a20 * p10 + a21 * p11 + a22 * p12,
    a20 * p20 + a21 * p21 + a22 * p22,
  );
  // F: the best linear map of the undeformed rest shape, A_pq A_qq^-1
  const k00 = load<f64>(k);
  const k01 = load<f64>(k, 8);
  const k02 = load<f64>(k, 16);
  const k10 = load<f64>(k, 24);
  const k11 = load<f64>(k, 32);
  const k12 = load<f64>(k, 40);
  const k20 = load<f64>(k, 48);
  const k21 = load<f64>(k, 56);
  const k22 = load<f64>(k, 64);
  const f00 = a00 * k00 + a01 * k10 + a02 * k20;
  const f01 = a00 * k01 + a01 * k11 + a02 * k21;
  const f02 = a00 * k02 + a01 * k12 + a02 * k22;
  const f10 = a10 * k00 + a11 * k10 + a12 * k20;
  const f11 = a10 * k01 + a11 * k11 + a12 * k21;
  const f12 = a10 * k02 + a11 * k12 + a12 * k22;
  const f20 = a20 * k00 + a21 * k10 + a22 * k20;
  const f21 = a20 * k01 + a21 * k11 + a22 * k21;
  const f22 = a20 * k02 + a21 * k12 + a22 * k22;
  // det S_p = 1, so det A = det F; beta A' S_p = beta F / det^(1/3)
  const volume = f00 * (f11 * f22 - f12 * f21) - f01 * (f10 * f22 - f12 * f20) + f02 * (f10 * f21 - f11 * f20);
  const fade: f64 = volume < FLAT ? max<f64>(volume, 0) / FLAT : 1;
  const beta = load<f64>(row, SHAPE_BETA) * fade;
  const b: f64 = beta / cubeRoot(max<f64>(volume, FLAT));
  const c: f64 = 1 - beta;
  g00 = b * f00 + c * (r00 * p00 + r01 * p10 + r02 * p20);
  g01 = b * f01 + c * (r00 * p01 + r01 * p11 + r02 * p21);
  g02 = b * f02 + c * (r00 * p02 + r01 * p12 + r02 * p22);
  g10 = b * f10 + c * (r10 * p00 + r11 * p10 + r12 * p20);
  g11 = b * f11 + c * (r10 * p01 + r11 * p11 + r12 * p21);
  g12 = b * f12 + c * (r10 * p02 + r11 * p12 + r12 * p22);
  g20 = b * f20 + c * (r20 * p00 + r21 * p10 + r22 * p20);
  g21 = b * f21 + c * (r20 * p01 + r21 * p11 + r22 * p21);
  g22 = b * f22 + c * (r20 * p02 + r21 * p12 + r22 * p22);
  if (!(pass & PASS_LAST) || !(load<f64>(row, SHAPE_YIELD) < Infinity) || !(volume > 0)) return;

  // S = R^T F S_p^-1 (det S_p = 1: the inverse is the adjugate), C = S^T S
  const i00 = p11 * p22 - p12 * p21;
  const i01 = p02 * p21 - p01 * p22;
  const i02 = p01 * p12 - p02 * p11;
  const i10 = p12 * p20 - p10 * p22;
  const i11 = p00 * p22 - p02 * p20;
  const i12 = p02 * p10 - p00 * p12;
  const i20 = p10 * p21 - p11 * p20;
  const i21 = p01 * p20 - p00 * p21;
  const i22 = p00 * p11 - p01 * p10;
  const s00 = f00 * i00 + f01 * i10 + f02 * i20;
  const s01 = f00 * i01 + f01 * i11 + f02 * i21;
  const s02 = f00 * i02 + f01 * i12 + f02 * i22;
  const s10 = f10 * i00 + f11 * i10 + f12 * i20;
  const s11 = f10 * i01 + f11 * i11 + f12 * i21;
  const s12 = f10 * i02 + f11 * i12 + f12 * i22;
  const s20 = f20 * i00 + f21 * i10 + f22 * i20;
  const s21 = f20 * i01 + f21 * i11 + f22 * i21;
  const s22 = f20 * i02 + f21 * i12 + f22 * i22;
  let e00 = 0.5 * (s00 * s00 + s10 * s10 + s20 * s20 - 1);
  let e11 = 0.5 * (s01 * s01 + s11 * s11 + s21 * s21 - 1);
  let e22 = 0.5 * (s02 * s02 + s12 * s12 + s22 * s22 - 1);
  const e01 = 0.5 * (s00 * s01 + s10 * s11 + s20 * s21);
  const e02 = 0.5 * (s00 * s02 + s10 * s12 + s20 * s22);
  const e12 = 0.5 * (s01 * s02 + s11 * s12 + s21 * s22);
  const third = (e00 + e11 + e22) / 3;
  e00 -= third;
  e11 -= third;
  e22 -= third;
  const strain = sqrt(e00 * e00 + e11 * e11 + e22 * e22 + 2 * (e01 * e01 + e02 * e02 + e12 * e12));
  if (!(strain > load<f64>(row, SHAPE_YIELD))) return;
  const t: f64 = min<f64>(1, load<f64>(row, SHAPE_CREEP) * h);
  let n00 = p00 + t * (e00 * p00 + e01 * p10 + e02 * p20);
  let n01 = p01 + t * (e00 * p01 + e01 * p11 + e02 * p21);
  let n02 = p02 + t * (e00 * p02 + e01 * p12 + e02 * p22);
  let n10 = p10 + t * (e01 * p00 + e11 * p10 + e12 * p20);
  let n11 = p11 + t * (e01 * p01 + e11 * p11 + e12 * p21);
  let n12 = p12 + t * (e01 * p02 + e11 * p12 + e12 * p22);
  let n20 = p20 + t * (e02 * p00 + e12 * p10 + e22 * p20);
  let n21 = p21 + t * (e02 * p01 + e12 * p11 + e22 * p21);
  let n22 = p22 + t * (e02 * p02 + e12 * p12 + e22 * p22);
  const det = n00 * (n11 * n22 - n12 * n21) - n01 * (n10 * n22 - n12 * n20) + n02 * (n10 * n21 - n11 * n20);
  // a strain that would turn the rest shape inside out in one step is the guard's business, not a flow
  if (!(det > FLAT)) return;
  const unit: f64 = 1 / cubeRoot(det);
  n00 *= unit;
  n01 *= unit;
  n02 *= unit;
  n10 *= unit;
  n11 *= unit;
  n12 *= unit;
  n20 *= unit;
  n21 *= unit;
  n22 *= unit;
  const after = plasticStrain(n00, n01, n02, n10, n11, n12, n20, n21, n22);
  if (after > load<f64>(row, SHAPE_MAX) && after > plasticStrain(p00, p01, p02, p10, p11, p12, p20, p21, p22)) return;
  store<f64>(P, n00);
  store<f64>(P, n01, 8);
  store<f64>(P, n02, 16);
  store<f64>(P, n10, 24);
  store<f64>(P, n11, 32);
  store<f64>(P, n12, 40);
  store<f64>(P, n20, 48);
  store<f64>(P, n21, 56);
  store<f64>(P, n22, 64);
}

/** |(S^T S - 1)/2|, Frobenius. */
function plasticStrain(s00: f64, s01: f64, s02: f64, s10: f64, s11: f64, s12: f64, s20: f64, s21: f64, s22: f64): f64 {
  const a = s00 * s00 + s10 * s10 + s20 * s20 - 1;
  const b = s01 * s01 + s11 * s11 + s21 * s21 - 1;
  const c = s02 * s02 + s12 * s12 + s22 * s22 - 1;
  const d = s00 * s01 + s10 * s11 + s20 * s21;
  const e = s00 * s02 + s10 * s12 + s20 * s22;
  const f = s01 * s02 + s11 * s12 + s21 * s22;
  return 0.5 * sqrt(a * a + b * b + c * c + 2 * (d * d + e * e + f * f));
}

/**
 * Newton's iteration from above, which falls until rounding stops it: the same bits everywhere, unlike a library's
 * cbrt.
 * @param a > 0
 */
function cubeRoot(a: f64): f64 {
  let x: f64 = max<f64>(a, 1);
  for (let i = 0; i < 200; i++) {
    const next = x - (x * x * x - a) / (3 * x * x);
    if (!(next < x)) break;
    x = next;
  }
  return x;
}
