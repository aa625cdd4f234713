/**
 * The problem that an implicit body solves in a step, evaluated in float64 from the room's memory: inertial target,
 * elastic and viscous forces by element (reference/implicit/elements.ts), attachments and grabs. It is independent of
 * the kernel's solver.
 *   J(y) = c/2 (y - xt)^T M (y - xt) + E(y)
 *   BDF2:  xt = (4x - x1)/3 + keep h (8v - 2v1)/9 + a/c,  keep = 1/(1 + 2 h d/3),  c = 2.25/(h^2 keep)
 *   Euler: xt = x + keep h v + a/c,                        keep = 1/(1 + h d),      c = 1/(h^2 keep)
 */
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { implicitModel, type ImplicitModel } from "../../../server/sim/implicit/model.ts";
import type { ImplicitState } from "../../../server/sim/implicit/state.ts";
import { bendSet, tetSet, triangleSet, type ElasticSet } from "../../../server/sim/reference/implicit/elements.ts";
import { particleRotations, precondition } from "../../../server/sim/reference/implicit/precondition.ts";
import { RigidGrabs, type HeldPoint } from "../../../server/sim/reference/implicit/heldPoints.ts";
import type { Laboratory } from "../laboratory.ts";

/** Inertial target and coefficient c of a step, and where the solver begins it. */
export interface Aim {
  target: Float64Array;
  c: number;
  start: Float64Array;
}

/** True if the last step was implicit Euler's, which keeps no older velocity. */
export const isEuler = ({ v, v1 }: ImplicitState): boolean => v1.every((value, k) => value === v[k]);

export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k]! * b[k]!;
  return sum;
};

export class ImplicitProblem {
  readonly model: ImplicitModel;
  private readonly lab: Laboratory;
  private readonly body: number;
  private readonly solid: ElasticSet[];
  private readonly sheet: ElasticSet<Float32Array>[];
  private readonly points: RigidGrabs;
  private readonly a: Float64Array;

  /** @param steps per tick; default: as many as for a body without contact */
  constructor(lab: Laboratory, body = 0, steps?: number) {
    this.lab = lab;
    this.body = body;
    this.model = implicitModel(lab.created.bodies[body]!, lab.created.layout.tickHz, steps);
    const { tets, triangles, stiffness, bends, stencils } = this.model;
    this.solid = tets ? [tetSet(tets)] : [];
    this.sheet = [
      ...(triangles ? [triangleSet(triangles, stiffness)] : []),
      ...(bends && stencils ? [bendSet(bends, stencils)] : []),
    ];
    this.points = new RigidGrabs(this.model);
    const { first } = lab.created.layout.bodies[body]!;
    this.a = Float64Array.from(
      { length: 3 * this.model.count },
      (_, k) => lab.acceleration[4 * (first + Math.floor(k / 3)) + (k % 3)]!,
    );
  }

  private get sets(): Pick<ElasticSet, "energy" | "keepPast" | "linearize">[] {
    return [...this.solid, ...this.sheet];
  }

  /** A copy of the body's float64 state. */
  state(): ImplicitState {
    const [x, v, x1, v1] = [0, 1, 2, 3].map((n) => this.vector(L.IMPLICIT_STATE, n));
    return { x: x!, v: v!, x1: x1!, v1: v1! };
  }

  /**
   * The last iteration of the last solve: the vector that was multiplied by the Hessian at y, and the product; the
   * residual, and the preconditioned one.
   */
  lastIteration(): Record<"y" | "p" | "q" | "r" | "z", Float64Array> {
    const work = (n: number): Float64Array => this.vector(L.IMPLICIT_WORK, n);
    return { y: work(L.VECTOR_Y), p: work(L.VECTOR_P), q: work(L.VECTOR_Q), r: work(L.VECTOR_R), z: work(L.VECTOR_Z) };
  }

  /** Number of steps that began at x, because the objective is lower there. */
  get fromRest(): number {
    return this.word(L.IMPLICIT_FROM_REST);
  }

  /** i32 of the body's IMPLICIT row. */
  private word(field: number): number {
    const { memory, layout } = this.lab.created;
    const i32 = new Int32Array(memory.buffer);
    const row = i32[(layout.bodyRows + this.body * L.BODY_BYTES + L.BODY_IMPLICIT) / 4]!;
    return i32[(row + field) / 4]!;
  }

  /** A copy of vector number n of an array of vectors. */
  private vector(field: number, n: number): Float64Array {
    const size = 3 * this.model.count;
    return new Float64Array(this.lab.created.memory.buffer, this.word(field) + 8 * n * size, size).slice();
  }

  /** Prepares `objective` and `gradient` for a step that begins at a state. */
  begin({ x, v, x1, v1 }: ImplicitState, euler: boolean): Aim {
    const { h, keep, coefficient, euler: eulerCoefficient, retardationTime } = this.model;
    const c = euler ? eulerCoefficient : coefficient;
    const kept = 1 / (h * h * c);
    const target = x.map((p, k) =>
      !this.free(k)
        ? p
        : euler
          ? p + kept * h * v[k]! + this.a[k]! / c
          : (4 * p - x1[k]!) / 3 + (keep * h * (8 * v[k]! - 2 * v1[k]!)) / 9 + this.a[k]! / c,
    );
    const start = x.map((p, k) => (!this.free(k) ? p : euler ? p + h * v[k]! : 2 * p - x1[k]!));
    if (retardationTime > 0) {
      const theta = (retardationTime * (euler ? 1 : 1.5)) / h;
      const rates = { theta, a: euler ? 1 : 4 / 3, b: euler ? 0 : -1 / 3 };
      for (const set of this.sets) set.keepPast(rates, x, x1, start);
    }
    this.points.hold(this.held());
    return { start, target, c };
  }

  /** Norm of a gradient in the inverse of the matrix at rest: the norm in which the solver's tolerance is meant. */
  norm(g: Float64Array, x: Float64Array): number {
    return Math.sqrt(dot(g, this.preconditioned(g, x)));
  }

  /** @param x where the step begins, whose rotations the matrix at rest gets */
  preconditioned(g: Float64Array, x: Float64Array): Float64Array {
    const { factor, tets } = this.model;
    return precondition(factor, tets && particleRotations(x, tets), g);
  }

  /** J(y), J. */
  objective(y: Float64Array, { target, c }: Aim): number {
    const inertia = y.reduce((sum, p, k) => sum + this.mass(k) * (p - target[k]!) ** 2, 0);
    return 0.5 * c * inertia + this.sets.reduce((sum, set) => sum + set.energy(y), 0) + this.points.energy(y);
  }

  /** dJ/dy, N; 0 for fixed particles. */
  gradient(y: Float64Array, { target, c }: Aim): Float64Array {
    const g = y.map((p, k) => c * this.mass(k) * (p - target[k]!));
    for (const set of this.sets) set.linearize(y, g, false);
    this.points.linearize(y, g);
    return g.map((f, k) => (this.free(k) ? f : 0));
  }

  /** H+ p at y: the positive part of the Hessian. */
  product(y: Float64Array, p: Float64Array, { c }: Aim): Float64Array {
    const unused = new Float64Array(y.length);
    for (const set of this.sets) set.linearize(y, unused, true);
    this.points.linearize(y, unused);
    const q = p.map((value, k) => c * this.mass(k) * value);
    for (const set of this.solid) set.product(p, q);
    const sheets = new Float32Array(p.length);
    for (const set of this.sheet) set.product(Float32Array.from(p), sheets);
    this.points.product(p, q);
    return q.map((value, k) => value + sheets[k]!);
  }

  private mass(k: number): number {
    return this.model.mass[Math.floor(k / 3)]!;
  }

  private free(k: number): boolean {
    return this.mass(k) > 0;
  }

  /** Attachments and grabs that hold the body now. */
  private held(): HeldPoint[] {
    const { memory, layout } = this.lab.created;
    const f32 = new Float32Array(memory.buffer);
    const i32 = new Int32Array(memory.buffer);
    const first = layout.bodies[this.body]!.first;
    return Array.from({ length: layout.attachmentCount + layout.grabCount }, (_, n) => n).flatMap((n) => {
      const at = (layout.points + n * L.POINT_BYTES) / 4;
      if (i32[at + L.POINT_ACTIVE / 4] !== L.POINT_IMPLICIT) return [];
      const indices = Array.from({ length: i32[at + L.POINT_COUNT / 4]! }, (_, i) => i);
      return [
        {
          particles: indices.map((i) => (i32[at + L.POINT_ADDRESS / 4 + i]! - layout.x) / 16 - first),
          weights: indices.map((i) => f32[at + L.POINT_WEIGHT / 4 + i]!),
          target: [0, 1, 2].map((r) => f32[at + L.POINT_TARGET / 4 + r]!) as [number, number, number],
          compliance: f32[at + L.POINT_ALPHA / 4]!,
          maxForce: f32[at + L.POINT_MAX_FORCE / 4]! * f32[at + L.POINT_SHARE / 4]!,
        },
      ];
    });
  }
}

const vectorAt = (view: DataView, at: number): number[] => [0, 8, 16].map((r) => view.getFloat64(at + r, true));

/** A particle at an analytic collider, after a step. */
export interface ColliderContact {
  /** Its first number in a vector. */
  at: number;
  state: "open" | "sticks" | "slides";
  normal: number[];
  place: number[];
}

export function colliderContacts({ created: { memory, layout } }: Laboratory): ColliderContact[] {
  const view = new DataView(memory.buffer);
  const row = view.getInt32(layout.bodyRows + L.BODY_IMPLICIT, true);
  const first = view.getInt32(row + L.IMPLICIT_TOUCHES, true);
  return Array.from({ length: view.getInt32(row + L.IMPLICIT_TOUCH_COUNT, true) }, (_, n) => {
    const touch = first + n * L.TOUCH_BYTES;
    return {
      at: view.getInt32(touch, true) / 8,
      state: (["open", "sticks", "slides"] as const)[view.getInt32(touch + L.TOUCH_STATE, true)]!,
      normal: vectorAt(view, touch + L.TOUCH_NORMAL),
      place: vectorAt(view, touch + L.TOUCH_PLACE),
    };
  });
}

/** A near pair of surfaces, after a step. */
export interface PairContact {
  on: boolean;
  normal: number[];
  /** n . s and s without its normal part are the gap and the slip, s = sum_k b_k y_k. */
  s: number[];
  /** Corners on implicit bodies: body, first number in its vectors, weight b. */
  corners: { body: number; at: number; b: number }[];
  /** Gap that it keeps, m; stiffness of its push and of its friction, N/m. */
  rest: number;
  stiffness: number;
  hold: number;
  /** Elastic slip so far, and s at the start of the step, m. */
  shear: number[];
  start: number[];
  mu: number;
  /** Push and friction that it stores for the next step, N; undefined: the pair does not push. */
  push: number;
  friction: number[] | undefined;
}

/** @param states of all bodies, after the step */
export function pairContacts(
  { created: { memory, layout } }: Laboratory,
  states: readonly ImplicitState[],
): PairContact[] {
  const view = new DataView(memory.buffer);
  const word = (at: number): number => view.getInt32(at, true);
  const number = (at: number): number => view.getFloat64(at, true);
  const together = word(L.HEADER + L.H_TOGETHER);
  const particlesAt = (at: number): number[] => [0, 4, 8, 12].map((k) => word(at + k));
  const kept = word(together + L.TOGETHER_KEPT);
  const friction = new Map<string, number[]>();
  for (let n = 0; n < word(kept); n++) {
    const at = kept + 16 + n * L.KEPT_BYTES;
    friction.set(
      particlesAt(at).join(),
      [0, 4, 8].map((r) => view.getFloat32(at + L.KEPT_SHEAR + r, true)),
    );
  }
  return Array.from({ length: word(together + L.TOGETHER_ROW_COUNT) }, (_, n) => {
    const row = word(together + L.TOGETHER_ROWS) + n * L.ROW_BYTES;
    const addresses = particlesAt(row + L.ROW_PARTICLES);
    const s = vectorAt(view, row + L.ROW_FIXED);
    const corners = addresses.flatMap((address, k) => {
      if (word(row + L.ROW_ENTRY + 4 * k) === 0) return [];
      const particle = (address - layout.x) / 16;
      const body = layout.bodies.findIndex(({ first, count }) => particle >= first && particle < first + count);
      return [{ body, at: 3 * (particle - layout.bodies[body]!.first), b: number(row + L.ROW_WEIGHT + 8 * k) }];
    });
    for (const { body, at, b } of corners) for (let r = 0; r < 3; r++) s[r]! += b * states[body]!.x[at + r]!;
    return {
      on: word(row + L.ROW_ON) !== 0,
      normal: vectorAt(view, row + L.ROW_NORMAL),
      s,
      corners,
      rest: number(row + L.ROW_REST),
      stiffness: number(row + L.ROW_STIFFNESS),
      hold: number(row + L.ROW_HOLD),
      shear: vectorAt(view, row + L.ROW_SHEAR),
      start: vectorAt(view, row + L.ROW_START),
      mu: number(row + (word(row + L.ROW_SLID) ? L.ROW_DYNAMIC : L.ROW_STATIC)),
      push: number(row + L.ROW_PUSH),
      friction: friction.get(addresses.join()),
    };
  });
}
