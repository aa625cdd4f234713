/**
 * Shaders of smoke: soft, lit sprites. Their sum does not depend on their order: a target collects the optical depth
 * and the light weighted by it, and the picture shows light * (1 - exp(-depth)).
 */
import { SCENE_DEPTH_GLSL } from "./liquidShader.ts";

const HEAD = /* glsl */ `precision highp float;\nprecision highp int;\nprecision highp sampler2D;\n`;

/** `extra` of a tracer: the integer part is its light in 255ths, the rest its smoke (smoke.ts). */
export const SMOKE_SPLAT = /* glsl */ `${HEAD}
in vec2 across;
flat in float depth;
flat in float extra;
flat in int tracer;
uniform float size;
uniform vec3 lit;
uniform vec3 shaded;
${SCENE_DEPTH_GLSL}
out vec4 color;
float hash(vec2 p) {
  vec3 q = fract(vec3(p.xyx) * 0.1031);
  q += dot(q, q.yzx + 33.33);
  return fract((q.x + q.y) * q.z);
}
float noise(vec2 p) {
  vec2 i = floor(p), f = fract(p);
  f = f * f * (3.0 - 2.0 * f);
  return mix(
    mix(hash(i), hash(i + vec2(1.0, 0.0)), f.x),
    mix(hash(i + vec2(0.0, 1.0)), hash(i + vec2(1.0, 1.0)), f.x),
    f.y
  );
}
void main() {
  float square = dot(across, across);
  if (square >= 1.0) discard;
  // Sprites fade where they cut into the scene.
  float free = clamp((behindAt(ivec2(gl_FragCoord.xy)) - depth + 0.4 * size) / size, 0.0, 1.0);
  float puff = (1.0 - square) * (1.0 - square);
  vec2 own = vec2(float(tracer) * 7.31, float(tracer) * 3.17);
  float smoke = fract(extra);
  float torn = 0.5;
  if (smoke > 0.03) {
    // Curls: finer noise at places that coarse noise has shifted.
    vec2 shifted = across + 0.5 * vec2(noise(2.0 * across + own), noise(2.0 * across - own)) - 0.25;
    float layers = noise(2.4 * shifted + own) + 0.5 * noise(5.5 * shifted - own) + 0.25 * noise(11.0 * shifted + own);
    torn = smoothstep(0.45, 1.35, layers);
  }
  float dense = 3.0 * smoke * free * puff * torn;
  // The upper side of a puff is lighter.
  float light = clamp(floor(extra) / 255.0 + 0.12 * across.y, 0.0, 1.0);
  color = vec4(dense * mix(shaded, lit, light), dense);
}`;

export const SMOKE_COMPOSE = /* glsl */ `${HEAD}
in vec2 at;
uniform sampler2D source;
uniform vec2 puff;
uniform vec3 key;
uniform mat3 toWorld;
out vec4 color;
float heightAt(vec2 place) {
  return 1.0 - exp(-0.6 * texture(source, place).a);
}
void main() {
  vec4 sum = texture(source, at);
  if (sum.a < 0.004) discard;
  float cover = 1.0 - exp(-sum.a);
  // Dense puffs are round toward the eye: their sides that face the key light are bright, the others cool.
  vec2 slope = 2.4 * vec2(
    heightAt(at + vec2(puff.x, 0.0)) - heightAt(at - vec2(puff.x, 0.0)),
    heightAt(at + vec2(0.0, puff.y)) - heightAt(at - vec2(0.0, puff.y))
  );
  float facing = 0.5 + 0.5 * dot(normalize(vec3(-slope, 0.7)), key * toWorld);
  vec3 light = sum.rgb / sum.a * mix(vec3(0.62, 0.66, 0.74), vec3(1.24, 1.2, 1.12), facing);
  color = vec4(sqrt(min(light, 1.0)) * cover, cover);
}`;
