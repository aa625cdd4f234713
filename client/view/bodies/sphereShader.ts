/**
 * Draws the points of a cloud as smooth spheres: a square for each, turned to the eye, on which the fragment shader
 * intersects the ray with the sphere (Sigg et al. 2006). The cost is pixels, not triangles, so a lower quality level
 * (pictureQuality.ts) is cheaper here, too.
 *
 * Shadows: a disc that faces the light, at the sphere's far side, so that no sphere shades itself.
 */
import type { WebGLProgramParametersWithUniforms } from "three";

/** Half the side of a square, in radii: more than 1, because in perspective a sphere's outline exceeds its radius. */
const MARGIN = 1.25;

/** Spheres are shaded flatter by this part, so that neighbors look like one matter. */
const FLATTER = 0.45;

const VARYINGS = /* glsl */ `
varying vec3 pliantSpot;
flat varying vec3 pliantCenter;
flat varying vec2 pliantDepth;
`;

/** In view space: position on the square, the sphere's center, and the two coefficients that convert -z to depth. */
const SQUARE_GLSL = /* glsl */ `
  vec4 mvPosition = modelViewMatrix * vec4(transformed, 1.0);
  pliantCenter = mvPosition.xyz;
  float pliantSize = pliantRadius * length(modelViewMatrix[0].xyz);
  vec3 pliantSight = isPerspectiveMatrix(projectionMatrix) ? normalize(-mvPosition.xyz) : vec3(0.0, 0.0, 1.0);
  vec3 pliantRight = normalize(cross(vec3(0.0, 1.0, 0.0), pliantSight));
  vec3 pliantUp = cross(pliantSight, pliantRight);
  mvPosition.xyz += ${MARGIN} * pliantSize * (position.x * pliantRight + position.y * pliantUp);
  pliantSpot = mvPosition.xyz;
  pliantDepth = vec2(projectionMatrix[2][2], projectionMatrix[3][2]);
  gl_Position = projectionMatrix * mvPosition;
`;

const NORMAL_GLSL = /* glsl */ `#include <normal_fragment_begin>
  vec3 pliantBall = (pliantHit - pliantCenter) / pliantSize;
  normal = nonPerturbedNormal = normalize(mix(pliantBall, -pliantRay, ${FLATTER}));
`;

/** Inserted before shading. */
const HIT_GLSL = /* glsl */ `
  float pliantSize = pliantRadius * pliantZoom;
  // The point of the sight line that is nearest to the center, and the line's direction.
  vec3 pliantRay = isOrthographic ? vec3(0.0, 0.0, -1.0) : normalize(pliantSpot);
  vec3 pliantNear = isOrthographic ? vec3(pliantSpot.xy, pliantCenter.z) : dot(pliantRay, pliantCenter) * pliantRay;
  vec3 pliantOff = pliantNear - pliantCenter;
  float pliantInside = pliantSize * pliantSize - dot(pliantOff, pliantOff);
  if (pliantInside < 0.0) discard;
  vec3 pliantHit = pliantNear - sqrt(pliantInside) * pliantRay;
  float pliantClip = pliantDepth.x * pliantHit.z + pliantDepth.y;
  gl_FragDepth = 0.5 + 0.5 * (isOrthographic ? pliantClip : -pliantClip / pliantHit.z);
`;

/** Patches the surface material, after `injectSkin`. @see bodyMaterial.ts */
export function injectSpheres(shader: WebGLProgramParametersWithUniforms): void {
  const uniforms = "uniform highp float pliantRadius;\n";
  shader.vertexShader = `${VARYINGS}flat varying float pliantZoom;\n${uniforms}${shader.vertexShader}`.replace(
    "#include <project_vertex>",
    `${SQUARE_GLSL}  pliantZoom = length(modelViewMatrix[0].xyz);\n`,
  );
  shader.fragmentShader = `${VARYINGS}flat varying float pliantZoom;\n${uniforms}${shader.fragmentShader}`
    .replace("void main() {", `void main() {\n${HIT_GLSL}`)
    .replace("#include <normal_fragment_begin>", NORMAL_GLSL);
}

/** Patches the depth material of shadows. */
export function injectDiscs(shader: WebGLProgramParametersWithUniforms): void {
  shader.vertexShader = `varying vec2 pliantAcross;\nuniform highp float pliantRadius;\n${shader.vertexShader}`.replace(
    "#include <project_vertex>",
    /* glsl */ `
  vec4 mvPosition = modelViewMatrix * vec4(transformed, 1.0);
  mvPosition.xyz += pliantRadius * length(modelViewMatrix[0].xyz) * vec3(position.xy, -1.0);
  pliantAcross = position.xy;
  gl_Position = projectionMatrix * mvPosition;
`,
  );
  shader.fragmentShader = `varying vec2 pliantAcross;\n${shader.fragmentShader}`.replace(
    "void main() {",
    "void main() {\n  if (dot(pliantAcross, pliantAcross) > 1.0) discard;",
  );
}
