/**
 * Implicit bodies: a step of their own, taken a few times a tick instead of the substeps' iterations. It converges for
 * any stiffness.
 *
 * BDF2 (Curtiss & Hirschfelder 1952) with implicit damping d: the new positions y minimize
 *   c/2 (y - xt)^T M (y - xt) + E(y),   xt = (4x - x1)/3 + keep h (8v - 2v1)/9 + a/c
 * then  v' = (3 (y - x) - (x - x1))/2h.
 * x1 and v1 are those of the step before, a the external acceleration, keep = 1/(1 + 2 h d/3), c = 2.25/(h^2 keep).
 * One Newton step with conjugate gradients, preconditioned by the factor at rest (preconditioner.ts). It starts at 2x -
 * x1, or at x if the objective is lower there: extrapolation amplifies the residual that a step leaves. (Always at 2x -
 * x1: large swings explode.)
 * A step with an impact is implicit Euler's, xt = x + keep h v + a/c with c = (1 + h d)/h^2: BDF2 looks back a step,
 * and would return half of a stopped velocity. Touching particles are constrained to colliders inside the step
 * (colliderContacts.ts); `collide` resolves remaining penetration after it.
 * The state is float64: with float32 positions, steel trembles at 7e-5 m/s. Other parts of the kernel see it rounded.
 * Changes that they or the host make there (an impulse, a reset) are also applied to x1 and v1, as if they had always
 * been so. One thread steps a body, and all sums are serial. Bodies that may touch surfaces have one step a substep:
 *   aimTogether   moves each to its unconstrained position, for the front (contact/pipeline.ts)
 *   stepTogether  finds near pairs, and solves bodies that share some together (contacts.ts), up to a share of the work
 * One step in REUSED_STEPS computes rotations and positive parts of stresses; the others reuse them. These affect only
 * the speed of convergence. Steps of a solid without contacts and points also reuse the number of iterations, without
 * testing the residual after each (newton.ts): a free beam takes two thirds of the time.
 */
import * as L from "../layout/layout";
import { energyOfTets } from "./solids";
import { energyOfBends, energyOfTriangles } from "./sheets";
import { holdPoints, notePoints } from "./heldPoints";
import { collide } from "../colliders/collide";
import { findContacts } from "./contactRows";
import { forgetContacts, useContacts } from "./contacts";
import { stepGroup } from "./newton";
import { combine, roundedAt } from "../math/vectors";
import { countWork, workAfter, workShare } from "../state/work";
import { spendWork } from "../scheduler/clock";
import {
  crossing,
  findPace,
  kick,
  mayStrike,
  pace,
  restoreStep,
  setPast,
  shortenStep,
  strikes,
  TOUCHES,
} from "./impact";

/** The first of REUSED_STEPS steps of a tick computes rotations and stresses, and the others reuse them. */
const REUSED_STEPS: i32 = 4;
/** Share of a tick's work limit after which the bodies of a substep that touch surfaces are not solved further. */
const SHARE: f32 = 0.25;
/**
 * Least length of the implicit rest of a step, as a share of the step. Particles on colliders begin it at a distance,
 * which a short step would turn into speed.
 */
const LEAST: f64 = 0.1;
/**
 * Most explicit steps in place of a step. Each corrects positions on colliders, which adds energy to stiff elements: of
 * tilted cubes with cells of 5 cm those of 10^7 Pa (27 steps) gained 0.2 % in an impact, of 10^8 4 %, of 3 10^9 35 %.
 */
const MOST_STEPS: f64 = 64;
/** Counted work of an explicit step, for each particle. */
const UNITS = 25;

// current body
let row: usize = 0;
let count: i32 = 0;
let vector: usize = 0;
let state: usize = 0;

/** Takes the steps of bodies begin .. end that are due in this substep. @param rows address of the IMPLICIT rows */
export function stepImplicit(rows: usize, begin: i32, end: i32): void {
  const substep = load<i32>(L.HEADER, L.H_SUBSTEP);
  const substeps = load<i32>(L.HEADER, L.H_SUBSTEPS);
  for (let b = begin; b < end; b++) {
    open(rows + <usize>b * L.IMPLICIT_BYTES);
    const steps = load<i32>(row, L.IMPLICIT_STEPS);
    const done = (substep * steps) / substeps;
    const due = ((substep + 1) * steps) / substeps - done;
    if (due === 0 || load<i32>(row, L.IMPLICIT_TOGETHER) || isFixed()) continue;
    takeOver();
    holdPoints(row);
    for (let n = 0; n < due; n++) {
      if (n > 0) takeOver();
      if (stepImpact()) continue;
      expireReused(done + n);
      useContacts(0, 0);
      stepGroup(row + L.IMPLICIT_SELF, 1, i32.MAX_VALUE);
      publish(load<f64>(row, L.IMPLICIT_STEP_SECONDS));
    }
  }
}

/** Takes the current body's step with explicit ones where it strikes a collider. @returns whether it has done so */
function stepImpact(): bool {
  if (!mayStrike(row)) return false;
  const scratch = <usize>load<u32>(row, L.IMPLICIT_WORK);
  const begins = strikes(row, state, scratch);
  const left = state + 4 * vector + 8;
  if (!begins && !(load<f64>(left) > 0)) return false;
  findPace(row, scratch);
  if (begins) store<f64>(left, TOUCHES * crossing);
  if (!mayCost(min<f64>(load<f64>(row, L.IMPLICIT_STEP_SECONDS), load<f64>(left)))) {
    store<f64>(left, 0);
    return false;
  }
  const rest = stepExplicitly(left, !begins);
  if (rest > 0) stepPart(rest);
  setPast(row, state);
  store<i32>(row, 0, L.IMPLICIT_REUSED);
  memory.fill(state + 4 * vector + L.IMPLICIT_STATE_END, 0, vector);
  return true;
}

/**
 * Returns whether explicit steps for this time stay below the body's share of the limit, and are not too short. Other
 * bodies step on other threads meanwhile, so the work done must not matter.
 */
function mayCost(seconds: f64): bool {
  if (load<f64>(row, L.IMPLICIT_STEP_SECONDS) > MOST_STEPS * pace) return false;
  const each: f32 = min<f32>(SHARE, 1 / <f32>load<i32>(L.HEADER, L.H_BODY_COUNT));
  return (seconds / pace) * <f64>(UNITS * count) < <f64>workShare(each);
}

/** Takes an implicit step of this length. */
function stepPart(h: f64): void {
  shortenStep(row, h);
  setPast(row, state);
  store<i32>(row, 0, L.IMPLICIT_REUSED);
  store<f64>(state + 4 * vector, -1);
  takeOver();
  useContacts(0, 0);
  stepGroup(row + L.IMPLICIT_SELF, 1, i32.MAX_VALUE);
  publish(h);
  adopt();
  restoreStep(row);
}

/**
 * Takes explicit steps until the current body is clear of colliders, as impact.ts has it, or until the step is over.
 * @param left address of the time for which the body may still touch, s; touched whether it has touched a collider
 * @returns the remaining time, s: 0 or above LEAST steps
 */
function stepExplicitly(left: usize, touched: bool): f64 {
  const work = <usize>load<u32>(row, L.IMPLICIT_WORK);
  const whole = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
  const parts = <i32>ceil<f64>(whole / pace);
  const h = whole / <f64>parts;
  let n = 0;
  kick(row, state, work, h / 2);
  while (true) {
    memory.copy(state + 2 * vector, state, vector);
    combine(state, state, h, state + vector, vector);
    publish(h);
    adopt();
    countWork(UNITS * count);
    spendWork((UNITS * count) >> 5);
    if (load<i32>(row, L.IMPLICIT_HIT)) {
      touched = true;
      store<f64>(left, load<f64>(left) - h);
    } else if (touched) store<f64>(left, load<f64>(left) - TOUCHES * h);
    n++;
    if (n === parts || (!(load<f64>(left) > 0) && <f64>(parts - n) * h > LEAST * whole)) break;
    kick(row, state, work, h);
  }
  kick(row, state, work, h / 2);
  publishVelocities();
  store<f64>(state + 4 * vector, -1);
  return <f64>(parts - n) * h;
}

/** Drops reused data of the current body every REUSED_STEPS steps. @param step of the tick */
// @inline
function expireReused(step: i32): void {
  if (step % REUSED_STEPS === 0) store<i32>(row, 0, L.IMPLICIT_REUSED);
}

// @inline
function together(): usize {
  return <usize>load<u32>(L.HEADER, L.H_TOGETHER);
}

/** Moves bodies that may touch surfaces to their unconstrained positions. */
export function aimTogether(): void {
  const list = <usize>load<u32>(together(), L.TOGETHER_LIST);
  for (let n = 0; n < load<i32>(together(), L.TOGETHER_COUNT); n++) {
    open(<usize>load<u32>(list + ((<usize>n) << 2)));
    if (isFixed()) continue;
    takeOver();
    const first = <usize>load<u32>(row, L.IMPLICIT_FIRST);
    for (let i = 0; i < count; i++)
      for (let r: usize = 0; r < 3; r++) store<f32>(first + ((<usize>i) << 4) + (r << 2), aimed(i, r));
  }
}

/** Returns x + h v + h^2 a of a particle's coordinate, m. */
function aimed(i: i32, r: usize): f32 {
  const first = <usize>load<u32>(row, L.IMPLICIT_FIRST);
  const x = state + 24 * <usize>i + (r << 3);
  const particle = first + ((<usize>i) << 4);
  if (load<f32>(particle, 12) === 0) return <f32>load<f64>(x);
  const h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
  const toA = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  return <f32>(load<f64>(x) + h * (load<f64>(x + vector) + h * <f64>load<f32>(particle + toA + (r << 2))));
}

/** Takes the steps of bodies that may touch surfaces. Bodies that touch each other are solved together. */
export function stepTogether(): void {
  const list = <usize>load<u32>(together(), L.TOGETHER_LIST);
  const bodies = load<i32>(together(), L.TOGETHER_COUNT);
  let h: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(<usize>load<u32>(list + ((<usize>n) << 2)));
    store<u32>(row, isFixed() ? 0 : <u32>row, L.IMPLICIT_LEADER);
    h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
    if (load<u32>(row, L.IMPLICIT_LEADER)) holdPoints(row);
    expireReused(load<i32>(L.HEADER, L.H_SUBSTEP));
  }
  findContacts(h);
  forgetContacts();
  bindTouching();
  const end = workAfter(SHARE);
  for (let n = 0; n < bodies; n++) {
    const leader = <usize>load<u32>(list + ((<usize>n) << 2));
    if (<usize>load<u32>(leader, L.IMPLICIT_LEADER) === leader) stepLed(leader, end);
  }
}

/** Gives bodies with a near pair between them the same leader: the first of them. */
function bindTouching(): void {
  const rows = <usize>load<u32>(together(), L.TOGETHER_ROWS);
  for (let n = 0; n < load<i32>(together(), L.TOGETHER_ROW_COUNT); n++) {
    const contact = rows + <usize>n * L.ROW_BYTES;
    const a = leaderOf(<usize>load<u32>(contact, L.ROW_BODY));
    const b = leaderOf(<usize>load<u32>(contact, L.ROW_OTHER));
    if (a !== b) store<u32>(max<usize>(a, b), <u32>min<usize>(a, b), L.IMPLICIT_LEADER);
  }
}

function leaderOf(body: usize): usize {
  let at = body;
  while (<usize>load<u32>(at, L.IMPLICIT_LEADER) !== at) at = <usize>load<u32>(at, L.IMPLICIT_LEADER);
  return at;
}

/** Takes the step of a group, given by its leader. @param end counted work from which it is not solved further */
function stepLed(leader: usize, end: i32): void {
  const bodies = load<i32>(together(), L.TOGETHER_COUNT);
  const list = <usize>load<u32>(together(), L.TOGETHER_LIST);
  const group = list + ((<usize>bodies) << 2);
  let length = 0;
  for (let n = 0; n < bodies; n++) {
    const body = <usize>load<u32>(list + ((<usize>n) << 2));
    if (!load<u32>(body, L.IMPLICIT_LEADER) || leaderOf(body) !== leader) continue;
    store<u32>(group + ((<usize>length) << 2), <u32>body);
    length++;
  }
  const order = <usize>load<u32>(together(), L.TOGETHER_ORDER);
  const rows = <usize>load<u32>(together(), L.TOGETHER_ROWS);
  let contacts = 0;
  for (let n = 0; n < load<i32>(together(), L.TOGETHER_ROW_COUNT); n++) {
    const contact = rows + <usize>n * L.ROW_BYTES;
    if (leaderOf(<usize>load<u32>(contact, L.ROW_BODY)) !== leader) continue;
    store<u32>(order + ((<usize>contacts) << 2), <u32>contact);
    contacts++;
  }
  open(leader);
  if (length === 1 && contacts === 0 && stepImpact()) return;
  useContacts(order, contacts);
  stepGroup(group, length, end);
  for (let n = 0; n < length; n++) {
    open(<usize>load<u32>(group + ((<usize>n) << 2)));
    publish(load<f64>(row, L.IMPLICIT_STEP_SECONDS));
  }
}

function open(at: usize): void {
  row = at;
  count = load<i32>(at, L.IMPLICIT_COUNT);
  vector = 24 * <usize>count;
  state = <usize>load<u32>(at, L.IMPLICIT_STATE);
}

/** Returns whether the host holds the body, which it does by setting inverse masses to 0. */
function isFixed(): bool {
  if (load<i32>(row, L.IMPLICIT_COLUMNS) === 0) return true;
  const particle = load<u32>(<usize>load<u32>(row, L.IMPLICIT_ORDER)) / 24;
  return load<f32>(<usize>load<u32>(row, L.IMPLICIT_FIRST) + ((<usize>particle) << 4), 12) === 0;
}

/**
 * Takes over changes from outside: x and v by dx and dv, so x1 by dx - h dv and v1 by dv. If v changed, the next step
 * is Euler's.
 */
function takeOver(): void {
  if (!adopt() && !(load<f64>(state + 4 * vector) < 0)) return;
  store<f64>(state + 4 * vector, energyOfTets(row, state) + energyOfTriangles(row, state) + energyOfBends(row, state));
}

/** Takes over changes as above, and notes whether v changed. @returns whether x changed */
function adopt(): bool {
  let moved = false;
  let hit = false;
  const first = <usize>load<u32>(row, L.IMPLICIT_FIRST);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
  let x = <usize>load<u32>(row, L.IMPLICIT_STATE);
  for (let i = 0; i < count; i++) {
    const particle = first + ((<usize>i) << 4);
    if (isRounded(x, particle) && isRounded(x + vector, particle + toV)) {
      x += 24;
      continue;
    }
    for (let r: usize = 0; r < 3; r++, x += 8) {
      const there = particle + (r << 2);
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
        hit = true;
        const change = <f64>V - load<f64>(x + vector);
        store<f64>(v1, load<f64>(v1) + change);
        store<f64>(x1, load<f64>(x1) - h * change);
        store<f64>(x + vector, <f64>V);
      }
    }
  }
  store<i32>(row, hit ? 1 : 0, L.IMPLICIT_HIT);
  return moved;
}

/** Returns whether the first three lanes at `place` are a particle's numbers, rounded. */
// @inline
function isRounded(numbers: usize, place: usize): bool {
  return (i32x4.bitmask(f32x4.eq(roundedAt(numbers), v128.load(place))) & 7) === 7;
}

/** Writes a particle's numbers into the first three lanes at `place`. */
// @inline
function writeRounded(numbers: usize, place: usize): void {
  v128.store64_lane(place, f32x4.demote_f64x2_zero(v128.load(numbers)), 0);
  store<f32>(place, <f32>load<f64>(numbers, 16), 8);
}

/**
 * Rounds the state to float32 for all other parts, after `collide` has moved remaining penetration out of colliders.
 */
function publish(h: f64): void {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - X;
  const first = <usize>load<u32>(row, L.IMPLICIT_FIRST);
  let x = <usize>load<u32>(row, L.IMPLICIT_STATE);
  for (let i = 0; i < count; i++, x += 24) {
    const there = first + ((<usize>i) << 4);
    writeRounded(x, there);
    writeRounded(x + vector, there + toV);
  }
  if (load<u32>(row, L.IMPLICIT_TOUCHES)) answerColliders(first, <i32>((first - X) >> 4), h);
  const toPrevious = <usize>load<u32>(L.HEADER, L.H_XPREV) - X;
  for (let i = 0; i < count; i++) {
    const there = first + ((<usize>i) << 4);
    v128.store64_lane(there + toPrevious, v128.load64_zero(there), 0);
    store<f32>(there + toPrevious, load<f32>(there, 8), 8);
  }
  notePoints(row, <usize>load<u32>(row, L.IMPLICIT_STATE), load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS));
}

/** Rounds velocities to float32 for all other parts. */
function publishVelocities(): void {
  const first = <usize>load<u32>(row, L.IMPLICIT_FIRST);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  for (let i: usize = 0, v = state + vector; i < <usize>count; i++, v += 24) writeRounded(v, first + toV + (i << 4));
}

/** Collides the step's motion with colliders. @param particle number of the body's first */
function answerColliders(first: usize, particle: i32, h: f64): void {
  const toPrevious = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  let x1 = <usize>load<u32>(row, L.IMPLICIT_STATE) + 2 * vector;
  for (let i = 0; i < count; i++) {
    const there = first + toPrevious + ((<usize>i) << 4);
    for (let r: usize = 0; r < 12; r += 4, x1 += 8) store<f32>(there + r, <f32>load<f64>(x1));
  }
  collide(particle, particle + count, <f32>h, <usize>load<u32>(row, L.IMPLICIT_MEETS));
}
