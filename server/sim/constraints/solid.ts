/** The constraints that a solid's material asks for. */
import type { SoftMaterial } from "../../../shared/scene.ts";
import { SceneError } from "../../../shared/sceneError.ts";
import { lameCoefficients } from "../materials.ts";
import type { Elements } from "./elements.ts";
import { tetElements } from "./tetrahedra.ts";

/**
 * @param X float64[3N] m, undeformed positions in the body's own axes (scaled, not rotated)
 * @param tets uint32[4n]
 * @param path of the body in the scene, for errors
 */
export function solidElements(material: SoftMaterial, X: Float64Array, tets: Uint32Array, path: string): Elements[] {
  switch (material.model) {
    case undefined:
    case "stvk": return [tetElements(X, tets, lameCoefficients(material))];
    default: throw new SceneError(`${path}/material/model`, material.model, "one of stvk");
  }
}
