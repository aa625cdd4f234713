/**
 * One implicit step of a group: one body without contacts, or several bodies that touch each other (contacts.ts),
 * solved together. The objective is in step.ts's head; a group's is the sum over its bodies and contacts.
 *
 * In this file: the step (stepGroup to attempt), objective and gradient (heightHere to linearize), conjugate gradients
 * (direction to preconditionFree), line search (goDown). Vectors of the group are in groupVectors.ts.
 */
import * as L from "../layout/layout";
import { spendWork } from "../scheduler/clock";
import { countWork, workDone } from "../state/work";
import { energyOfTets, linearizeTets, multiplyTets } from "./solids";
import { energyOfBends, energyOfTriangles, linearizeBends, linearizeTriangles } from "./sheets";
import { multiplySheet } from "./sheetProducts";
import { combine, dot } from "../math/vectors";
import { anyGrab, energyOfPoints, linearizePoints, multiplyPoints } from "./heldPoints";
import { precondition, turnParticles } from "./preconditioner";
import { isViscous, keepPast } from "./viscosity";
import { brakePast } from "./braking";
import { moveRigidly } from "./rigidMotion";
import {
  advance,
  advanceState,
  aim,
  aimOnce,
  anySheet,
  bodies,
  coefficient,
  count,
  count32,
  euler,
  group,
  groupInertia,
  inertia,
  multiplyMasses,
  negate,
  open,
  residual,
  row,
  setEuler,
  state,
  useGroup,
  vector,
  workVector,
} from "./groupVectors";
import {
  anyContact,
  anyContactEntered,
  anyContactHits,
  countContacts,
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
  energyOfColliderContacts,
  fallOf,
  filterColliderContacts,
  findColliderContacts,
  isFrictionOff,
  keepColliderContacts,
  linearizeColliderContacts,
  multiplyColliderContacts,
  placeColliderContacts,
  reviewColliderContacts,
} from "./colliderContacts";

/**
 * Most iterations of conjugate gradients: without contacts and points, with points (the factor does not contain their
 * stiffness), with contacts. TOLERANCE_HELD: residual of solids that touch or are grabbed.
 */
const MOST_ITERATIONS: i32 = 10;
const MOST_ITERATIONS_HELD: i32 = 20;
const MOST_ITERATIONS_TOUCHING: i32 = 60;
const TOLERANCE_HELD: f64 = 0.02;
/**
 * Residual of solids that only attachments hold. With 0.001 or more, swinging bodies gained up to 1/4000 of their
 * energy a second.
 */
const TOLERANCE_ATTACHED: f64 = 2e-4;
const TOLERANCE_HELD_SHEET: f64 = 0.1;
/**
 * Re-solves after a change of the active set or friction: to LEFT_AGAIN of its initial residual. (To the residual of
 * the first solve: two cubes took 6.8 iterations a solve in their first 20 ticks, now 6.) Sheets are not solved again
 * if that residual is below LEFT times the residual of the first solve: a sheet on a sphere takes 3 solves a step, by
 * the rule of solids 9.
 * (Solids by the rule of sheets: a third fewer iterations, but a plate sliding over a mesh is braked up to twice as
 * much, and loses 1 % of its speed without friction. TOLERANCE_HELD 0.05: a plate of 2 m/s slides 3 % too far.)
 */
const LEFT: f64 = 5;
const LEFT_AGAIN: f64 = 0.1;
/** Sheets are always solved again if their friction is off by more than this part, as after an impact. */
const FAR_OFF: f64 = 0.25;
/** Most halvings of a step that does not descend, and the relative rounding of the objective. */
const HALVINGS: i32 = 8;
const ROUNDING: f64 = 1e-12;
/** Most solves of a step with colliders. After the last one its contacts keep their states. */
const MOST_ROUNDS = 5;
/**
 * MOST_ROUNDS for bodies that touch each other (a plate that slides over a mesh corner changes all its contacts), and
 * for impacts, in which many contacts begin.
 */
const MOST_ROUNDS_TOUCHING = 12;
/**
 * A step of solids that touch meshes or bodies is solved again, at most MOST_ROUNDS_ROUGH times, while its residual may
 * become energy. The bound of its squared norm is that of SETTLED times the step's motion, plus that of the free fall
 * in a step times the tolerance of a solve. (The tolerance of a solve is relative to the residual where it starts:
 * large if the motion alone would press a face far into another body.) Halved steps are solved again, too: else the
 * body goes on as if no force acted. Without both, a third of the boxes that landed tilted gained energy, up to ten
 * times their fall. (Solved again on shape colliders, too, a plate that lands while it slides goes 3 to 5 % too far.)
 */
const SETTLED: f64 = 1e-3;
const MOST_ROUNDS_ROUGH = 12;
/**
 * Residual, m, below which bodies with contacts or points are not solved further: a lying beam of 8,640 tetrahedra
 * takes one iteration a step instead of four. Free bodies have no such limit: they must keep any slow motion.
 */
const NOTHING: f64 = 1e-9;
/**
 * A step that reuses rotations and stresses ends after the number of iterations of the step that computed them. If its
 * relative squared residual is then above REUSED_MORE times that step's and above the tolerance, it continues and tests
 * each iteration.
 */
const REUSED_MORE: f64 = 4;
/** Counted work of an iteration of conjugate gradients: of a particle of a solid, of one of a sheet, of a contact. */
const UNITS_OF_SOLID = 25;
const UNITS_OF_SHEET = 5;
const UNITS_OF_CONTACT = 1;
/** log2 of the counted work of a unit of `spendWork`. */
const SPENT = 5;

/** Squared preconditioned residual at which the solve ends. */
let enough: f64 = 0;
/** Counted work of the tick from which the group is not solved further. */
let most = 0;
/**
 * Iterations of the step whose rotations and stresses this one reuses; -1: reuses them, but tests each residual; 0:
 * computes its own.
 */
let reused: i32 = 0;
/** True: the last solve's step was halved. */
let halved: bool = false;
/** Whether the friction of a body was off by more than FAR_OFF in the last review. */
let farOff: bool = false;
/** Squared preconditioned residual below which the step is not solved again. */
let settled: f64 = 0;

/**
 * Takes the step of a group.
 * @param list addresses of the IMPLICIT rows of `length` bodies, whose contacts are selected (useContacts)
 * @param end counted work of the tick from which the solve is left as it is: contacts that it has not resolved go to
 * the exact check
 */
export function stepGroup(list: usize, length: i32, end: i32): void {
  useGroup(list, length);
  most = end;
  reused = reusedByAll();
  setEuler(isHit());
  let there = attempt(false);
  if (anyEnters(there)) {
    setEuler(true);
    for (let n = 0; n < bodies; n++) {
      open(n);
      if (there !== L.VECTOR_THERE) memory.copy(workVector(L.VECTOR_THERE), workVector(there), vector);
    }
    there = attempt(true);
  }
  const rounds = euler || anyContact() ? MOST_ROUNDS_TOUCHING : MOST_ROUNDS;
  for (let round = 1; workDone() < most; round++) {
    const again = review(there);
    const rough = isRough(there);
    if (!again && !rough) break;
    if (round >= (rough ? MOST_ROUNDS_ROUGH : rounds)) break;
    if (again || halved) settled = 0;
    for (let n = 0; n < bodies; n++) {
      open(n);
      const y = workVector(L.VECTOR_Y);
      if (there !== L.VECTOR_Y) memory.copy(y, workVector(there), vector);
      placeColliderContacts(row, y);
      count32(L.IMPLICIT_ROUNDS, 1);
    }
    const height = linearize(false);
    const more = direction(false);
    there = more ? goDown(height) : L.VECTOR_Y;
    if (!more) break;
  }
  let free = !anyContact() || isBetween();
  for (let n = 0; n < bodies; n++) {
    open(n);
    if (load<u32>(row, L.IMPLICIT_TOUCHES))
      keepColliderContacts(row, state + 4 * vector + L.IMPLICIT_STATE_END, workVector(there));
    free = free && isFree();
  }
  keepContacts(there);
  if (free) moveRigidly(group, bodies, there, L.VECTOR_TARGET, euler);
  for (let n = 0; n < bodies; n++) {
    open(n);
    advanceState(workVector(there));
  }
}

/** Returns `reused` of the group. For several bodies: -1 if all of them reuse their data, else 0. */
function reusedByAll(): i32 {
  let one = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    one = load<i32>(row, L.IMPLICIT_REUSED);
    if (one === 0) return 0;
  }
  return bodies === 1 ? one : -1;
}

/**
 * Returns whether there was an impact, or will be one in this step. Also computes rotations of all particles, unless
 * they are reused.
 */
function isHit(): bool {
  let hit = false;
  let h: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    if (reused === 0) turnParticles(row, state);
    h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
    if (load<u32>(row, L.IMPLICIT_TOUCHES) === 0 && !anyContact()) continue;
    hit =
      hit ||
      load<i32>(row, L.IMPLICIT_HIT) !== 0 ||
      (load<u32>(row, L.IMPLICIT_TOUCHES) !== 0 && anyHits(row, state, state + vector, h));
  }
  return hit || anyContactHits();
}

/** Returns whether a particle that does not touch yet would end the step in a collider, or too near to another body. */
function anyEnters(there: i32): bool {
  let enters = false;
  for (let n = 0; n < bodies; n++) {
    open(n);
    enters = enters || anyEntered(row, state, workVector(there));
  }
  return (!euler && anyContactEntered(there)) || enters;
}

/**
 * Returns whether the last solve of solids that touch may have left a residual that becomes energy: its step was
 * halved, or its tolerance exceeds `settled`, which is computed too.
 */
function isRough(there: i32): bool {
  if (anySheet()) return false;
  let motion: f64 = 0;
  let touched = anyContact();
  for (let n = 0; n < bodies; n++) {
    open(n);
    touched = touched || anyTouch(row);
    motion += inertia(workVector(there), state);
  }
  const still = max<f64>(NOTHING, TOLERANCE_HELD * fallOf(row));
  settled = SETTLED * SETTLED * motion + still * still * groupInertia();
  return (touched && halved) || (anyContact() && enough > settled);
}

function review(there: i32): bool {
  let changed = false;
  farOff = false;
  for (let n = 0; n < bodies; n++) {
    open(n);
    changed = reviewColliderContacts(row, workVector(there), workVector(L.VECTOR_R)) || changed;
    farOff = farOff || isFrictionOff(FAR_OFF);
  }
  return reviewContacts(there) || changed;
}

/**
 * First solve of a step.
 * @param again whether an earlier attempt has ended at THERE
 * @returns number of the vector where it ends
 */
function attempt(again: bool): i32 {
  for (let n = 0; n < bodies; n++) {
    open(n);
    const y = workVector(L.VECTOR_Y);
    const target = workVector(L.VECTOR_TARGET);
    if (euler) aimOnce(state, y, target);
    else aim(state, y, target);
    const kept = state + 4 * vector + L.IMPLICIT_STATE_END;
    const end = again ? workVector(L.VECTOR_THERE) : 0;
    const h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
    findColliderContacts(row, state, target, end, kept, h);
    if (!euler && brakePast(row, state, y, h)) aim(state, y, target);
    placeColliderContacts(row, y);
    if (isViscous(row)) keepPast(row, state, y, euler);
  }
  guessContacts(L.VECTOR_Y, false);
  if (again) guessContacts(L.VECTOR_THERE, true);
  let height = linearize(true);
  const here = heightHere();
  if (!(height <= here * (1 + ROUNDING))) {
    for (let n = 0; n < bodies; n++) {
      open(n);
      memory.copy(workVector(L.VECTOR_Y), state, vector);
      placeColliderContacts(row, workVector(L.VECTOR_Y));
      count32(L.IMPLICIT_FROM_REST, 1);
    }
    height = linearize(true);
  }
  direction(true);
  return goDown(height);
}

/** Returns the objective at the start of the step, J. */
function heightHere(): f64 {
  let here: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    const elastic = isViscous(row) ? energyOfElements(state) : load<f64>(state + 4 * vector);
    here += inertia(state, workVector(L.VECTOR_TARGET)) + elastic + energyOfPoints(row, state);
  }
  return here + energyOfContactsHere();
}

/** Returns whether the body has no fixed particle, no point and no contact with a collider. */
function isFree(): bool {
  return load<i32>(row, L.IMPLICIT_COLUMNS) === count && load<i32>(row, L.IMPLICIT_HELD_COUNT) === 0 && !anyTouch(row);
}

/** Returns the elastic energy of the current body at the vector y, J. */
function energyOfElements(y: usize): f64 {
  return energyOfTets(row, y) + energyOfTriangles(row, y) + energyOfBends(row, y);
}

/** Returns the objective, J. @param v number of a vector */
function objective(v: i32): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    const y = workVector(v);
    const elastic = energyOfElements(y);
    store<f64>(row, elastic, L.IMPLICIT_ELASTIC);
    sum +=
      inertia(y, workVector(L.VECTOR_TARGET)) + elastic + energyOfPoints(row, y) + energyOfColliderContacts(row, y);
  }
  return sum + energyOfContacts(v);
}

/**
 * Returns the objective at Y, J; stores its gradient in R, and data for products with its Hessian. @param first of the
 * step
 */
function linearize(first: bool): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    const y = workVector(L.VECTOR_Y);
    const target = workVector(L.VECTOR_TARGET);
    const g = workVector(L.VECTOR_R);
    multiplyMasses(y, target, g);
    const tets = linearizeTets(row, y, g, reused === 0);
    const triangles = linearizeTriangles(row, y, g);
    const bends = linearizeBends(row, y, g);
    linearizePoints(row, y, g);
    linearizeColliderContacts(row, y, g);
    const elastic = tets + triangles + bends;
    store<f64>(row, elastic, L.IMPLICIT_ELASTIC);
    sum += inertia(y, target) + elastic + energyOfPoints(row, y) + energyOfColliderContacts(row, y);
  }
  linearizeContacts(L.VECTOR_Y, L.VECTOR_R, first);
  return sum + energyOfContacts(L.VECTOR_Y);
}

/**
 * Newton's direction -> D from the gradient in R: H+ d = -g, by conjugate gradients, modified where colliders hold
 * particles. Leaves the negative gradient in R, also at held particles.
 * @param first of the step, whose residual sets the tolerance of this solve and all that follow
 * @returns false: the residual is too small for another solve
 */
function direction(first: bool): bool {
  let touched = anyContact();
  let attached = false;
  let leave: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    touched = touched || anyTouch(row) || anyGrab(row);
    attached = attached || load<i32>(row, L.IMPLICIT_HELD_COUNT) > 0;
    leave = n === 0 ? load<f64>(row, L.IMPLICIT_TOLERANCE) : min<f64>(leave, load<f64>(row, L.IMPLICIT_TOLERANCE));
    negate(workVector(L.VECTOR_R));
    memory.fill(workVector(L.VECTOR_D), 0, vector);
    memory.fill(workVector(L.VECTOR_Z), 0, vector);
  }
  const solid = !anySheet();
  const held = touched || attached;
  if (held) leave = !solid ? TOLERANCE_HELD_SHEET : touched ? TOLERANCE_HELD : TOLERANCE_ATTACHED;
  const iterations = anyContact() ? MOST_ITERATIONS_TOUCHING : held ? MOST_ITERATIONS_HELD : MOST_ITERATIONS;
  let rz = preconditionAll();
  const rr = first && solid ? residual() : 0;
  const known = first && !held && !euler ? max(reused, 0) : 0;
  const allowed = max<f64>(leave * leave, REUSED_MORE * load<f64>(row, L.IMPLICIT_REUSED_LEFT)) * rr;
  if (first && known === 0 && reused >= 0) keepReused(0, 0);
  if (first) enough = max<f64>(leave * leave * rz, held ? NOTHING * NOTHING * groupInertia() : 0);
  else if (!solid && !farOff && !(rz > LEFT * LEFT * enough)) return false;
  else if (rz <= settled) return false;
  else enough = min<f64>(enough, LEFT_AGAIN * LEFT_AGAIN * rz);
  for (let n = 0; n < bodies; n++) {
    open(n);
    memory.copy(workVector(L.VECTOR_P), workVector(L.VECTOR_Z), vector);
  }
  for (let iteration = 0; iteration < iterations && rz > 0; iteration++) {
    const pq = multiplyAll();
    if (!(pq > 0)) break;
    const alpha = rz / pq;
    for (let n = 0; n < bodies; n++) {
      open(n);
      advance(alpha, workVector(L.VECTOR_D), workVector(L.VECTOR_P), workVector(L.VECTOR_R), workVector(L.VECTOR_Q));
      count32(L.IMPLICIT_ITERATIONS, 1);
      countIteration((load<u32>(row, L.IMPLICIT_ROTATIONS) ? UNITS_OF_SOLID : UNITS_OF_SHEET) * count);
    }
    countIteration(UNITS_OF_CONTACT * countContacts());
    if (workDone() >= most) break;
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
      const p = workVector(L.VECTOR_P);
      combine(p, workVector(L.VECTOR_Z), beta, p, vector);
    }
    rz = next;
  }
  return true;
}

/** Counts work of an iteration, and reaches a preemption point now and then. */
function countIteration(units: i32): void {
  countWork(units);
  spendWork(units >> SPENT);
}

/** Stores iterations and residual for steps that reuse this one's data. */
function keepReused(iterations: i32, left: f64): void {
  for (let n = 0; n < bodies; n++) {
    open(n);
    store<i32>(row, iterations, L.IMPLICIT_REUSED);
    store<f64>(row, left, L.IMPLICIT_REUSED_LEFT);
  }
}

/** H+ P -> Q. @returns P . Q */
function multiplyAll(): f64 {
  for (let n = 0; n < bodies; n++) {
    open(n);
    const p = workVector(L.VECTOR_P);
    const q = workVector(L.VECTOR_Q);
    if (load<u32>(row, L.IMPLICIT_QUADS)) multiplySheet(row, p, q, coefficient);
    else {
      multiplyMasses(p, 0, q);
      multiplyTets(row, p, q);
    }
    multiplyPoints(row, p, q);
    multiplyColliderContacts(row, p, q);
  }
  multiplyContacts(L.VECTOR_P, L.VECTOR_Q);
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    sum += dot(workVector(L.VECTOR_P), workVector(L.VECTOR_Q), vector);
  }
  return sum;
}

/** Preconditioned R -> Z. @returns R . Z */
function preconditionAll(): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < bodies; n++) {
    open(n);
    const r = workVector(L.VECTOR_R);
    const z = workVector(L.VECTOR_Z);
    preconditionFree(r, z);
    sum += dot(r, z, vector);
  }
  return sum;
}

/** Preconditions the components that colliders leave free. */
function preconditionFree(r: usize, z: usize): void {
  if (!anyTouch(row)) return precondition(row, r, z);
  const free = workVector(L.VECTOR_THERE);
  memory.copy(free, r, vector);
  filterColliderContacts(row, free);
  precondition(row, free, z);
  filterColliderContacts(row, z);
}

/**
 * Y + s D -> THERE with the first s of 1, 1/2, ... at which the objective does not rise. @returns number of THERE, or
 * of Y if there is none
 */
function goDown(height: f64): i32 {
  let s: f64 = 1;
  halved = false;
  for (let k = 0; k <= HALVINGS; k++, s *= 0.5) {
    for (let n = 0; n < bodies; n++) {
      open(n);
      combine(workVector(L.VECTOR_THERE), workVector(L.VECTOR_Y), s, workVector(L.VECTOR_D), vector);
    }
    if (objective(L.VECTOR_THERE) <= height * (1 + ROUNDING)) return L.VECTOR_THERE;
    for (let n = 0; n < bodies; n++) {
      open(n);
      count32(L.IMPLICIT_HALVINGS, 1);
      store<i32>(row, 0, L.IMPLICIT_REUSED);
    }
    halved = true;
    reused = 0;
  }
  objective(L.VECTOR_Y);
  return L.VECTOR_Y;
}
