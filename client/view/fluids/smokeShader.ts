/**
 * Shaders of smoke: rays march through the density of smoke.ts up to the solid scene, at the low resolution of fluids,
 * and a second pass lays the result over the picture. Noise of several scales tears the edges; it rises with the smoke.
 */
import { SCENE_DEPTH_GLSL } from "./liquidShader.ts";

/** Most samples on a ray, and their distance in cells. */
const MOST_SAMPLES = 72;
const STRIDE = 0.8;
/** Texels along one side of the noise; three octaves fit into it. */
export const NOISE = 32;
/** Speed at which the noise rises, cells/s, and the height after which it repeats, cells. */
export const RISE = 13;
export const REPEATS = 20;

const HEAD = /* glsl */ `precision highp float;\nprecision highp int;\nprecision highp sampler2D;\nprecision highp sampler3D;\n`;

/** A step of an 8-bit color is wider than the gradients of smoke. */
const GRAIN_GLSL = /* glsl */ `
float grainAt(vec2 pixel) {
  return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}
`;

export const SMOKE_MARCH = /* glsl */ `${HEAD}
in vec2 at;
uniform sampler3D smoke;
uniform sampler3D noise;
uniform vec3 low;
uniform vec3 cells;
uniform float cell;
// Optical depth of a cell of full smoke.
uniform float opacity;
// Way that the noise has risen, cells.
uniform float risen;
uniform vec3 lit;
uniform vec3 shaded;
uniform vec2 tangent;
uniform mat3 toWorld;
uniform vec3 eye;
uniform vec3 key;
${SCENE_DEPTH_GLSL}
${GRAIN_GLSL}
out vec4 color;
void main() {
  // Its length along the view axis is 1: places on it count as depths.
  vec3 way = toWorld * vec3((2.0 * at - 1.0) * tangent, -1.0);
  vec3 a = (low - eye) / way, b = (low + (cells - 1.0) * cell - eye) / way;
  vec3 enters = min(a, b), leaves = max(a, b);
  float place = max(0.0, max(enters.x, max(enters.y, enters.z)));
  float end = min(behindAt(ivec2(gl_FragCoord.xy)), min(leaves.x, min(leaves.y, leaves.z)));
  if (place >= end) discard;
  float stride = ${STRIDE} * cell / length(way);
  place += stride * grainAt(gl_FragCoord.xy);
  float through = 1.0;
  vec3 light = vec3(0.0);
  // Smoke scatters light forward: against the light its edges glow.
  float forward = 0.5 + 0.5 * dot(normalize(way), key);
  for (int i = 0; i < ${MOST_SAMPLES}; i++) {
    if (place >= end || through < 0.02) break;
    vec3 point = eye + place * way;
    vec2 here = texture(smoke, ((point - low) / cell + 0.5) / cells).rg;
    if (here.r > 0.008) {
      vec3 still = point / cell - vec3(0.0, risen, 0.0);
      // Coarse noise bends the places of the fine one: curls.
      float coarse = texture(noise, 0.05 * still).r;
      float fine = texture(noise, 0.15 * still + 0.6 * coarse).r;
      float torn = 0.55 * coarse + 0.45 * fine;
      float dense = smoothstep(0.0, 1.0, here.r * 1.4 + 1.1 * (torn - 0.62)) * here.r;
      // It begins gradually above the bottom of its box.
      dense *= smoothstep(0.0, 4.0, (point.y - low.y) / cell);
      float passed = exp(-opacity * ${STRIDE} * dense);
      vec3 glow = mix(shaded, lit, here.g * (0.75 + 0.5 * forward));
      light += through * (1.0 - passed) * glow;
      through *= passed;
    }
    place += stride;
  }
  if (through > 0.999) discard;
  color = vec4(light, 1.0 - through);
}`;

export const SMOKE_COMPOSE = /* glsl */ `${HEAD}
in vec2 at;
uniform sampler2D source;
${GRAIN_GLSL}
out vec4 color;
void main() {
  vec4 sum = texture(source, at);
  if (sum.a < 0.004) discard;
  vec3 encoded = sqrt(min(sum.rgb / sum.a, 1.0)) + (grainAt(gl_FragCoord.xy) - 0.5) / 128.0;
  color = vec4(encoded, 1.0) * sum.a;
}`;

/** uint8[NOISE^3] that repeats: smooth noise of three octaves. */
export function noiseTexels(): Uint8Array<ArrayBuffer> {
  const texels = new Uint8Array(NOISE ** 3);
  const sums = new Float32Array(NOISE ** 3);
  let total = 0;
  for (const [period, share] of [
    [4, 1],
    [8, 0.5],
    [16, 0.25],
  ] as const) {
    total += share;
    // A hash of the number, the same in every browser.
    const values = Float32Array.from({ length: period ** 3 }, (_, n) => {
      const mixed = Math.imul((n + 1) * (period + 77), 0x9e3779b1);
      return (Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 8) / 2 ** 24;
    });
    const knotAt = (x: number, y: number, z: number): number =>
      values[(x % period) + period * ((y % period) + period * (z % period))]!;
    for (let at = 0; at < sums.length; at++) {
      const place = [at % NOISE, Math.floor(at / NOISE) % NOISE, Math.floor(at / NOISE ** 2)].map(
        (n) => (n * period) / NOISE,
      ) as [number, number, number];
      const [i, j, k] = place.map(Math.floor) as [number, number, number];
      const [u, v, w] = place.map((p) => (p % 1) ** 2 * (3 - 2 * (p % 1))) as [number, number, number];
      const row = (y: number, z: number): number => mix(knotAt(i, y, z), knotAt(i + 1, y, z), u);
      sums[at]! += share * mix(mix(row(j, k), row(j + 1, k), v), mix(row(j, k + 1), row(j + 1, k + 1), v), w);
    }
  }
  sums.forEach((sum, at) => (texels[at] = (255 * sum) / total));
  return texels;
}

const mix = (a: number, b: number, share: number): number => a + share * (b - a);
