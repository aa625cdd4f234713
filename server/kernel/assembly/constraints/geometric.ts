/**
 * The multiplier of a geometric constraint C, four at a time, in the two forms that a scene can use:
 *   compliance alpha (Macklin et al. 2016; slides 003):  dL = (-C - aT L)/(W + aT),   W = sum_i w_i |grad_i C|^2,
 *   aT = alpha/h^2
 *   stiffness k (Mueller et al. 2007; Rodero Gomez, eq 3.3 and section 3.2):  dL = -k' C/W
 * as one expression, dL = (-k' C - aT L)/(W + aT): aT = 0 in the second, k' = 1 in the first. A unilateral constraint
 * bounds the multiplier. With compliance it bounds the sum, so that a later iteration may take back an excess of
 * earlier ones. With k' it bounds the single correction ("if the inequality is accomplished we avoid the step").
 *
 * Corrections of earlier iterations stay along their old gradients (tetrahedron.ts turns them along). Gradients of
 * distances do not turn, so the fixed point is implicit Euler's to rounding. For a volume it is off by 0.6 % of the
 * force if a single substep strains an element by 5 %, 4 % at 30 %, and converges to zero with the strain of a substep.
 * Twelve more rows a volume would correct it; substeps are cheaper.
 */
import { add, sub, mul, madd } from "../math/lanes";
import * as L from "../layout/layout";

/**
 * Returns the multiplier so far: 0 in the first iteration or with k'.
 * @param rows address of the rest value's row; own address of the multiplier
 */
// @inline
export function remembered(rows: usize, own: usize, pass: i32): v128 {
  return pass & L.PASS_FIRST ? f32x4.splat(0) : mul(v128.load(rows, L.GEOMETRIC_KEEP), v128.load(own));
}

/** Returns dL without bounds; 0 if nothing can move: everything is fixed, or the gradient is zero. */
// @inline
export function unbounded(rows: usize, C: v128, W: v128, old: v128, inverseH2: v128): v128 {
  const aT = mul(v128.load(rows, L.GEOMETRIC_ALPHA), inverseH2);
  const dL = f32x4.neg(f32x4.div(madd(v128.load(rows, L.GEOMETRIC_STIFFNESS), C, mul(aT, old)), add(W, aT)));
  return v128.and(dL, f32x4.gt(W, f32x4.splat(0)));
}

/** Stores the new multiplier for a later iteration. @returns its increase */
// @inline
export function keep(own: usize, pass: i32, now: v128, old: v128): v128 {
  if (!(pass & L.PASS_LAST)) v128.store(own, now);
  return sub(now, old);
}
