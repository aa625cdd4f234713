/** From a scene's engineering constants to the numbers that constraints use. */
import type { ClothMaterial, IsotropicMaterial } from "../../shared/scene.ts";

/** Lame coefficients mu, lambda in Pa from Young's modulus k (Pa) and Poisson's ratio nu (Bender et al. 2014, section 4.1). */
export function lameCoefficients(material: Pick<IsotropicMaterial, "youngsModulus" | "poissonsRatio">): { mu: number; lambda: number } {
  const { youngsModulus: k, poissonsRatio: nu } = material;
  return { mu: k / (2 * (1 + nu)), lambda: (k * nu) / ((1 + nu) * (1 - 2 * nu)) };
}

/** Plane-stress constants of a sheet, Pa; isotropic materials are a special case. */
export interface SheetModuli {
  kWeft: number;
  kWarp: number;
  kShear: number;
  nuWeft: number;
  nuWarp: number;
}

export function sheetModuli(material: ClothMaterial): SheetModuli {
  if (material.kWeft !== undefined) {
    return { kWeft: material.kWeft, kWarp: material.kWarp!, kShear: material.kShear!, nuWeft: material.nuWeft!, nuWarp: material.nuWarp! };
  }
  const k = material.youngsModulus!, nu = material.poissonsRatio!;
  return { kWeft: k, kWarp: k, kShear: k / (2 * (1 + nu)), nuWeft: nu, nuWarp: nu };
}

/**
 * Inverse of the orthotropic tensor of Bender et al. 2014, section 4.3, in 1/Pa:
 *   eps_weft = (sigma_weft - nuWeft-coupled sigma_warp)/kWeft, symmetric because k_weft nuWarp = k_warp nuWeft.
 * Inverting C = 1/(1 - nu nu) (kWeft, kWeft nuWarp; kWarp nuWeft, kWarp) gives
 *   S = (1/kWeft, -nuWarp/kWarp; -nuWeft/kWeft, 1/kWarp), both off-diagonals equal, and 1/kShear for gamma.
 */
export function sheetCompliance(m: SheetModuli): { s00: number; s01: number; s11: number; s22: number } {
  return { s00: 1 / m.kWeft, s01: -m.nuWarp / m.kWarp, s11: 1 / m.kWarp, s22: 1 / m.kShear };
}
