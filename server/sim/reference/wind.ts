/** Twin of kernel/assembly/wind/wind.ts in float64: the force of the air on triangles, and on their corners. */
import type { Wind } from "../../../shared/members/tuningLimits.ts";
import { fraction, type Mode } from "../tuning/windRow.ts";
import { add, cross, dot, norm, scale, subtract, type Vector } from "./vector.ts";

/**
 * 16 t (1/2 - t) and its negative: parabolas through the zeros of a sine.
 * @param p cycles
 */
export function wave(p: number): number {
  const t = fraction(p);
  return t < 0.5 ? 16 * t * (0.5 - t) : -16 * (t - 0.5) * (1 - t);
}

/**
 * Velocity of the air, m/s.
 * @param modes with their current phases
 * @param at m
 */
export function airAt({ velocity }: Pick<Wind, "velocity">, modes: readonly Mode[], at: Vector): Vector {
  return modes.reduce<Vector>((u, { k, swing, phase }) => add(u, scale(wave(dot(k, at) + phase), swing)), velocity);
}

export interface WindyTriangle {
  x: readonly [Vector, Vector, Vector];
  v: readonly [Vector, Vector, Vector];
  /** If true, the triangle belongs to a closed surface and feels only wind that meets its outer side. */
  closed: boolean;
  /** Velocity change of its lightest corner by a force of 1 N until the force is computed again, m/s. */
  reach: number;
}

export const middle = ([a, b, c]: readonly [Vector, Vector, Vector]): Vector => scale(1 / 3, add(a, add(b, c)));

/**
 * Force on a triangle, N.
 * @param u velocity of the air at its center, m/s
 */
export function windForce({ density, drag, lift }: Wind, u: Vector, { x, v, closed, reach }: WindyTriangle): Vector {
  const w = subtract(u, middle(v));
  const N = cross(subtract(x[1], x[0]), subtract(x[2], x[0]));
  const area = norm(N) / 2;
  const speed = norm(w);
  if (!(area > 0 && speed > 0)) return [0, 0, 0];
  const n = scale(1 / (2 * area), N);
  const s = dot(w, n);
  if (closed && s >= 0) return [0, 0, 0];
  const pressure = 0.5 * density * area;
  const dragged = scale(pressure * drag * Math.abs(s), w);
  const lifted = scale(pressure * lift * s, subtract(scale(speed, n), scale(s / speed, w)));
  const F = add(dragged, lifted);
  const change = (norm(F) * reach) / speed;
  return scale(change > 0.5 ? 0.5 / change : 1, F);
}
