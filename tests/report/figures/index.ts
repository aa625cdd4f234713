/**
 * All figures of the physics report in its order. Loaded on demand, so that one figure does not need the code of the
 * others.
 */
import type { Figure } from "./figure.ts";

/** id -> the file that exports `figure`. */
export const FIGURES: Record<string, () => Promise<{ figure: Figure }>> = {
  appA: () => import("./appA.ts"),
  fig2: () => import("./fig2.ts"),
  fig1: () => import("./fig1.ts"),
  fig3: () => import("./fig3.ts"),
  fig4: () => import("./fig4.ts"),
  fig5: () => import("./fig5.ts"),
  fig6: () => import("./fig6.ts"),
  fig7: () => import("./fig7.ts"),
  fig8: () => import("./fig8.ts"),
  fig9: () => import("./fig9.ts"),
  fig10: () => import("./fig10.ts"),
  fig11: () => import("./fig11.ts"),
  uniaxial: () => import("./uniaxial.ts"),
  fidelity: () => import("./fidelity.ts"),
  cantilever: () => import("./cantilever.ts"),
  elastica: () => import("./elastica.ts"),
  energy: () => import("./energy.ts"),
  momentum: () => import("./momentum.ts"),
  tension: () => import("./tension.ts"),
  waves: () => import("./waves.ts"),
  rebound: () => import("./rebound.ts"),
  rest: () => import("./rest.ts"),
  scale: () => import("./scale.ts"),
  chebyshev: () => import("./chebyshev.ts"),
  "stiff-cloth": () => import("./stiffCloth.ts"),
  "pbd-stiffness": () => import("./pbdStiffness.ts"),
  hexahedron: () => import("./hexahedron.ts"),
  inversion: () => import("./inversion.ts"),
  methods: () => import("./methods.ts"),
  integrators: () => import("./integrators.ts"),
  elements: () => import("./elements.ts"),
  "finite-differences": () => import("./finiteDifferences.ts"),
  "boundary-elements": () => import("./boundaryElements.ts"),
  modes: () => import("./modes.ts"),
  "lennard-jones": () => import("./lennardJones.ts"),
  "point-based": () => import("./pointBased.ts"),
  fluid: () => import("./fluid.ts"),
  eulerian: () => import("./eulerian.ts"),
  table1: () => import("./table1.ts"),
};
