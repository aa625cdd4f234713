/**
 * Twin of kernel/assembly/integrate/momentum.ts and momentumCorrection.ts. The elastic solve makes an error in a free
 * body's linear and angular momentum; a rigid motion corrects it (Dahl & Bargteil 2019).
 */
import { addAt, vectorAt, type Particles } from "./particles.ts";
import { add, cross, dot, scale, solveLinear, subtract, ZERO, type Vector } from "./vector.ts";

export interface Momentum {
  mass: number;
  center: Vector;
  /** kg m/s */
  linear: Vector;
  /** about the center, kg m^2/s */
  angular: Vector;
}

/** Momentum of the particles first .. first + count with positions x and velocities v. */
export function momentumOf(w: Float64Array, x: Float64Array, v: Float64Array, first: number, count: number): Momentum {
  let mass = 0;
  let moment = ZERO;
  let linear = ZERO;
  let angular = ZERO;
  for (let i = first; i < first + count; i++) {
    const m = 1 / w[i]!;
    mass += m;
    moment = add(moment, scale(m, vectorAt(x, i)));
    linear = add(linear, scale(m, vectorAt(v, i)));
  }
  const center = scale(1 / mass, moment);
  for (let i = first; i < first + count; i++)
    angular = add(angular, scale(1 / w[i]!, cross(subtract(vectorAt(x, i), center), vectorAt(v, i))));
  return { mass, center, linear, angular };
}

export interface RigidMotion {
  velocity: Vector;
  spin: Vector;
  center: Vector;
}

function inertiaOf(p: Particles, first: number, count: number, center: Vector): number[][] {
  const inertia = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ];
  for (let i = first; i < first + count; i++) {
    const r = subtract(vectorAt(p.x, i), center);
    const m = 1 / p.w[i]!;
    for (let a = 0; a < 3; a++)
      for (let b = 0; b < 3; b++) inertia[a]![b]! += m * ((a === b ? dot(r, r) : 0) - r[a]! * r[b]!);
  }
  return inertia;
}

/** dV = (P* - P)/M and dOmega = I^-1 (L* - L), before the velocity update: v is the predicted one. */
export function measureMomentumError(p: Particles, first: number, count: number, h: number): RigidMotion {
  const u = p.x.map((x, k) => (x - p.xPrev[k]!) / h);
  const wanted = momentumOf(p.w, p.xPrev, p.v, first, count);
  const found = momentumOf(p.w, p.x, u, first, count);
  const inertia = inertiaOf(p, first, count, found.center);
  return {
    velocity: scale(1 / found.mass, subtract(wanted.linear, found.linear)),
    spin: solveLinear(inertia, subtract(wanted.angular, found.angular)) as unknown as Vector,
    center: found.center,
  };
}

/**
 * After the velocity update: v += (dV + dOmega x (x - c)) / (1 + h damping), x -= h^2 a / 2, with a the body's
 * acceleration by external forces. This turns the fall of symplectic Euler into a parabola.
 */
export function restore(p: Particles, first: number, count: number, motion: RigidMotion, h: number): void {
  for (let i = first; i < first + count; i++) {
    const more = add(motion.velocity, cross(motion.spin, subtract(vectorAt(p.x, i), motion.center)));
    for (let r = 0; r < 3; r++) p.v[3 * i + r]! += more[r]! / (1 + h * p.damping[i]!);
  }
  const { mass, linear: force } = momentumOf(p.w, p.x, p.acceleration, first, count);
  for (let i = first; i < first + count; i++) addAt(p.x, i, scale((-0.5 * h * h) / mass, force));
}

/** Linear momentum, and angular momentum about the origin. */
export function wholeMomentum(p: Particles, first: number, count: number): { linear: Vector; angular: Vector } {
  const { linear, angular, center } = momentumOf(p.w, p.x, p.v, first, count);
  return { linear, angular: add(angular, cross(center, linear)) };
}

/**
 * Restores the momentum of a free body or island after contact has changed it, by a rigid motion.
 * @param before result of wholeMomentum
 */
export function keepMomentum(
  p: Particles,
  first: number,
  count: number,
  before: { linear: Vector; angular: Vector },
): void {
  const { mass, center } = momentumOf(p.w, p.x, p.v, first, count);
  const now = wholeMomentum(p, first, count);
  const linear = subtract(before.linear, now.linear);
  const angular = subtract(subtract(before.angular, now.angular), cross(center, linear));
  const velocity = scale(1 / mass, linear);
  const spin = solveLinear(inertiaOf(p, first, count, center), angular) as unknown as Vector;
  for (let i = first; i < first + count; i++)
    addAt(p.v, i, add(velocity, cross(spin, subtract(vectorAt(p.x, i), center))));
}
