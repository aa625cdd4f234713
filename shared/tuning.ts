/**
 * What owners may change of a room while it runs: which fields, and within which limits. As in a scene, but for
 * STRETCH.
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
/** A body's numbers; beside them there is `pins`. */
export type BodyField = (typeof BODY_FIELDS)[number];
/** Counts of a body's method. */
const WHOLE: readonly BodyField[] = ["modes", "steps"];
export const WIND_FIELDS = ["density", "drag", "lift", "intensity", "scale", "seed"] as const;

export interface Span {
  least: number;
  most: number;
}

/** The air of a room; `density` 0: there is none. */
export interface Wind {
  /** m/s */
  velocity: [number, number, number];
  /** kg/m^3 */
  density: number;
  /** C_D and C_L, dimensionless (server/kernel/assembly/wind/wind.ts). */
  drag: number;
  lift: number;
  /**
   * Turbulence: root mean square of its velocity over the wind's, m of its largest waves, and which of all there are.
   */
  intensity: number;
  scale: number;
  seed: number;
}

/** What a body is simulated with now; absent: of this body it is not to be changed. */
export interface BodyTuning {
  body: number;
  /** 1/s */
  damping?: number;
  friction?: number;
  /** kg/m^3 */
  density?: number;
  /** Pa; of an orthotropic material its first modulus, to which the others are in proportion. */
  youngsModulus?: number;
  poissonsRatio?: number;
  /** Flexural rigidity of a cloth, N m. */
  bendingStiffness?: number;
  /** Wanted volume of a balloon, in volumes at rest. */
  pressure?: number;
  /** Strain at which plastic flow begins. */
  yield?: number;
  /** Eigenmodes that a modal body keeps: at most the scene's. */
  modes?: number;
  /** Steps a tick of the body's method. */
  steps?: number;
  /** Do the scene's pins hold it? */
  pins?: boolean;
}

/** What a room is simulated with now, where its owners may change it. */
export interface Tuning {
  /** m/s^2 */
  gravity: [number, number, number];
  wind: Wind;
  /** Simulated time over wall time; 0: it stands still. */
  timeScale: number;
  /** Ticks before this one in which it stood: simulated time is that of the others. */
  stood: number;
  bodies: BodyTuning[];
}

/** What is absent stays. The fields of a body are those of `body`. */
export interface TuningChange extends Partial<BodyTuning> {
  gravity?: [number, number, number];
  wind?: Partial<Wind>;
  timeScale?: number;
  /** All of it as the scene says, whatever else is given. */
  asScene?: true;
}

/** What owners of a room may set, which follows from its scene (server/sim/motionLimits.ts). */
export interface TuningLimits {
  /** Length of gravity, m/s^2. */
  gravity: number;
  /** `velocity`: length of the wind's velocity, m/s. */
  wind: { velocity: number } & Record<(typeof WIND_FIELDS)[number], Span>;
  /** By body, of fields that have narrower limits than a scene's. */
  bodies: Partial<Record<BodyField, Span>>[];
}

/** As a scene has them: each of gravity's parts (m/s^2) and of the wind's velocity (m/s), either way. */
export const MOST_GRAVITY = 1e6;
export const MOST_WIND = 1000;
/**
 * Simulated time over wall time. Inputs wait for ticks, which come three times a second at the least of it: who wants
 * it slower has it stand.
 */
export const TIME_SCALE = { least: 0.05, most: 2 } as const;
export const isTimeScale = (value: number): boolean => value === 0 || within(value, TIME_SCALE);
export const TIME_SCALE_TEXT = `0, or ${TIME_SCALE.least} to ${TIME_SCALE.most}`;

/** As in a scene. */
export const WIND_SPANS: Readonly<Record<(typeof WIND_FIELDS)[number], Span>> = {
  density: { least: 0, most: 1e5 },
  drag: { least: 0, most: 100 },
  lift: { least: 0, most: 100 },
  intensity: { least: 0, most: 10 },
  scale: { least: 1e-6, most: 1e6 },
  seed: { least: 0, most: 2 ** 32 - 1 },
};

/**
 * How far from the scene's value a running room may go, as a factor: its memory is laid out for masses and moduli of
 * the scene's size (server/sim/massUnit.ts).
 */
const STRETCH = { density: 1e3, youngsModulus: 1e4, bendingStiffness: 1e4 } as const;

/** As in a scene. */
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

/** @param scene what the scene says of it */
export function spanOf(field: BodyField, scene: number): Span {
  // the scene's are all that were computed
  if (field === "modes") return { least: SPANS.modes.least, most: scene };
  if (!(field in STRETCH)) return SPANS[field];
  const factor = STRETCH[field as keyof typeof STRETCH];
  return { least: scene / factor, most: scene * factor };
}

export const within = (value: number, { least, most }: Span): boolean => value >= least && value <= most;

/** @param span of the field */
export const mayBe = (field: BodyField, value: number, span: Span): boolean =>
  within(value, span) && (!WHOLE.includes(field) || Number.isInteger(value));

/** As a refusal says it. */
export const spanText = ({ least, most }: Span): string => `${rounded(least)} to ${rounded(most)}`;

/** What a factor makes of a decimal number has digits that nobody wrote. */
const rounded = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(6)));

const sameParts = (a: readonly number[], b: readonly number[]): boolean => a.every((part, r) => part === b[r]);

export function sameWind(a: Wind, b: Wind): boolean {
  return sameParts(a.velocity, b.velocity) && WIND_FIELDS.every((field) => a[field] === b[field]);
}

export const sameGravity = (a: Tuning, b: Tuning): boolean => sameParts(a.gravity, b.gravity);
