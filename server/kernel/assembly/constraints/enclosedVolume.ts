/**
 * The volume inside a closed surface, as one constraint over all of its particles (Mueller et al. 2007, section 4.3;
 * Rodero Gomez, section 4.2).
 *
 *   6V = sum over triangles (a, b, c) of x_a . (x_b x x_c),   grad_a 6V = sum over the triangles at a of x_b x x_c
 *   C = V - pressure V0, signed: an inverted surface is turned back
 *   dL = (-k' C - aT L)/(W + aT) as in geometric.ts; a unilateral one only resists compression: L >= 0
 *
 * Serial within a body, in the order of its triangles, so that the sum has the same bits for any number of threads.
 * Bodies share no particle and are solved in parallel. Volume and W are summed in float64: a thousand triangles cancel
 * to the volume. Coordinates are relative to the first particle.
 */
import * as L from "../layout/layout";
import { between, push, toLow } from "../math/lanes";

/** (y z x w) */
// @inline
function turn(a: v128): v128 {
  return v128.shuffle<f32>(a, a, 1, 2, 0, 3);
}

// @inline
function cross(a: v128, b: v128): v128 {
  return turn(f32x4.sub(f32x4.mul(a, turn(b)), f32x4.mul(turn(a), b)));
}

// @inline
function dot(a: v128, b: v128): f64 {
  const p = f32x4.mul(a, b);
  return <f64>f32x4.extract_lane(p, 0) + <f64>f32x4.extract_lane(p, 1) + <f64>f32x4.extract_lane(p, 2);
}

// @inline
function accumulate(at: usize, value: v128): void {
  v128.store(at, f32x4.add(v128.load(at), value));
}

/** @param at first of `count` rows; pass PASS_FIRST and PASS_LAST, added; inverseH2 1/h^2, 1/s^2 */
export function solveEnclosedVolumes(at: usize, count: i32, pass: i32, inverseH2: f32): void {
  for (let n = 0; n < count; n++, at += L.ENCLOSED_BYTES) solveOne(at, pass, inverseH2);
}

function solveOne(row: usize, pass: i32, inverseH2: f32): void {
  const surface = <usize>load<u32>(row, L.ENCLOSED_SURFACE);
  const first = <usize>load<u32>(surface, L.SURFACE_FIRST);
  const particles = load<i32>(surface, L.SURFACE_COUNT);
  const gradient = <usize>load<u32>(row, L.ENCLOSED_GRADIENT);
  const toGradient = gradient - first;
  const low = toLow;
  memory.fill(gradient, 0, (<usize>particles) << 4);
  let six: f64 = 0;
  for (
    let t = <usize>load<u32>(surface, L.SURFACE_TRIANGLES), left = load<i32>(surface, L.SURFACE_TRIANGLE_COUNT);
    left > 0;
    left--, t += 12
  ) {
    const ia = <usize>load<u32>(t);
    const ib = <usize>load<u32>(t, 4);
    const ic = <usize>load<u32>(t, 8);
    const a = between(first, ia, low);
    const b = between(first, ib, low);
    const c = between(first, ic, low);
    const bc = cross(b, c);
    six += dot(a, bc);
    accumulate(ia + toGradient, bc);
    accumulate(ib + toGradient, cross(c, a));
    accumulate(ic + toGradient, cross(a, b));
  }
  let W: f64 = 0;
  for (let i = 0, x = first; i < particles; i++, x += 16) {
    const g = v128.load(x + toGradient);
    W += <f64>load<f32>(x, 12) * dot(g, g);
  }
  W /= 36;
  if (!(W > 0)) {
    // all fixed, or collapsed to a line: no direction
    if (pass & L.PASS_FIRST) store<f64>(row, 0, L.ENCLOSED_LAMBDA);
    return;
  }
  const aT = <f64>load<f32>(row, L.ENCLOSED_ALPHA) * <f64>inverseH2;
  const old: f64 = pass & L.PASS_FIRST ? 0 : load<f64>(row, L.ENCLOSED_LAMBDA) * <f64>load<f32>(row, L.ENCLOSED_KEEP);
  const dL =
    -((<f64>load<f32>(row, L.ENCLOSED_STIFFNESS) * (six - load<f64>(row, L.ENCLOSED_REST))) / 6 + aT * old) / (W + aT);
  const now = max<f64>(old + dL, <f64>load<f32>(row, L.ENCLOSED_LIMIT));
  store<f64>(row, now, L.ENCLOSED_LAMBDA);
  const step = f32x4.splat(<f32>((now - old) / 6));
  for (let i = 0, x = first; i < particles; i++, x += 16)
    push(x, low, f32x4.replace_lane(f32x4.mul(step, v128.load(x + toGradient)), 3, 0));
}
