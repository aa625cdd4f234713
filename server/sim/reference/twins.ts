/** The float64 twin of every kind of constraint, by kind. */
import type { ElementKind, Elements } from "../constraints/elements.ts";
import { BENDING_MEMORY, solveBendingStencil } from "./bending.ts";
import type { Particles } from "./particles.ts";
import { solveTetrahedron, TETRAHEDRON_MEMORY } from "./tetrahedron.ts";
import { solveTriangle, TRIANGLE_MEMORY } from "./triangle.ts";

export interface Twin {
  /** Numbers that one constraint remembers between iterations, in the order of the kernel's rows. */
  memory: number;
  /** One compliant step of constraint i. @returns the linear system that it solved, where there was one */
  solve: (p: Particles, e: never, i: number, memory: Float64Array, h: number) => number[][] | void;
}

export const TWINS: Readonly<Record<ElementKind, Twin>> = {
  tet: { memory: TETRAHEDRON_MEMORY, solve: solveTetrahedron },
  triangle: { memory: TRIANGLE_MEMORY, solve: solveTriangle },
  bend: { memory: BENDING_MEMORY, solve: solveBendingStencil },
};

/** One step of constraint i of any kind. */
export function solveConstraint(p: Particles, e: Elements, i: number, memory: Float64Array, h: number): number[][] | void {
  return TWINS[e.kind].solve(p, e as never, i, memory, h);
}
