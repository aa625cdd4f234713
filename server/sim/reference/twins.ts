/** The float64 twin of every kind of constraint, by kind. */
import { PARTICLES_PER_ELEMENT, type ElementKind, type Elements } from "../constraints/elements.ts";
import { bendingEnergy, bendingGradient, BENDING_MEMORY, solveBendingStencil } from "./bending.ts";
import { solvePaper } from "./paper.ts";
import { continuedTriangleEnergy, continuedTriangleGradient } from "./paperTriangle.ts";
import { GEOMETRIC_MEMORY, HEXAHEDRON_MEMORY, solveDistance, solveHexahedron, solveVolume } from "./geometric.ts";
import { hyperelasticEnergy, hyperelasticGradient, HYPERELASTIC_MEMORY, solveHyperelastic } from "./hyperelastic.ts";
import { orthotropicEnergy, orthotropicGradient, solveOrthotropic } from "./orthotropic.ts";
import type { Particles } from "./particles.ts";
import { countInverted } from "./plasticity.ts";
import type { Vector } from "./vector.ts";
import { solveTetrahedron, tetrahedronEnergy, tetrahedronGradient, TETRAHEDRON_MEMORY } from "./tetrahedron.ts";
import { solveTriangle, TRIANGLE_MEMORY } from "./triangle.ts";

export interface Twin {
  /** Numbers that one constraint remembers between iterations, in the order of the kernel's rows. */
  memory: number;
  /** One compliant step of constraint i. @returns the linear system that it solved, where there was one */
  solve: (p: Particles, e: never, i: number, memory: Float64Array, h: number) => number[][] | void;
  /** Elastic energy of constraint i, J, continued where elements are flat or inverted; absent where there is none. */
  energy?: (x: Float64Array, e: never, i: number) => number;
  /** dE/dx_j of its corners, N. */
  gradient?: (x: Float64Array, e: never, i: number) => readonly Vector[];
}

export const TWINS: Readonly<Record<ElementKind, Twin>> = {
  tet: {
    memory: TETRAHEDRON_MEMORY,
    solve: solveTetrahedron,
    energy: tetrahedronEnergy,
    gradient: tetrahedronGradient,
  },
  "tet-ortho": {
    memory: TETRAHEDRON_MEMORY,
    solve: solveOrthotropic,
    energy: orthotropicEnergy,
    gradient: orthotropicGradient,
  },
  "tet-plastic": {
    memory: TETRAHEDRON_MEMORY,
    solve: solveOrthotropic,
    energy: orthotropicEnergy,
    gradient: orthotropicGradient,
  },
  "neo-hookean": {
    memory: HYPERELASTIC_MEMORY,
    solve: solveHyperelastic,
    energy: hyperelasticEnergy,
    gradient: hyperelasticGradient,
  },
  "stable-neo-hookean": {
    memory: HYPERELASTIC_MEMORY,
    solve: solveHyperelastic,
    energy: hyperelasticEnergy,
    gradient: hyperelasticGradient,
  },
  triangle: {
    memory: TRIANGLE_MEMORY,
    solve: solveTriangle,
    energy: continuedTriangleEnergy,
    gradient: continuedTriangleGradient,
  },
  bend: { memory: BENDING_MEMORY, solve: solveBendingStencil, energy: bendingEnergy, gradient: bendingGradient },
  distance: { memory: GEOMETRIC_MEMORY, solve: solveDistance },
  volume: { memory: GEOMETRIC_MEMORY, solve: solveVolume },
  hexahedron: { memory: HEXAHEDRON_MEMORY, solve: solveHexahedron },
};

/** One step of constraint i of any kind. */
export function solveConstraint(
  p: Particles,
  e: Elements,
  i: number,
  memory: Float64Array,
  h: number,
): number[][] | void {
  countInverted(p.x, e, i);
  return TWINS[e.kind].solve(p, e as never, i, memory, h);
}

/**
 * One step of constraint i of any kind in the paper's form.
 * @returns sum_j w_j |grad_j E|^2 as a system of one equation
 */
export function solvePaperConstraint(p: Particles, e: Elements, i: number): number[][] {
  countInverted(p.x, e, i);
  const { energy, gradient } = TWINS[e.kind];
  const k = PARTICLES_PER_ELEMENT[e.kind];
  return [
    [
      solvePaper(
        p,
        [...e.particles.subarray(k * i, k * i + k)],
        energy!(p.x, e as never, i),
        gradient!(p.x, e as never, i),
      ),
    ],
  ];
}
