/**
 * Limits of a body's speed, and of the values that a room accepts from its owner. They follow from the scene, not from
 * the type of a number. h is a substep, s the diagonal of a body's box, a its mean edge, all in SI units.
 *
 * Speed. No free body moves further than MOST_SIZES of its sizes in a substep, so its speed is at most
 *     v = MOST_SIZES s / h,   or AUTHORED times the velocity that the scene gives it, if that is more.
 * `limitSpeeds` enforces this before each tick, whatever made the body fast: a long fall, impulses, a collision. It
 * scales the body's velocities by one factor, so the direction and axis of its motion stay. Within the tick the limits
 * of gravity and wind below add less than a size per substep. Ordinary motion is 10 to 100 times slower and keeps every
 * bit.
 *
 * Gravity g is at most the smallest, over all bodies, of
 *     2 s / FALL_SECONDS^2             a fall through the body's own size is visible, and takes FALL_SECONDS
 *     (MOST_EDGES a / h)^2 / (2 s)     at its end the body moves MOST_EDGES edges in a substep: contact sees each edge
 *     E / (rho s)                      the body's weight strains it by MOST_STRAIN = 1 (materialLimits.ts)
 * but never less than EARTHLY, which all scenes are made for, nor less than the scene's own gravity.
 *
 * Wind. Bodies reach at most its velocity (kernel/assembly/wind/wind.ts), so U is bounded like a speed:
 *     s / CROSSING_SECONDS             it crosses a body in CROSSING_SECONDS
 *     MOST_EDGES a / h                 in a substep it carries a body MOST_EDGES edges
 *     sqrt(2 p (a / T^2) / (rho C))    with the mass p per square meter, it moves a body at rest half an edge in
 *                                      a tick T: a sheet that it presses against something is not crushed
 * over soft bodies and cloth, but never less than BREEZE or STORM times the scene's wind. Gusts are at most as strong
 * as the wind. The push of air grows with its density and coefficients, which stay those of air.
 *
 * Limits of materials: materialLimits.ts.
 *
 * A scene's author may exceed these limits, but not all: `checkMotion` refuses a scene whose gravity, loads, wind or
 * grabs alone move a body further than MOST_SIZES of its sizes in one substep. Velocities of the scene raise the limit
 * of their body.
 */
import { type Steps, verificationRate } from "../scene/substeps.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import {
  type Span,
  type Tuning,
  type TuningLimits,
  type Wind,
  WIND_SPANS,
} from "../../../shared/members/tuningLimits.ts";
import type { Views } from "../world/views.ts";
import type { Kernel } from "../world/kernelModule.ts";
import type { BodyLayout, SimLayout } from "../world/worldLayout.ts";
import { materialLimits, MOST_STRAIN, weightStrain } from "./materialLimits.ts";
import type { TunableBody } from "./tunable.ts";
import { isFelt } from "./windRow.ts";

/** Largest displacement of a body in one substep, in its sizes. */
export const MOST_SIZES = 4;
/** Factor on the velocity that a scene gives a body: impacts may add the same again. */
const AUTHORED = 2;
/** Shortest fall through a body's size, s; twelve ticks at 60 Hz, six pictures at 30 Hz. */
const FALL_SECONDS = 0.2;
/** Largest displacement in a substep, in mean edges. */
const MOST_EDGES = 1.5;
/** Gravity always allowed, m/s^2: twice that of the Earth. */
const EARTHLY = 20;
/** Shortest time in which wind crosses a body, s; two ticks at 60 Hz. */
const CROSSING_SECONDS = 1 / 30;
/** Wind always allowed, m/s: a gentle breeze, 3 Beaufort. */
const BREEZE = 5;
const STORM = 2;
/** Largest root mean square of gusts over the wind's speed. */
const GUSTS = 1;
/** Density of dense air, kg/m^3; the coldest air at sea level has 1.6. */
const DENSE_AIR = 2;
/** C_D of the bluntest bodies (S. F. Hoerner, Fluid-Dynamic Drag, chapter 3); C_L is less. */
const BLUNT = 2.5;

const norm = (a: readonly number[]): number => Math.sqrt(a.reduce((sum, c) => sum + c * c, 0));

/**
 * Largest speed of a body, m/s.
 * @param h substep, s
 * @param velocity that the scene gives it, m/s
 */
export const mostSpeed = (size: number, h: number, velocity: Vec3 = [0, 0, 0]): number =>
  Math.max((MOST_SIZES * size) / h, AUTHORED * norm(velocity));

/**
 * Largest speed that an impulse gives the particles around its point, m/s: MOST_EDGES mean edges in a substep. A body
 * that does not deform, or has no edges, has the limit of the whole body.
 */
export function mostPushSpeed({ kind, meanEdge, mostSpeed: most }: BodyLayout, h: number): number {
  const deforms = (kind === "cloth" || kind === "soft") && meanEdge > 0;
  return deforms ? Math.min(most, (MOST_EDGES * meanEdge) / h) : most;
}

/** Properties of bodies that limits depend on. */
type Measured = Pick<BodyLayout, "size" | "meanEdge" | "kind" | "facing">;

/** Rounds a computed limit to three digits. */
const short = (limit: number): number => Number(limit.toPrecision(3));

function mostGravity(bodies: readonly Measured[], h: number, tuned: Tuning): number {
  const least = bodies.map(({ size, meanEdge }, b) =>
    Math.min(
      (2 * size) / FALL_SECONDS ** 2,
      ((MOST_EDGES * meanEdge) / h) ** 2 / (2 * size),
      MOST_STRAIN / weightStrain(size, 1, tuned.bodies[b]!),
    ),
  );
  return Math.max(norm(tuned.gravity), EARTHLY, short(Math.min(...least)));
}

/** @param tick length of a tick, s */
function mostWind(bodies: readonly Measured[], h: number, tick: number, { velocity }: Wind): number {
  const least = bodies
    .filter(({ kind }) => kind === "cloth" || kind === "soft")
    .map(({ size, meanEdge, facing }) => {
      const push = Math.sqrt((2 * facing * meanEdge) / tick ** 2 / (DENSE_AIR * BLUNT));
      return Math.min(size / CROSSING_SECONDS, (MOST_EDGES * meanEdge) / h, push);
    });
  return Math.max(STORM * norm(velocity), BREEZE, ...(least.length > 0 ? [short(Math.min(...least))] : []));
}

/** @param tuned values of the scene */
export function tuningLimits(
  bodies: readonly Measured[],
  tunable: readonly TunableBody[],
  tuned: Tuning,
  steps: Omit<Steps, "iterations">,
): TuningLimits {
  const { wind } = tuned;
  const rate = verificationRate(steps);
  const h = 1 / rate;
  const gravity = mostGravity(bodies, h, tuned);
  const edge = Math.min(...bodies.map(({ meanEdge }) => meanEdge || Infinity));
  const upTo = (most: number): Span => ({ least: 0, most });
  const g = norm(tuned.gravity);
  return {
    gravity,
    wind: {
      velocity: mostWind(bodies, h, 1 / steps.tickHz, wind),
      density: upTo(Math.max(DENSE_AIR, wind.density)),
      drag: upTo(Math.max(BLUNT, wind.drag)),
      lift: upTo(Math.max(BLUNT, wind.lift)),
      intensity: upTo(Math.max(GUSTS, wind.intensity)),
      // waves below the triangles' resolution push nothing
      scale: { least: Math.min(wind.scale, Number.isFinite(edge) ? edge : 1), most: WIND_SPANS.scale.most },
      seed: WIND_SPANS.seed,
    },
    bodies: bodies.map(({ size }, b) => materialLimits(size, tunable[b]!, { g, mostGravity: gravity, rate })),
  };
}

/** The scene's values about motion, with its bodies' free masses (kg) and loads (N). */
interface AuthoredMotion {
  tuned: Tuning;
  /** m/s; absent: the default, which follows from the bodies. */
  grabSpeed: number | undefined;
  bodies: readonly { mass: number; force: number }[];
}

/**
 * @param rate substeps per second
 * @throws SceneError that names the value which moves a body further than MOST_SIZES in a substep
 */
export function checkMotion(
  bodies: readonly (Measured & Pick<BodyLayout, "name">)[],
  { tuned, grabSpeed, bodies: authored }: AuthoredMotion,
  rate: number,
): void {
  const g = norm(tuned.gravity);
  const { velocity, intensity } = tuned.wind;
  // a gust is seldom more than three times its root mean square
  const air = norm(velocity) * (1 + 3 * intensity);
  bodies.forEach(({ size, name, kind }, b) => {
    const most = MOST_SIZES * size;
    const { mass, force } = authored[b]!;
    const whole = `${MOST_SIZES} of its sizes (${size.toPrecision(3)} m) in a substep`;
    const refuse = (path: string, value: unknown, limit: number, unit: string): never => {
      throw new SceneError(path, value, `at most ${limit.toPrecision(3)} ${unit}: more moves body ${name} by ${whole}`);
    };
    if (g > most * rate * rate) refuse("/gravity", tuned.gravity, most * rate * rate, "m/s^2");
    if (isFelt(tuned.wind) && kind !== "points" && air > most * rate)
      refuse("/wind/velocity", velocity, (most * rate) / (1 + 3 * intensity), "m/s");
    if (grabSpeed !== undefined && grabSpeed > most * rate)
      refuse("/interaction/grabSpeed", grabSpeed, most * rate, "m/s");
    if (mass > 0 && force > mass * most * rate * rate)
      refuse(`/bodies/${b}/loads`, `${force} N`, mass * most * rate * rate, "N together");
  });
}

/** Slows down every body that would move too far in a substep; once before each tick. */
export function limitSpeeds({ f32, i32 }: Views, { bodies, bodyRows, v }: SimLayout, kernel: Kernel): void {
  for (const [body, { first, count, mostSpeed: most }] of bodies.entries()) {
    // an inactive or sleeping body does not move
    if (i32[(bodyRows + body * L.BODY_BYTES + L.BODY_INACTIVE) / 4]) continue;
    const fastest = kernel.greatestSpeed2(first, count);
    // the guard handles velocities that are not finite
    if (!(fastest > most * most && fastest < Infinity)) continue;
    const share = most / Math.sqrt(fastest);
    const begin = v / 4 + 4 * first;
    for (let at = begin; at < begin + 4 * count; at += 4) for (let r = 0; r < 3; r++) f32[at + r]! *= share;
  }
}
