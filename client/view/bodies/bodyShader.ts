/** Fragment shading of bodies: light in soft matter, the sides and the weave of cloth. */
import { Color, type WebGLProgramParametersWithUniforms } from "three";
import type { SkinMode } from "./skinShader.ts";
import { STRAIN_COLORS } from "./strainView.ts";

type Shader = WebGLProgramParametersWithUniforms;

/**
 * Light in soft matter. `wrap` lights the side beyond the terminator, `through` passes light to an eye that looks
 * against it, and the rim scatters light at grazing angles, where the path through the body is short.
 */
const GLOW_GLSL = /* glsl */ `#include <emissivemap_fragment>
  vec3 pliantEye = normalize(vViewPosition);
  totalEmissiveRadiance += 0.16 * pliantHeld * diffuseColor.rgb;
  float pliantGrazing = 1.0 - clamp(dot(normal, pliantEye), 0.0, 1.0);
  // Fibers and dust scatter a little white.
  totalEmissiveRadiance += mix(diffuseColor.rgb, vec3(0.6), 0.25) * pliantRim * pliantGrazing * pliantGrazing * pliantGrazing;
  #if NUM_DIR_LIGHTS > 0
    vec3 pliantKey = directionalLights[0].direction;
    float pliantFacing = dot(normal, pliantKey);
    float pliantWrap = max(0.0, (pliantFacing + 0.6) / 1.6) - max(0.0, pliantFacing);
    float pliantThrough = max(0.0, dot(pliantEye, -normalize(pliantKey + 0.4 * normal)));
    vec3 pliantDeep = diffuseColor.rgb * (0.4 + 0.6 * diffuseColor.rgb / max(0.05, max(diffuseColor.r, max(diffuseColor.g, diffuseColor.b))));
    totalEmissiveRadiance += pliantGlow * pliantDeep * directionalLights[0].color
      * (0.06 + 0.3 * pliantWrap + 0.5 * pliantThrough * pliantThrough + 0.3 * pliantGrazing * pliantGrazing);
  #endif
`;

/**
 * A plain weave, and a printed grid that shows how the cloth is stretched. Both fade where a pixel covers several
 * threads. Bumps: Mikkelsen 2010, from the height's derivatives on the screen.
 */
const WEAVE_GLSL = /* glsl */ `
float pliantOver(vec2 at) {
  vec2 cell = floor(at);
  vec2 in_ = abs(fract(at) - 0.5);
  float first = mod(cell.x + cell.y, 2.0);
  return mix(0.25 - in_.x * in_.x, 0.25 - in_.y * in_.y, first);
}
float pliantPrint(vec2 at) {
  vec2 wide = max(fwidth(at), 1e-5);
  vec2 away = abs(fract(at - 0.5) - 0.5);
  vec2 line = 1.0 - smoothstep(vec2(0.018), vec2(0.018) + wide, away);
  return max(line.x, line.y) * (1.0 - smoothstep(0.08, 0.3, max(wide.x, wide.y)));
}
`;
/** After the strain's colors, so that the lines show on these, too. */
const WEAVE_COLOR_GLSL = /* glsl */ `
  if (pliantGrid > 0.0) diffuseColor.rgb = mix(diffuseColor.rgb, pliantScale > 0.0 ? 0.6 * diffuseColor.rgb : mix(diffuseColor.rgb, vec3(1.0), 0.16), pliantPrint(pliantCloth / pliantGrid));
  #include <roughnessmap_fragment>
`;
const WEAVE_NORMAL_GLSL = /* glsl */ `
  // In the strain view only the strain is a pattern.
  if (pliantThread > 0.0 && pliantScale == 0.0) {
    vec2 pliantAt = pliantCloth / pliantThread;
    vec2 pliantWide = fwidth(pliantAt);
    float pliantSeen = 1.0 - smoothstep(0.12, 0.4, max(pliantWide.x, pliantWide.y));
    if (pliantSeen > 0.0) {
      float pliantHeight = pliantSeen * pliantThread * 0.5 * pliantOver(pliantAt);
      vec3 pliantAcross = dFdx(-vViewPosition);
      vec3 pliantUp = dFdy(-vViewPosition);
      vec3 pliantR1 = cross(pliantUp, normal);
      vec3 pliantR2 = cross(normal, pliantAcross);
      float pliantArea = dot(pliantAcross, pliantR1);
      vec3 pliantSlope = sign(pliantArea) * (dFdx(pliantHeight) * pliantR1 + dFdy(pliantHeight) * pliantR2);
      normal = normalize(abs(pliantArea) * normal - pliantSlope);
    }
  }
`;

const OWN_GLSL = /* glsl */ `
uniform float pliantRim;
uniform float pliantGlow;
uniform float pliantHeld;
uniform vec3 pliantBack;
uniform float pliantGrid;
uniform float pliantThread;
`;

/** The rim of a sheet has the color of the side that faces the eye. */
const CLOTH_BACK_GLSL = /* glsl */ `#include <color_fragment>
  bool pliantRimBack = pliantSheetSide == 0.0 && dot(vNormal, vViewPosition) < 0.0;
  if (pliantSheetSide < 0.0 || pliantRimBack) diffuseColor.rgb = pliantBack;
`;
/** Light from behind passes thin cloth and is scattered to all sides. */
const CLOTH_THROUGH_GLSL = /* glsl */ `
  #if NUM_DIR_LIGHTS > 0
    totalEmissiveRadiance += 0.16 * max(0.0, -pliantFacing) * directionalLights[0].color * diffuseColor.rgb;
  #endif
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

/** Strain of a vertex, from the fourth number of its particles. */
const STRAIN_VERTEX: Partial<Record<SkinMode, string>> = {
  detail: `(1.0 - pliantCoords.x - pliantCoords.y) * pliantFourth(pliantCorners.x)
    + pliantCoords.x * pliantFourth(pliantCorners.y) + pliantCoords.y * pliantFourth(pliantCorners.z)`,
  direct: "pliantFourth(pliantSlots.x)",
  sheet: "pliantFourth(pliantSlots.x)",
};
const FALSE_COLORS = STRAIN_COLORS.map((color) => `vec3(${new Color(color).toArray().map((c) => c.toFixed(4))})`);
const STRAIN_COLOR_GLSL = /* glsl */ `
  if (pliantScale > 0.0) {
    float pliantAt = clamp(2.0 + 2.0 * pliantStrain * pliantScale, 0.0, 4.0);
    vec3 pliantColors[5] = vec3[5](${FALSE_COLORS.join(", ")});
    int pliantLow = min(int(pliantAt), 3);
    diffuseColor.rgb = mix(pliantColors[pliantLow], pliantColors[pliantLow + 1], pliantAt - float(pliantLow));
  }
  #include <roughnessmap_fragment>
`;
/** Colored light would make zero strain look like a little tension. */
const STRAIN_LIGHT_GLSL = /* glsl */ `
  if (pliantScale > 0.0) {
    const vec3 pliantLuma = vec3(0.2126, 0.7152, 0.0722);
    outgoingLight = diffuseColor.rgb * dot(outgoingLight, pliantLuma) / max(dot(diffuseColor.rgb, pliantLuma), 1e-3);
  }
  #include <opaque_fragment>
`;

/** Adds the strain view: false colors by the strain times `pliantScale`; 0 is off. */
export function injectStrain(shader: Shader, mode: SkinMode): void {
  const strain = STRAIN_VERTEX[mode];
  if (!strain) return;
  shader.vertexShader = `varying float pliantStrain;\n${shader.vertexShader}`.replace(
    "#include <project_vertex>",
    `pliantStrain = ${strain};\n#include <project_vertex>`,
  );
  shader.fragmentShader = `varying float pliantStrain;\nuniform float pliantScale;\n${shader.fragmentShader}`
    .replace("#include <roughnessmap_fragment>", STRAIN_COLOR_GLSL)
    .replace("#include <opaque_fragment>", STRAIN_LIGHT_GLSL);
}

/** Adds light in soft matter, and declares the uniforms of all parts. @param other light instead of the glow */
export function injectGlow(shader: Shader, other?: (shader: Shader) => void): void {
  shader.fragmentShader = shader.fragmentShader.replace("#include <common>", `#include <common>\n${OWN_GLSL}`);
  if (other) other(shader);
  else shader.fragmentShader = shader.fragmentShader.replace("#include <emissivemap_fragment>", GLOW_GLSL);
}

const CLOTH_VARYINGS = "flat varying float pliantSheetSide;\nvarying vec2 pliantCloth;\n";

/** @param wrinkles declarations and shading of wrinkles.ts */
export function injectCloth(shader: Shader, [declared, bent]: readonly [string, string] = ["", ""]): void {
  shader.vertexShader = `${CLOTH_VARYINGS}attribute vec2 pliantFlat;\n${shader.vertexShader}`.replace(
    "void main() {",
    "void main() {\n  pliantSheetSide = pliantSide.x;\n  pliantCloth = pliantFlat;",
  );
  shader.fragmentShader = `${CLOTH_VARYINGS}${shader.fragmentShader}`
    .replace("void main() {", `${WEAVE_GLSL}${declared}void main() {`)
    .replace("#include <color_fragment>", CLOTH_BACK_GLSL)
    .replace("#include <roughnessmap_fragment>", WEAVE_COLOR_GLSL)
    .replace("#include <normal_fragment_begin>", `${CLOTH_NORMAL_GLSL}${bent}${WEAVE_NORMAL_GLSL}`)
    .replace("#include <lights_physical_fragment>", `${CLOTH_THROUGH_GLSL}${CLOTH_REFLECTANCE_GLSL}`);
}

/** @param mode "detail": hollows are darker */
export function injectSolid(shader: Shader, mode: SkinMode): void {
  shader.fragmentShader = shader.fragmentShader
    .replace("#include <color_fragment>", INSIDE_GLSL)
    .replace("#include <normal_fragment_begin>", INSIDE_NORMAL_GLSL);
  if (mode === "detail") injectHollows(shader);
}

const HOLLOW_GLSL = /* glsl */ `
  vec3 pliantOwn = diffuseColor.rgb;
  // Light that bounces in a hollow takes the body's color.
  diffuseColor.rgb *= pliantLit.x * mix(pliantOwn, vec3(1.0), pliantLit.x);
  #include <roughnessmap_fragment>
`;
const THIN_GLSL = /* glsl */ `
  #if NUM_DIR_LIGHTS > 0
    totalEmissiveRadiance += pliantGlow * pliantLit.y * directionalLights[0].color * pliantOwn * pliantOwn
      * (0.5 + pliantThrough);
  #endif
`;

/** Darkens the hollows of a detail mesh, more in colors that it reflects less, and lights thin parts (cavities.ts). */
function injectHollows(shader: Shader): void {
  shader.vertexShader = `varying vec2 pliantLit;\nattribute vec2 pliantLight;\n${shader.vertexShader}`.replace(
    "void main() {",
    "void main() {\n  pliantLit = pliantLight;",
  );
  shader.fragmentShader = `varying vec2 pliantLit;\n${shader.fragmentShader}`
    .replace("#include <roughnessmap_fragment>", HOLLOW_GLSL)
    .replace(
      "#include <lights_physical_fragment>",
      "#include <lights_physical_fragment>\n  material.specularColor *= pliantLit.x * pliantLit.x;",
    )
    .replace("#include <lights_fragment_end>", `#include <lights_fragment_end>\n${THIN_GLSL}`);
}
