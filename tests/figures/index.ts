/** All figures of the physics report in its order. Loaded on demand, so that one figure does not need the code of the others. */
import type { Figure } from "./figure.ts";

/** id -> the file that exports `figure`. */
export const FIGURES: Record<string, () => Promise<{ figure: Figure }>> = {
  appA: () => import("./appA.ts"),
  fig7: () => import("./fig7.ts"),
};
