/**
 * The air of a room: what the kernel's WIND row holds (kernel/assembly/wind/wind.ts), from what the scene or an owner
 * says of it. Turbulence is a sum of waves across their own direction, so that no air comes from nowhere:
 *     u' = sum_m a_m f(k_m . x + phase_m),   |k_m| = 2^(m/3) / scale,   |a_m| = c 2^(-m/9),
 * four octaves of three, whose velocities fall with the cube root of their size as in Kolmogorov's range
 * (A. N. Kolmogorov 1941; a random field of Fourier modes: R. H. Kraichnan 1970, Diffusion by a random velocity field).
 * f has a mean square of 8/15, and c is such that the root mean square of u' is intensity |U|.
 * The wind carries its waves along (Taylor's frozen turbulence), and each turns over in the time in which u' crosses
 * it:
 *     d phase_m/dt = -k_m . U + |k_m| intensity |U| r_m,   r_m in 1/2 .. 1
 * Phases are state, so that a change of the wind does not make the air jump. Float64 with + - * / and square roots
 * alone, and a generator of whole numbers for directions: the same bits on any machine.
 */
import * as L from "../kernel/assembly/layout/layout.ts";
import type { Wind } from "../../shared/protocol/protocol.ts";
import type { SceneWind, Vec3 } from "../../shared/scene.ts";
import type { Views } from "./grabs.ts";
import type { SimLayout } from "./layout.ts";

export const MODES = L.WIND_MOST_MODES;
/** Mean square of the wave f. */
const MEAN_SQUARE = 8 / 15;

/** Still air that nobody feels: what a scene without wind has. */
export const NO_WIND: Wind = {
  velocity: [0, 0, 0],
  density: 0,
  drag: 1.2,
  lift: 1.2,
  intensity: 0,
  scale: 1,
  seed: 1,
};
/** kg/m^3, dry air of 20 degrees at sea level (ISO 2533). */
const AIR_DENSITY = 1.2;

/** What a scene says of its air, with what it leaves out. */
export function windOf(wind: SceneWind | undefined): Wind {
  if (!wind) return NO_WIND;
  const { velocity = NO_WIND.velocity, density = AIR_DENSITY, drag = NO_WIND.drag, lift = NO_WIND.lift } = wind;
  const { intensity = 0, scale = NO_WIND.scale, seed = NO_WIND.seed } = wind.turbulence ?? {};
  return { velocity, density, drag, lift, intensity, scale, seed };
}

export const isFelt = ({ density, drag, lift }: Wind): boolean => density > 0 && (drag > 0 || lift > 0);

/** A wave as it is now. */
export interface Mode {
  /** Cycles a meter. */
  k: Vec3;
  /** m/s */
  swing: Vec3;
  /** Cycles a second. */
  rate: number;
  /** Phase that it begins with, cycles. */
  phase: number;
}

/** Numbers of 0 to 1 from a seed: a 32-bit Weyl sequence through a mixer of whole numbers (G. L. Steele 2014). */
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

/** A direction, all alike likely. */
function direction(next: () => number): Vec3 {
  for (;;) {
    const v: Vec3 = [2 * next() - 1, 2 * next() - 1, 2 * next() - 1];
    const length = norm(v);
    if (length > 0.1 && length <= 1) return [v[0] / length, v[1] / length, v[2] / length];
  }
}

/** A direction across n. */
function across(n: Vec3, next: () => number): Vec3 {
  for (;;) {
    const v = direction(next);
    const along = dot(v, n);
    const side: Vec3 = [v[0] - along * n[0], v[1] - along * n[1], v[2] - along * n[2]];
    const length = norm(side);
    if (length > 0.1) return [side[0] / length, side[1] / length, side[2] / length];
  }
}

/** Cube root by Newton's method from above, which ends where it no longer falls: plain arithmetic. */
function cubeRoot(q: number): number {
  let root = q > 1 ? q : 1;
  for (;;) {
    const next = (2 * root + q / (root * root)) / 3;
    if (!(next < root)) return root;
    root = next;
  }
}

/** The waves of a wind; none where it is smooth. */
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

/** Part of a number behind the point. */
export const fraction = (p: number): number => p - Math.floor(p);

/** Writes what holds from now on. */
export class RoomWind {
  private readonly views: Views;
  private readonly layout: SimLayout;
  /** float64[MODES] cycles: how far each wave has gone on since the room began. */
  private readonly phases: Float64Array;

  constructor(views: Views, layout: SimLayout, phases: Float64Array) {
    this.views = views;
    this.layout = layout;
    this.phases = phases;
  }

  /** A wind that is another one. */
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

  /** At the start of a tick: where its waves are. */
  beginTick(wind: Wind): void {
    const { f32 } = this.views;
    const { origin, tickHz } = this.layout;
    const at = this.row + L.WIND_MODES + L.WIND_MODE_PHASE;
    modesOf(wind).forEach(({ k, rate, phase }, m) => {
      f32[(at + m * L.WIND_MODE_BYTES) / 4] = fraction(phase + dot(k, origin) + this.phases[m]!);
      this.phases[m] = fraction(this.phases[m]! + rate / tickHz);
    });
  }

  /** External accelerations without wind, of the particles first .. first + count, have changed. */
  setBase(particle: number, r: number, acceleration: number): void {
    const { f32, i32 } = this.views;
    f32[i32[(this.row + L.WIND_BASE) / 4]! / 4 + 4 * particle + r] = acceleration;
  }

  /** m/s^2 of gravity and loads alone. */
  base(particle: number, r: number): number {
    const { f32, i32 } = this.views;
    return f32[i32[(this.row + L.WIND_BASE) / 4]! / 4 + 4 * particle + r]!;
  }

  private get row(): number {
    return this.views.i32[(L.HEADER + L.H_WIND) / 4]!;
  }

  /** No wind is left in the accelerations. */
  private calm(): void {
    const { f32, i32 } = this.views;
    const acc = i32[(L.HEADER + L.H_ACC) / 4]! / 4;
    const base = i32[(this.row + L.WIND_BASE) / 4]! / 4;
    for (let i = 0; i < 4 * this.layout.particleCount; i += 4)
      for (let r = 0; r < 3; r++) f32[acc + i + r] = f32[base + i + r]!;
  }
}
