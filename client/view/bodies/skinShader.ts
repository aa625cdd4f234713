/**
 * The skinning vertex shader, in WebGL 2 GLSL. Its CPU twin is shared/skinning; tests compare the two.
 *
 * Position (Bender, Koschier, Charrier, Weber 2014, section 5): x = (1-u-v) a + u b + v c + d N, where N is the
 * normalized interpolation of the surface's corner normals. Normal: phi(u, v, d) maps parameters to space with Jacobian
 * J = [ju jv N]. A rest normal n0 is stored as the covector m = J0^T n0 and becomes n ~ cof(J) m, the exact normal of
 * the mapped surface (inverse transpose) and not merely the rotated one. The columns of J are
 *   ju = b - a + d (I - N N^T)(nb - na) / |n|     jv = c - a + d (I - N N^T)(nc - na) / |n|     (n: N before
 *   normalizing)
 */
import type { IUniform, WebGLProgramParametersWithUniforms } from "three";
import { TEXTURE_WIDTH } from "./vertexTexture.ts";

/**
 * "detail": a detail mesh on simulation triangles. "direct": the simulation surface itself, one particle per vertex.
 * "sheet": the shell of a cloth. "points": a square for each point of a cloud, on which a sphere is drawn
 * (sphereShader.ts).
 */
export type SkinMode = "detail" | "direct" | "sheet" | "points";

export const FETCH_GLSL = /* glsl */ `
uniform highp sampler2D pliantPositions;
uniform highp sampler2D pliantNormals;
vec3 pliantFetch(highp sampler2D map, uint index) {
  return texelFetch(map, ivec2(int(index & ${TEXTURE_WIDTH - 1}u), int(index >> ${Math.log2(TEXTURE_WIDTH)}u)), 0).xyz;
}
float pliantFourth(uint index) {
  return texelFetch(pliantPositions, ivec2(int(index & ${TEXTURE_WIDTH - 1}u), int(index >> ${Math.log2(TEXTURE_WIDTH)}u)), 0).w;
}
`;

/** Declares `pliantSkin(out position, out normal)`; follows FETCH_GLSL. */
export const SKIN_GLSL: Record<SkinMode, string> = {
  detail: /* glsl */ `
attribute uvec3 pliantCorners;
attribute vec3 pliantCoords;
attribute vec3 pliantCovector;
void pliantSkin(out vec3 position, out vec3 normal) {
  vec3 a = pliantFetch(pliantPositions, pliantCorners.x);
  vec3 b = pliantFetch(pliantPositions, pliantCorners.y);
  vec3 c = pliantFetch(pliantPositions, pliantCorners.z);
  vec3 na = pliantFetch(pliantNormals, pliantCorners.x);
  vec3 nb = pliantFetch(pliantNormals, pliantCorners.y);
  vec3 nc = pliantFetch(pliantNormals, pliantCorners.z);
  float u = pliantCoords.x, v = pliantCoords.y, d = pliantCoords.z;
  vec3 sum = (1.0 - u - v) * na + u * nb + v * nc;
  float size = max(length(sum), 1e-12);
  vec3 N = sum / size;
  position = (1.0 - u - v) * a + u * b + v * c + d * N;
  vec3 nu = nb - na, nv = nc - na;
  vec3 ju = b - a + (d / size) * (nu - N * dot(N, nu));
  vec3 jv = c - a + (d / size) * (nv - N * dot(N, nv));
  vec3 n = pliantCovector.x * cross(jv, N) + pliantCovector.y * cross(N, ju) + pliantCovector.z * cross(ju, jv);
  float nn = dot(n, n);
  // A vertex at the focal distance of its triangle has no normal of its own: use the surface's.
  normal = nn > 1e-24 ? n * inversesqrt(nn) : N;
}
`,
  direct: /* glsl */ `
attribute uvec2 pliantSlots;
void pliantSkin(out vec3 position, out vec3 normal) {
  position = pliantFetch(pliantPositions, pliantSlots.x);
  normal = pliantFetch(pliantNormals, pliantSlots.y);
}
`,
  sheet: /* glsl */ `
uniform highp float pliantHalf;
attribute uvec2 pliantSlots;
attribute vec2 pliantSide;
void pliantSkin(out vec3 position, out vec3 normal) {
  vec3 front = pliantFetch(pliantNormals, pliantSlots.y);
  position = pliantFetch(pliantPositions, pliantSlots.x) + pliantSide.y * pliantHalf * front;
  normal = pliantSide.x < 0.0 ? -front : front;
}
`,
  points: /* glsl */ `
void pliantSkin(out vec3 position, out vec3 normal) {
  position = pliantFetch(pliantPositions, uint(gl_InstanceID));
  normal = vec3(0.0);
}
`,
};

export interface SkinUniforms {
  pliantPositions: IUniform;
  pliantNormals: IUniform;
  /** Radius of a point's sphere, m. */
  pliantRadius: IUniform<number>;
  /** Half of a sheet's drawn thickness, m. */
  pliantHalf: IUniform<number>;
}

/** Makes the vertex shader of a three material (color or depth) take position and normal from `pliantSkin`. */
export function injectSkin(shader: WebGLProgramParametersWithUniforms, uniforms: SkinUniforms, skin: string): void {
  Object.assign(shader.uniforms, uniforms);
  const call = "vec3 pliantPosition; vec3 pliantNormal;\n  pliantSkin(pliantPosition, pliantNormal);\n";
  let source = shader.vertexShader.replace("#include <common>", `#include <common>\n${FETCH_GLSL}${skin}`);
  source = source.replace("void main() {", `void main() {\n  ${call}`);
  source = source.replace("#include <beginnormal_vertex>", "vec3 objectNormal = pliantNormal;");
  shader.vertexShader = source.replace("#include <begin_vertex>", "vec3 transformed = pliantPosition;");
}
