/**
 * Materials of a body: a standard material with a skinning vertex shader, and the depth material of its shadow. It adds
 * a soft rim of light at grazing angles (light scattered in soft matter), another color on the back of cloth, and a
 * dark inside of solid bodies.
 */
import { BackSide, Color, DoubleSide, FrontSide, MeshDepthMaterial, MeshStandardMaterial } from "three";
import type { TopologyBody } from "../../shared/topology.ts";
import type { Look } from "../../shared/scene.ts";
import { injectDiscs, injectSpheres } from "./sphereShader.ts";
import { injectSkin, type SkinMode, type SkinUniforms } from "./skinShader.ts";

/**
 * Default colors of bodies without one: warm, of similar lightness, distinguishable with most kinds of color blindness.
 */
const DEFAULT_COLORS = ["#e8835a", "#5b9bb0", "#e9b44c", "#9a7bb5", "#7fae74", "#d2647a"];

/** Brightness of a soft body's inside, relative to its outside. */
const INSIDE = 0.35;

export interface BodyMaterials {
  surface: MeshStandardMaterial;
  shadow: MeshDepthMaterial;
}

const RIM_GLSL = /* glsl */ `#include <emissivemap_fragment>
  float pliantGrazing = 1.0 - clamp(dot(normal, normalize(vViewPosition)), 0.0, 1.0);
  totalEmissiveRadiance += diffuseColor.rgb * pliantRim * pliantGrazing * pliantGrazing * pliantGrazing;
`;

/** The rim of a sheet has the color of the side that faces the eye. */
const CLOTH_BACK_GLSL = /* glsl */ `#include <color_fragment>
  bool pliantRimBack = pliantSheetSide == 0.0 && dot(vNormal, vViewPosition) < 0.0;
  if (pliantSheetSide < 0.0 || pliantRimBack) diffuseColor.rgb = pliantBack;
`;
const CLOTH_NORMAL_GLSL = /* glsl */ `#include <normal_fragment_begin>
  if (pliantRimBack) normal = nonPerturbedNormal = -normal;
`;

/**
 * Woven fibers scatter most light: with the reflectance of plastic (4 %), reflections of the studio's soft boxes would
 * wash out surfaces that face up.
 */
const CLOTH_REFLECTANCE_GLSL = /* glsl */ `#include <lights_physical_fragment>
  material.specularColor *= 0.25;
  material.specularF90 = 0.25;
`;

/**
 * The winding alone does not tell the inside of a soft body: scanned meshes have tiny flipped triangles, which would
 * glare as if seen from behind. It is the inside only if the interpolated normal clearly faces away as well.
 */
const INSIDE_GLSL = /* glsl */ `#include <color_fragment>
  bool pliantInside = !gl_FrontFacing && dot(normalize(vNormal), normalize(vViewPosition)) < -0.2;
  if (pliantInside) diffuseColor.rgb = pliantBack;
`;
const INSIDE_NORMAL_GLSL = /* glsl */ `#include <normal_fragment_begin>
  normal = normalize(vNormal) * (pliantInside ? -1.0 : 1.0);
  nonPerturbedNormal = normal;
`;

/** @param index of the body in its topology, for the default color */
export function bodyMaterials(
  kind: TopologyBody["kind"],
  look: Look,
  index: number,
  mode: SkinMode,
  uniforms: SkinUniforms,
): BodyMaterials {
  const cloth = kind === "cloth";
  const front = new Color(look.color ?? DEFAULT_COLORS[index % DEFAULT_COLORS.length]!);
  const back = cloth
    ? look.backColor
      ? new Color(look.backColor)
      : front.clone().lerp(new Color("#ffffff"), 0.12)
    : front.clone().multiplyScalar(INSIDE);
  const surface = new MeshStandardMaterial({
    color: front,
    roughness: look.roughness ?? { cloth: 0.82, soft: 0.5, ball: 0.28, points: 0.35 }[kind],
    metalness: look.metalness ?? 0,
    // Both sides: scanned bodies have holes, through which the dark inside shows. The shell of a cloth has no holes.
    side: cloth ? FrontSide : DoubleSide,
    shadowSide: BackSide,
  });
  const rim = { value: cloth ? 0.2 : 0.24 };
  surface.onBeforeCompile = (shader) => {
    injectSkin(shader, uniforms, mode);
    shader.uniforms.pliantRim = rim;
    shader.uniforms.pliantBack = { value: back };
    let fragment = shader.fragmentShader.replace(
      "#include <common>",
      "#include <common>\nuniform float pliantRim;\nuniform vec3 pliantBack;",
    );
    fragment = fragment.replace("#include <emissivemap_fragment>", RIM_GLSL);
    if (cloth) {
      shader.vertexShader = `flat varying float pliantSheetSide;\n${shader.vertexShader}`.replace(
        "void main() {",
        "void main() {\n  pliantSheetSide = pliantSide.x;",
      );
      fragment = `flat varying float pliantSheetSide;\n${fragment}`;
    }
    if (mode === "points") {
      shader.fragmentShader = fragment;
      injectSpheres(shader);
      return;
    }
    shader.fragmentShader = cloth
      ? fragment
          .replace("#include <color_fragment>", CLOTH_BACK_GLSL)
          .replace("#include <normal_fragment_begin>", CLOTH_NORMAL_GLSL)
          .replace("#include <lights_physical_fragment>", CLOTH_REFLECTANCE_GLSL)
      : fragment
          .replace("#include <color_fragment>", INSIDE_GLSL)
          .replace("#include <normal_fragment_begin>", INSIDE_NORMAL_GLSL);
  };
  // Bodies of the same kind share a compiled program. Without a key, three compares the text of the functions, which is
  // the same for all.
  surface.customProgramCacheKey = () => `pliant-${mode}-${kind}`;
  const shadow = new MeshDepthMaterial({ side: mode === "points" ? DoubleSide : BackSide });
  shadow.onBeforeCompile = (shader) => {
    injectSkin(shader, uniforms, mode);
    if (mode === "points") injectDiscs(shader);
  };
  shadow.customProgramCacheKey = () => `pliant-depth-${mode}-${kind}`;
  return { surface, shadow };
}
