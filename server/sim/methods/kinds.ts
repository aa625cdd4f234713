/** All methods, by their names in a scene. */
import type { Method as MethodSpec } from "../../../shared/scene/sceneMethodTypes.ts";
import { boundaryElements } from "./boundary/boundaryElements.ts";
import { eulerianFluid } from "./fluids/eulerianFluid.ts";
import { finiteDifferences } from "./elements/finiteDifferences.ts";
import { finiteElements } from "./elements/finiteElements.ts";
import { finiteVolumes } from "./elements/finiteVolumes.ts";
import { lennardJones } from "./points/lennardJones.ts";
import { massSpring } from "./elements/massSpring.ts";
import type { MethodKind } from "./method.ts";
import { pointBased } from "./points/pointBased.ts";
import { positionBasedFluid } from "./fluids/positionBasedFluid.ts";
import { smoothedParticles } from "./fluids/smoothedParticles.ts";
import { modal } from "./elements/modal.ts";

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
