/** The studio of environment.ts for a mirror. */
import type { Color } from "three";
import type { LIGHT } from "../stage/studioLight.ts";

const vec3Of = ({ x, y, z }: { x: number; y: number; z: number }): string =>
  `vec3(${[x, y, z].map((part) => part.toFixed(4)).join(", ")})`;
const rgbOf = ({ r, g, b }: Color): string => vec3Of({ x: r, y: g, z: b });

/** Declares `studio(direction)`: linear light. */
export const studioGlsl = ({ boxes, sky, wall, ground }: typeof LIGHT): string => /* glsl */ `
vec3 studio(vec3 way) {
  vec3 light = mix(${rgbOf(wall)}, way.y > 0.0 ? ${rgbOf(sky)} : ${rgbOf(ground)}, min(1.0, 1.6 * abs(way.y)))
    * (way.y > 0.0 ? 0.62 : 0.42);
${boxes
  .map(
    ({ direction, size, color, power }) =>
      `  light += ${rgbOf(color.clone().multiplyScalar(0.5 * power))} * clamp((dot(way, ${vec3Of(direction)}) - ${size.toFixed(4)}) * ${(2.5 / (1 - size)).toFixed(4)}, 0.0, 1.0);`,
  )
  .join("\n")}
  return light;
}
`;
