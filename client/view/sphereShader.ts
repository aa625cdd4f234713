/**
 * Points of a cloud as smooth spheres: a square for each, turned to the eye, on which the fragment shader finds where
 * the ray meets the sphere (Sigg et al. 2006). The cost is pixels, not triangles, so what lowers the picture's quality
 * (quality.ts) lowers it here.
 *
 * Shadows: a disc facing the light, at the sphere's far side, so that no sphere darkens itself.
 */
import type { WebGLProgramParametersWithUniforms } from "three";

/** Half the square's side, in radii: the outline that an eye of a wide angle sees is beyond the sphere's equator. */
const MARGIN = 1.25;

const VARYINGS = /* glsl */ `
varying vec3 pliantSpot;
flat varying vec3 pliantCenter;
flat varying vec2 pliantDepth;
`;

/** In the eye's axes: where the square is, the sphere's middle, and what makes depth of -z. */
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
  normal = nonPerturbedNormal = (pliantHit - pliantCenter) / pliantSize;
`;

/** Before anything is shaded. */
const HIT_GLSL = /* glsl */ `
  float pliantSize = pliantRadius * pliantScale;
  vec3 pliantRay = normalize(pliantSpot);
  float pliantAlong = dot(pliantRay, pliantCenter);
  float pliantInside = pliantSize * pliantSize - dot(pliantCenter, pliantCenter) + pliantAlong * pliantAlong;
  if (pliantInside < 0.0) discard;
  vec3 pliantHit = (pliantAlong - sqrt(pliantInside)) * pliantRay;
  gl_FragDepth = 0.5 - 0.5 * (pliantDepth.x * pliantHit.z + pliantDepth.y) / pliantHit.z;
`;

/** Of the surface's material, after its skin is in. @see bodyMaterial.ts */
export function injectSpheres(shader: WebGLProgramParametersWithUniforms): void {
  const uniforms = "uniform highp float pliantRadius;\n";
  shader.vertexShader = `${VARYINGS}flat varying float pliantScale;\n${uniforms}${shader.vertexShader}`.replace(
    "#include <project_vertex>",
    `${SQUARE_GLSL}  pliantScale = length(modelViewMatrix[0].xyz);\n`,
  );
  shader.fragmentShader = `${VARYINGS}flat varying float pliantScale;\n${uniforms}${shader.fragmentShader}`
    .replace("void main() {", `void main() {\n${HIT_GLSL}`)
    .replace("#include <normal_fragment_begin>", NORMAL_GLSL);
}

/** Of the material that shadows are drawn with. */
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
