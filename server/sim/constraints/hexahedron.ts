/**
 * The hexahedral element (Rodero Gomez, chapter 4; kernel/assembly/constraints/hexahedron.ts): a cube of eight
 * particles with distances along its 12 edges, 12 face diagonals and 4 inner diagonals, and the volume constraint, with
 * stiffnesses k_e k_f k_d k_v.
 *
 * Compliances from k. In the thesis one iteration of a constraint with stiffness k and a step dt = sqrt(|M|/|K_FEM|)
 * acts like a spring; its linear stiffness is |K_FEM| k/2 for two equal masses (K_PBD = M/dt^2 d(dp)/du). Here that
 * spring has the compliance 2/(|K_FEM| k) instead: the same body, for any step and any number of iterations. For the
 * volume, in each of its two triangulations, the stiffness is |K_FEM| (k_v/2) g g^T/|g|^2, so the compliance is
 * |g|^2/(|K_FEM| k_v/2), |g|^2 = 5 a^4/3.
 *
 * Two sets of coefficients:
 *  - published: the polynomials of section 4.2. They fit the matrix of eq 2.6. Its shear modulus is E/(1 + nu), twice
 *    the right one for the engineering strains that its B must have to give the published numbers. They also fit all
 *    24 x 24 entries, most of which are not uniform strain. A lattice of it has 0.77 (nu = 0) to 1.13 (nu = 0.4), 1.6
 *    (0.45) and 5.8 (0.49) times the requested k, and nu = 0.32 wherever a smaller nu is requested.
 *  - moduli (default): a uniform strain stores the energy of k and nu. With f = 2 k_face/a, d = 4 k_inner/(3a) (spring
 *    constants, N/m) a lattice of cubes of side a has
 *        C44 = f + d,   C12 = f + d + c_v,   C11 = 4 k_edge/a + 2 f + d + c_v
 *    with c_v the modulus of the volume constraint. To meet mu, lambda and lambda + 2 mu:
 *        d = mu - f,   4 k_edge/a = 2 mu - f,   c_v = lambda - mu
 *    The remaining freedom f brings the matrix nearest to K_FEM in the thesis's norm:
 *        f/mu = 13/18 + (lambda/mu - 1)/24, at most 1
 *    Springs alone have nu = 1/4 (Cauchy) and c_v cannot be negative, so for smaller nu k is kept and nu is 1/4.
 * tests/report/figures/methods/hexahedron.ts measures both.
 */
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { HexahedralMaterial } from "../../../shared/scene/sceneMaterials.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import { lump } from "../body/masses.ts";
import { lameCoefficients } from "../scene/materialConstants.ts";
import { vectorAt, type Particles } from "../reference/particles.ts";
import type { Constraint, Solid } from "./constraint.ts";
import type { AnyElements } from "./elements.ts";
import { type DistanceElements, lengthsOf, springElements } from "./distance.ts";
import { project, stored, type Value } from "./geometric.ts";
import { polyhedron, sixVolumes, triplesOf } from "./polyhedron.ts";

/** Volumes of n hexahedra, each computed with both triangulations (kernel/assembly/constraints/hexahedron.ts). */
export interface HexahedronElements extends AnyElements {
  kind: "hexahedron";
  /** uint32[8n]: corner c has x from bit 0, y from bit 1, z from bit 2 */
  particles: Uint32Array;
  /** float64[2n] six times the rest volume, m^3 */
  rest: Float64Array;
  /** float64[n] compliance of each of the two volumes, m^3/Pa */
  alpha: Float64Array;
}

/**
 * Faces of a hexahedron cut from their lowest to their highest corner, normals outward; corner c has x from bit 0, y
 * from bit 1, z from bit 2.
 */
export const RISING: readonly (readonly [number, number, number])[] = [
  [0, 4, 6],
  [0, 6, 2],
  [1, 3, 7],
  [1, 7, 5],
  [0, 1, 5],
  [0, 5, 4],
  [2, 6, 7],
  [2, 7, 3],
  [0, 2, 3],
  [0, 3, 1],
  [4, 5, 7],
  [4, 7, 6],
];
/** The same faces, cut along their other diagonals. */
export const FALLING: readonly (readonly [number, number, number])[] = [
  [0, 4, 2],
  [4, 6, 2],
  [1, 3, 5],
  [3, 7, 5],
  [0, 1, 4],
  [1, 5, 4],
  [2, 6, 3],
  [6, 7, 3],
  [0, 2, 1],
  [2, 3, 1],
  [4, 5, 6],
  [5, 7, 6],
];

const CUTS = [RISING, FALLING] as const;

/** Largest relative difference of a cell's sides, for decimal numbers in scenes. The fit assumes a cube. */
const CUBE_TOLERANCE = 0.01;

/** k_e k_f k_d k_v of the thesis, dimensionless. */
export type Coefficients = readonly [number, number, number, number];

/** The polynomials of section 4.2, as printed; k_d becomes negative at nu = 0.477, and the spring is then left out. */
export function publishedCoefficients(nu: number): Coefficients {
  const k: Coefficients =
    nu <= 0.29
      ? [0.0698 * nu * nu + 0.0343 * nu + 0.0511, -0.0302 * nu * nu + 0.0614 * nu + 0.1572, 0.0527 * nu + 0.1147, 0]
      : [
          -0.7204 * nu * nu + 0.4656 * nu - 0.0084,
          -2.3822 * nu * nu + 1.2909 * nu - 0.0044,
          -0.5795 * nu * nu - 0.2818 * nu + 0.2636,
          -50.627 * nu * nu * nu + 63.1461 * nu * nu - 21.4563 * nu + 2.1615,
        ];
  return k.map((value) => Math.max(0, value)) as unknown as Coefficients;
}

/**
 * |K_FEM| (Frobenius) of the trilinear hexahedron with the matrix of eq 2.6, N/m.
 * @param k Young's modulus, Pa
 * @param a side, m
 */
export function publishedNorm(k: number, nu: number, a: number): number {
  const { mu, lambda } = lameCoefficients({ youngsModulus: k, poissonsRatio: nu });
  // the exact integral over the cube; tests/fit/hexahedralStiffness.ts computes it by quadrature
  return (a / 18) * Math.sqrt(840 * lambda * lambda + 1440 * lambda * mu + 6480 * mu * mu);
}

/**
 * Spring constants of one cube's edges, face diagonals and inner diagonals (N/m) and compliance of its volume in each
 * triangulation (m^3/Pa; infinite: none).
 */
export interface CubeSprings {
  edge: number;
  face: number;
  inner: number;
  volumeCompliance: number;
}

/** @param a side of the cube, m */
export function cubeSprings(
  material: Pick<HexahedralMaterial, "youngsModulus" | "poissonsRatio" | "fit">,
  a: number,
): CubeSprings {
  const { youngsModulus: k, poissonsRatio: nu } = material;
  if (material.fit === "published") {
    const norm = publishedNorm(k, nu, a);
    const [ke, kf, kd, kv] = publishedCoefficients(nu);
    return {
      edge: (norm * ke) / 2,
      face: (norm * kf) / 2,
      inner: (norm * kd) / 2,
      volumeCompliance: (10 * a * a * a * a) / (3 * norm * kv),
    };
  }
  const { mu, lambda } = lameCoefficients({ youngsModulus: k, poissonsRatio: Math.max(nu, 0.25) });
  const f = mu * Math.min(1, 13 / 18 + (lambda / mu - 1) / 24);
  return {
    edge: (a * (2 * mu - f)) / 4,
    face: (a * f) / 2,
    inner: (a * (mu - f) * 3) / 4,
    volumeCompliance: (2 * a * a * a) / Math.max(0, nu > 0.25 ? lambda - mu : 0),
  };
}

/**
 * dt = sqrt(|M|/|K_FEM|) (eq 4.5), s: the step at which k_e .. k_v are PBD's own stiffnesses.
 * @param mass of each of the eight particles, kg
 */
export function publishedTimeStep(mass: number, k: number, nu: number, a: number): number {
  return Math.sqrt(mass / publishedNorm(k, nu, a));
}

/** @throws SceneError if the cells are not cubes */
function cubes(solid: Solid): (DistanceElements | HexahedronElements)[] {
  const { material, X, cells, path } = solid;
  if (material.model !== "hexahedral") return [];
  const hexahedra = cells!; // the scene's rules ensure that the mesh is a box
  const sides = [1, 2, 4].map((c) => lengthsOf(X, Uint32Array.of(hexahedra[0]!, hexahedra[c]!))[0]!) as Vec3;
  const a = (sides[0] + sides[1] + sides[2]) / 3;
  if (sides.some((side) => Math.abs(side - a) > CUBE_TOLERANCE * a))
    throw new SceneError(
      `${path}/mesh/cells`,
      sides.map((s) => Number(s.toPrecision(4))),
      "cells that are cubes (within 1 %) for model hexahedral: size[i]/cells[i] the same along x, y and z, in m",
    );
  const springs = cubeSprings(material, a);
  const n = hexahedra.length / 8;
  const distances = latticeElements(X, hexahedra, springs);
  if (springs.volumeCompliance === Infinity) return [distances];
  const rest = new Float64Array(2 * n);
  for (let i = 0; i < n; i++) {
    const corner = (c: number): number => hexahedra[8 * i + c]!;
    CUTS.forEach(
      (cut, k) =>
        (rest[2 * i + k] = sixVolumes(
          X,
          cut.map(([p, q, r]) => [corner(p), corner(q), corner(r)] as const),
          corner(0),
        )),
    );
  }
  const alpha = new Float64Array(n).fill(springs.volumeCompliance);
  return [distances, { kind: "hexahedron", particles: hexahedra, rest, alpha }];
}

/** Masses: an eighth of each cell to each corner. The five tetrahedra of a cube would weigh its corners unequally. */
function masses({ material, X, triangles, cells }: Solid): Float64Array | undefined {
  if (material.model !== "hexahedral") return undefined;
  const volume = sixVolumes(X, triplesOf(triangles), 0) / 6 / (cells!.length / 8);
  return lump(new Float64Array(X.length / 3), cells!, 8, material.density, () => volume);
}

/** One distance for every pair of a cube's corners; cubes that share an edge or a face diagonal add their springs. */
function latticeElements(X: Float64Array, hexahedra: Uint32Array, springs: CubeSprings): DistanceElements {
  const constants = new Map<number, number>();
  for (let h = 0; h < hexahedra.length; h += 8) {
    for (let i = 0; i < 8; i++) {
      for (let j = i + 1; j < 8; j++) {
        const spring = springOf(springs, i ^ j);
        if (!(spring > 0)) continue;
        const p = hexahedra[h + i]!;
        const q = hexahedra[h + j]!;
        const key = Math.min(p, q) * 2 ** 26 + Math.max(p, q); // fewer than 2^26 particles fit in a room
        constants.set(key, (constants.get(key) ?? 0) + spring);
      }
    }
  }
  const particles = Uint32Array.from(
    [...constants.keys()].flatMap((key) => [Math.floor(key / 2 ** 26), key % 2 ** 26]),
  );
  return springElements(X, particles, [...constants.values()]);
}

/** @param axes bits of the axes along which two corners differ */
function springOf(springs: CubeSprings, axes: number): number {
  const differ = (axes & 1) + ((axes >> 1) & 1) + (axes >> 2);
  return differ === 1 ? springs.edge : differ === 2 ? springs.face : springs.inner;
}

/**
 * Volume of hexahedron i minus its rest volume.
 * @param cut 0: faces cut along rising diagonals, 1: along falling ones
 */
export function hexahedronValue(x: Float64Array, e: HexahedronElements, i: number, cut: 0 | 1): Value {
  const points = Array.from({ length: 8 }, (_, k) => vectorAt(x, e.particles[8 * i + k]!));
  return polyhedron(points, CUTS[cut], e.rest[2 * i + cut]!);
}

/**
 * One step of hexahedron i, in one triangulation after the other.
 * @param L float64[2n] multipliers, inout
 */
function solveHexahedron(p: Particles, e: HexahedronElements, i: number, L: Float64Array, h: number): void {
  for (const cut of [0, 1] as const) {
    L[2 * i + cut] = project(
      p,
      [...e.particles.subarray(8 * i, 8 * i + 8)],
      hexahedronValue(p.x, e, i, cut),
      { stiffness: 1, keeps: true },
      e.alpha[i]!,
      L[2 * i + cut]!,
      [-Infinity, Infinity],
      h,
    );
  }
}

export const hexahedron: Constraint<HexahedronElements, DistanceElements | HexahedronElements> = {
  corners: 8,
  ofSolid: cubes,
  masses,
  bytes: L.HEXAHEDRON_BYTES,
  phase: L.KIND_HEXAHEDRON,
  stage: L.STAGE_VOLUMES,
  remembers: { rows: 2, offset: L.HEXAHEDRON_LAMBDA },
  write: (f32, at, e, i) => {
    for (let cut = 0; cut < 2; cut++) f32[at + L.HEXAHEDRON_REST / 4 + 4 * cut] = e.rest[2 * i + cut]!;
    f32[at + L.HEXAHEDRON_ALPHA / 4] = e.alpha[i]!;
  },
  // eight corners on four fixed dummies: no multiplier grows there
  pad: (f32, at) => void (f32[at + L.HEXAHEDRON_ALPHA / 4] = 1),
  twin: { memory: 2, solve: solveHexahedron },
  energy: (x, e, i) =>
    stored(hexahedronValue(x, e, i, 0).C, e.alpha[i]!) + stored(hexahedronValue(x, e, i, 1).C, e.alpha[i]!),
  compliance: L.HEXAHEDRON_ALPHA,
};
