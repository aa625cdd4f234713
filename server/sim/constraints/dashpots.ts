/**
 * Damping of a compliant body's material (Kelvin and Voigt; kernel/assembly/constraints/dashpots.ts): a dashpot beside
 * each of its tetrahedra, triangles and bending stencils, with h/tau of their compliance. Dashpots of nonlinear
 * materials use Hooke's moduli.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { IsotropicMaterial, OrthotropicMaterial } from "../../../shared/scene/sceneMaterials.ts";
import { isotropicCompliance, orthotropicCompliance, sheetModuli } from "../scene/materialConstants.ts";
import { solveBendDashpot, solveTetDashpot, solveTriangleDashpot } from "../reference/dashpots.ts";
import { bend } from "./bend.ts";
import type { Constraint } from "./constraint.ts";
import { sheetBending } from "./sheetBending.ts";
import { orthotropicElements, orthotropicTet } from "./tetrahedra.ts";
import type {
  BendDashpots,
  BendElements,
  OrthotropicTetElements,
  Past,
  TetDashpots,
  TriangleDashpots,
  TriangleElements,
} from "./elements.ts";
import { triangle, triangleElements } from "./triangle.ts";

/**
 * Fields that a dashpot shares with the constraint beside it: it has no energy, no other solver, and no stress kept
 * from tick to tick.
 */
function beside<E extends OrthotropicTetElements | TriangleElements | BendElements>({
  corners,
  stage,
  remembers,
  pad,
}: Constraint<E>): Pick<Constraint, "corners" | "stage" | "remembers" | "pad" | "energy"> {
  return { corners, stage, remembers, pad, energy: () => 0 };
}

function writePast(f32: Float32Array, at: number, past: Float64Array, i: number, state: Constraint["state"]): void {
  const { offset, rows } = state!;
  for (let k = 0; k < rows; k++) f32[at + offset / 4 + 4 * k] = past[rows * i + k]!;
}

/** Placeholder for a remade dashpot: its lane keeps the past strain. */
const kept = (): Past => ({ past: new Float64Array(6) });

/** Compliance of a material whose solid is made of tetrahedra, 1/Pa. */
const complianceOf = (m: IsotropicMaterial | OrthotropicMaterial): OrthotropicTetElements["compliance"] =>
  m.model === "orthotropic" ? orthotropicCompliance(m) : isotropicCompliance(m);

const tetState = { offset: L.TET_PLASTIC_STRAIN, rows: 6 };

export const tetDashpot: Constraint<TetDashpots> = {
  ...beside(orthotropicTet),
  ofSolid: ({ material: m, X, tets, seconds, form }) => {
    if (!("retardationTime" in m && m.retardationTime) || form !== "compliant") return [];
    const compliance = complianceOf(m);
    const part = seconds / m.retardationTime;
    const elements = orthotropicElements(
      X,
      tets,
      compliance.map((s) => part * s) as unknown as typeof compliance,
      m.model === "orthotropic" ? m.axes : undefined,
    );
    return [{ ...elements, kind: "tet-dashpot", past: new Float64Array((6 * tets.length) / 4) }];
  },
  bytes: L.TET_PLASTIC_BYTES,
  phase: L.KIND_TET_DASHPOT,
  state: tetState,
  after: L.KIND_TET_PAST,
  write: (f32, at, e, i, w) => {
    orthotropicTet.write(f32, at, { ...e, kind: "tet-ortho" }, i, w);
    writePast(f32, at, e.past, i, tetState);
  },
  twin: { memory: orthotropicTet.twin.memory, solve: solveTetDashpot },
  remade: (row) => ({ ...orthotropicTet.remade!(row), kind: "tet-dashpot", ...kept() }),
  tuned: (e, of, now) => ({
    ...orthotropicTet.tuned!({ ...e, kind: "tet-ortho" }, of, now),
    kind: e.kind,
    past: e.past,
  }),
};

const triangleState = { offset: L.TRI_PAST, rows: 3 };

export const triangleDashpot: Constraint<TriangleDashpots> = {
  ...beside(triangle),
  ofSheet: ({ material: m, X, triangles, seconds, form }) => {
    if (!m.retardationTime || form !== "compliant" || m.model === "pbd") return [];
    const { compliance, ...elements } = triangleElements(X, triangles, sheetModuli(m), m.thickness);
    const part = seconds / m.retardationTime;
    const { s00, s01, s11, s22 } = compliance;
    return [
      {
        ...elements,
        kind: "triangle-dashpot",
        compliance: { s00: part * s00, s01: part * s01, s11: part * s11, s22: part * s22 },
        past: new Float64Array(triangles.length),
      },
    ];
  },
  bytes: L.TRI_DASHPOT_BYTES,
  phase: L.KIND_TRIANGLE_DASHPOT,
  state: triangleState,
  after: L.KIND_TRIANGLE_PAST,
  write: (f32, at, e, i, w) => {
    triangle.write(f32, at, { ...e, kind: "triangle" }, i, w);
    writePast(f32, at, e.past, i, triangleState);
  },
  twin: { memory: triangle.twin.memory, solve: solveTriangleDashpot },
  remade: (row) => ({ ...triangle.remade!(row), kind: "triangle-dashpot", ...kept() }),
  tuned: (e, of, now) => ({ ...triangle.tuned!({ ...e, kind: "triangle" }, of, now), kind: e.kind, past: e.past }),
};

const bendState = { offset: L.BEND_PAST, rows: 3 };

export const bendDashpot: Constraint<BendDashpots> = {
  ...beside(bend),
  ofSheet: ({ material: m, X, triangles, seconds, form }) => {
    if (!m.retardationTime || form !== "compliant" || !m.bendingStiffness) return [];
    const elements = sheetBending(X, triangles, m.bendingStiffness);
    const part = seconds / m.retardationTime;
    return [
      {
        ...elements,
        kind: "bend-dashpot",
        alpha: elements.alpha.map((a) => part * a),
        past: new Float64Array(3 * elements.alpha.length),
      },
    ];
  },
  bytes: L.BEND_DASHPOT_BYTES,
  phase: L.KIND_BEND_DASHPOT,
  state: bendState,
  after: L.KIND_BEND_PAST,
  write: (f32, at, e, i, w) => {
    bend.write(f32, at, { ...e, kind: "bend" }, i, w);
    writePast(f32, at, e.past, i, bendState);
  },
  twin: { memory: bend.twin.memory, solve: solveBendDashpot },
  remade: (row) => ({ ...bend.remade!(row), kind: "bend-dashpot", ...kept() }),
  tuned: (e, of, now) => ({ ...bend.tuned!({ ...e, kind: "bend" }, of, now), kind: e.kind, past: e.past }),
};
