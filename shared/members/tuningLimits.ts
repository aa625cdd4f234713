/**
 * Fields that owners may change in a running room, and their limits. The limits are the scene's, except for STRETCH.
 */

export const BODY_FIELDS = [
  "damping",
  "friction",
  "density",
  "youngsModulus",
  "poissonsRatio",
  "bendingStiffness",
  "pressure",
  "yield",
  "modes",
  "steps",
] as const;
/** Numeric fields of a body; `pins` is separate. */
export type BodyField = (typeof BODY_FIELDS)[number];
export const WIND_FIELDS = ["density", "drag", "lift", "intensity", "scale", "seed"] as const;
type WindField = (typeof WIND_FIELDS)[number];
/** Integer fields. */
const WHOLE: readonly (BodyField | WindField)[] = ["modes", "steps", "seed"];

export interface Span {
  least: number;
  most: number;
}

/** The air of a room; `density` 0: no air. */
export interface Wind {
  /** m/s */
  velocity: [number, number, number];
  /** kg/m^3 */
  density: number;
  /** C_D and C_L, dimensionless (server/kernel/assembly/wind/wind.ts). */
  drag: number;
  lift: number;
  /**
   * Turbulence: root mean square of its velocity over the wind's, length of its largest waves in m, and random seed.
   */
  intensity: number;
  scale: number;
  seed: number;
}

/** Current simulation parameters of a body; an absent field cannot be changed for this body. */
export interface BodyTuning {
  body: number;
  /** 1/s */
  damping?: number;
  friction?: number;
  /** kg/m^3 */
  density?: number;
  /** Pa; for an orthotropic material its first modulus; the others scale with it. */
  youngsModulus?: number;
  poissonsRatio?: number;
  /** Flexural rigidity of a cloth, N m. */
  bendingStiffness?: number;
  /** Target volume of a balloon, relative to its rest volume. */
  pressure?: number;
  /** Strain at which plastic flow begins. */
  yield?: number;
  /** Eigenmodes that a modal body keeps: at most the scene's number. */
  modes?: number;
  /** Steps of the body's method per tick. */
  steps?: number;
  /** Whether the scene's pins are active. */
  pins?: boolean;
}

/** Current simulation parameters of a room that its owners may change. */
export interface Tuning {
  /** m/s^2 */
  gravity: [number, number, number];
  wind: Wind;
  /** Simulated time over wall time; 0: paused. */
  timeScale: number;
  /** Number of paused ticks before this one; they do not advance simulated time. */
  pausedTicks: number;
  bodies: BodyTuning[];
}

/** Absent fields stay the same. Body fields apply to `body`. */
export interface TuningChange extends Partial<BodyTuning> {
  gravity?: [number, number, number];
  wind?: Partial<Wind>;
  timeScale?: number;
  /** Resets all parameters to the scene's values; other fields are ignored. */
  asScene?: true;
}

/** Limits for the owners of a room, derived from its scene (server/sim/tuning/motionLimits.ts). */
export interface TuningLimits {
  /** Length of gravity, m/s^2. */
  gravity: number;
  /** `velocity`: length of the wind's velocity, m/s. */
  wind: { velocity: number } & Record<WindField, Span>;
  /** By body: fields with narrower limits than a scene's. */
  bodies: Partial<Record<BodyField, Span>>[];
}

/** Largest absolute component of gravity (m/s^2) and of the wind's velocity (m/s), as in a scene. */
export const MOST_GRAVITY = 1e6;
export const MOST_WIND = 1000;
/**
 * Limits of simulated time over wall time. Inputs wait for ticks, of which there are at least three per second; for
 * slower motion, pause the room.
 */
export const TIME_SCALE = { least: 0.05, most: 2 } as const;
export const isTimeScale = (value: number): boolean => value === 0 || within(value, TIME_SCALE);
export const TIME_SCALE_TEXT = `0, or ${TIME_SCALE.least} to ${TIME_SCALE.most}`;

/** Limits of the wind's fields, the same as in scenes. */
export const WIND_SPANS: Readonly<Record<WindField, Span>> = {
  density: { least: 0, most: 1e5 },
  drag: { least: 0, most: 100 },
  lift: { least: 0, most: 100 },
  intensity: { least: 0, most: 10 },
  scale: { least: 1e-6, most: 1e6 },
  seed: { least: 0, most: 2 ** 32 - 1 },
};

/**
 * Limit of a change in a running room, as a factor of the scene's value: the room's memory is scaled for the scene's
 * masses and moduli (server/sim/world/massUnit.ts).
 */
const STRETCH = { density: 1e3, youngsModulus: 1e4, bendingStiffness: 1e4 } as const;

/** Limits of a body's fields, the same as in scenes. */
export const SPANS: Readonly<Record<BodyField, Span>> = {
  damping: { least: 0, most: 10_000 },
  friction: { least: 0, most: 10 },
  density: { least: 1e-12, most: 1e15 },
  youngsModulus: { least: 1e-12, most: 1e13 },
  bendingStiffness: { least: 1e-15, most: 1e15 },
  poissonsRatio: { least: 0, most: 0.4999 },
  pressure: { least: 1e-3, most: 1000 },
  yield: { least: 0, most: 100 },
  modes: { least: 1, most: 1200 },
  steps: { least: 1, most: 256 },
};

/** @param scene the scene's value */
export function spanOf(field: BodyField, scene: number): Span {
  // the scene's number of modes is all that was computed
  if (field === "modes") return { least: SPANS.modes.least, most: scene };
  if (!(field in STRETCH)) return SPANS[field];
  const factor = STRETCH[field as keyof typeof STRETCH];
  return { least: scene / factor, most: scene * factor };
}

export const within = (value: number, { least, most }: Span): boolean => value >= least && value <= most;

/** @param span limits of the field */
export const mayBe = (field: BodyField | WindField, value: number, span: Span): boolean =>
  within(value, span) && (!WHOLE.includes(field) || Number.isInteger(value));

/** Text for a refusal. */
export const spanText = (field: BodyField | WindField, { least, most }: Span): string =>
  `${WHOLE.includes(field) ? "a whole number from " : ""}${rounded(least)} to ${rounded(most)}`;

/** Rounds the digits that multiplying a decimal number by a factor adds. */
const rounded = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(6)));

const sameParts = (a: readonly number[], b: readonly number[]): boolean => a.every((part, r) => part === b[r]);

export function sameWind(a: Wind, b: Wind): boolean {
  return sameParts(a.velocity, b.velocity) && WIND_FIELDS.every((field) => a[field] === b[field]);
}

export const sameGravity = (a: Tuning, b: Tuning): boolean => sameParts(a.gravity, b.gravity);

/** Returns the changes that turn the tuning `now` into `wanted`. Both are of the same scene. */
export function changesTo(wanted: Tuning, now: Tuning): TuningChange[] {
  const changes: TuningChange[] = wanted.bodies.flatMap((body, n) => {
    const there = now.bodies[n];
    if (!there) return [];
    const fields = [...BODY_FIELDS, "pins" as const].filter((field) => body[field] !== there[field]);
    return fields.length === 0
      ? []
      : [{ body: body.body, ...Object.fromEntries(fields.map((field) => [field, body[field]])) }];
  });
  const room: TuningChange = {};
  if (!sameGravity(wanted, now)) room.gravity = wanted.gravity;
  if (!sameWind(wanted.wind, now.wind)) room.wind = wanted.wind;
  if (wanted.timeScale !== now.timeScale) room.timeScale = wanted.timeScale;
  return Object.keys(room).length > 0 ? [room, ...changes] : changes;
}
