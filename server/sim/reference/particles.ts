/**
 * Twin of kernel/assembly/integrate/particles.ts: prediction and velocity update (Bender et al. 2014, Algorithm 1,
 * lines 1-2, 10 and 12). All twins share these arrays; index i means particle i, 3 i its x coordinate.
 */
import type { Vector } from "./vector.ts";

export interface Particles {
  count: number;
  /** float64[3N] m */
  x: Float64Array;
  /** float64[3N] m, at the start of the substep */
  xPrev: Float64Array;
  /** float64[3N] m/s */
  v: Float64Array;
  /** float64[N] 1/kg, 0: fixed */
  w: Float64Array;
  /** float64[3N] m/s^2, gravity and loads */
  acceleration: Float64Array;
  /** float64[N] 1/s */
  damping: Float64Array;
  /** float64[N] m, contact radius */
  radius: Float64Array;
  /** float64[N] square root of the Coulomb coefficient: a pair's coefficient is the product of two */
  rootFriction: Float64Array;
  /** Iterations of a substep, if sweeps are over-relaxed (constraints/overRelaxation.ts). */
  iterations?: number | undefined;
}

export function makeParticles(count: number): Particles {
  const vectors = (): Float64Array => new Float64Array(3 * count);
  const scalars = (): Float64Array => new Float64Array(count);
  return {
    count,
    x: vectors(),
    xPrev: vectors(),
    v: vectors(),
    acceleration: vectors(),
    w: scalars(),
    damping: scalars(),
    radius: scalars(),
    rootFriction: scalars(),
  };
}

export const vectorAt = (array: Float64Array, i: number): Vector => [
  array[3 * i]!,
  array[3 * i + 1]!,
  array[3 * i + 2]!,
];

/** array_i += a */
export function addAt(array: Float64Array, i: number, a: Vector): void {
  for (let r = 0; r < 3; r++) array[3 * i + r]! += a[r]!;
}

export function setAt(array: Float64Array, i: number, a: Vector): void {
  array.set(a, 3 * i);
}

/** v += h a; xPrev = x; x += h v, without the part `later` of the way at the old velocity. A fixed particle stays. */
export function predict(p: Particles, h: number, later = 0): void {
  p.xPrev.set(p.x);
  for (let k = 0; k < 3 * p.count; k++) {
    const old = p.w[Math.floor(k / 3)] === 0 ? 0 : p.v[k]!;
    p.v[k] = p.w[Math.floor(k / 3)] === 0 ? 0 : old + h * p.acceleration[k]!;
    p.x[k]! += h * (p.v[k]! - later * old);
  }
}

/** x += later h (v - h a): the way that `predict` left out. */
export function drift(p: Particles, h: number, later: number): void {
  for (let k = 0; k < 3 * p.count; k++)
    if (p.w[Math.floor(k / 3)] !== 0) p.x[k]! += later * h * (p.v[k]! - h * p.acceleration[k]!);
}

/** v = (x - xPrev)/h / (1 + h damping): implicit Euler for dv/dt = -damping v. */
export function updateVelocity(p: Particles, h: number): void {
  for (let k = 0; k < 3 * p.count; k++)
    p.v[k] = (p.x[k]! - p.xPrev[k]!) / (h * (1 + h * p.damping[Math.floor(k / 3)]!));
}
