/**
 * Fine wrinkles of woven cloth, between the folds that its mesh has: slopes of a height in the cloth's own coordinates
 * that bend the shading only, so that they move with the cloth. Loaded with finer.ts.
 */

/** Wavelength of the wrinkles, in distances of the printed lines; height, in wavelengths. */
const LENGTH = 0.8;
const HEIGHT = 0.065;

/** Declares `pliantCreased(at)`: height of the wrinkles, in wavelengths; `at` in wavelengths, too. */
export const WRINKLES_GLSL = /* glsl */ `
float pliantRandom(vec2 p) {
  vec3 q = fract(vec3(p.xyx) * 0.1031);
  q += dot(q, q.yzx + 33.33);
  return fract((q.x + q.y) * q.z);
}
float pliantNoise(vec2 p) {
  vec2 i = floor(p), f = fract(p);
  f = f * f * f * (f * (6.0 * f - 15.0) + 10.0);
  return mix(
    mix(pliantRandom(i), pliantRandom(i + vec2(1.0, 0.0)), f.x),
    mix(pliantRandom(i + vec2(0.0, 1.0)), pliantRandom(i + vec2(1.0, 1.0)), f.x),
    f.y
  );
}
float pliantCreased(vec2 at) {
  // Noise moved by noise has long, bent ridges; some places are smooth.
  vec2 moved = at + 0.9 * vec2(pliantNoise(0.7 * at + 3.1), pliantNoise(0.7 * at + 17.7));
  float first = 2.0 * pliantNoise(vec2(0.8 * moved.x + 0.6 * moved.y, 1.4 * moved.y - 1.9 * moved.x)) - 1.0;
  float second = 2.0 * pliantNoise(vec2(1.1 * moved.x - 1.5 * moved.y, 0.5 * moved.y + 0.4 * moved.x) + 9.2) - 1.0;
  float ridges = 1.6 - sqrt(first * first + 0.07) - 0.7 * sqrt(second * second + 0.1);
  return (0.2 + 0.8 * pliantNoise(0.45 * at)) * (ridges + 0.18 * pliantNoise(3.3 * moved + 7.3));
}
`;

/** Bends `normal` (Mikkelsen 2010) and darkens hollows; `pliantGrid` is the distance of the printed lines, m. */
export const WRINKLE_NORMAL_GLSL = /* glsl */ `
  if (pliantThread > 0.0 && pliantScale == 0.0) {
    float pliantLong = ${LENGTH} * pliantGrid;
    vec2 pliantAt = pliantCloth / pliantLong;
    vec2 pliantX = dFdx(pliantAt), pliantY = dFdy(pliantAt);
    float pliantSeen = 1.0 - smoothstep(0.12, 0.4, max(length(pliantX), length(pliantY)));
    if (pliantSeen > 0.0) {
      const float pliantStep = 0.06;
      float pliantMid = pliantCreased(pliantAt);
      vec2 pliantUphill = vec2(
        pliantCreased(pliantAt + vec2(pliantStep, 0.0)) - pliantMid,
        pliantCreased(pliantAt + vec2(0.0, pliantStep)) - pliantMid
      ) * (${HEIGHT} * pliantSeen * pliantLong / pliantStep);
      vec3 pliantAcross = dFdx(-vViewPosition), pliantUp = dFdy(-vViewPosition);
      vec3 pliantR1 = cross(pliantUp, normal), pliantR2 = cross(normal, pliantAcross);
      float pliantArea = dot(pliantAcross, pliantR1);
      vec3 pliantSlope = sign(pliantArea) * (dot(pliantUphill, pliantX) * pliantR1 + dot(pliantUphill, pliantY) * pliantR2);
      // Both sides of the sheet have the same wrinkles, once raised and once sunken.
      float pliantRaised = pliantSheetSide < 0.0 ? -1.0 : 1.0;
      normal = normalize(abs(pliantArea) * normal - pliantRaised * pliantSlope);
      diffuseColor.rgb *= mix(1.0, 0.93 + 0.1 * (pliantRaised > 0.0 ? pliantMid : 1.0 - pliantMid), pliantSeen);
    }
  }
`;
