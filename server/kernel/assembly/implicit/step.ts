/**
 * A body's own implicit step, taken a few times a tick instead of the substeps' iterations: it converges, whatever the
 * stiffness.
 *
 * BDF2 (Curtiss & Hirschfelder 1952) with implicit damping d: the new positions y minimize
 *   c/2 (y - xt)^T M (y - xt) + E(y),   xt = (4x - x1)/3 + keep h (8v - 2v1)/9 + a/c,   then  v' = (3 (y - x) - (x -
 *   x1))/2h
 * x1 and v1 are those of the step before, a the external acceleration, keep = 1/(1 + 2 h d/3), c = 2.25/(h^2 keep).
 * One Newton step with conjugate gradients, preconditioned by the factor at rest (preconditioner.ts); it begins at 2x -
 * x1, or at x where that is lower: the second-order start amplifies what is not solved.
 * A step in which something is hit is implicit Euler's, xt = x + keep h v + a/c with c = (1 + h d)/h^2: BDF2, which looks
 * back, gives half of a stopped velocity back. Colliders hold what lies on them and what comes to them (touches.ts);
 * what is left is answered by `collide` after the step.
 * The state is float64: with positions of float32 steel trembles at 7e-5 m/s. Other parts of the kernel see it rounded;
 * what they or the host change there (an impulse, a reset) is taken over, in the step before, too, as if it had always
 * been so. A body is one thread's, and all sums are serial. Twin: sim/reference/implicit/step.ts, bit for bit.
 * Tried: a start at 2x - x1 always. Large swings explode.
 */
import {
  HEADER,
  H_X,
  H_XPREV,
  H_V,
  H_ACC,
  H_SUBSTEP,
  H_SUBSTEPS,
  H_SUBSTEP_SECONDS,
  IMPLICIT_FIRST,
  IMPLICIT_COUNT,
  IMPLICIT_STATE,
  IMPLICIT_STATE_END,
  IMPLICIT_MASS,
  IMPLICIT_WORK,
  IMPLICIT_STEPS,
  IMPLICIT_HELD_COUNT,
  IMPLICIT_STEP_SECONDS,
  IMPLICIT_COEFFICIENT,
  IMPLICIT_EULER,
  IMPLICIT_KEEP,
  IMPLICIT_TOLERANCE,
  IMPLICIT_COLUMNS,
  IMPLICIT_ORDER,
  IMPLICIT_STEPS_DONE,
  IMPLICIT_ITERATIONS,
  IMPLICIT_HALVINGS,
  IMPLICIT_FROM_REST,
  IMPLICIT_TOUCHES,
  IMPLICIT_MEETS,
  IMPLICIT_ROUNDS,
  IMPLICIT_BYTES,
  VECTOR_Y,
  VECTOR_TARGET,
  VECTOR_D,
  VECTOR_R,
  VECTOR_Z,
  VECTOR_P,
  VECTOR_Q,
  VECTOR_THERE,
} from "../layout/layout";
import { energyOfTets, linearizeTets, multiplyTets } from "./solids";
import {
  energyOfBends,
  energyOfTriangles,
  linearizeBends,
  linearizeTriangles,
  multiplyBends,
  multiplyTriangles,
} from "./sheets";
import { energyOfPoints, holdPoints, linearizePoints, multiplyPoints, notePoints } from "./points";
import { precondition, turnParticles } from "./preconditioner";
import { moveRigidly } from "./rigidMotion";
import { collide } from "../colliders/collide";
import {
  anyEntered,
  anyHits,
  anyTouch,
  energyOfTouches,
  filterTouches,
  findTouches,
  keepTouches,
  linearizeTouches,
  multiplyTouches,
  placeTouches,
  reviewTouches,
} from "./touches";

/**
 * Iterations of conjugate gradients at most; with points, whose stiffness the factor does not know; and what they leave
 * then.
 */
const MOST_ITERATIONS: i32 = 10;
const MOST_ITERATIONS_HELD: i32 = 20;
const TOLERANCE_HELD: f64 = 0.02;
/**
 * How often a step that does not go down is halved, and the part of what is minimized that rounding may take or give.
 */
const HALVINGS: i32 = 8;
const ROUNDING: f64 = 1e-12;
/** Solves after which what touches stays as it is. */
const MOST_ROUNDS = 5;

// the body at work
// elastic energy where `goDown` or `linearize` was last, J
let elastic: f64 = 0;
let row: usize = 0;
let count: i32 = 0;
let vector: usize = 0;
let work: usize = 0;
let mass: usize = 0;
let coefficient: f64 = 0;
/** Something was hit: Euler's step, which does not look back. */
let euler: bool = false;

// @inline
function workVector(n: i32): usize {
  return work + <usize>n * vector;
}

/** The steps of bodies begin .. end that are due in this substep. @param rows address of the IMPLICIT rows */
export function stepImplicit(rows: usize, begin: i32, end: i32): void {
  const substep = load<i32>(HEADER, H_SUBSTEP);
  const substeps = load<i32>(HEADER, H_SUBSTEPS);
  for (let b = begin; b < end; b++) {
    open(rows + <usize>b * IMPLICIT_BYTES);
    const steps = load<i32>(row, IMPLICIT_STEPS);
    const due = ((substep + 1) * steps) / substeps - (substep * steps) / substeps;
    if (due === 0 || isFixed()) continue;
    const state = <usize>load<u32>(row, IMPLICIT_STATE);
    if (takeOver() || load<f64>(state + 4 * vector) < 0) store<f64>(state + 4 * vector, elasticEnergy(state));
    holdPoints(row);
    for (let n = 0; n < due; n++) {
      if (n > 0 && takeOver()) store<f64>(state + 4 * vector, elasticEnergy(state));
      step();
      publish();
    }
  }
}

function open(at: usize): void {
  row = at;
  count = load<i32>(at, IMPLICIT_COUNT);
  vector = 24 * <usize>count;
  work = <usize>load<u32>(at, IMPLICIT_WORK);
  mass = <usize>load<u32>(at, IMPLICIT_MASS);
  coefficient = load<f64>(at, IMPLICIT_COEFFICIENT);
}

/** The host holds a body by taking its inverse masses away. */
function isFixed(): bool {
  if (load<i32>(row, IMPLICIT_COLUMNS) === 0) return true;
  const particle = load<u32>(<usize>load<u32>(row, IMPLICIT_ORDER)) / 24;
  return load<f32>(<usize>load<u32>(row, IMPLICIT_FIRST) + ((<usize>particle) << 4), 12) === 0;
}

/**
 * What others have changed: x and v by dx and dv, so x1 by dx - h dv and v1 by dv. A step after it is Euler's.
 * @returns true if particles have been moved
 */
function takeOver(): bool {
  let moved = false;
  euler = false;
  const first = <usize>load<u32>(row, IMPLICIT_FIRST);
  const toV = <usize>load<u32>(HEADER, H_V) - <usize>load<u32>(HEADER, H_X);
  const h = load<f64>(row, IMPLICIT_STEP_SECONDS);
  let x = <usize>load<u32>(row, IMPLICIT_STATE);
  for (let i = 0; i < count; i++) {
    for (let r: usize = 0; r < 3; r++, x += 8) {
      const there = first + ((<usize>i) << 4) + (r << 2);
      const X = load<f32>(there);
      const V = load<f32>(there + toV);
      const x1 = x + 2 * vector;
      const v1 = x1 + vector;
      if (X !== <f32>load<f64>(x)) {
        store<f64>(x1, load<f64>(x1) + (<f64>X - load<f64>(x)));
        store<f64>(x, <f64>X);
        moved = true;
      }
      if (V !== <f32>load<f64>(x + vector)) {
        euler = true;
        const change = <f64>V - load<f64>(x + vector);
        store<f64>(v1, load<f64>(v1) + change);
        store<f64>(x1, load<f64>(x1) - h * change);
        store<f64>(x + vector, <f64>V);
      }
    }
  }
  return moved;
}

/** The state, rounded, to where everybody sees it; what is in a collider all the same is put out of it. */
function publish(): void {
  const X = <usize>load<u32>(HEADER, H_X);
  const toV = <usize>load<u32>(HEADER, H_V) - X;
  const first = <usize>load<u32>(row, IMPLICIT_FIRST);
  let x = <usize>load<u32>(row, IMPLICIT_STATE);
  for (let i = 0; i < count; i++) {
    for (let r: usize = 0; r < 3; r++, x += 8) {
      const there = first + ((<usize>i) << 4) + (r << 2);
      store<f32>(there, <f32>load<f64>(x));
      store<f32>(there + toV, <f32>load<f64>(x + vector));
    }
  }
  if (load<u32>(row, IMPLICIT_TOUCHES)) answerColliders(first, <i32>((first - X) >> 4));
  const toPrevious = <usize>load<u32>(HEADER, H_XPREV) - X;
  for (let i = 0; i < count; i++) {
    const there = first + ((<usize>i) << 4);
    for (let r: usize = 0; r < 12; r += 4) store<f32>(there + toPrevious + r, load<f32>(there + r));
  }
  notePoints(row, <usize>load<u32>(row, IMPLICIT_STATE), load<f32>(HEADER, H_SUBSTEP_SECONDS));
}

/** Colliders answer the step's motion. @param particle number of the body's first */
function answerColliders(first: usize, particle: i32): void {
  const toPrevious = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X);
  let x1 = <usize>load<u32>(row, IMPLICIT_STATE) + 2 * vector;
  for (let i = 0; i < count; i++) {
    const there = first + toPrevious + ((<usize>i) << 4);
    for (let r: usize = 0; r < 12; r += 4, x1 += 8) store<f32>(there + r, <f32>load<f64>(x1));
  }
  const h = <f32>load<f64>(row, IMPLICIT_STEP_SECONDS);
  collide(particle, particle + count, h, <usize>load<u32>(row, IMPLICIT_MEETS));
}

function step(): void {
  const x = <usize>load<u32>(row, IMPLICIT_STATE);
  const y = workVector(VECTOR_Y);
  const target = workVector(VECTOR_TARGET);
  turnParticles(row, x);
  const h = load<f64>(row, IMPLICIT_STEP_SECONDS);
  euler = load<u32>(row, IMPLICIT_TOUCHES) !== 0 && (euler || anyHits(row, x, x + vector, h));
  let there = attempt(x, 0);
  if (anyEntered(row, x, there)) {
    euler = true;
    const end = workVector(VECTOR_THERE);
    if (there === y) memory.copy(end, y, vector);
    there = attempt(x, end);
  }
  for (let round = 1; reviewTouches(row, there, workVector(VECTOR_R)) && round < MOST_ROUNDS; round++) {
    if (there !== y) memory.copy(y, there, vector);
    placeTouches(row, y);
    const height = linearize(y, target);
    direction();
    there = goDown(y, target, height);
    count32(IMPLICIT_ROUNDS, 1);
  }
  if (load<u32>(row, IMPLICIT_TOUCHES)) keepTouches(row, x + 4 * vector + IMPLICIT_STATE_END, there);
  if (isFree()) moveRigidly(mass, count, there, target);
  advanceState(x, there);
}

/** The first solve of a step from x. @param end where an attempt before this one has ended, or 0 @returns where it ends */
function attempt(x: usize, end: usize): usize {
  const y = workVector(VECTOR_Y);
  const target = workVector(VECTOR_TARGET);
  coefficient = euler ? load<f64>(row, IMPLICIT_EULER) : load<f64>(row, IMPLICIT_COEFFICIENT);
  if (euler) aimOnce(x, y, target);
  else aim(x, y, target);
  const kept = x + 4 * vector + IMPLICIT_STATE_END;
  findTouches(row, x, target, end, kept, load<f64>(row, IMPLICIT_STEP_SECONDS));
  placeTouches(row, y);
  let height = linearize(y, target);
  const here = inertia(x, target) + load<f64>(x + 4 * vector) + energyOfPoints(row, x);
  if (!(height <= here)) {
    memory.copy(y, x, vector);
    placeTouches(row, y);
    height = linearize(y, target);
    count32(IMPLICIT_FROM_REST, 1);
  }
  direction();
  return goDown(y, target, height);
}

/** x, v -> x1, v1; y -> x, and the velocity that BDF2 has there. */
function advanceState(x: usize, there: usize): void {
  const h = load<f64>(row, IMPLICIT_STEP_SECONDS);
  for (let at: usize = 0; at < vector; at += 8) {
    const here = x + at;
    const v = here + vector;
    const x1 = v + vector;
    const v1 = x1 + vector;
    const position = load<f64>(here);
    const now = load<f64>(there + at);
    const velocity = euler ? (now - position) / h : (3 * (now - position) - (position - load<f64>(x1))) / (2 * h);
    store<f64>(x1, position);
    store<f64>(v1, euler ? velocity : load<f64>(v));
    store<f64>(here, now);
    store<f64>(v, velocity);
  }
  store<f64>(x + 4 * vector, elastic);
  count32(IMPLICIT_STEPS_DONE, 1);
}

// @inline
function count32(offset: usize, more: i32): void {
  store<i32>(row + offset, load<i32>(row + offset) + more);
}

// @inline
function massOf(i: i32): f64 {
  return load<f64>(mass + ((<usize>i) << 3));
}

/** xt -> target; 2x - x1 -> y; x for fixed particles. */
function aim(x: usize, y: usize, target: usize): void {
  const h = load<f64>(row, IMPLICIT_STEP_SECONDS);
  const keep = load<f64>(row, IMPLICIT_KEEP);
  const toA = <usize>load<u32>(HEADER, H_ACC) - <usize>load<u32>(HEADER, H_X);
  const first = <usize>load<u32>(row, IMPLICIT_FIRST);
  let at: usize = 0;
  for (let i = 0; i < count; i++) {
    const free = massOf(i) > 0;
    for (let r: usize = 0; r < 3; r++, at += 8) {
      const p = load<f64>(x + at);
      const v = load<f64>(x + at + vector);
      const x1 = load<f64>(x + at + 2 * vector);
      const v1 = load<f64>(x + at + 3 * vector);
      const a = <f64>load<f32>(first + toA + ((<usize>i) << 4) + (r << 2));
      store<f64>(target + at, free ? (4 * p - x1) / 3 + (keep * h * (8 * v - 2 * v1)) / 9 + a / coefficient : p);
      store<f64>(y + at, free ? 2 * p - x1 : p);
    }
  }
}

/** Likewise of Euler's step: xt = x + keep h v + a/c; x + h v -> y. */
function aimOnce(x: usize, y: usize, target: usize): void {
  const h = load<f64>(row, IMPLICIT_STEP_SECONDS);
  const keep = 1 / (h * h * coefficient);
  const toA = <usize>load<u32>(HEADER, H_ACC) - <usize>load<u32>(HEADER, H_X);
  const first = <usize>load<u32>(row, IMPLICIT_FIRST);
  let at: usize = 0;
  for (let i = 0; i < count; i++) {
    const free = massOf(i) > 0;
    for (let r: usize = 0; r < 3; r++, at += 8) {
      const p = load<f64>(x + at);
      const a = <f64>load<f32>(first + toA + ((<usize>i) << 4) + (r << 2));
      const wanted = free ? p + keep * h * load<f64>(x + at + vector) + a / coefficient : p;
      store<f64>(target + at, wanted);
      store<f64>(y + at, free ? p + h * load<f64>(x + at + vector) : p);
    }
  }
}

/** c/2 (y - xt)^T M (y - xt) */
function inertia(y: usize, target: usize): f64 {
  let sum: f64 = 0;
  let at: usize = 0;
  for (let i = 0; i < count; i++, at += 24) {
    const a = load<f64>(y + at) - load<f64>(target + at);
    const b = load<f64>(y + at, 8) - load<f64>(target + at, 8);
    const c = load<f64>(y + at, 16) - load<f64>(target + at, 16);
    sum += massOf(i) * (a * a + b * b + c * c);
  }
  return 0.5 * coefficient * sum;
}

function elasticEnergy(x: usize): f64 {
  return energyOfTets(row, x) + energyOfTriangles(row, x) + energyOfBends(row, x);
}

/** Nothing is fixed, nothing holds it, and it touches nothing. */
function isFree(): bool {
  return load<i32>(row, IMPLICIT_COLUMNS) === count && load<i32>(row, IMPLICIT_HELD_COUNT) === 0 && !anyTouch(row);
}

/** What the step minimizes. */
function objective(y: usize, target: usize): f64 {
  elastic = elasticEnergy(y);
  return inertia(y, target) + elastic + energyOfPoints(row, y) + energyOfTouches(row, y);
}

/** The same, its gradient -> R, and what products with its Hessian need. */
function linearize(y: usize, target: usize): f64 {
  const g = workVector(VECTOR_R);
  multiplyMasses(y, target, g);
  const tets = linearizeTets(row, y, g);
  const triangles = linearizeTriangles(row, y, g);
  const bends = linearizeBends(row, y, g);
  linearizePoints(row, y, g);
  linearizeTouches(row, y, g);
  elastic = tets + triangles + bends;
  return inertia(y, target) + elastic + energyOfPoints(row, y) + energyOfTouches(row, y);
}

/** c M p -> q, less the vector `from` where it is given. */
function multiplyMasses(p: usize, from: usize, q: usize): void {
  let at: usize = 0;
  for (let i = 0; i < count; i++) {
    const m = coefficient * massOf(i);
    for (let r = 0; r < 3; r++, at += 8)
      store<f64>(q + at, m * (from ? load<f64>(p + at) - load<f64>(from + at) : load<f64>(p + at)));
  }
}

/**
 * Newton's direction -> D from the gradient in R: H+ d = -g, by conjugate gradients, modified where colliders hold
 * particles. Leaves minus the gradient there in R, also where they hold it.
 */
function direction(): void {
  const touches = anyTouch(row);
  const held = touches || load<i32>(row, IMPLICIT_HELD_COUNT) > 0;
  const most = held ? MOST_ITERATIONS_HELD : MOST_ITERATIONS;
  const leave = held ? TOLERANCE_HELD : load<f64>(row, IMPLICIT_TOLERANCE);
  const d = workVector(VECTOR_D);
  const r = workVector(VECTOR_R);
  const z = workVector(VECTOR_Z);
  const p = workVector(VECTOR_P);
  const q = workVector(VECTOR_Q);
  negate(r);
  memory.fill(d, 0, vector);
  memory.fill(z, 0, vector);
  preconditionFree(touches, r, z);
  memory.copy(p, z, vector);
  let rz = dot(r, z);
  const enough = leave * leave * rz;
  for (let n = 0; n < most && rz > 0; n++) {
    multiplyMasses(p, 0, q);
    multiplyTets(row, p, q);
    multiplyTriangles(row, p, q);
    multiplyBends(row, p, q);
    multiplyPoints(row, p, q);
    multiplyTouches(row, p, q);
    const pq = dot(p, q);
    if (!(pq > 0)) break;
    advance(rz / pq, d, p, r, q);
    count32(IMPLICIT_ITERATIONS, 1);
    preconditionFree(touches, r, z);
    const next = dot(r, z);
    if (!(next > enough)) break;
    const beta = next / rz;
    for (let at: usize = 0; at < vector; at += 8) store<f64>(p + at, load<f64>(z + at) + beta * load<f64>(p + at));
    rz = next;
  }
}

/** The preconditioner, of and for what may move. */
function preconditionFree(touches: bool, r: usize, z: usize): void {
  if (!touches) return precondition(row, r, z);
  const free = workVector(VECTOR_THERE);
  memory.copy(free, r, vector);
  filterTouches(row, free);
  precondition(row, free, z);
  filterTouches(row, z);
}

/** r = -r; zero for fixed particles. */
function negate(r: usize): void {
  let at = r;
  for (let i = 0; i < count; i++) {
    const free = massOf(i) > 0;
    for (let k = 0; k < 3; k++, at += 8) store<f64>(at, free ? -load<f64>(at) : 0);
  }
}

/** d += alpha p; r -= alpha q, zero for fixed particles. */
function advance(alpha: f64, d: usize, p: usize, r: usize, q: usize): void {
  let at: usize = 0;
  for (let i = 0; i < count; i++) {
    const free = massOf(i) > 0;
    for (let k = 0; k < 3; k++, at += 8) {
      store<f64>(d + at, load<f64>(d + at) + alpha * load<f64>(p + at));
      store<f64>(r + at, free ? load<f64>(r + at) - alpha * load<f64>(q + at) : 0);
    }
  }
}

/** y + s d with the first s of 1, 1/2, ... that does not go up. @returns its vector; y where none does */
function goDown(y: usize, target: usize, height: f64): usize {
  const before = elastic;
  const d = workVector(VECTOR_D);
  const there = workVector(VECTOR_THERE);
  let s: f64 = 1;
  for (let n = 0; n <= HALVINGS; n++, s *= 0.5) {
    for (let at: usize = 0; at < vector; at += 8) store<f64>(there + at, load<f64>(y + at) + s * load<f64>(d + at));
    if (objective(there, target) <= height * (1 + ROUNDING)) return there;
    count32(IMPLICIT_HALVINGS, 1);
  }
  elastic = before;
  return y;
}

function dot(a: usize, b: usize): f64 {
  let sum: f64 = 0;
  for (let at: usize = 0; at < vector; at += 24) {
    sum +=
      load<f64>(a + at) * load<f64>(b + at) +
      load<f64>(a + at, 8) * load<f64>(b + at, 8) +
      load<f64>(a + at, 16) * load<f64>(b + at, 16);
  }
  return sum;
}
