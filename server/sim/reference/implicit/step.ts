/**
 * Twin of kernel/assembly/implicit/step.ts: one body's implicit steps, bit for bit.
 *
 * BDF2 (Curtiss & Hirschfelder 1952) with implicit damping d: the new positions y minimize
 *   c/2 (y - xt)^T M (y - xt) + E(y),   xt = (4x - x1)/3 + keep h (8v - 2v1)/9 + a/c,   then  v' = (3 (y - x) - (x -
 *   x1))/2h
 * x1 and v1 are those of the step before, a the external acceleration, keep = 1/(1 + 2 h d/3), c = 2.25/(h^2 keep).
 * One Newton step with conjugate gradients, preconditioned by the factor at rest; it begins at 2x - x1, or at x where
 * that is lower: the second-order start amplifies what is not solved. A step that hits a collider is implicit Euler's,
 * and colliders hold what lies on them (touches.ts); what comes down on one is not here.
 */
import type { ImplicitModel } from "../../implicit/model.ts";
import { bendSet, tetSet, triangleSet, type ElasticSet } from "./elements.ts";
import { HoldingPoints, type HeldPoint } from "./points.ts";
import { moveRigidly } from "./rigidMotion.ts";
import { particleRotations, precondition } from "./precondition.ts";
import { type Place, Touches } from "./touches.ts";

/**
 * Iterations of conjugate gradients at most; with points, whose stiffness the factor does not know; and what they leave
 * then.
 */
const MOST_ITERATIONS = 10;
const MOST_ITERATIONS_HELD = 20;
const TOLERANCE_HELD = 0.02;
/** How often a step that does not go down is halved. */
const HALVINGS = 8;
/** Part of what is minimized that rounding may take or give. */
const ROUNDING = 1e-12;
/** Solves after which what touches stays as it is. */
const MOST_ROUNDS = 5;

/** Positions and velocities now and a step before, float64[3n] each. */
export interface ImplicitState {
  x: Float64Array;
  v: Float64Array;
  x1: Float64Array;
  v1: Float64Array;
}

/** What is around a body. */
export interface Surroundings {
  /**
   * The particles that lie on a collider at x, in their order; and, if it is given, those that do not and are in one at
   * `end`.
   */
  places: (x: Float64Array, end?: Float64Array) => Place[];
  /** Does one of them come towards its collider, faster than what lies there does? */
  hits: (x: Float64Array, v: Float64Array) => boolean;
}

/**
 * As if the body had been in free flight before.
 * @param a float64[3n] external acceleration, m/s^2; x, v float64[3n]
 */
export function initialState(
  model: Pick<ImplicitModel, "h" | "mass">,
  x: Float64Array,
  v: Float64Array,
  a: Float64Array,
): ImplicitState {
  const { h, mass } = model;
  const free = (k: number): number => (mass[Math.floor(k / 3)]! > 0 ? 1 : 0);
  return {
    x,
    v,
    x1: x.map((p, k) => p + free(k) * (-h * v[k]! + 0.5 * h * h * a[k]!)),
    v1: v.map((u, k) => u - free(k) * h * a[k]!),
  };
}

export class ImplicitBody {
  readonly state: ImplicitState;
  /** Since the beginning. */
  readonly counts = { steps: 0, iterations: 0, halvings: 0, fromRest: 0, rounds: 0 };
  private readonly model: ImplicitModel;
  private readonly a: Float64Array;
  private readonly sets: ElasticSet[];
  private readonly points: HoldingPoints;
  private readonly touches = new Touches();
  private readonly around: Surroundings | undefined;
  /** Of the step, 1/s^2 */
  private coefficient = 0;
  /** Minus the gradient at the end of the last solve, also where colliders hold particles. */
  private residual = new Float64Array();
  /** Elastic, at x, J: of a free body before it was turned as a whole. */
  private energy: number;

  /** @param a float64[3n] external acceleration, m/s^2 */
  constructor(model: ImplicitModel, state: ImplicitState, a: Float64Array, around?: Surroundings) {
    this.model = model;
    this.state = state;
    this.a = a;
    this.around = around;
    this.points = new HoldingPoints(model);
    const { tets, triangles, bends } = model;
    this.sets = [
      ...(tets ? [tetSet(tets)] : []),
      ...(triangles ? [triangleSet(triangles, model.stiffness)] : []),
      ...(bends ? [bendSet(bends)] : []),
    ];
    this.energy = this.elastic(state.x);
  }

  /** @param held what holds it, besides fixed particles and colliders */
  step(held: readonly HeldPoint[] = []): void {
    const { model, state, touches } = this;
    const { x, v, x1 } = state;
    const R = model.tets && particleRotations(x, model.tets);
    this.points.hold(held);
    // something is hit: Euler's step, which does not look back
    let euler = this.around?.hits(x, v) ?? false;
    const { energy } = this;
    let { y, target } = this.attempt(euler, R, energy);
    if (this.enters(x, y)) {
      euler = true;
      ({ y, target } = this.attempt(euler, R, energy, y));
    }
    for (let round = 1; touches.review(y, this.residual) && round < MOST_ROUNDS; round++) {
      touches.put(y);
      const height = this.objective(y, target);
      y = this.down(y, this.direction(y, target, R), target, height);
      this.counts.rounds++;
    }
    touches.keep(y);
    if (held.length === 0 && !touches.any && model.factor.order.length === model.count)
      moveRigidly(model.mass, y, target);
    const { h } = model;
    state.x1 = x;
    state.x = y;
    state.v = y.map((p, k) => (euler ? (p - x[k]!) / h : (3 * (p - x[k]!) - (x[k]! - x1[k]!)) / (2 * h)));
    state.v1 = euler ? state.v : v;
    this.counts.steps++;
  }

  /** Is a particle in a collider at `end` that does not lie on one at x? */
  private enters(x: Float64Array, end: Float64Array): boolean {
    return this.around !== undefined && this.around.places(x, end).length > this.around.places(x).length;
  }

  /** The first solve of a step. @param energy at x, J; end where an attempt before this one has ended */
  private attempt(
    euler: boolean,
    R: Float64Array | undefined,
    energy: number,
    end?: Float64Array,
  ): { y: Float64Array; target: Float64Array } {
    const { model, touches } = this;
    const { x, v, x1 } = this.state;
    this.coefficient = euler ? model.euler : model.coefficient;
    const target = euler ? this.targetOnce() : this.target();
    let y: Float64Array = x.map((p, k) => (!this.free(k) ? p : euler ? p + model.h * v[k]! : 2 * p - x1[k]!));
    const free = x.map((p, k) => p + model.h * v[k]!);
    touches.find(this.around?.places(x, end) ?? [], free, target);
    touches.put(y);
    let height = this.objective(y, target);
    const here = this.inertia(x, target) + energy + this.points.energy(x);
    if (!(height <= here)) {
      y = x.slice();
      touches.put(y);
      height = this.objective(y, target);
      this.counts.fromRest++;
    }
    return { y: this.down(y, this.direction(y, target, R), target, height), target };
  }

  private free(k: number): boolean {
    return this.model.mass[Math.floor(k / 3)]! > 0;
  }

  private target(): Float64Array {
    const { h, keep, coefficient } = this.model;
    const { x, v, x1, v1 } = this.state;
    return x.map((p, k) =>
      this.free(k) ? (4 * p - x1[k]!) / 3 + (keep * h * (8 * v[k]! - 2 * v1[k]!)) / 9 + this.a[k]! / coefficient : p,
    );
  }

  /** Of Euler's step. */
  private targetOnce(): Float64Array {
    const { h, euler } = this.model;
    const { x, v } = this.state;
    const keep = 1 / (h * h * euler);
    return x.map((p, k) => (this.free(k) ? p + keep * h * v[k]! + this.a[k]! / euler : p));
  }

  /** What the step minimizes. */
  private objective(y: Float64Array, target: Float64Array): number {
    return this.inertia(y, target) + this.elastic(y) + this.points.energy(y) + this.touches.energy(y);
  }

  private inertia(y: Float64Array, target: Float64Array): number {
    const { mass } = this.model;
    let sum = 0;
    for (let i = 0; i < mass.length; i++) {
      const a = y[3 * i]! - target[3 * i]!;
      const b = y[3 * i + 1]! - target[3 * i + 1]!;
      const c = y[3 * i + 2]! - target[3 * i + 2]!;
      sum += mass[i]! * (a * a + b * b + c * c);
    }
    return 0.5 * this.coefficient * sum;
  }

  private elastic(y: Float64Array): number {
    return this.sets.reduce((sum, set) => sum + set.energy(y), 0);
  }

  /** Newton's direction: H+ d = -g, by conjugate gradients, modified where colliders hold particles. */
  private direction(y: Float64Array, target: Float64Array, R: Float64Array | undefined): Float64Array {
    const { mass, factor, tolerance } = this.model;
    const { coefficient, touches } = this;
    const held = touches.any || this.points.count > 0;
    const most = held ? MOST_ITERATIONS_HELD : MOST_ITERATIONS;
    const leave = held ? TOLERANCE_HELD : tolerance;
    const g = y.map((p, k) => coefficient * mass[Math.floor(k / 3)]! * (p - target[k]!));
    for (const set of this.sets) set.linearize(y, g);
    this.points.linearize(y, g);
    touches.linearize(y, g);
    const r = g.map((value, k) => (this.free(k) ? -value : 0));
    this.residual = r;
    const preconditioned = (): Float64Array => {
      const free = r.slice();
      touches.filter(free);
      const z = precondition(factor, R, free);
      touches.filter(z);
      return z;
    };
    const d = new Float64Array(r.length);
    let z = preconditioned();
    let rz = dot(r, z);
    const p = z.slice();
    const enough = leave * leave * rz;
    for (let n = 0; n < most && rz > 0; n++) {
      const q = p.map((value, k) => coefficient * mass[Math.floor(k / 3)]! * value);
      for (const set of this.sets) set.product(p, q);
      this.points.product(p, q);
      touches.product(p, q);
      const pq = dot(p, q);
      if (!(pq > 0)) break;
      const alpha = rz / pq;
      for (let k = 0; k < d.length; k++) {
        d[k]! += alpha * p[k]!;
        r[k] = this.free(k) ? r[k]! - alpha * q[k]! : 0;
      }
      this.counts.iterations++;
      z = preconditioned();
      const next = dot(r, z);
      if (!(next > enough)) break;
      const beta = next / rz;
      for (let k = 0; k < p.length; k++) p[k] = z[k]! + beta * p[k]!;
      rz = next;
    }
    return d;
  }

  /** y + s d with the first s of 1, 1/2, ... that does not go up; y where none does. Notes its elastic energy. */
  private down(y: Float64Array, d: Float64Array, target: Float64Array, height: number): Float64Array {
    let s = 1;
    for (let n = 0; n <= HALVINGS; n++, s *= 0.5) {
      const there = y.map((p, k) => p + s * d[k]!);
      const elastic = this.elastic(there);
      const objective = this.inertia(there, target) + elastic + this.points.energy(there) + this.touches.energy(there);
      if (objective <= height * (1 + ROUNDING)) {
        this.energy = elastic;
        return there;
      }
      this.counts.halvings++;
    }
    this.energy = this.elastic(y);
    return y;
  }
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 3) sum += a[i]! * b[i]! + a[i + 1]! * b[i + 1]! + a[i + 2]! * b[i + 2]!;
  return sum;
}
