/**
 * Shadows of a wide light: sharp at the contact, softer with the distance from the body that casts them (percentage-
 * closer soft shadows: Fernando 2005). Loaded with finer.ts. It changes three's filter of the type BasicShadowMap, the
 * type of levels with soft shadows only.
 */
import { ShaderChunk } from "three";

/** Half the angle under which the light is seen, as a slope: wide like a soft box. */
const LIGHT_SLOPE = 0.14;
/** Sizes of the shadow camera in `Studio.cover`, in radii: depth range and width. */
const DEPTH = 4.8;
const WIDTH = 2;
/** Widest edge, as a share of the map. */
const MOST = 0.022;
const SEARCHED = 16;
const SAMPLES = 20;
/** Farther samples need a larger difference of depth, so that a slope does not shade itself. Depth over width. */
const SLACK = (1.1 * WIDTH) / DEPTH;

const PENUMBRA_GLSL = /* glsl */ `
  float turn = 6.2831853 * fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
  float away = 0.0;
  float found = 0.0;
  #define PLIANT_DISC(i, count) (sqrt((float(i) + 0.5) / float(count)) * vec2(cos(2.3999632 * float(i) + turn), sin(2.3999632 * float(i) + turn)))
  for (int i = 0; i < ${SEARCHED}; i++) {
    vec2 off = ${MOST} * PLIANT_DISC(i, ${SEARCHED});
    float above = shadowCoord.z - texture2D(shadowMap, shadowCoord.xy + off).r;
    if (above > ${SLACK.toFixed(4)} * length(off)) {
      away += above;
      found += 1.0;
    }
  }
  if (found > 0.0) {
    float wide = clamp(${((LIGHT_SLOPE * DEPTH) / WIDTH).toFixed(4)} * away / found, 1.5 / shadowMapSize.x, ${MOST});
    shadow = 0.0;
    for (int i = 0; i < ${SAMPLES}; i++) {
      vec2 off = wide * PLIANT_DISC(i, ${SAMPLES});
      float depth = texture2D(shadowMap, shadowCoord.xy + off).r;
      shadow += step(shadowCoord.z - ${SLACK.toFixed(4)} * length(off), depth) / ${SAMPLES}.0;
    }
    // With few finds, their number differs from pixel to pixel.
    shadow = mix(1.0, shadow, min(1.0, found / 3.0));
  }
`;

// Spaces and comments of the chunk depend on the build.
const sampled = ShaderChunk.shadowmap_pars_fragment.replace(
  /float depth\s*=\s*texture2D\(\s*shadowMap,\s*shadowCoord\.xy\s*\)\.r;[^]*?#endif/,
  PENUMBRA_GLSL,
);
if (sampled === ShaderChunk.shadowmap_pars_fragment) throw new Error("three's shadow filter has changed");
ShaderChunk.shadowmap_pars_fragment = sampled;
