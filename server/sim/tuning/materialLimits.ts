/**
 * Limits for each value of a body's material that its owner may set, with all other values as in the scene. Limits of
 * several values together are checked when they are set (applyTuning.ts): weight by `weightStrain`, sound by MOST_EDGES
 * (substeps.ts), an implicit step by MOST_QUOTIENT (retuneImplicit.ts).
 *   density, youngsModulus, bendingStiffness   within factors of the scene's value; the weight does not crush the body,
 *                                              sound crosses no more edges in a substep than the step allows
 *   poissonsRatio                              as stiff against compression as those two allow
 *   pressure, yield, steps                     a balloon's; below the largest plastic strain; by the number of
 *                                              particles
 */
import {
  type BodyField,
  type BodyTuning,
  type Span,
  spanOf,
  type TuningLimits,
} from "../../../shared/members/tuningLimits.ts";
import { confined } from "./materialWriter.ts";
import { MOST_QUOTIENT } from "./retuneImplicit.ts";
import { volumetric } from "../scene/sound.ts";
import { MOST_EDGES } from "../scene/substeps.ts";
import type { TunableBody } from "./tunable.ts";

type BodyLimits = TuningLimits["bodies"][number];

/** Largest factors from the scene's value, either way. */
const MATERIAL: Partial<Record<BodyField, number>> = { density: 10, youngsModulus: 100, bendingStiffness: 100 };
/** Smallest and largest target volume of a balloon, in volumes at rest. */
const PRESSURE: Span = { least: 0.2, most: 3 };
/** Largest strain of a body by its own weight, up to which it counts as not crushed. */
export const MOST_STRAIN = 1;
/** Least gravity that the limits assume, m/s^2, also in rooms without gravity. */
const USUAL_GRAVITY = 9.81;
/** Largest number of steps of a method in a tick: a few times the number that scenes use. */
const MOST_STEPS = 16;
/** Share of the largest plastic strain below which flow has to begin. */
const BELOW_STRAIN = 0.99;

/**
 * Weight of a body over the load that would strain it by 1; 0: it has no modulus.
 * @param g m/s^2
 */
export function weightStrain(size: number, g: number, { density, youngsModulus }: Partial<BodyTuning>): number {
  return density && youngsModulus ? (density * g * size) / youngsModulus : 0;
}

/** Largest strain by weight that a room accepts: 1, or that of the scene's body under the largest gravity. */
export const mostStrain = (size: number, mostGravity: number, scene: Partial<BodyTuning>): number =>
  Math.max(MOST_STRAIN, weightStrain(size, mostGravity, scene));

/**
 * Largest factor on a compliant body's squared speed of sound; at least 1.
 * @param rate substeps per second
 */
function soundRoom({ edges, elasticity, scene }: TunableBody, rate: number): number {
  if (edges === 0 || scene.youngsModulus === undefined) return Infinity;
  const now = (scene.youngsModulus * volumetric(elasticity, scene.poissonsRatio)) / scene.density!;
  return Math.max(1, ((MOST_EDGES * rate) / edges) ** 2 / now);
}

/** Largest Poisson's ratio at which `stiffness`, which grows with the ratio, is at most `most`. */
function largestRatio(from: number, top: number, most: number, stiffness: (nu: number) => number): number {
  if (stiffness(top) <= most) return top;
  let [low, high] = [from, top];
  for (let n = 0; n < 40; n++) {
    const middle = (low + high) / 2;
    if (stiffness(middle) <= most) low = middle;
    else high = middle;
  }
  return low;
}

function ratioLimit({ implicit, elasticity, scene }: TunableBody, room: number): Span {
  const span = spanOf("poissonsRatio", scene.poissonsRatio!);
  const stiffness = implicit
    ? (nu: number): number => confined(implicit.flat, nu)
    : (nu: number): number => volumetric(elasticity, nu);
  const most = stiffness(scene.poissonsRatio!) * room;
  return { least: span.least, most: largestRatio(scene.poissonsRatio!, span.most, most, stiffness) };
}

/**
 * @param size diagonal of its box, m
 * @param g of the scene, m/s^2
 * @param mostGravity largest gravity that the owner may set, m/s^2
 * @param rate substeps per second
 */
export function materialLimits(
  size: number,
  tunable: TunableBody,
  { g, mostGravity, rate }: { g: number; mostGravity: number; rate: number },
): BodyLimits {
  const { scene, implicit, mostStrain: plastic, mostSteps } = tunable;
  const limits: BodyLimits = {};
  const sound = implicit ? MOST_QUOTIENT : soundRoom(tunable, rate);
  const weight = Math.max(g, USUAL_GRAVITY);
  const crush = mostStrain(size, mostGravity, scene) / weightStrain(size, weight, scene);
  for (const [field, factor] of Object.entries(MATERIAL) as [BodyField, number][]) {
    const value = scene[field];
    if (value === undefined) continue;
    const most = Math.min(factor, implicit ? MOST_QUOTIENT : Infinity);
    const [less, more] =
      field === "density" ? [sound, crush] : field === "youngsModulus" ? [crush, sound] : [Infinity, Infinity];
    limits[field] = { least: value / Math.min(most, less), most: value * Math.min(most, more) };
  }
  if (scene.poissonsRatio !== undefined) limits.poissonsRatio = ratioLimit(tunable, sound);
  const { pressure } = scene;
  if (pressure !== undefined)
    limits.pressure = { least: Math.min(PRESSURE.least, pressure), most: Math.max(PRESSURE.most, pressure) };
  if (plastic !== undefined) limits.yield = { least: 0, most: Math.max(scene.yield!, BELOW_STRAIN * plastic) };
  if (scene.modes !== undefined) limits.modes = spanOf("modes", scene.modes);
  if (scene.steps !== undefined)
    limits.steps = { least: 1, most: Math.max(scene.steps, Math.min(MOST_STEPS, mostSteps!)) };
  return limits;
}
