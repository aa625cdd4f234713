/**
 * One implicit step of a group: a body that touches nobody, or bodies that touch each other (contacts.ts), which are
 * solved together. What the step minimizes is in step.ts's head; a group's is the sum of its bodies', and of what is
 * between them. Vectors have the same number in all bodies. All sums are serial, body after body.
 */
import {
  HEADER,
  H_X,
  H_ACC,
  IMPLICIT_FIRST,
  IMPLICIT_COUNT,
  IMPLICIT_STATE,
  IMPLICIT_STATE_END,
  IMPLICIT_MASS,
  IMPLICIT_WORK,
  IMPLICIT_HELD_COUNT,
  IMPLICIT_HIT,
  IMPLICIT_STEP_SECONDS,
  IMPLICIT_COEFFICIENT,
  IMPLICIT_ELASTIC,
  IMPLICIT_EULER,
  IMPLICIT_KEEP,
  IMPLICIT_TOLERANCE,
  IMPLICIT_COLUMNS,
  IMPLICIT_STEPS_DONE,
  IMPLICIT_ITERATIONS,
  IMPLICIT_HALVINGS,
  IMPLICIT_FROM_REST,
  IMPLICIT_TOUCHES,
  IMPLICIT_ROTATIONS,
  IMPLICIT_ROUNDS,
  IMPLICIT_QUADS,
  IMPLICIT_REUSED,
  IMPLICIT_REUSED_LEFT,
  VECTOR_Y,
  VECTOR_TARGET,
  VECTOR_D,
  VECTOR_R,
  VECTOR_Z,
  VECTOR_P,
  VECTOR_Q,
  VECTOR_THERE,
} from "../layout/layout";
import { countWork } from "../state/work";
import { energyOfTets, linearizeTets, multiplyTets } from "./solids";
import { energyOfBends, energyOfTriangles, linearizeBends, linearizeTriangles } from "./sheets";
import { multiplySheet } from "./sheetProducts";
import { anyHand, energyOfPoints, linearizePoints, multiplyPoints } from "./points";
import { precondition, turnParticles } from "./preconditioner";
import { isViscous, keepPast } from "./viscosity";
import { moveRigidly } from "./rigidMotion";
import {
  anyContact,
  anyContactEntered,
  anyContactHits,
  energyOfContacts,
  energyOfContactsHere,
  guessContacts,
  isBetween,
  keepContacts,
  linearizeContacts,
  multiplyContacts,
  reviewContacts,
} from "./contacts";
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
const MOST_ITERATIONS_TOUCHING: i32 = 60;
const TOLERANCE_HELD: f64 = 0.02;
/** Of solids that attachments alone hold: of 0.001 or more, what swings there gained up to a part in 4000 a second. */
const TOLERANCE_ATTACHED: f64 = 2e-4;
const TOLERANCE_HELD_SHEET: f64 = 0.1;
/**
 * What has changed of who touches and rubs is solved again until a tenth of it is left. (Until the part that the first
 * solve leaves: two cubes 6.8 iterations a solve in their first 20 ticks, now 6.) A sheet's is not where it makes less
 * than LEFT times what the first solve leaves: 3 solves a step of a sheet on a sphere; by the rule of solids, 9.
 * (Solids by the rule of sheets: a third fewer iterations,
 * but a plate that slides over a mesh is braked up to twice as much, and without friction loses 1 % of its speed.
 * TOLERANCE_HELD 0.05: a plate of 2 m/s that has not yet come to lie slides 3 % too far.)
 */
const LEFT: f64 = 5;
const LEFT_AGAIN: f64 = 0.1;
/**
 * How often a step that does not go down is halved, and the part of what is minimized that rounding may take or give.
 */
const HALVINGS: i32 = 8;
const ROUNDING: f64 = 1e-12;
/** Solves after which what touches stays as it is. */
const MOST_ROUNDS = 5;
/**
 * Likewise of bodies that touch each other: a plate that slides over a corner of a mesh changes all that it rests on.
 */
const MOST_ROUNDS_TOUCHING = 12;
/**
 * Bodies that are held, or touch, are solved no further than to this, m: a beam of 8,640 tetrahedra that lies takes one
 * iteration a step instead of four. Free ones are: however slow it is, they have to keep their motion.
 */
const NOTHING: f64 = 1e-9;
/**
 * A step that reuses what one before it made is over after as many iterations, unless the square of its residual is by
 * then a part of what it was that is more than this many times as large, and more than the tolerance: then it asks.
 */
const REUSED_MORE: f64 = 4;
/** Counted work of a particle in an iteration of conjugate gradients. */
const UNITS_OF_ITERATION = 25;

/** Addresses of the group's IMPLICIT rows, and how many. */
let group: usize = 0;
let bodies = 0;
/** Something was hit: Euler's step, which does not look back. */
let euler: bool = false;
/** What the step leaves of its preconditioned residual, squared. */
let enough: f64 = 0;
/** Iterations of the step whose rotations and stresses this one reuses; -1: it asks; 0: it makes its own. */
let reused: i32 = 0;

// the body at work
let row: usize = 0;
let count: i32 = 0;
let vector: usize = 0;
let work: usize = 0;
let mass: usize = 0;
let state: usize = 0;
let coefficient: f64 = 0;

// @inline
function workVector(n: i32): usize {
  return work + <usize>n * vector;
}

/** Body number n of the group is at work. */
function open(n: i32): void {
  row = <usize>load<u32>(group + ((<usize>n) << 2));
  count = load<i32>(row, IMPLICIT_COUNT);
  vector = 24 * <usize>count;
  work = <usize>load<u32>(row, IMPLICIT_WORK);
  mass = <usize>load<u32>(row, IMPLICIT_MASS);
  state = <usize>load<u32>(row, IMPLICIT_STATE);
  coefficient = euler ? load<f64>(row, IMPLICIT_EULER) : load<f64>(row, IMPLICIT_COEFFICIENT);
}

/** @param list addresses of the IMPLICIT rows of `length` bodies, whose contacts are in use */
export function stepGroup(list: usize, length: i32): void {
  group = list;
  bodies = length;
  reused = reusedByAll();
  euler = isHit();
  let there = attempt(false);
  if (anyEnters(there)) {
    euler = true;
    for (let n = 0; n < bodies; n++) {
      open(n);
      if (there !== VECTOR_THERE) memory.copy(workVector(VECTOR_THERE), workVector(there), vector);
    }
    there = attempt(true);
  }
  const most = anyContact() ? MOST_ROUNDS_TOUCHING : MOST_ROUNDS;
  for (let round = 1; review(there) && round < most; round++) {
    for (let n = 0; n < bodies; n++) {
      open(n);
      const y = workVector(VECTOR_Y);
      if (there !== VECTOR_Y) memory.copy(y, workVector(there), vector);
      placeTouches(row, y);
      count32(IMPLICIT_ROUNDS, 1);
    }
    const height = linearize(false);
    const more = direction(false);
    there = more ? goDown(height) : VECTOR_Y;
    if (!more) break;
  }
  let free = !anyContact() || isBetween();
  for (let n = 0; n < bodies; n++) {
    open(n);
    if (load<u32>(row, IMPLICIT_TOUCHES)) keepTouches(row, state + 4 * vector + IMPLICIT_STATE_END, workVector(there));
    free = free && isFree();
  }
  keepContacts(there);
  if (free) moveRigidly(group, bodies, there, VECTOR_TARGET, euler);
  for (let n = 0; n < bodies; n++) {
    open(n);
    advanceState(workVector(there));
  }
}

/** Of several bodies: whether all of them reuse what they have. */
function reusedByAll(): i32 {
  let one = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    one = load<i32>(row, IMPLICIT_REUSED);
    if (one === 0) return 0;
  }
  return bodies === 1 ? one : -1;
}

/** Has anything been hit, or is about to be? Rotations of all particles on the way, if they are not reused. */
function isHit(): bool {
  let hit = false;
  let h: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    if (reused === 0) turnParticles(row, state);
    h = load<f64>(row, IMPLICIT_STEP_SECONDS);
    if (load<u32>(row, IMPLICIT_TOUCHES) === 0 && !anyContact()) continue;
    hit =
      hit ||
      load<i32>(row, IMPLICIT_HIT) !== 0 ||
      (load<u32>(row, IMPLICIT_TOUCHES) !== 0 && anyHits(row, state, state + vector, h));
  }
  return hit || anyContactHits();
}

/** Is anything that does not lie there in a collider where the step would end, or too near to another body? */
function anyEnters(there: i32): bool {
  let enters = false;
  for (let n = 0; n < bodies; n++) {
    open(n);
    enters = enters || anyEntered(row, state, workVector(there));
  }
  return (!euler && anyContactEntered(there)) || enters;
}

function review(there: i32): bool {
  let changed = false;
  for (let n = 0; n < bodies; n++) {
    open(n);
    changed = reviewTouches(row, workVector(there), workVector(VECTOR_R)) || changed;
  }
  return reviewContacts(there) || changed;
}

/**
 * The first solve of a step.
 * @param again an attempt before this one has ended at THERE
 * @returns number of the vector where it ends
 */
function attempt(again: bool): i32 {
  for (let n = 0; n < bodies; n++) {
    open(n);
    const y = workVector(VECTOR_Y);
    const target = workVector(VECTOR_TARGET);
    if (euler) aimOnce(state, y, target);
    else aim(state, y, target);
    const kept = state + 4 * vector + IMPLICIT_STATE_END;
    const end = again ? workVector(VECTOR_THERE) : 0;
    findTouches(row, state, target, end, kept, load<f64>(row, IMPLICIT_STEP_SECONDS));
    placeTouches(row, y);
    if (isViscous(row)) keepPast(row, state, y, euler);
  }
  guessContacts(VECTOR_Y, false);
  if (again) guessContacts(VECTOR_THERE, true);
  let height = linearize(true);
  const here = heightHere();
  if (!(height <= here * (1 + ROUNDING))) {
    for (let n = 0; n < bodies; n++) {
      open(n);
      memory.copy(workVector(VECTOR_Y), state, vector);
      placeTouches(row, workVector(VECTOR_Y));
      count32(IMPLICIT_FROM_REST, 1);
    }
    height = linearize(true);
  }
  direction(true);
  return goDown(height);
}

/** What is minimized, where the step begins. */
function heightHere(): f64 {
  let here: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    const elastic = isViscous(row) ? energyOfElements(state) : load<f64>(state + 4 * vector);
    here += inertia(state, workVector(VECTOR_TARGET)) + elastic + energyOfPoints(row, state);
  }
  return here + energyOfContactsHere();
}

/** x, v -> x1, v1; y -> x, and the velocity that BDF2 has there. */
function advanceState(there: usize): void {
  const x = state;
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
  store<f64>(x + 4 * vector, load<f64>(row, IMPLICIT_ELASTIC));
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

/** Nothing is fixed, nothing holds it, and it touches nothing. */
function isFree(): bool {
  return load<i32>(row, IMPLICIT_COLUMNS) === count && load<i32>(row, IMPLICIT_HELD_COUNT) === 0 && !anyTouch(row);
}

/** J at the vector y, of the body at work. */
function energyOfElements(y: usize): f64 {
  return energyOfTets(row, y) + energyOfTriangles(row, y) + energyOfBends(row, y);
}

/** What the step minimizes. @param v number of a vector */
function objective(v: i32): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    const y = workVector(v);
    const elastic = energyOfElements(y);
    store<f64>(row, elastic, IMPLICIT_ELASTIC);
    sum += inertia(y, workVector(VECTOR_TARGET)) + elastic + energyOfPoints(row, y) + energyOfTouches(row, y);
  }
  return sum + energyOfContacts(v);
}

/** The same at Y, its gradient -> R, and what products with its Hessian need. @param first of the step */
function linearize(first: bool): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    const y = workVector(VECTOR_Y);
    const target = workVector(VECTOR_TARGET);
    const g = workVector(VECTOR_R);
    multiplyMasses(y, target, g);
    const tets = linearizeTets(row, y, g, reused === 0);
    const triangles = linearizeTriangles(row, y, g);
    const bends = linearizeBends(row, y, g);
    linearizePoints(row, y, g);
    linearizeTouches(row, y, g);
    const elastic = tets + triangles + bends;
    store<f64>(row, elastic, IMPLICIT_ELASTIC);
    sum += inertia(y, target) + elastic + energyOfPoints(row, y) + energyOfTouches(row, y);
  }
  linearizeContacts(VECTOR_Y, VECTOR_R, first);
  return sum + energyOfContacts(VECTOR_Y);
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
 * @param first of the step, whose residual says what is left of this one and of all that follow
 * @returns false: too little is left to be solved for
 */
function direction(first: bool): bool {
  let touched = anyContact();
  let attached = false;
  let leave: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    touched = touched || anyTouch(row) || anyHand(row);
    attached = attached || load<i32>(row, IMPLICIT_HELD_COUNT) > 0;
    leave = n === 0 ? load<f64>(row, IMPLICIT_TOLERANCE) : min<f64>(leave, load<f64>(row, IMPLICIT_TOLERANCE));
    negate(workVector(VECTOR_R));
    memory.fill(workVector(VECTOR_D), 0, vector);
    memory.fill(workVector(VECTOR_Z), 0, vector);
  }
  const solid = !anySheet();
  const held = touched || attached;
  if (held) leave = !solid ? TOLERANCE_HELD_SHEET : touched ? TOLERANCE_HELD : TOLERANCE_ATTACHED;
  const most = anyContact() ? MOST_ITERATIONS_TOUCHING : held ? MOST_ITERATIONS_HELD : MOST_ITERATIONS;
  let rz = preconditionAll();
  const rr = first && solid ? residual() : 0;
  const known = first && !held && !euler ? max(reused, 0) : 0;
  const allowed = max<f64>(leave * leave, REUSED_MORE * load<f64>(row, IMPLICIT_REUSED_LEFT)) * rr;
  if (first && known === 0 && reused >= 0) keepReused(0, 0);
  if (first) enough = max<f64>(leave * leave * rz, held ? NOTHING * NOTHING * groupInertia() : 0);
  else if (!solid && !(rz > LEFT * LEFT * enough)) return false;
  else enough = min<f64>(enough, LEFT_AGAIN * LEFT_AGAIN * rz);
  for (let n = 0; n < bodies; n++) {
    open(n);
    memory.copy(workVector(VECTOR_P), workVector(VECTOR_Z), vector);
  }
  for (let iteration = 0; iteration < most && rz > 0; iteration++) {
    const pq = multiplyAll();
    if (!(pq > 0)) break;
    const alpha = rz / pq;
    for (let n = 0; n < bodies; n++) {
      open(n);
      advance(alpha, workVector(VECTOR_D), workVector(VECTOR_P), workVector(VECTOR_R), workVector(VECTOR_Q));
      count32(IMPLICIT_ITERATIONS, 1);
      countWork(UNITS_OF_ITERATION * count);
    }
    if (iteration + 1 === known && residual() <= allowed) break;
    const next = preconditionAll();
    if (!(next > enough)) {
      if (reused > 0) keepReused(0, 0);
      else if (reused === 0 && first && solid && !euler)
        keepReused(held || bodies > 1 ? -1 : iteration + 1, residual() / rr);
      break;
    }
    const beta = next / rz;
    for (let n = 0; n < bodies; n++) {
      open(n);
      const z = workVector(VECTOR_Z);
      const p = workVector(VECTOR_P);
      for (let at: usize = 0; at < vector; at += 8) store<f64>(p + at, load<f64>(z + at) + beta * load<f64>(p + at));
    }
    rz = next;
  }
  return true;
}

/** What steps after this one may reuse. */
function keepReused(iterations: i32, left: f64): void {
  for (let n = 0; n < bodies; n++) {
    open(n);
    store<i32>(row, iterations, IMPLICIT_REUSED);
    store<f64>(row, left, IMPLICIT_REUSED_LEFT);
  }
}

/** The square of R. */
function residual(): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    sum += dot(workVector(VECTOR_R), workVector(VECTOR_R));
  }
  return sum;
}

/** c times the mass of all bodies, kg/s^2 */
function groupInertia(): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    for (let i = 0; i < count; i++) sum += coefficient * massOf(i);
  }
  return sum;
}

/** Has one of the bodies no rotations? */
function anySheet(): bool {
  for (let n = 0; n < bodies; n++) {
    open(n);
    if (!load<u32>(row, IMPLICIT_ROTATIONS)) return true;
  }
  return false;
}

/** H+ P -> Q. @returns their product */
function multiplyAll(): f64 {
  for (let n = 0; n < bodies; n++) {
    open(n);
    const p = workVector(VECTOR_P);
    const q = workVector(VECTOR_Q);
    if (load<u32>(row, IMPLICIT_QUADS)) multiplySheet(row, p, q, coefficient);
    else {
      multiplyMasses(p, 0, q);
      multiplyTets(row, p, q);
    }
    multiplyPoints(row, p, q);
    multiplyTouches(row, p, q);
  }
  multiplyContacts(VECTOR_P, VECTOR_Q);
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    sum += dot(workVector(VECTOR_P), workVector(VECTOR_Q));
  }
  return sum;
}

/** R, preconditioned, -> Z. @returns their product */
function preconditionAll(): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    const r = workVector(VECTOR_R);
    const z = workVector(VECTOR_Z);
    preconditionFree(r, z);
    sum += dot(r, z);
  }
  return sum;
}

/** The preconditioner, of and for what may move. */
function preconditionFree(r: usize, z: usize): void {
  if (!anyTouch(row)) return precondition(row, r, z);
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

/** Y + s D -> THERE with the first s of 1, 1/2, ... that does not go up. @returns its number; Y where none does */
function goDown(height: f64): i32 {
  let s: f64 = 1;
  for (let k = 0; k <= HALVINGS; k++, s *= 0.5) {
    for (let n = 0; n < bodies; n++) {
      open(n);
      const y = workVector(VECTOR_Y);
      const d = workVector(VECTOR_D);
      const there = workVector(VECTOR_THERE);
      for (let at: usize = 0; at < vector; at += 8) store<f64>(there + at, load<f64>(y + at) + s * load<f64>(d + at));
    }
    if (objective(VECTOR_THERE) <= height * (1 + ROUNDING)) return VECTOR_THERE;
    for (let n = 0; n < bodies; n++) {
      open(n);
      count32(IMPLICIT_HALVINGS, 1);
      store<i32>(row, 0, IMPLICIT_REUSED);
    }
  }
  objective(VECTOR_Y);
  return VECTOR_Y;
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
