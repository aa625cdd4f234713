/** Converts a scene's engineering constants to the numbers that constraints use. */
import type { ClothMaterial, IsotropicMaterial, OrthotropicMaterial } from "../../../shared/scene/sceneMaterials.ts";

/**
 * Lame coefficients mu, lambda in Pa from Young's modulus k (Pa) and Poisson's ratio nu (Bender et al. 2014, section
 * 4.1).
 */
export function lameCoefficients(material: Pick<IsotropicMaterial, "youngsModulus" | "poissonsRatio">): {
  mu: number;
  lambda: number;
} {
  const { youngsModulus: k, poissonsRatio: nu } = material;
  return { mu: k / (2 * (1 + nu)), lambda: (k * nu) / ((1 + nu) * (1 - 2 * nu)) };
}

/**
 * Compliance of an orthotropic solid in its own axes, 1/Pa: normal strains from normal stresses 11 22 33, couplings 23
 * 13 12, and gammas from shear stresses 23 13 12. Its inverse is the tensor (`orthotropicTensor`).
 */
export type OrthotropicCompliance = readonly [number, number, number, number, number, number, number, number, number];

/**
 * Under stress sigma_i alone eps_i = sigma_i/k_i and eps_j = -nu_ij eps_i; gamma_ij = sigma_ij/mu_ij. The three given
 * nu_ij and the symmetry nu_ij/k_i = nu_ji/k_j give nine constants (Bender et al. 2014, eq 4 with an orthotropic
 * tensor; its section 4.3 has the plane case).
 * @param m positive definite: shared/scene/sceneRules.ts checks it
 */
export function orthotropicCompliance(
  m: Pick<OrthotropicMaterial, "youngsModuli" | "poissonsRatios" | "shearModuli">,
): OrthotropicCompliance {
  const [k1, k2, k3] = m.youngsModuli;
  const [nu12, nu23, nu13] = m.poissonsRatios;
  const [mu12, mu23, mu13] = m.shearModuli;
  return [1 / k1, 1 / k2, 1 / k3, -nu23 / k2, -nu13 / k1, -nu12 / k1, 1 / mu23, 1 / mu13, 1 / mu12];
}

/** The isotropic solid as a special case: the same in all axes. */
export function isotropicCompliance(
  m: Pick<IsotropicMaterial, "youngsModulus" | "poissonsRatio">,
): OrthotropicCompliance {
  const k = m.youngsModulus;
  const nu = m.poissonsRatio;
  const mu = lameCoefficients(m).mu;
  return [1 / k, 1 / k, 1 / k, -nu / k, -nu / k, -nu / k, 1 / mu, 1 / mu, 1 / mu];
}

/**
 * The elasticity tensor of a compliance, Pa: 6x6 rows over the strains (11, 22, 33, gamma 23, gamma 13, gamma 12).
 *   C_ii = (S_jj S_kk - S_jk^2)/D,  C_ij = (S_ik S_jk - S_ij S_kk)/D,  D the determinant of the normal block;  shears
 *   1/S
 */
export function orthotropicTensor(s: OrthotropicCompliance): number[][] {
  const [a, b, c, bc, ac, ab, g23, g13, g12] = s;
  const D = a * (b * c - bc * bc) - ab * (ab * c - bc * ac) + ac * (ab * bc - b * ac);
  const [c12, c13, c23] = [(ac * bc - ab * c) / D, (ab * bc - ac * b) / D, (ab * ac - bc * a) / D];
  return [
    [(b * c - bc * bc) / D, c12, c13, 0, 0, 0],
    [c12, (a * c - ac * ac) / D, c23, 0, 0, 0],
    [c13, c23, (a * b - ab * ab) / D, 0, 0, 0],
    [0, 0, 0, 1 / g23, 0, 0],
    [0, 0, 0, 0, 1 / g13, 0],
    [0, 0, 0, 0, 0, 1 / g12],
  ];
}

/**
 * Largest plastic strain of a rest shape. A strain without trace and of this norm compresses no direction by more than
 * sqrt(2/3) of it, and Green's strain of a flat element is -1/2, reached at 0.61. A larger `max` acts like this one.
 */
export const MOST_PLASTIC_STRAIN = 0.6;

/**
 * If more than this part of a plastic body's elements is inverted, none of it flows. A dragon under a heavy sphere has
 * 0.01 to 0.03 inverted, in its horns. A wrecked body has more, and does not flow until no element is inverted
 * (kernel/assembly/constraints/plasticity.ts gives the reason).
 */
const INVERTED_SHARE = 0.03;

/**
 * Number of times that a substep's iterations may find an inverted element before the body stops flowing. Every
 * schedule and both solvers check every element once an iteration. In a body of fewer than 34 elements, one element
 * that stays inverted stops all flow.
 */
export function invertedLimit(plasticElements: number, iterations: number): number {
  return Math.floor(INVERTED_SHARE * plasticElements * iterations);
}

/** Constants of a Neo-Hookean element, Pa; `clamp` is the stretch below which the energy is continued. */
export interface HyperModuli {
  mu: number;
  lambda: number;
  clamp: number;
}

/** 80 % compression: the stress there, mu (s - 1/s) = -4.8 mu and more, restores a flat or inverted element. */
const NEO_HOOKEAN_CLAMP = 0.2;

/** Psi = mu/2 (I1 - log I3 - 3) + lambda/8 log^2 I3 (Bender et al. 2014, eq 8): mu and lambda are Lame's. */
export function neoHookean(material: Pick<IsotropicMaterial, "youngsModulus" | "poissonsRatio">): HyperModuli {
  return { ...lameCoefficients(material), clamp: NEO_HOOKEAN_CLAMP };
}

/** Margin of the clamp above the trap of the stable model: the outward stress there, in parts of mu. */
const TRAP_MARGIN = 0.02;
/** Clamp of nearly incompressible materials, whose trap is next to F = 0. */
const LEAST_CLAMP = 0.1;

/**
 * Psi = mu/2 (I1 - 3) + lambda'/2 (J - gamma)^2 (Macklin & Mueller 2021). lambda' = lambda + mu and gamma = 1 +
 * mu/lambda' make the rest state free of stress, mu + lambda' (1 - gamma) = 0, and its tangent Hooke's law:
 *   d^2 Psi = 2 mu eps:eps + (lambda' - mu) tr^2 eps
 * so k and nu are the scene's. Its stress along F = sigma 1, mu sigma - lambda' (gamma - sigma^3) sigma^2, draws a body
 * inwards below the smallest root of sigma (gamma - sigma^3) = gamma - 1. The clamp is just above it: 0.55 at nu = 0,
 * 0.30 at 0.3, 0.1 from 0.46 on. If only one singular value is below it, nothing changes:
 * kernel/assembly/constraints/hyperelasticInversion.ts.
 */
export function stableNeoHookean(material: Pick<IsotropicMaterial, "youngsModulus" | "poissonsRatio">): HyperModuli {
  const { mu, lambda } = lameCoefficients(material);
  const stable = lambda + mu;
  const excess = mu / stable;
  // bisection: the left side grows up to sigma = (gamma/4)^(1/3) > 0.62, where it is above 1.02 (gamma - 1) for any nu
  // >= 0
  let low = 0;
  let high = 0.62;
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (middle * (1 + excess - middle ** 3) < (1 + TRAP_MARGIN) * excess) low = middle;
    else high = middle;
  }
  return { mu, lambda: stable, clamp: Math.max(LEAST_CLAMP, high) };
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
    return {
      kWeft: material.kWeft,
      kWarp: material.kWarp!,
      kShear: material.kShear!,
      nuWeft: material.nuWeft!,
      nuWarp: material.nuWarp!,
    };
  }
  const k = material.youngsModulus!;
  const nu = material.poissonsRatio!;
  return { kWeft: k, kWarp: k, kShear: k / (2 * (1 + nu)), nuWeft: nu, nuWarp: nu };
}

/**
 * Inverse of the orthotropic tensor of Bender et al. 2014, section 4.3, in 1/Pa:
 *   eps_weft = (sigma_weft - nuWarp sigma_warp)/kWeft. It is symmetric because kWeft nuWarp = kWarp nuWeft.
 * Inverting C = 1/(1 - nu nu) (kWeft, kWeft nuWarp; kWarp nuWeft, kWarp) gives
 *   S = (1/kWeft, -nuWarp/kWarp; -nuWeft/kWeft, 1/kWarp), both off-diagonals equal, and 1/kShear for gamma.
 */
export function sheetCompliance(m: SheetModuli): { s00: number; s01: number; s11: number; s22: number } {
  return { s00: 1 / m.kWeft, s01: -m.nuWarp / m.kWarp, s11: 1 / m.kWarp, s22: 1 / m.kShear };
}

/**
 * Constants of a Neo-Hookean model.
 * @param youngsModulus in any unit of mass
 */
export function hyperModuli(
  model: "neo-hookean" | "stable-neo-hookean",
  youngsModulus: number,
  poissonsRatio: number,
): HyperModuli {
  return (model === "neo-hookean" ? neoHookean : stableNeoHookean)({ youngsModulus, poissonsRatio });
}
