/**
 * The volume of hexahedra of eight particles, four at a time (Rodero Gomez, section 4.2).
 *
 *       6-----7       corner c: bit 0 is x, bit 1 is y, bit 2 is z
 *      /|    /|       6V = sum over the surface's triangles (a, b, c) of x_a . (x_b x x_c),  C = V - V0
 *     4-----5 |       grad_a 6V = sum over the triangles at a of x_b x x_c
 *     | 2---|-3
 *     |/    |/
 *     0-----1
 * The faces of a bent cube are not flat, and its volume depends on the diagonals along which they are cut. The thesis's
 * matrices follow only if the constraint acts twice, with half of its stiffness each: once with every face cut from its
 * lowest to its highest corner (0-6, 1-7 ...), once with all of them the other way
 * (tests/report/figures/methods/hexahedron.ts).
 *
 * Each has its own multiplier: dL = (-C - aT L)/(W + aT). Coordinates are relative to corner 0, to keep digits. 6V is
 * one third of sum_a x_a . grad_a (a homogeneous function of degree three), as exact as the sum.
 */
import { sub, mul, add, madd, dot3, xs, ys, zs, between, inverseMasses, pushFour, toLow } from "../math/lanes";
import * as L from "../layout/layout";

/** Bytes of one vector's three rows, and offset of the gradients, behind the eight corners. */
const VECTOR: usize = 48;
const GRADIENT: usize = 384;

/** grad_a += x_b x x_c */
// @inline
function addCross(s: usize, a: usize, b: usize, c: usize): void {
  const bx = v128.load(s + b * VECTOR);
  const by = v128.load(s + b * VECTOR, 16);
  const bz = v128.load(s + b * VECTOR, 32);
  const cx = v128.load(s + c * VECTOR);
  const cy = v128.load(s + c * VECTOR, 16);
  const cz = v128.load(s + c * VECTOR, 32);
  const g = s + GRADIENT + a * VECTOR;
  v128.store(g, add(v128.load(g), sub(mul(by, cz), mul(bz, cy))));
  v128.store(g, add(v128.load(g, 16), sub(mul(bz, cx), mul(bx, cz))), 16);
  v128.store(g, add(v128.load(g, 32), sub(mul(bx, cy), mul(by, cx))), 32);
}

// @inline
function triangle(s: usize, a: usize, b: usize, c: usize): void {
  addCross(s, a, b, c);
  addCross(s, b, c, a);
  addCross(s, c, a, b);
}

/** Faces cut along 0-6, 1-7, 0-5, 2-7, 0-3, 4-7; outward. */
function rising(s: usize): void {
  triangle(s, 0, 4, 6);
  triangle(s, 0, 6, 2);
  triangle(s, 1, 3, 7);
  triangle(s, 1, 7, 5);
  triangle(s, 0, 1, 5);
  triangle(s, 0, 5, 4);
  triangle(s, 2, 6, 7);
  triangle(s, 2, 7, 3);
  triangle(s, 0, 2, 3);
  triangle(s, 0, 3, 1);
  triangle(s, 4, 5, 7);
  triangle(s, 4, 7, 6);
}

/** Faces cut along 2-4, 3-5, 1-4, 3-6, 1-2, 5-6; outward. */
function falling(s: usize): void {
  triangle(s, 0, 4, 2);
  triangle(s, 4, 6, 2);
  triangle(s, 1, 3, 5);
  triangle(s, 3, 7, 5);
  triangle(s, 0, 1, 4);
  triangle(s, 1, 5, 4);
  triangle(s, 2, 6, 3);
  triangle(s, 6, 7, 3);
  triangle(s, 0, 2, 1);
  triangle(s, 2, 3, 1);
  triangle(s, 4, 5, 6);
  triangle(s, 5, 7, 6);
}

/**
 * @param block address of the first of `count` blocks; pass PASS_FIRST and PASS_LAST, added; inverseH2 1/h^2, 1/s^2;
 *   scratch this thread's spill area
 */
export function solveHexahedra(block: usize, count: i32, pass: i32, inverseH2: f32, scratch: usize): void {
  for (let n = 0; n < count; n++, block += L.HEXAHEDRON_BYTES) {
    solveOne(block, 0, pass, inverseH2, scratch);
    solveOne(block, 1, pass, inverseH2, scratch);
  }
}

/** @param cut 0: rising diagonals, 1: falling ones */
function solveOne(block: usize, cut: usize, pass: i32, inverseH2: f32, s: usize): void {
  const low = toLow;
  for (let k: usize = 0; k < 8; k++) {
    const at = block + (k << 4);
    const to = s + k * VECTOR;
    const a = between(<usize>load<u32>(block, 0), <usize>load<u32>(at, 0), low);
    const b = between(<usize>load<u32>(block, 4), <usize>load<u32>(at, 4), low);
    const c = between(<usize>load<u32>(block, 8), <usize>load<u32>(at, 8), low);
    const d = between(<usize>load<u32>(block, 12), <usize>load<u32>(at, 12), low);
    v128.store(to, xs(a, b, c, d));
    v128.store(to, ys(a, b, c, d), 16);
    v128.store(to, zs(a, b, c, d), 32);
  }
  memory.fill(s + GRADIENT, 0, 8 * VECTOR);
  if (cut === 0) rising(s);
  else falling(s);

  let eighteen = f32x4.splat(0);
  let W = f32x4.splat(0); // 18 V; 36 sum w |grad V|^2
  for (let k: usize = 0; k < 8; k++) {
    const at = block + (k << 4);
    const x = s + k * VECTOR;
    const g = x + GRADIENT;
    const gx = v128.load(g);
    const gy = v128.load(g, 16);
    const gz = v128.load(g, 32);
    eighteen = add(eighteen, dot3(v128.load(x), gx, v128.load(x, 16), gy, v128.load(x, 32), gz));
    W = madd(inverseMasses(at), dot3(gx, gx, gy, gy, gz, gz), W);
  }
  const rest = v128.load(block + (cut << 4), L.HEXAHEDRON_REST);
  const aT = mul(v128.load(block, L.HEXAHEDRON_ALPHA), f32x4.splat(inverseH2));
  const C = mul(f32x4.splat(1.0 / 18.0), sub(eighteen, mul(f32x4.splat(3), rest)));
  W = mul(f32x4.splat(1.0 / 36.0), W);
  const old = pass & L.PASS_FIRST ? f32x4.splat(0) : v128.load(block + (cut << 4), L.HEXAHEDRON_LAMBDA);
  // everything fixed, or collapsed to a line: no direction
  const dL = v128.and(f32x4.neg(f32x4.div(madd(aT, old, C), add(W, aT))), f32x4.gt(W, f32x4.splat(0)));
  v128.store(block + (cut << 4), add(old, dL), L.HEXAHEDRON_LAMBDA);
  const step = mul(f32x4.splat(1.0 / 6.0), dL);
  for (let k: usize = 0; k < 8; k++) {
    const at = block + (k << 4);
    const g = s + k * VECTOR + GRADIENT;
    pushFour(at, low, mul(step, v128.load(g)), mul(step, v128.load(g, 16)), mul(step, v128.load(g, 32)));
  }
}
