/**
 * Fills the kernel's WIND row (kernel/assembly/wind/wind.ts) from the wind of the scene or of an owner. Turbulence is a
 * sum of transverse waves, so that it is free of divergence:
 *     u' = sum_m a_m f(k_m . x + phase_m),   |k_m| = 2^(m/3) / scale,   |a_m| = c 2^(-m/9),
 * four octaves of three, whose velocities fall with the cube root of their size as in Kolmogorov's range
 * (A. N. Kolmogorov 1941; a random field of Fourier modes: R. H. Kraichnan 1970, Diffusion by a random velocity field).
 * f has a mean square of 8/15, and c is such that the root mean square of u' is intensity |U|.
 * The wind carries its waves along (Taylor's frozen turbulence), and each turns over in the time in which u' crosses
 * it:
 *     d phase_m/dt = -k_m . U + |k_m| intensity |U| r_m,   r_m in 1/2 .. 1
 * Phases are state, so that a change of the wind does not make the air jump. Arithmetic is float64 with + - * / and
 * square roots only, and directions come from an integer generator: the same bits on any machine.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Wind } from "../../../shared/members/tuningLimits.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { SceneWind } from "../../../shared/scene/sceneSettings.ts";
import type { Views } from "../world/views.ts";
import type { SimLayout } from "../world/worldLayout.ts";

export const MODES = L.WIND_MOST_MODES;
/** Mean square of the wave f. */
const MEAN_SQUARE = 8 / 15;

/** Wind without effect, for scenes that have none. */
export const NO_WIND: Wind = { velocity: [0, 0, 0], density: 0, drag: 1.2, lift: 1.2, intensity: 0, scale: 1, seed: 1 };
/** Density of dry air of 20 degrees at sea level (ISO 2533), kg/m^3. */
const AIR_DENSITY = 1.2;

/** Wind of a scene, completed with defaults. */
export function windOf(wind: SceneWind | undefined): Wind {
  if (!wind) return NO_WIND;
  const { velocity = NO_WIND.velocity, density = AIR_DENSITY, drag = NO_WIND.drag, lift = NO_WIND.lift } = wind;
  const { intensity = 0, scale = NO_WIND.scale, seed = NO_WIND.seed } = wind.turbulence ?? {};
  return { velocity, density, drag, lift, intensity, scale, seed };
}

export const isFelt = ({ density, drag, lift }: Wind): boolean => density > 0 && (drag > 0 || lift > 0);

/** Current state of a wave. */
export interface Mode {
  /** Wave vector, cycles per meter. */
  k: Vec3;
  /** Velocity amplitude, m/s. */
  swing: Vec3;
  /** Frequency, cycles per second. */
  rate: number;
  /** Initial phase, cycles. */
  phase: number;
}

/** Random numbers from 0 to 1: a 32-bit Weyl sequence through an integer mixer (G. L. Steele 2014). */
function stream(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return ((z ^ (z >>> 16)) >>> 0) / 2 ** 32;
  };
}

const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const norm = (a: Vec3): number => Math.sqrt(dot(a, a));

/** A random direction, uniformly distributed. */
function direction(next: () => number): Vec3 {
  for (;;) {
    const v: Vec3 = [2 * next() - 1, 2 * next() - 1, 2 * next() - 1];
    const length = norm(v);
    if (length > 0.1 && length <= 1) return [v[0] / length, v[1] / length, v[2] / length];
  }
}

/** A random direction perpendicular to n. */
function across(n: Vec3, next: () => number): Vec3 {
  for (;;) {
    const v = direction(next);
    const along = dot(v, n);
    const side: Vec3 = [v[0] - along * n[0], v[1] - along * n[1], v[2] - along * n[2]];
    const length = norm(side);
    if (length > 0.1) return [side[0] / length, side[1] / length, side[2] / length];
  }
}

/** Cube root by Newton's method from above, until it stops falling: plain arithmetic. */
function cubeRoot(q: number): number {
  let root = q > 1 ? q : 1;
  for (;;) {
    const next = (2 * root + q / (root * root)) / 3;
    if (!(next < root)) return root;
    root = next;
  }
}

/** Waves of a wind; none without turbulence. */
export function modesOf({ velocity, intensity, scale, seed }: Wind): Mode[] {
  const strength = intensity * norm(velocity);
  if (!(strength > 0)) return [];
  const next = stream(seed);
  const third = cubeRoot(2);
  const ninth = cubeRoot(third);
  const shapes: { k: number; a: number }[] = [];
  for (let m = 0, k = 1 / scale, a = 1; m < MODES; m++, k *= third, a /= ninth) shapes.push({ k, a });
  const c = strength / Math.sqrt(MEAN_SQUARE * shapes.reduce((sum, { a }) => sum + a * a, 0));
  return shapes.map(({ k, a }) => {
    const n = direction(next);
    const side = across(n, next);
    const turns = 0.5 + 0.5 * next();
    return {
      k: [k * n[0], k * n[1], k * n[2]],
      swing: [c * a * side[0], c * a * side[1], c * a * side[2]],
      rate: k * (strength * turns - dot(n, velocity)),
      phase: next(),
    };
  });
}

/** Fractional part. */
export const fraction = (p: number): number => p - Math.floor(p);

/** Writes a room's wind to its memory. */
export class RoomWind {
  private readonly views: Views;
  private readonly layout: SimLayout;
  /** float64[MODES] cycles: phase that each wave has gained since the room began. */
  private readonly phases: Float64Array;

  constructor(views: Views, layout: SimLayout, phases: Float64Array) {
    this.views = views;
    this.layout = layout;
    this.phases = phases;
  }

  /** Sets a changed wind. */
  set(wind: Wind): void {
    const { f32, i32 } = this.views;
    const { row } = this;
    const on = isFelt(wind);
    const ceased = !on && i32[(row + L.WIND_ON) / 4] === 1;
    i32[(row + L.WIND_ON) / 4] = on ? 1 : 0;
    f32[(row + L.WIND_DRAG) / 4] = (0.5 * wind.density * wind.drag) / this.layout.massUnit;
    f32[(row + L.WIND_LIFT) / 4] = (0.5 * wind.density * wind.lift) / this.layout.massUnit;
    f32.set(wind.velocity, (row + L.WIND_VELOCITY) / 4);
    const modes = on ? modesOf(wind) : [];
    i32[(row + L.WIND_MODE_COUNT) / 4] = modes.length;
    modes.forEach(({ k, swing }, m) => {
      const at = (row + L.WIND_MODES + m * L.WIND_MODE_BYTES) / 4;
      f32.set(k, at);
      f32.set(swing, at + L.WIND_MODE_SWING / 4);
    });
    if (ceased) this.calm();
  }

  /** Sets the phases of the waves at the start of a tick. */
  beginTick(wind: Wind): void {
    const { f32 } = this.views;
    const { origin, tickHz } = this.layout;
    const at = this.row + L.WIND_MODES + L.WIND_MODE_PHASE;
    modesOf(wind).forEach(({ k, rate, phase }, m) => {
      f32[(at + m * L.WIND_MODE_BYTES) / 4] = fraction(phase + dot(k, origin) + this.phases[m]!);
      this.phases[m] = fraction(this.phases[m]! + rate / tickHz);
    });
  }

  /** Sets the external acceleration of a particle without wind, component r, m/s^2. */
  setBase(particle: number, r: number, acceleration: number): void {
    const { f32, i32 } = this.views;
    f32[i32[(this.row + L.WIND_BASE) / 4]! / 4 + 4 * particle + r] = acceleration;
  }

  /** Acceleration by gravity and loads alone, m/s^2. */
  base(particle: number, r: number): number {
    const { f32, i32 } = this.views;
    return f32[i32[(this.row + L.WIND_BASE) / 4]! / 4 + 4 * particle + r]!;
  }

  private get row(): number {
    return this.views.i32[(L.HEADER + L.H_WIND) / 4]!;
  }

  /** Removes the wind from the accelerations. */
  private calm(): void {
    const { f32, i32 } = this.views;
    const acc = i32[(L.HEADER + L.H_ACC) / 4]! / 4;
    const base = i32[(this.row + L.WIND_BASE) / 4]! / 4;
    for (let i = 0; i < 4 * this.layout.particleCount; i += 4)
      for (let r = 0; r < 3; r++) f32[acc + i + r] = f32[base + i + r]!;
  }
}
