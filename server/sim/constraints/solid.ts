/** The constraints that a solid's material asks for. */
import type { SoftMaterial } from "../../../shared/scene.ts";
import { SceneError } from "../../../shared/sceneError.ts";
import {
  isotropicCompliance,
  lameCoefficients,
  neoHookean,
  orthotropicCompliance,
  stableNeoHookean,
} from "../materials.ts";
import type { Elements } from "./elements.ts";
import { distanceElements, edgesOf, volumeElements, type Pace } from "./geometric.ts";
import { hexahedralElements } from "./hexahedral.ts";
import { hyperElements } from "./hyperelastic.ts";
import { orthotropicElements, plasticElements, tetElements } from "./tetrahedra.ts";

/**
 * @param X float64[3N] m, undeformed positions in the body's own axes (scaled, not rotated)
 * @param tets uint32[4n]
 * @param path of the body in the scene, for errors
 * @param lattice pace: how often a tick visits a constraint; hexahedra: uint32[8n] cubes of a box mesh
 */
export function solidElements(
  material: SoftMaterial,
  X: Float64Array,
  tets: Uint32Array,
  path: string,
  lattice: { pace: Pace; hexahedra?: Uint32Array | undefined },
): Elements[] {
  switch (material.model) {
    case undefined:
    case "stvk":
      return [
        material.plasticity
          ? plasticElements(X, tets, isotropicCompliance(material), material.plasticity)
          : tetElements(X, tets, lameCoefficients(material)),
      ];
    case "neo-hookean":
      return [hyperElements(material.model, X, tets, neoHookean(material))];
    case "stable-neo-hookean":
      return [hyperElements(material.model, X, tets, stableNeoHookean(material))];
    case "orthotropic": {
      const compliance = orthotropicCompliance(material);
      return [
        material.plasticity
          ? plasticElements(X, tets, compliance, material.plasticity, material.axes)
          : orthotropicElements(X, tets, compliance, material.axes),
      ];
    }
    case "pbd": {
      const { distance, volume } = material;
      const elements: Elements[] = [];
      if (distance) elements.push(distanceElements(X, edgesOf(tets, 4), distance, lattice.pace));
      // of "body": loadBody's `enclosed`
      if (volume && volume.of !== "body") elements.push(volumeElements(X, tets, volume, lattice.pace));
      return elements;
    }
    case "hexahedral":
      if (!lattice.hexahedra) throw new SceneError(`${path}/mesh/type`, undefined, "box for model hexahedral");
      return hexahedralElements(material, X, lattice.hexahedra, path);
    case "shape-matching":
      return []; // one constraint for the whole body: memory/shapes.ts
  }
}
