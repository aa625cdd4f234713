/**
 * Neo-Hookean and stable Neo-Hookean tetrahedra (kernel/assembly/constraints/hyperelastic.ts): D_m^-1 and V of each
 * element as for Saint Venant-Kirchhoff (Bender et al. 2014, eq 9), the constant tensor K, moduli times volume, and the
 * clamp.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { hyperModuli, type HyperModuli } from "../scene/materialConstants.ts";
import {
  hyperelasticEnergy,
  hyperelasticGradient,
  HYPERELASTIC_MEMORY,
  solveHyperelastic,
} from "../reference/hyperelastic.ts";
import { NONE, rowsOf, type Constraint, type Material, type Row } from "./constraint.ts";
import { padShape, tetElements, writeShape } from "./tetrahedra.ts";
import type { HyperElements } from "./elements.ts";

/**
 * @param X float64[3N] m, undeformed positions
 * @param tets uint32[4n], positively oriented
 * @param moduli materials.ts
 */
export function hyperElements(
  kind: HyperElements["kind"],
  X: Float64Array,
  tets: Uint32Array,
  moduli: HyperModuli,
): HyperElements {
  const { particles, dmInverse, volume } = tetElements(X, tets, moduli);
  return { kind, particles, dmInverse, volume, mu: moduli.mu, lambda: moduli.lambda, clamp: moduli.clamp };
}

function writeHyper(f32: Float32Array, at: number, e: HyperElements, i: number, w: (corner: number) => number): void {
  writeShape(f32, at, e, i, w);
  f32[at + L.HYPER_MU / 4] = e.volume[i]! * e.mu;
  f32[at + L.HYPER_LAMBDA / 4] = e.volume[i]! * e.lambda;
  f32[at + L.HYPER_CLAMP / 4] = e.clamp;
}

function remade({ read, scene, now, massUnit }: Row, kind: HyperElements["kind"]): HyperElements {
  const modulus = (m: Material): HyperModuli => hyperModuli(kind, m.youngsModulus! / massUnit, m.poissonsRatio!);
  const volume = Float64Array.of(read(L.HYPER_MU) / modulus(scene).mu);
  return { kind, particles: NONE, dmInverse: rowsOf(read, L.TET_DM, 9), volume, ...modulus(now) };
}

const constraint = (kind: HyperElements["kind"], phase: number, paperPhase: number): Constraint<HyperElements> => ({
  corners: 4,
  ofSolid: ({ material: m, X, tets }) =>
    m.model === kind ? [hyperElements(kind, X, tets, hyperModuli(kind, m.youngsModulus, m.poissonsRatio))] : [],
  bytes: L.HYPER_BYTES,
  phase,
  stage: L.STAGE_TETRAHEDRA,
  paperPhase,
  remembers: { rows: L.HYPER_KEPT_BYTES / 16, apart: true },
  settles: true,
  body: L.HYPER_BODY,
  write: writeHyper,
  pad: padShape,
  twin: {
    memory: HYPERELASTIC_MEMORY,
    solve: solveHyperelastic,
    energy: hyperelasticEnergy,
    gradient: hyperelasticGradient,
  },
  energy: hyperelasticEnergy,
  remade: (row) => remade(row, kind),
  tuned: (e, _, now) => ({ ...e, ...hyperModuli(kind, now.youngsModulus!, now.poissonsRatio!) }),
});
export const neoHookean = constraint("neo-hookean", L.KIND_NEO_HOOKEAN, L.KIND_PAPER_NEO_HOOKEAN);
export const stableNeoHookean = constraint(
  "stable-neo-hookean",
  L.KIND_STABLE_NEO_HOOKEAN,
  L.KIND_PAPER_STABLE_NEO_HOOKEAN,
);
