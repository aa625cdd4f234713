/** All figures of the physics report in its order. Loaded on demand, so that one figure does not need the code of the others. */
import type { Figure } from "./figure.ts";

/** id -> the file that exports `figure`. */
export const FIGURES: Record<string, () => Promise<{ figure: Figure }>> = {
  appA: () => import("./appA.ts"),
  fig7: () => import("./fig7.ts"),
  fig10: () => import("./fig10.ts"),
  uniaxial: () => import("./uniaxial.ts"),
  cantilever: () => import("./cantilever.ts"),
  elastica: () => import("./elastica.ts"),
  momentum: () => import("./momentum.ts"),
};
