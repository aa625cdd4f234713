/** The studio of studioLight.ts for a mirror. */
import type { Color } from "three";
import { BOXES, GROUND, SKY, WALL } from "./studioLight.ts";

const vec3Of = ({ x, y, z }: { x: number; y: number; z: number }): string =>
  `vec3(${[x, y, z].map((part) => part.toFixed(4)).join(", ")})`;
const rgbOf = ({ r, g, b }: Color): string => vec3Of({ x: r, y: g, z: b });

/** `studio(direction)`: linear light. */
export const STUDIO_GLSL = /* glsl */ `
vec3 studio(vec3 way) {
  vec3 light = mix(${rgbOf(WALL)}, way.y > 0.0 ? ${rgbOf(SKY)} : ${rgbOf(GROUND)}, min(1.0, 1.6 * abs(way.y)))
    * (way.y > 0.0 ? 0.62 : 0.42);
${BOXES.map(
  ({ direction, size, color, power }) =>
    `  light += ${rgbOf(color.clone().multiplyScalar(0.5 * power))} * clamp((dot(way, ${vec3Of(direction)}) - ${size.toFixed(4)}) * ${(2.5 / (1 - size)).toFixed(4)}, 0.0, 1.0);`,
).join("\n")}
  return light;
}
`;
