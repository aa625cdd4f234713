/**
 * Twin of kernel/assembly/constraints/dashpots.ts and of the solves that use its state. A dashpot is an elastic
 * constraint around the strain at the substep's start, with h/tau of the compliance.
 */
import type {
  AnyElements,
  BendDashpots,
  BendElements,
  TetDashpots,
  TriangleDashpots,
  TriangleElements,
} from "../constraints/elements.ts";
import { curvatureVector, solveStencil } from "./bending.ts";
import { generalMaterial } from "./orthotropic.ts";
import { vectorAt, type Particles } from "./particles.ts";
import { svd } from "./svd.ts";
import { deformationGradient, ENTRIES, solveStrains, TURNING_STRETCH } from "./tetrahedron.ts";
import { fabricGradient, solveTriangle, strains } from "./triangle.ts";
import { column, combine, cross, dot, norm, scale, subtract, type Vector } from "./vector.ts";

type Dashpots = TetDashpots | TriangleDashpots | BendDashpots;

const isDashpots = (e: AnyElements): e is Dashpots => "past" in e;
/** Dashpots are not over-relaxed: they would be unstable above half of the critical damping of an element. */
const plain = (p: Particles): Particles => ({ ...p, iterations: undefined });
const asTriangles = (e: TriangleDashpots): TriangleElements => ({ ...e, kind: "triangle" });
const asBends = (e: BendDashpots): BendElements => ({ ...e, kind: "bend" });

/** Does nothing for a crushed element. */
export function solveTetDashpot(p: Particles, e: TetDashpots, i: number, memory: Float64Array, h: number): number[][] {
  const material = generalMaterial({ ...e, kind: "tet-ortho" }, i);
  if (svd(deformationGradient(p.x, e, i)).sigma[2] < TURNING_STRETCH) return material.compliance;
  const rest = [...e.past.subarray(6 * i, 6 * i + 6)];
  return solveStrains(plain(p), e, i, memory, h, { ...material, rest, continued: () => material.compliance });
}

export function solveTriangleDashpot(
  p: Particles,
  e: TriangleDashpots,
  i: number,
  memory: Float64Array,
  h: number,
): number[][] {
  return solveTriangle(plain(p), asTriangles(e), i, memory, h, vectorAt(e.past, i));
}

/** C = K x - K x_0, the latter rotated with the stencil. */
export function solveBendDashpot(p: Particles, e: BendDashpots, i: number, memory: Float64Array, h: number): void {
  const past = combine([...vectorAt(e.past, i)], frameOf(p.x, e, i));
  solveStencil(plain(p), asBends(e), i, memory, h, subtract(curvatureVector(p.x, asBends(e), i), past));
}

/**
 * Unit vectors: along a stencil's first edge; perpendicular to the first edge and the normal; normal to its two edges.
 */
function frameOf(x: Float64Array, { particles }: BendDashpots, i: number): [Vector, Vector, Vector] {
  const at = (c: number): Vector => vectorAt(x, particles[4 * i + c]!);
  const unit = (v: Vector): Vector => (norm(v) > 0 ? scale(1 / norm(v), v) : v);
  const u = unit(subtract(at(1), at(0)));
  const n = unit(cross(u, subtract(at(3), at(2))));
  return [u, cross(u, n), n];
}

/**
 * Stores the strain at the end of a substep for the next one.
 * @param x float64[3N] m
 * @param e inout: its past
 */
export function keepPast(x: Float64Array, e: AnyElements): void {
  if (!isDashpots(e)) return;
  const numbers = e.kind === "tet-dashpot" ? 6 : 3;
  for (let i = 0; numbers * i < e.past.length; i++) e.past.set(measureOf(x, e, i), numbers * i);
}

/** Strain whose rate a dashpot resists. */
function measureOf(x: Float64Array, e: Dashpots, i: number): readonly number[] {
  if (e.kind === "triangle-dashpot") return strains(...fabricGradient(x, asTriangles(e), i));
  if (e.kind === "bend-dashpot") {
    const Kx = curvatureVector(x, asBends(e), i);
    return frameOf(x, e, i).map((axis) => dot(axis, Kx));
  }
  const F = deformationGradient(x, e, i);
  return ENTRIES.map(([a, c]) =>
    a === c ? (dot(column(F, a), column(F, a)) - 1) / 2 : dot(column(F, a), column(F, c)),
  );
}
