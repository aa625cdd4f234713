/**
 * Twin of kernel/assembly/implicit/step.ts and newton.ts: implicit steps of a body, or of bodies in contact with each
 * other (contacts.ts), bit for bit.
 *
 * BDF2 (Curtiss & Hirschfelder 1952) with implicit damping d: the new positions y minimize
 *   c/2 (y - xt)^T M (y - xt) + E(y),   xt = (4x - x1)/3 + keep h (8v - 2v1)/9 + a/c
 *   then  v' = (3 (y - x) - (x - x1))/2h
 * x1 and v1 are those of the previous step, a the external acceleration, keep = 1/(1 + 2 h d/3), c = 2.25/(h^2 keep).
 * One Newton step with conjugate gradients, preconditioned by the factor at rest. It begins at 2x - x1, or at x if the
 * objective is lower there: the second-order start amplifies unsolved errors. A step that hits a collider is implicit
 * Euler's, and colliders hold resting particles (colliderContacts.ts); falling particles are handled elsewhere.
 */
import type { ImplicitModel } from "../../implicit/model.ts";
import { Contacts, type NearPair } from "./contacts.ts";
import { bendSet, tetSet, triangleSet, type ElasticSet } from "./elements.ts";
import { RigidGrabs, type HeldPoint } from "./points.ts";
import { moveRigidly, type Moving } from "./rigidMotion.ts";
import { particleRotations, precondition } from "./precondition.ts";
import { type Place, ColliderContacts } from "./colliderContacts.ts";

/**
 * Largest number of conjugate gradient iterations; with points, whose stiffness the factor does not contain; and the
 * residuals that they then leave.
 */
const MOST_ITERATIONS = 10;
const MOST_ITERATIONS_HELD = 20;
const MOST_ITERATIONS_TOUCHING = 60;
const TOLERANCE_HELD = 0.02;
const TOLERANCE_ATTACHED = 2e-4;
const TOLERANCE_HELD_SHEET = 0.1;
/**
 * Re-solve after the active set or friction changes, to LEFT_AGAIN of the residual. A sheet is not solved again if the
 * change is below LEFT times the residual of the first solve.
 */
const LEFT = 5;
const LEFT_AGAIN = 0.1;
/** Largest number of halvings of a step that does not go down. */
const HALVINGS = 8;
/** Tolerance of the objective for rounding, relative. */
const ROUNDING = 1e-12;
/** Number of solves after which the active set stays fixed. */
const MOST_ROUNDS = 5;
const MOST_ROUNDS_TOUCHING = 12;
/** Tolerance for held bodies or bodies in contact, m. */
const NOTHING = 1e-9;
/** The first of every REUSED_STEPS steps of a tick computes data that the others reuse. */
const REUSED_STEPS = 4;
/**
 * A step that reuses data runs the same number of iterations as the first one. It checks the residual only if the
 * remaining part of its square is more than this many times larger, and above the tolerance.
 */
const REUSED_MORE = 4;

/** Current positions and velocities, and those of the previous step, float64[3n] each. */
export interface ImplicitState {
  x: Float64Array;
  v: Float64Array;
  x1: Float64Array;
  v1: Float64Array;
}

/** Colliders around a body. */
export interface Surroundings {
  /**
   * Particles that lie on a collider at x, in their order; and, if `end` is given, those that do not but are inside one
   * at `end`.
   */
  places: (x: Float64Array, end?: Float64Array) => Place[];
  /** True if one of them approaches its collider faster than a resting particle. */
  hits: (x: Float64Array, v: Float64Array) => boolean;
}

/**
 * State of a body that was in free flight before.
 * @param a float64[3n] external acceleration, m/s^2
 * @param x float64[3n]
 * @param v float64[3n]
 */
export function initialState(
  model: Pick<ImplicitModel, "h" | "keep" | "mass">,
  x: Float64Array,
  v: Float64Array,
  a: Float64Array,
): ImplicitState {
  const { h, keep, mass } = model;
  const free = (k: number): number => (mass[Math.floor(k / 3)]! > 0 ? 1 : 0);
  return {
    x,
    v,
    x1: x.map((p, k) => p + free(k) * (-h * v[k]! + 0.5 * h * h * keep * a[k]!)),
    v1: v.map((u, k) => u - free(k) * h * keep * a[k]!),
  };
}

export class ImplicitBody {
  readonly state: ImplicitState;
  /** Counts since the start; `reused`: steps that ended without checking the residual. */
  readonly counts = { steps: 0, iterations: 0, halvings: 0, fromRest: 0, rounds: 0, reused: 0 };
  readonly model: ImplicitModel;
  readonly touches = new ColliderContacts();
  readonly around: Surroundings | undefined;
  /**
   * Iterations of the step whose rotations and stresses later steps reuse (-1: each step determines its own number; 0:
   * the next step computes its own data), and the part of the residual's square that remained.
   */
  reused = { iterations: 0, left: 0 };
  readonly points: RigidGrabs;
  private readonly a: Float64Array;
  private readonly solid: ElasticSet[];
  private readonly sheet: ElasticSet<Float32Array>[];
  /** Elastic energy at x, J; for a free body, before its rigid rotation. `measured`: the last computed energy. */
  energy: number;
  private measured = 0;
  // of the step: 1/s^2; rotations; inertial target; negative gradient at the last linearization
  private coefficient = 0;
  private R: Float64Array | undefined;
  target: Float64Array = new Float64Array();
  residual: Float64Array = new Float64Array();

  /** @param a float64[3n] external acceleration, m/s^2 */
  constructor(model: ImplicitModel, state: ImplicitState, a: Float64Array, around?: Surroundings) {
    this.model = model;
    this.state = state;
    this.a = a;
    this.around = around;
    this.points = new RigidGrabs(model);
    const { tets, triangles, bends, stencils } = model;
    this.solid = tets ? [tetSet(tets)] : [];
    this.sheet = [
      ...(triangles ? [triangleSet(triangles, model.stiffness)] : []),
      ...(bends && stencils ? [bendSet(bends, stencils)] : []),
    ];
    this.energy = this.elastic(state.x);
  }

  /**
   * A step of this body alone.
   * @param held points that hold it, besides fixed particles and colliders
   */
  step(held: readonly HeldPoint[] = []): void {
    stepTogether([this], [held], new Contacts(), []);
  }

  /** Discards reused data after every REUSED_STEPS steps of a tick. */
  expireReused(): void {
    const { model, counts, reused } = this;
    if ((counts.steps % model.steps) % REUSED_STEPS === 0) reused.iterations = 0;
  }

  /** @param rotations whether to compute rotations, or reuse those of an earlier step */
  begin(held: readonly HeldPoint[], rotations: boolean): void {
    const { tets } = this.model;
    if (rotations) this.R = tets && particleRotations(this.state.x, tets);
    this.points.hold(held);
  }

  /**
   * Sets the target, and returns the first iterate.
   * @param end end of an earlier attempt of this step
   */
  aim(euler: boolean, end: Float64Array | undefined): Float64Array {
    const { model, touches } = this;
    const { x, v, x1 } = this.state;
    this.coefficient = euler ? model.euler : model.coefficient;
    this.target = euler ? this.targetOnce() : this.targetTwice();
    const y = x.map((p, k) => (!this.free(k) ? p : euler ? p + model.h * v[k]! : 2 * p - x1[k]!));
    const free = x.map((p, k) => p + model.h * v[k]!);
    touches.find(this.around?.places(x, end) ?? [], free, this.target);
    touches.put(y);
    if (this.viscous) this.keepPast(euler, y);
    return y;
  }

  private get viscous(): boolean {
    return this.model.retardationTime > 0;
  }

  /** Rates of strain in the step (kernel/assembly/implicit/viscosity.ts). */
  private keepPast(euler: boolean, y: Float64Array): void {
    const { h, retardationTime } = this.model;
    const { x, x1 } = this.state;
    const theta = (retardationTime * (euler ? 1 : 1.5)) / h;
    const rates = { theta, a: euler ? 1 : 4 / 3, b: euler ? 0 : -1 / 3 };
    for (const set of [...this.solid, ...this.sheet]) set.keepPast(rates, x, x1, y);
  }

  /** Objective at x, without its contacts. */
  heightHere(): number {
    const { x } = this.state;
    return this.inertia(x) + (this.viscous ? this.elastic(x) : this.energy) + this.points.energy(x);
  }

  /** True if a particle is in a collider at `end` that does not lie on one at x. */
  enters(end: Float64Array): boolean {
    const { x } = this.state;
    return this.around !== undefined && this.around.places(x, end).length > this.around.places(x).length;
  }

  /** True if nothing fixes or holds it, and it touches only other bodies. */
  get isFree(): boolean {
    return this.points.count === 0 && !this.touches.any && this.model.factor.order.length === this.model.count;
  }

  /** Data for a body that moves freely. */
  moving(y: Float64Array, euler: boolean): Moving {
    const { h, keep, euler: coefficient, mass } = this.model;
    return { mass, keep: euler ? 1 / (h * h * coefficient) : keep, ...this.state, a: this.a, y, target: this.target };
  }

  advance(y: Float64Array, euler: boolean): void {
    const { state } = this;
    const { x, v, x1 } = state;
    const { h } = this.model;
    this.touches.keep(y);
    state.x1 = x;
    state.x = y;
    state.v = y.map((p, k) => (euler ? (p - x[k]!) / h : (3 * (p - x[k]!) - (x[k]! - x1[k]!)) / (2 * h)));
    state.v1 = euler ? state.v : v;
    this.energy = this.measured;
    this.counts.steps++;
  }

  free(k: number): boolean {
    return this.model.mass[Math.floor(k / 3)]! > 0;
  }

  private targetTwice(): Float64Array {
    const { h, keep, coefficient } = this.model;
    const { x, v, x1, v1 } = this.state;
    return x.map((p, k) =>
      this.free(k) ? (4 * p - x1[k]!) / 3 + (keep * h * (8 * v[k]! - 2 * v1[k]!)) / 9 + this.a[k]! / coefficient : p,
    );
  }

  /** Target of Euler's step. */
  private targetOnce(): Float64Array {
    const { h, euler } = this.model;
    const { x, v } = this.state;
    const keep = 1 / (h * h * euler);
    return x.map((p, k) => (this.free(k) ? p + keep * h * v[k]! + this.a[k]! / euler : p));
  }

  /** Objective of the step, without contacts between bodies. */
  objective(y: Float64Array): number {
    this.measured = this.elastic(y);
    return this.inertia(y) + this.measured + this.points.energy(y) + this.touches.energy(y);
  }

  private inertia(y: Float64Array): number {
    const { mass } = this.model;
    const { target } = this;
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
    return [...this.solid, ...this.sheet].reduce((sum, set) => sum + set.energy(y), 0);
  }

  /**
   * Gradient of the objective; keeps data for products.
   * @param stresses as in `ElasticSet.linearize`
   */
  linearize(y: Float64Array, stresses: boolean): Float64Array {
    const { mass } = this.model;
    const g = y.map((p, k) => this.coefficient * mass[Math.floor(k / 3)]! * (p - this.target[k]!));
    for (const set of [...this.solid, ...this.sheet]) set.linearize(y, g, stresses);
    this.points.linearize(y, g);
    this.touches.linearize(y, g);
    return g;
  }

  /** H+ p, without contacts between bodies. */
  product(p: Float64Array): Float64Array {
    const { mass } = this.model;
    const q = p.map((value, k) => this.coefficient * mass[Math.floor(k / 3)]! * value);
    for (const set of this.solid) set.product(p, q);
    const [p32, q32] = [Float32Array.from(p), new Float32Array(p.length)];
    for (const set of this.sheet) set.product(p32, q32);
    q32.forEach((value, k) => (q[k]! += value));
    this.points.product(p, q);
    this.touches.product(p, q);
    return q;
  }

  /** The preconditioned residual, filtered to free directions before and after. */
  preconditioned(): Float64Array {
    const free = this.residual.slice();
    this.touches.filter(free);
    const z = precondition(this.model.factor, this.R, free);
    this.touches.filter(z);
    return z;
  }

  /** sum c m, kg/s^2 */
  weight(before: number): number {
    let sum = before;
    for (const m of this.model.mass) sum += this.coefficient * m;
    return sum;
  }
}

/**
 * One step of bodies that are solved together.
 * @param held by body: points that hold it, besides fixed particles and colliders
 * @param pairs near pairs
 */
export function stepTogether(
  bodies: readonly ImplicitBody[],
  held: readonly (readonly HeldPoint[])[],
  contacts: Contacts,
  pairs: readonly NearPair[],
): void {
  new GroupStep(bodies, contacts).run(held, pairs);
}

class GroupStep {
  private readonly bodies: readonly ImplicitBody[];
  private readonly contacts: Contacts;
  private euler = false;
  /** Square of the preconditioned residual at which the step ends. */
  private enough = 0;
  /** `ImplicitBody.reused` at the start of the step; -1 for several bodies: all of them reuse their data. */
  private reused = 0;

  constructor(bodies: readonly ImplicitBody[], contacts: Contacts) {
    this.bodies = bodies;
    this.contacts = contacts;
  }

  run(held: readonly (readonly HeldPoint[])[], pairs: readonly NearPair[]): void {
    const { bodies, contacts } = this;
    for (const body of bodies) body.expireReused();
    const reused = bodies.map((body) => body.reused.iterations);
    this.reused = reused.includes(0) ? 0 : reused.length === 1 ? reused[0]! : -1;
    bodies.forEach((body, n) => body.begin(held[n] ?? [], this.reused === 0));
    contacts.find(
      pairs,
      bodies.map(({ state, model }) => ({ ...state, diagonal: model.diagonal })),
      bodies[0]!.model.h,
    );
    // on a hit: Euler's step, which does not use earlier steps
    this.euler = bodies.some((b) => b.around?.hits(b.state.x, b.state.v)) || contacts.hits;
    let y = this.attempt();
    const enters = bodies.map((body, n) => body.enters(y[n]!)).includes(true);
    if ((!this.euler && contacts.entered(y)) || enters) {
      this.euler = true;
      y = this.attempt(y);
    }
    const most = contacts.any ? MOST_ROUNDS_TOUCHING : MOST_ROUNDS;
    for (let round = 1; this.review(y) && round < most; round++) {
      bodies.forEach((body, n) => {
        body.touches.put(y[n]!);
        body.counts.rounds++;
      });
      const height = this.objective(y);
      const d = this.direction(y, false);
      if (!d) break;
      y = this.down(y, d, height);
    }
    contacts.keep(y);
    if ((!contacts.any || contacts.between) && bodies.every((body) => body.isFree))
      moveRigidly(
        bodies.map((body, n) => body.moving(y[n]!, this.euler)),
        bodies[0]!.model.h,
        this.euler,
      );
    bodies.forEach((body, n) => body.advance(y[n]!, this.euler));
  }

  private review(y: readonly Float64Array[]): boolean {
    const touches = this.bodies.map(({ touches, residual }, n) => touches.review(y[n]!, residual));
    return this.contacts.review(y) || touches.includes(true);
  }

  /**
   * The first solve of a step.
   * @param end end of an earlier attempt of this step
   */
  private attempt(end?: readonly Float64Array[]): Float64Array[] {
    const { bodies, contacts } = this;
    let y = bodies.map((body, n) => body.aim(this.euler, end?.[n]));
    contacts.guess(y, false);
    if (end) contacts.guess(end, true);
    let height = this.objective(y);
    let here = 0;
    for (const body of bodies) here += body.heightHere();
    if (!(height <= (here + contacts.energyHere()) * (1 + ROUNDING))) {
      y = bodies.map(({ state, touches, counts }) => {
        const x = state.x.slice();
        touches.put(x);
        counts.fromRest++;
        return x;
      });
      height = this.objective(y);
    }
    return this.down(y, this.direction(y, true)!, height);
  }

  private objective(y: readonly Float64Array[]): number {
    let sum = 0;
    this.bodies.forEach((body, n) => (sum += body.objective(y[n]!)));
    return sum + this.contacts.energy(y);
  }

  /**
   * Newton's direction: H+ d = -g, by conjugate gradients, modified where colliders hold particles.
   * @param first whether it is the first solve of the step, whose residual determines when this and later ones end
   * @returns undefined: the residual is too small to solve for
   */
  private direction(y: readonly Float64Array[], first: boolean): Float64Array[] | undefined {
    const { bodies, contacts } = this;
    const touched = contacts.any || bodies.some(({ touches, points }) => touches.any || points.anyGrab);
    const held = touched || bodies.some(({ points }) => points.count > 0);
    const most = contacts.any ? MOST_ITERATIONS_TOUCHING : held ? MOST_ITERATIONS_HELD : MOST_ITERATIONS;
    const solid = bodies.every(({ model }) => model.tets);
    const holding = touched ? TOLERANCE_HELD : TOLERANCE_ATTACHED;
    const leave = held
      ? solid
        ? holding
        : TOLERANCE_HELD_SHEET
      : Math.min(...bodies.map(({ model }) => model.tolerance));
    const g = bodies.map((body, n) => body.linearize(y[n]!, this.reused === 0));
    contacts.linearize(y, g, first);
    bodies.forEach((body, n) => {
      body.residual = g[n]!.map((value, k) => (body.free(k) ? -value : 0));
    });
    const r = bodies.map(({ residual }) => residual);
    const d = r.map(({ length }) => new Float64Array(length));
    let z = bodies.map((body) => body.preconditioned());
    let rz = dotAll(r, z);
    const rr = dotAll(r, r);
    const known = first && !held && !this.euler ? Math.max(this.reused, 0) : 0;
    const allowed = Math.max(leave * leave, REUSED_MORE * bodies[0]!.reused.left) * rr;
    if (first && known === 0 && this.reused >= 0) this.keepReused(0, 0);
    const p = z.map((values) => values.slice());
    const inertia = held ? bodies.reduce((sum, body) => body.weight(sum), 0) : 0;
    if (first) this.enough = Math.max(leave * leave * rz, NOTHING * NOTHING * inertia);
    else if (!solid && !(rz > LEFT * LEFT * this.enough)) return undefined;
    else this.enough = Math.min(this.enough, LEFT_AGAIN * LEFT_AGAIN * rz);
    for (let iteration = 0; iteration < most && rz > 0; iteration++) {
      const q = bodies.map((body, n) => body.product(p[n]!));
      contacts.product(p, q);
      const pq = dotAll(p, q);
      if (!(pq > 0)) break;
      const alpha = rz / pq;
      bodies.forEach((body, n) => {
        for (let k = 0; k < d[n]!.length; k++) {
          d[n]![k]! += alpha * p[n]![k]!;
          r[n]![k] = body.free(k) ? r[n]![k]! - alpha * q[n]![k]! : 0;
        }
        body.counts.iterations++;
      });
      if (iteration + 1 === known && dotAll(r, r) <= allowed) {
        bodies[0]!.counts.reused++;
        break;
      }
      z = bodies.map((body) => body.preconditioned());
      const next = dotAll(r, z);
      if (!(next > this.enough)) {
        if (this.reused > 0) this.keepReused(0, 0);
        else if (this.reused === 0 && first && solid && !this.euler)
          this.keepReused(held || bodies.length > 1 ? -1 : iteration + 1, dotAll(r, r) / rr);
        break;
      }
      const beta = next / rz;
      p.forEach((values, n) => values.forEach((value, k) => (values[k] = z[n]![k]! + beta * value)));
      rz = next;
    }
    return d;
  }

  /** Keeps data that later steps may reuse. */
  private keepReused(iterations: number, left: number): void {
    for (const { reused } of this.bodies) Object.assign(reused, { iterations, left });
  }

  /** y + s d with the first s of 1, 1/2, ... that does not increase the objective; else y. */
  private down(y: Float64Array[], d: readonly Float64Array[], height: number): Float64Array[] {
    let s = 1;
    for (let k = 0; k <= HALVINGS; k++, s *= 0.5) {
      const there = y.map((values, n) => values.map((p, i) => p + s * d[n]![i]!));
      if (this.objective(there) <= height * (1 + ROUNDING)) return there;
      for (const { counts, reused } of this.bodies) {
        counts.halvings++;
        reused.iterations = 0;
      }
    }
    this.objective(y);
    return y;
  }
}

function dotAll(a: readonly Float64Array[], b: readonly Float64Array[]): number {
  let sum = 0;
  a.forEach((values, n) => (sum += dot(values, b[n]!)));
  return sum;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 3) sum += a[i]! * b[i]! + a[i + 1]! * b[i + 1]! + a[i + 2]! * b[i + 2]!;
  return sum;
}
