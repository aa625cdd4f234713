/**
 * Materials of a body: a standard material with a skinning vertex shader and the shading of its finish (bodyShader.ts),
 * and the depth material of its shadow.
 */
import { BackSide, Color, DoubleSide, FrontSide, type IUniform, MeshDepthMaterial, MeshStandardMaterial } from "three";
import type { TopologyBody } from "../../../shared/topology.ts";
import type { Look } from "../../../shared/scene/scene.ts";
import { BACKDROP, type JellyShading } from "./backdrop.ts";
import { DEFAULT_FINISH, FINISHES, SMOOTH } from "./finish.ts";
import { injectCloth, injectGlow, injectSolid, injectStrain } from "./bodyShader.ts";
import { injectDiscs, injectSpheres } from "./sphereShader.ts";
import { injectSkin, SKIN_GLSL, type SkinMode, type SkinUniforms } from "./skinShader.ts";

/**
 * Default colors of bodies without one: warm, of similar lightness, distinguishable with most kinds of color blindness.
 */
const DEFAULT_COLORS = ["#e8835a", "#5b9bb0", "#e9b44c", "#9a7bb5", "#7fae74", "#d2647a"];

/** Brightness of a soft body's inside, relative to its outside. */
const INSIDE = 0.35;

export interface BodyMaterials {
  surface: MeshStandardMaterial;
  shadow: MeshDepthMaterial;
  /** Strain view: 1 over the end of its scale; 0: off. */
  strainScale: IUniform<number>;
  /** 1 while a member holds the body: it is drawn lighter. */
  held: IUniform<number>;
  /** Shading of its inside, once the code of jelly is there; set it before a new `needsUpdate`. */
  jelly?: JellyShading;
  /** `pliantSkin` of a smooth sheet or a cloud's surface, once its code is there; set it before a new `needsUpdate`. */
  skin?: string;
  /** Declarations and shading of a sheet's wrinkles; set them before a new `needsUpdate`. */
  wrinkles?: readonly [string, string];
}

/**
 * @param index of the body in its topology, for the default color
 * @param grid distance of a cloth's printed lines, m; 0: none
 */
export function bodyMaterials(
  kind: TopologyBody["kind"],
  look: Look,
  index: number,
  mode: SkinMode,
  uniforms: SkinUniforms,
  grid: number,
): BodyMaterials {
  const cloth = kind === "cloth";
  const front = new Color(look.color ?? DEFAULT_COLORS[index % DEFAULT_COLORS.length]!);
  const back = cloth
    ? look.backColor
      ? new Color(look.backColor)
      : front.clone().lerp(new Color("#ffffff"), 0.12)
    : front.clone().multiplyScalar(INSIDE);
  const finish = FINISHES[look.finish ?? DEFAULT_FINISH[kind]];
  const smooth = look.finish ? undefined : SMOOTH[kind];
  const surface = new MeshStandardMaterial({
    color: front,
    roughness: look.roughness ?? smooth ?? finish.roughness,
    metalness: look.metalness ?? finish.metalness,
    // Both sides: scanned bodies have holes, through which the dark inside shows. The shell of a cloth has no holes.
    side: cloth ? FrontSide : DoubleSide,
    shadowSide: BackSide,
  });
  const balls = (): boolean => mode === "points" && !materials.skin;
  const held = { value: 0 };
  const strainScale = { value: 0 };
  const own = {
    pliantRim: { value: finish.rim },
    pliantGlow: { value: finish.glow },
    pliantBack: { value: back },
    pliantGrid: { value: grid },
    pliantHeld: held,
    pliantScale: strainScale,
    pliantThread: { value: grid > 0 ? finish.thread : 0 },
  };
  surface.onBeforeCompile = (shader) => {
    injectSkin(shader, uniforms, materials.skin ?? SKIN_GLSL[mode]);
    Object.assign(shader.uniforms, own, materials.jelly && BACKDROP, materials.jelly?.uniforms);
    injectStrain(shader, cloth && materials.skin ? "detail" : mode);
    injectGlow(shader, materials.jelly?.inject);
    if (balls()) injectSpheres(shader);
    else if (cloth) injectCloth(shader, materials.wrinkles);
    else injectSolid(shader, mode);
  };
  // Bodies of the same kind share a compiled program. Without a key, three compares the text of the functions, which is
  // the same for all.
  surface.customProgramCacheKey = () =>
    `pliant-${mode}-${kind}${materials.jelly ? "-jelly" : ""}${materials.skin ? "-smooth" : ""}${materials.wrinkles ? "-wrinkled" : ""}`;
  const shadow = new MeshDepthMaterial({ side: mode === "points" ? DoubleSide : BackSide });
  shadow.onBeforeCompile = (shader) => {
    injectSkin(shader, uniforms, materials.skin ?? SKIN_GLSL[mode]);
    if (balls()) injectDiscs(shader);
  };
  shadow.customProgramCacheKey = () => `pliant-depth-${mode}-${kind}${materials.skin ? "-smooth" : ""}`;
  const materials: BodyMaterials = { surface, shadow, held, strainScale };
  return materials;
}
