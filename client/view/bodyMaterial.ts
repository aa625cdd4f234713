/**
 * The looks of a body: a standard material whose vertex shader skins, with a soft rim of light at grazing angles (light
 * that wandered through or over the soft thing), another colour on a cloth's other side (and inside a body), and the
 * depth material of its shadow.
 */
import { BackSide, Color, DoubleSide, FrontSide, MeshDepthMaterial, MeshStandardMaterial } from "three";
import type { TopologyBody } from "../../shared/topology.ts";
import type { Look } from "../../shared/scene.ts";
import { injectDiscs, injectSpheres } from "./sphereShader.ts";
import { injectSkin, type SkinMode, type SkinUniforms } from "./skinShader.ts";

/**
 * Colours of bodies that name none, in turn: warm, of similar lightness, told apart by most kinds of colour blindness.
 */
const DEFAULT_COLORS = ["#e8835a", "#5b9bb0", "#e9b44c", "#9a7bb5", "#7fae74", "#d2647a"];

/** How bright a soft body's inside is beside its outside. */
const INSIDE = 0.35;

export interface BodyMaterials {
  surface: MeshStandardMaterial;
  shadow: MeshDepthMaterial;
}

const RIM_GLSL = /* glsl */ `#include <emissivemap_fragment>
  float pliantGrazing = 1.0 - clamp(dot(normal, normalize(vViewPosition)), 0.0, 1.0);
  totalEmissiveRadiance += diffuseColor.rgb * pliantRim * pliantGrazing * pliantGrazing * pliantGrazing;
`;

/** A sheet's rim shows the side that faces the eye. */
const CLOTH_BACK_GLSL = /* glsl */ `#include <color_fragment>
  bool pliantRimBack = pliantSheetSide == 0.0 && dot(vNormal, vViewPosition) < 0.0;
  if (pliantSheetSide < 0.0 || pliantRimBack) diffuseColor.rgb = pliantBack;
`;
const CLOTH_NORMAL_GLSL = /* glsl */ `#include <normal_fragment_begin>
  if (pliantRimBack) normal = nonPerturbedNormal = -normal;
`;

/**
 * Woven fibres scatter what a smooth surface would mirror: with a plastic's reflectance of 4 % the studio's light boxes
 * wash out what faces up.
 */
const CLOTH_REFLECTANCE_GLSL = /* glsl */ `#include <lights_physical_fragment>
  material.specularColor *= 0.25;
  material.specularF90 = 0.25;
`;

/**
 * The winding alone does not tell which side of a soft body is seen: a scanned mesh has tiny triangles that are turned
 * over, and as backs they would glare like mirrors seen from behind. Only where the interpolated normal clearly faces
 * away as well one looks through a hole at the inside.
 */
const INSIDE_GLSL = /* glsl */ `#include <color_fragment>
  bool pliantInside = !gl_FrontFacing && dot(normalize(vNormal), normalize(vViewPosition)) < -0.2;
  if (pliantInside) diffuseColor.rgb = pliantBack;
`;
const INSIDE_NORMAL_GLSL = /* glsl */ `#include <normal_fragment_begin>
  normal = normalize(vNormal) * (pliantInside ? -1.0 : 1.0);
  nonPerturbedNormal = normal;
`;

/** @param index of the body in its topology, for the default colour */
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
    // Scanned bodies have holes: their inside is better dark than not there. A sheet's shell has none.
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
  // Bodies of the same kind share a compiled program; without a key, three would compare the functions' text and find
  // it equal for all.
  surface.customProgramCacheKey = () => `pliant-${mode}-${kind}`;
  const shadow = new MeshDepthMaterial({ side: mode === "points" ? DoubleSide : BackSide });
  shadow.onBeforeCompile = (shader) => {
    injectSkin(shader, uniforms, mode);
    if (mode === "points") injectDiscs(shader);
  };
  shadow.customProgramCacheKey = () => `pliant-depth-${mode}-${kind}`;
  return { surface, shadow };
}
