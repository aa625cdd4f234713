/**
 * The looks of a body: a standard material whose vertex shader skins, with a soft rim of light at grazing angles (light
 * that wandered through or over the soft thing), another colour on a cloth's other side (and inside a body), and the
 * depth material of its shadow.
 */
import { BackSide, Color, DoubleSide, MeshDepthMaterial, MeshStandardMaterial } from "three";
import type { TopologyBody } from "../../shared/topology.ts";
import type { Look } from "../../shared/scene.ts";
import { injectSkin, type SkinMode, type SkinUniforms } from "./skinShader.ts";

/**
 * Colours of bodies that name none, in turn: warm, of similar lightness, told apart by most kinds of colour blindness.
 */
const DEFAULT_COLORS = ["#e8835a", "#5b9bb0", "#e9b44c", "#9a7bb5", "#7fae74", "#d2647a"];

/** How bright a soft body's inside is beside its outside. */
const INSIDE = 0.35;

/** Half of a sheet's drawn thickness, m. */
const CLOTH_LIFT = 0.0012;

export interface BodyMaterials {
  surface: MeshStandardMaterial;
  shadow: MeshDepthMaterial;
}

const RIM_GLSL = /* glsl */ `#include <emissivemap_fragment>
  float pliantGrazing = 1.0 - clamp(dot(normal, normalize(vViewPosition)), 0.0, 1.0);
  totalEmissiveRadiance += diffuseColor.rgb * pliantRim * pliantGrazing * pliantGrazing * pliantGrazing;
`;

const CLOTH_BACK_GLSL = /* glsl */ `#include <color_fragment>
  if (!gl_FrontFacing) diffuseColor.rgb = pliantBack;
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
    roughness: look.roughness ?? { cloth: 0.82, soft: 0.5, ball: 0.28 }[kind],
    metalness: look.metalness ?? 0,
    // Scanned bodies have holes: their inside is better dark than not there.
    side: DoubleSide,
    shadowSide: cloth ? DoubleSide : BackSide,
  });
  const lift = cloth ? CLOTH_LIFT : 0;
  const rim = { value: cloth ? 0.2 : 0.24 };
  surface.onBeforeCompile = (shader) => {
    injectSkin(shader, uniforms, mode, lift);
    shader.uniforms.pliantRim = rim;
    shader.uniforms.pliantBack = { value: back };
    let fragment = shader.fragmentShader.replace(
      "#include <common>",
      "#include <common>\nuniform float pliantRim;\nuniform vec3 pliantBack;",
    );
    fragment = fragment.replace("#include <emissivemap_fragment>", RIM_GLSL);
    shader.fragmentShader = cloth
      ? fragment.replace("#include <color_fragment>", CLOTH_BACK_GLSL)
      : fragment
          .replace("#include <color_fragment>", INSIDE_GLSL)
          .replace("#include <normal_fragment_begin>", INSIDE_NORMAL_GLSL);
  };
  // Bodies of the same kind share a compiled program; without a key, three would compare the functions' text and find
  // it equal for all.
  surface.customProgramCacheKey = () => `pliant-${mode}-${kind}`;
  const shadow = new MeshDepthMaterial({ side: cloth ? DoubleSide : BackSide });
  shadow.onBeforeCompile = (shader) => injectSkin(shader, uniforms, mode, lift);
  shadow.customProgramCacheKey = () => `pliant-depth-${mode}-${kind}`;
  return { surface, shadow };
}
