/** All methods, by their names in a scene. */
import type { Method as MethodSpec } from "../../../shared/scene/sceneMethodTypes.ts";
import { boundaryElements } from "./boundaryElements.ts";
import { eulerianFluid } from "./eulerianFluid.ts";
import { finiteDifferences } from "./finiteDifferences.ts";
import { finiteElements } from "./finiteElements.ts";
import { finiteVolumes } from "./finiteVolumes.ts";
import { lennardJones } from "./lennardJones.ts";
import { massSpring } from "./massSpring.ts";
import type { MethodKind } from "./method.ts";
import { pointBased } from "./pointBased.ts";
import { positionBasedFluid } from "./positionBasedFluid.ts";
import { smoothedParticles } from "./smoothedParticles.ts";
import { modal } from "./modal.ts";

export const METHOD_KINDS: Readonly<Record<MethodSpec["type"], MethodKind>> = {
  "eulerian-fluid": eulerianFluid,
  "lennard-jones": lennardJones,
  "mass-spring": massSpring,
  "point-based": pointBased,
  "position-based-fluid": positionBasedFluid,
  "smoothed-particles": smoothedParticles,
  "finite-differences": finiteDifferences,
  "finite-elements": finiteElements,
  "finite-volumes": finiteVolumes,
  "boundary-elements": boundaryElements,
  modal,
};
