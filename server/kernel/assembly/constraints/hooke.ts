/** Stress of six strains by nine compliances: the orthotropic elasticity tensor without storing it. */
import { sub, mul, madd, dot3 } from "../math/lanes";
import * as L from "../layout/layout";

/**
 * Stores six stresses, times S_00, to rows at `to`. S_00 scales them to the order of the strains, which float32 holds
 * for any modulus and size. The compliance's normal block is inverted by cofactors; it is positive definite
 * (shared/scene/sceneRules.ts).
 * @param block of orthotropic compliances; k0 .. k5 normal strains, then gammas 12 02 01
 */
// @inline
export function storeStress(block: usize, to: usize, k0: v128, k1: v128, k2: v128, k3: v128, k4: v128, k5: v128): void {
  const one = f32x4.splat(1);
  const unit = v128.load(block, L.TET_ORTHO_S);
  const scale = f32x4.div(one, unit);
  const s11 = mul(scale, v128.load(block, L.TET_ORTHO_S + 16));
  const s22 = mul(scale, v128.load(block, L.TET_ORTHO_S + 32));
  const s12 = mul(scale, v128.load(block, L.TET_S_COUPLING));
  const s02 = mul(scale, v128.load(block, L.TET_S_COUPLING + 16));
  const s01 = mul(scale, v128.load(block, L.TET_S_COUPLING + 32));
  const m00 = sub(mul(s11, s22), mul(s12, s12));
  const m01 = sub(mul(s02, s12), mul(s01, s22));
  const m02 = sub(mul(s01, s12), mul(s02, s11));
  const m11 = sub(s22, mul(s02, s02));
  const m12 = sub(mul(s01, s02), s12);
  const m22 = sub(s11, mul(s01, s01));
  const over = f32x4.div(one, madd(s01, m01, madd(s02, m02, m00)));
  v128.store(to, mul(over, dot3(m00, k0, m01, k1, m02, k2)));
  v128.store(to, mul(over, dot3(m01, k0, m11, k1, m12, k2)), 16);
  v128.store(to, mul(over, dot3(m02, k0, m12, k1, m22, k2)), 32);
  v128.store(to, f32x4.div(mul(unit, k3), v128.load(block, L.TET_S_SHEAR)), 48);
  v128.store(to, f32x4.div(mul(unit, k4), v128.load(block, L.TET_S_SHEAR + 16)), 64);
  v128.store(to, f32x4.div(mul(unit, k5), v128.load(block, L.TET_S_SHEAR + 32)), 80);
}
