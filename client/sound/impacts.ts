/**
 * Finds impacts in the frames of a room: a contact changes the velocity of a body's middle from one frame to the next
 * by more than gravity can. The change times the mass is the impulse of the contact. The server sends nothing for it.
 */

/** A body as this file needs it. */
export interface SoundingBody {
  /** Its particles in a frame. */
  first: number;
  count: number;
  /** Share of the loudest sound's mass, 0 to 1. */
  mass: number;
  /** True if it is not in the room at this tick, or a member holds it: a grabbed body makes no sound. */
  silent: (tick: number) => boolean;
}

export interface Impact {
  body: number;
  /** Change of the velocity, m/s. */
  speed: number;
  /** 0 to 1 */
  loudness: number;
  /** Middle of the body, m. */
  at: [number, number, number];
}

/** Particles of a body that are measured: enough for its middle. */
const SAMPLES = 64;
/** Least change of the velocity, m/s: softer contacts are silent. */
const LEAST_SPEED = 0.25;
/** Change of the velocity with the largest loudness, m/s. */
const LOUD_SPEED = 4;
/** Acceleration without a contact, m/s²: a little more than gravity. */
const FREE = 12;
/** A body sounds again after this time, s. */
const PAUSE_SECONDS = 0.12;
/** Impacts of one frame. */
const MOST = 4;
/** Longer steps say nothing about a velocity, s: the room rested, or frames are missing. */
const LONGEST_STEP = 0.25;

interface Motion {
  at: [number, number, number];
  velocity: [number, number, number] | undefined;
  /** Change of the velocity in the step before, if it was an impact, m/s: its sound has the change of both. */
  begun: number;
  quietUntil: number;
}

export class Impacts {
  private readonly bodies: readonly SoundingBody[];
  private readonly motions: (Motion | undefined)[];
  private seconds = Number.NaN;

  constructor(bodies: readonly SoundingBody[]) {
    this.bodies = bodies;
    this.motions = bodies.map(() => undefined);
  }

  /** Forgets all velocities: after a jump in time. */
  forget(): void {
    this.motions.fill(undefined);
  }

  /**
   * @param tick of the frame. @param seconds simulated time of it
   * @param positions of all bodies, float32[3n] m
   * @returns impacts since the last frame, strongest first, at most MOST
   */
  at(tick: number, seconds: number, positions: Float32Array): Impact[] {
    const step = seconds - this.seconds;
    this.seconds = seconds;
    if (!(step > 0 && step < LONGEST_STEP)) {
      // The same time again changes nothing; any other jump does.
      if (step !== 0) this.forget();
      return [];
    }
    const found: Impact[] = [];
    for (const [body, { first, count, mass, silent }] of this.bodies.entries()) {
      const own = positions.subarray(3 * first, 3 * (first + count));
      const speed = silent(tick) ? this.hush(body) : this.changeOf(body, own, step);
      const motion = this.motions[body];
      if (!motion) continue;
      const { begun } = motion;
      motion.begun = begun === 0 && speed >= LEAST_SPEED && seconds >= motion.quietUntil ? speed : 0;
      if (begun === 0) continue;
      motion.quietUntil = seconds + PAUSE_SECONDS;
      const whole = begun + speed;
      const loudness = Math.min(1, (whole / LOUD_SPEED) * Math.sqrt(mass));
      found.push({ body, speed: whole, loudness, at: motion.at });
    }
    return found.sort((a, b) => b.loudness - a.loudness).slice(0, MOST);
  }

  /** Forgets the motion of a body that is silent now. */
  private hush(body: number): number {
    this.motions[body] = undefined;
    return 0;
  }

  /** Change of the velocity of a body's middle that no gravity explains, m/s. */
  private changeOf(body: number, positions: Float32Array, step: number): number {
    const at = sampledMiddle(positions);
    const before = this.motions[body];
    const { begun = 0, quietUntil = -Infinity } = before ?? {};
    if (!before) {
      this.motions[body] = { at, velocity: undefined, begun: 0, quietUntil };
      return 0;
    }
    const velocity = at.map((x, r) => (x - before.at[r]!) / step) as Motion["at"];
    this.motions[body] = { at, velocity, begun, quietUntil };
    if (!before.velocity) return 0;
    const change = Math.hypot(...velocity.map((v, r) => v - before.velocity![r]!));
    return Math.max(0, change - FREE * step);
  }
}

function sampledMiddle(positions: Float32Array): [number, number, number] {
  const count = positions.length / 3;
  const stride = Math.max(1, Math.floor(count / SAMPLES));
  const sum: [number, number, number] = [0, 0, 0];
  let taken = 0;
  for (let i = 0; i < count; i += stride, taken++) for (let r = 0; r < 3; r++) sum[r]! += positions[3 * i + r]!;
  return sum.map((x) => x / Math.max(1, taken)) as [number, number, number];
}
