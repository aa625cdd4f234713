/**
 * Contact with colliders in an implicit step. Touching particles are constrained while it is solved (Baraff & Witkin
 * 1998, modified conjugate gradients), so that the body's own weight does not press them through first:
 *   sticks   y_i = p                          p the contact point, carried along by a moving collider
 *   slides   n . (y_i - p) = 0, and friction's potential D = mu lambda_n sqrt(s^2 + e^2) of its slip s, with lambda_n
 *            of the last solve (Li et al. 2020, incremental potential contact): it only dissipates
 *   open     no constraint
 * The constraint force is the gradient of the remaining objective there, lambda = dE/dy_i. After a solve, pulling
 * contacts (lambda_n < 0) open, those beyond static friction (|lambda_t| > mu_static lambda_n) slide, and particles
 * that have gone through close. Then the step is solved again, a few times at most. Contacts that did not slip stick in
 * the next step. mu lambda_n of sliding ones is kept from step to step.
 * If a particle would end the step in a collider, and is clear of it at the start, it is held in the plane where it
 * would come out, and slips from above its start. The step is then taken again by Euler (step.ts), so that the body is
 * stopped as a whole. (Left to `collide`, which follows the step, the skin alone would be stopped: a cube of 10^9 Pa
 * that fell 30 cm held 28 kJ for a moment.)
 */
import * as L from "../layout/layout";
import { answer, answerX, answerY, answerZ } from "../colliders/collide";
import { distanceTo, nx, ny, nz } from "../colliders/colliderDistance";
import { findCoefficients, rests, rootStatic } from "../colliders/coefficients";
import { frameX, frameY, frameZ, fromFrame, inFrame, turnFromFrame } from "../colliders/motion";
import { meets } from "../state/filters";
import { squaredDistanceAt } from "../math/vectors";

/** A particle touches if it is no further above a collider's margin than this part of its contact radius. */
const NEAR: f32 = 0.002;
/** A particle that touches is held above the margin by this part of its radius, so that `collide` does nothing. */
const SKIN: f32 = 0.001;
/**
 * A contact that slips by at most this part of the contact radius in a step sticks in the next. Tried: ten times as
 * much; near the limit of friction a block creeps.
 */
const LEAST: f64 = 1e-4;
/**
 * Friction grows over a slip of e: this part of the slip without any force, at least LEAST. (With LEAST alone, no full
 * step of a tumbling body descends, and the residual becomes energy: a cube of 10^5 Pa gained 47 J in 5 s.) ROUNDED =
 * sqrt(1 + ROUND^2) restores the friction that this smoothing takes from steady sliding.
 */
const ROUND: f64 = 0.1;
const ROUNDED: f64 = 1.004987562112089;
/**
 * A sticking contact starts to slide at BREAKS times the limit of friction, so that a force at the limit does not
 * flicker.
 */
const BREAKS: f64 = 1.01;
/**
 * A slip beyond STEADY x the free displacement of two steps (TOUCH_RESTING) is steady sliding: its Hessian keeps only
 * the part across the slip. Shorter slips count as a spring to where the slip ends, which lies above friction's
 * potential and never overshoots. (With its true curvature full steps did not descend: 2 to 8 halvings a step of a
 * sheet on a sphere, or of cubes on a plane; with the spring 0.1. With STEADY 4, friction is 5 % too small in the last
 * centimeters of a slide.)
 */
const STEADY: f64 = 1;
/**
 * Part by which that spring may exceed friction without another solve. Without the solve, a contact that starts to
 * slide would barely move and stick again. CHANGED_BEGUN holds for slips beyond BEGUN x LEAST. (CHANGED for those too:
 * nine solves a step of a sheet on a sphere.)
 */
const CHANGED: f64 = 0.05;
const CHANGED_BEGUN: f64 = 0.5;
const BEGUN: f64 = 10;
/**
 * Part by which the friction of a body's steady contacts may differ from its limit, all together, without another
 * solve. (Without the solve, the limits of an earlier one stood, in which contacts still pulled: a body that landed at
 * 0.5 m/s lost twice its friction.)
 */
const OFF: f64 = 0.05;

// friction of the body's steady contacts in the last solve, and its limit there, N
let used: f64 = 0;
let allowed: f64 = 0;

// collider nearest to the last particle: distance from the margin (m), normal, and the particle's place on it
let gap: f32 = 0;
let normalX: f32 = 0;
let normalY: f32 = 0;
let normalZ: f32 = 0;
let placeX: f64 = 0;
let placeY: f64 = 0;
let placeZ: f64 = 0;
let nearest: usize = 0;

/**
 * Lists particles that touch a collider where the step begins, and those in one where it would end.
 * @param x, target vectors: where it begins, xt; end where it would end, 0: unknown; kept friction of the last step
 */
export function findColliderContacts(row: usize, x: usize, target: usize, end: usize, kept: usize, h: f64): void {
  let touch = <usize>load<u32>(row, L.IMPLICIT_TOUCHES);
  store<i32>(row, 0, L.IMPLICIT_TOUCH_COUNT);
  if (!touch) return;
  const vector = 24 * <usize>load<i32>(row, L.IMPLICIT_COUNT);
  const mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  const toPrevious = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  let particle = <usize>load<u32>(row, L.IMPLICIT_FIRST);
  let count = 0;
  for (let i = 0; i < load<i32>(row, L.IMPLICIT_COUNT); i++, particle += 16) {
    if (!(load<f64>(mass + ((<usize>i) << 3)) > 0)) continue;
    const r = load<f32>(particle + toPrevious, 12);
    const at = <usize>i * 24;
    const lies = findTouched(row, x + at, r);
    if (!lies && !(end !== 0 && findEntered(row, x + at, end + at, r))) continue;
    const rough = load<f32>(particle + toAcc, 12);
    findCoefficients(particle, rough);
    store<i32>(touch, <i32>at);
    store<f64>(touch, <f64>(rootStatic * load<f32>(nearest, L.COLLIDER_STATIC)), L.TOUCH_STATIC);
    store<f64>(touch, <f64>(rough * load<f32>(nearest, L.COLLIDER_FRICTION)), L.TOUCH_DYNAMIC);
    // `collide` lifts particles deeper than the margin, without a velocity and without friction
    const out: f32 = lies && gap < 0 ? 0 : SKIN * r - gap;
    writePlace(touch, out);
    if (!lies) placeAboveStart(touch, x + at);
    const glide = slipOf(touch, x + at, vector, h);
    writeState(touch, target + at, kept + at, r, glide);
    store<f64>(touch, 2 * h * h * accelerationOf(particle + toAcc), L.TOUCH_RESTING);
    touch += L.TOUCH_BYTES;
    count++;
  }
  store<i32>(row, count, L.IMPLICIT_TOUCH_COUNT);
}

/** Finds the nearest collider that a particle touches. @param entry its entry of a vector @returns if there is one */
function findTouched(row: usize, entry: usize, r: f32): bool {
  const table = <usize>load<u32>(row, L.IMPLICIT_MEETS);
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  placeAt(entry);
  const px = placeX;
  const py = placeY;
  const pz = placeZ;
  gap = NEAR * r;
  nearest = 0;
  for (let n = 0, c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, c += L.COLLIDER_BYTES) {
    if (load<i32>(c, L.COLLIDER_TYPE) === L.COLLIDER_MESH || !meets(table, n)) continue;
    const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
    let x = px;
    let y = py;
    let z = pz;
    if (motion) {
      inFrame(motion, L.MOTION_S0, L.MOTION_R0, px, py, pz);
      x = frameX;
      y = frameY;
      z = frameZ;
    }
    const d = distanceTo(c, x, y, z) - r;
    if (d > gap) continue;
    take(c, motion, d, nx, ny, nz);
  }
  if (nearest) carryPlace();
  return nearest !== 0;
}

/** Carries the place along with the nearest collider, through the step. */
function carryPlace(): void {
  const motion = <usize>load<u32>(nearest, L.COLLIDER_MOTION);
  if (!motion) return;
  inFrame(motion, L.MOTION_S0, L.MOTION_R0, placeX, placeY, placeZ);
  fromFrame(motion, L.MOTION_S1, L.MOTION_R1, frameX, frameY, frameZ);
  placeX = frameX;
  placeY = frameY;
  placeZ = frameZ;
}

/**
 * Finds the collider that a particle enters deepest. The particle is held at the side where it enters, even if its
 * motion ends beyond another side. @param start, entry its entries of vectors @returns whether there is one
 */
function findEntered(row: usize, start: usize, entry: usize, r: f32): bool {
  const table = <usize>load<u32>(row, L.IMPLICIT_MEETS);
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  gap = 0;
  nearest = 0;
  for (let n = 0, c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, c += L.COLLIDER_BYTES) {
    if (load<i32>(c, L.COLLIDER_TYPE) === L.COLLIDER_MESH || !meets(table, n)) continue;
    const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
    let d: f32;
    if (motion) {
      inFrame(motion, L.MOTION_S0, L.MOTION_R0, load<f64>(start), load<f64>(start, 8), load<f64>(start, 16));
      const px = frameX;
      const py = frameY;
      const pz = frameZ;
      inFrame(motion, L.MOTION_S1, L.MOTION_R1, load<f64>(entry), load<f64>(entry, 8), load<f64>(entry, 16));
      d = -answer(c, px, py, pz, frameX, frameY, frameZ, r);
    } else {
      placeAt(entry);
      d = -answer(c, load<f64>(start), load<f64>(start, 8), load<f64>(start, 16), placeX, placeY, placeZ, r);
    }
    if (!(d < gap)) continue;
    take(c, motion, d, answerX, answerY, answerZ);
  }
  placeAt(entry);
  return nearest !== 0;
}

function placeAt(entry: usize): void {
  placeX = load<f64>(entry);
  placeY = load<f64>(entry, 8);
  placeZ = load<f64>(entry, 16);
}

/** Returns whether a particle would end the step in a collider, and touches none at its start. */
export function anyEntered(row: usize, x: usize, end: usize): bool {
  if (!load<u32>(row, L.IMPLICIT_TOUCHES)) return false;
  const mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  const toPrevious = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  let particle = <usize>load<u32>(row, L.IMPLICIT_FIRST);
  for (let i = 0; i < load<i32>(row, L.IMPLICIT_COUNT); i++, particle += 16) {
    if (!(load<f64>(mass + ((<usize>i) << 3)) > 0)) continue;
    const r = load<f32>(particle + toPrevious, 12);
    const at = <usize>i * 24;
    if (findEntered(row, x + at, end + at, r) && !findTouched(row, x + at, r)) return true;
  }
  return false;
}

/**
 * Returns whether a particle would enter a collider faster than the external acceleration moves it: by more than
 * `times` the displacement that it makes in a step.
 * @param x, end vectors
 */
export function entersFast(row: usize, x: usize, end: usize, times: f64): bool {
  const least = times * fallOf(row);
  const mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  const toPrevious = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  let particle = <usize>load<u32>(row, L.IMPLICIT_FIRST);
  for (let i = 0; i < load<i32>(row, L.IMPLICIT_COUNT); i++, particle += 16) {
    if (!(load<f64>(mass + ((<usize>i) << 3)) > 0)) continue;
    const at = <usize>i * 24;
    if (squaredDistanceAt(end + at, x + at) <= least * least) continue;
    if (!findEntered(row, x + at, end + at, load<f32>(particle + toPrevious, 12))) continue;
    const approach =
      <f64>normalX * (load<f64>(x + at) - load<f64>(end + at)) +
      <f64>normalY * (load<f64>(x + at, 8) - load<f64>(end + at, 8)) +
      <f64>normalZ * (load<f64>(x + at, 16) - load<f64>(end + at, 16));
    if (approach > least) return true;
  }
  return false;
}

/** Takes a collider as the nearest. @param motion 0: it stands. @param x, y, z the normal in its frame */
function take(c: usize, motion: usize, d: f32, x: f32, y: f32, z: f32): void {
  nearest = c;
  gap = d;
  normalX = x;
  normalY = y;
  normalZ = z;
  if (!motion) return;
  turnFromFrame(motion, L.MOTION_R1, x, y, z);
  normalX = <f32>frameX;
  normalY = <f32>frameY;
  normalZ = <f32>frameZ;
}

/** Returns the length of an acceleration, m/s^2. */
function accelerationOf(at: usize): f64 {
  const x = <f64>load<f32>(at);
  const y = <f64>load<f32>(at, 4);
  const z = <f64>load<f32>(at, 8);
  return sqrt<f64>(x * x + y * y + z * z);
}

/** Returns the displacement that the external acceleration of a body's first particle makes in a step, m. */
export function fallOf(row: usize): f64 {
  const h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  return h * h * accelerationOf(<usize>load<u32>(row, L.IMPLICIT_FIRST) + toAcc);
}

/** Stores normal and contact point. @param outward distance of the point from the particle, along the normal, m */
function writePlace(touch: usize, outward: f32): void {
  const out = <f64>outward;
  const x = <f64>normalX;
  const y = <f64>normalY;
  const z = <f64>normalZ;
  store<f64>(touch, x, L.TOUCH_NORMAL);
  store<f64>(touch, y, L.TOUCH_NORMAL + 8);
  store<f64>(touch, z, L.TOUCH_NORMAL + 16);
  store<f64>(touch, placeX + out * x, L.TOUCH_PLACE);
  store<f64>(touch, placeY + out * y, L.TOUCH_PLACE + 8);
  store<f64>(touch, placeZ + out * z, L.TOUCH_PLACE + 16);
}

/**
 * Moves the contact point of a particle that enters the nearest collider to where the particle begins the step, carried
 * along by the collider, in the plane of the contact. (While it was where the particle ended, friction pushed some
 * bodies forwards: a cube of 2 x 10^7 Pa that hopped on its corners slid 6 % too far.)
 */
function placeAboveStart(touch: usize, start: usize): void {
  placeAt(start);
  carryPlace();
  const dx = placeX - load<f64>(touch, L.TOUCH_PLACE);
  const dy = placeY - load<f64>(touch, L.TOUCH_PLACE + 8);
  const dz = placeZ - load<f64>(touch, L.TOUCH_PLACE + 16);
  const out = -(dx * <f64>normalX + dy * <f64>normalY + dz * <f64>normalZ);
  writePlace(touch, <f32>out);
}

/**
 * Stores state and friction.
 * @param target the particle's entry of xt; kept its entry of the stored friction; glide slip without any force, m
 */
function writeState(touch: usize, target: usize, kept: usize, r: f32, glide: f64): void {
  store<f64>(touch, load<f64>(kept), L.TOUCH_FRICTION);
  const least = LEAST * <f64>r;
  store<f64>(touch, least, L.TOUCH_LEAST);
  store<f64>(touch, max<f64>(least, ROUND * glide), L.TOUCH_ROUND);
  store<i32>(touch, guess(touch, target), L.TOUCH_STATE);
}

/**
 * Stores friction of sliding contacts for the next step. @param kept vector, of which the first of three numbers is
 * used; y the solution
 */
export function keepColliderContacts(row: usize, kept: usize, y: usize): void {
  memory.fill(kept, 0, 24 * <usize>load<i32>(row, L.IMPLICIT_COUNT));
  let touch = <usize>load<u32>(row, L.IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, L.IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += L.TOUCH_BYTES) {
    const at = <usize>load<i32>(touch);
    if (load<i32>(touch, L.TOUCH_STATE) !== L.TOUCH_SLIDES) continue;
    if (measureSlip(touch, y + at) > load<f64>(touch, L.TOUCH_LEAST))
      store<f64>(kept + at, load<f64>(touch, L.TOUCH_FRICTION));
  }
}

/**
 * Guesses the state: that of the last step, or that of the unconstrained motion. Friction is known only after a solve.
 */
function guess(touch: usize, target: usize): i32 {
  const lift = above(touch, target);
  if (!(lift < 0)) return L.TOUCH_OPEN;
  if (load<f64>(touch, L.TOUCH_FRICTION) > 0) return L.TOUCH_SLIDES;
  return measureSlip(touch, target) < load<f64>(touch, L.TOUCH_STATIC) * -lift ? L.TOUCH_STICKS : L.TOUCH_SLIDES;
}

/**
 * Returns the distance of x + h v from the contact point along the surface, m. @param x entry; vector bytes from there
 * to v
 */
function slipOf(touch: usize, x: usize, vector: usize, h: f64): f64 {
  let lift: f64 = 0;
  let sum: f64 = 0;
  for (let r: usize = 0; r < 24; r += 8) {
    const d = load<f64>(x + r) + h * load<f64>(x + r + vector) - load<f64>(touch + r, L.TOUCH_PLACE);
    lift += load<f64>(touch + r, L.TOUCH_NORMAL) * d;
    sum += d * d;
  }
  return sqrt<f64>(max<f64>(0, sum - lift * lift));
}

/** Stores the slip: vector from the contact point to an entry, along the surface. @returns its length, m */
export function measureSlip(touch: usize, entry: usize): f64 {
  const lift = above(touch, entry);
  let sum: f64 = 0;
  for (let r: usize = 0; r < 24; r += 8) {
    const slip =
      load<f64>(entry + r) - load<f64>(touch + r, L.TOUCH_PLACE) - lift * load<f64>(touch + r, L.TOUCH_NORMAL);
    store<f64>(touch + r, slip, L.TOUCH_SLIP);
    sum += slip * slip;
  }
  return sqrt<f64>(sum);
}

/** n . (entry - p) */
function above(touch: usize, entry: usize): f64 {
  return (
    load<f64>(touch, L.TOUCH_NORMAL) * (load<f64>(entry) - load<f64>(touch, L.TOUCH_PLACE)) +
    load<f64>(touch, L.TOUCH_NORMAL + 8) * (load<f64>(entry, 8) - load<f64>(touch, L.TOUCH_PLACE + 8)) +
    load<f64>(touch, L.TOUCH_NORMAL + 16) * (load<f64>(entry, 16) - load<f64>(touch, L.TOUCH_PLACE + 16))
  );
}

/** n . entry */
function across(touch: usize, entry: usize): f64 {
  return (
    load<f64>(touch, L.TOUCH_NORMAL) * load<f64>(entry) +
    load<f64>(touch, L.TOUCH_NORMAL + 8) * load<f64>(entry, 8) +
    load<f64>(touch, L.TOUCH_NORMAL + 16) * load<f64>(entry, 16)
  );
}

/** entry -= s n */
function withdraw(touch: usize, entry: usize, s: f64): void {
  for (let r: usize = 0; r < 24; r += 8)
    store<f64>(entry + r, load<f64>(entry + r) - s * load<f64>(touch + r, L.TOUCH_NORMAL));
}

/**
 * Returns whether a particle near a collider approaches it faster than a resting one.
 * @param x, v vectors
 */
export function anyHits(row: usize, x: usize, v: usize, h: f64): bool {
  const mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  const toPrevious = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  let particle = <usize>load<u32>(row, L.IMPLICIT_FIRST);
  for (let i = 0; i < load<i32>(row, L.IMPLICIT_COUNT); i++, particle += 16) {
    if (!(load<f64>(mass + ((<usize>i) << 3)) > 0)) continue;
    const at = <usize>i * 24;
    if (!findTouched(row, x + at, load<f32>(particle + toPrevious, 12))) continue;
    const approach = -(
      <f64>normalX * (h * load<f64>(v + at) - (<f64>placeX - load<f64>(x + at))) +
      <f64>normalY * (h * load<f64>(v + at, 8) - (<f64>placeY - load<f64>(x + at, 8))) +
      <f64>normalZ * (h * load<f64>(v + at, 16) - (<f64>placeZ - load<f64>(x + at, 16)))
    );
    if (!rests(<f32>approach, particle + toAcc, <f32>h)) return true;
  }
  return false;
}

/** Returns whether any contact sticks or slides. */
export function anyTouch(row: usize): bool {
  let touch = <usize>load<u32>(row, L.IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, L.IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += L.TOUCH_BYTES)
    if (load<i32>(touch, L.TOUCH_STATE) !== L.TOUCH_OPEN) return true;
  return false;
}

/** Moves touching particles to positions that their contacts allow. */
export function placeColliderContacts(row: usize, y: usize): void {
  let touch = <usize>load<u32>(row, L.IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, L.IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += L.TOUCH_BYTES) {
    const entry = y + <usize>load<i32>(touch);
    const state = load<i32>(touch, L.TOUCH_STATE);
    if (state === L.TOUCH_STICKS) memory.copy(entry, touch + L.TOUCH_PLACE, 24);
    else if (state === L.TOUCH_SLIDES) withdraw(touch, entry, above(touch, entry));
  }
}

/** Removes from a direction the components that contacts forbid. */
export function filterColliderContacts(row: usize, d: usize): void {
  let touch = <usize>load<u32>(row, L.IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, L.IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += L.TOUCH_BYTES) {
    const entry = d + <usize>load<i32>(touch);
    const state = load<i32>(touch, L.TOUCH_STATE);
    if (state === L.TOUCH_STICKS) memory.fill(entry, 0, 24);
    else if (state === L.TOUCH_SLIDES) withdraw(touch, entry, across(touch, entry));
  }
}

/** Returns friction's potential mu lambda_n sqrt(s^2 + e^2) of sliding contacts, J. */
export function energyOfColliderContacts(row: usize, y: usize): f64 {
  let touch = <usize>load<u32>(row, L.IMPLICIT_TOUCHES);
  let sum: f64 = 0;
  for (let n = load<i32>(row, L.IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += L.TOUCH_BYTES) {
    if (load<i32>(touch, L.TOUCH_STATE) !== L.TOUCH_SLIDES) continue;
    sum += load<f64>(touch, L.TOUCH_FRICTION) * rounded(touch, measureSlip(touch, y + <usize>load<i32>(touch)));
  }
  return sum;
}

/** sqrt(s^2 + e^2) */
// @inline
export function rounded(touch: usize, slip: f64): f64 {
  const e = load<f64>(touch, L.TOUCH_ROUND);
  return sqrt<f64>(slip * slip + e * e);
}

/** g += dD/dy; stores slip and friction stiffness, for products. */
export function linearizeColliderContacts(row: usize, y: usize, g: usize): void {
  let touch = <usize>load<u32>(row, L.IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, L.IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += L.TOUCH_BYTES) {
    if (load<i32>(touch, L.TOUCH_STATE) !== L.TOUCH_SLIDES) continue;
    const at = <usize>load<i32>(touch);
    const slip = measureSlip(touch, y + at);
    const t = rounded(touch, slip);
    const drag = load<f64>(touch, L.TOUCH_FRICTION) / t;
    store<f64>(touch, drag, L.TOUCH_DRAG);
    store<f64>(touch, slip > STEADY * load<f64>(touch, L.TOUCH_RESTING) ? 1 / (t * t) : 0, L.TOUCH_STEADY);
    for (let r: usize = 0; r < 24; r += 8)
      store<f64>(g + at + r, load<f64>(g + at + r) + drag * load<f64>(touch + r, L.TOUCH_SLIP));
  }
}

/**
 * q += H p; H = mu lambda_n/t (1 - s s^T/t^2), t = sqrt(s^2 + e^2), for steady sliding, else mu lambda_n/t. p is
 * tangential to the surface.
 */
export function multiplyColliderContacts(row: usize, p: usize, q: usize): void {
  let touch = <usize>load<u32>(row, L.IMPLICIT_TOUCHES);
  for (let n = load<i32>(row, L.IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += L.TOUCH_BYTES) {
    if (load<i32>(touch, L.TOUCH_STATE) !== L.TOUCH_SLIDES) continue;
    const at = <usize>load<i32>(touch);
    let dot: f64 = 0;
    for (let r: usize = 0; r < 24; r += 8) dot += load<f64>(touch + r, L.TOUCH_SLIP) * load<f64>(p + at + r);
    const drag = load<f64>(touch, L.TOUCH_DRAG);
    const along = dot * load<f64>(touch, L.TOUCH_STEADY);
    for (let r: usize = 0; r < 24; r += 8) {
      const change = load<f64>(p + at + r) - along * load<f64>(touch + r, L.TOUCH_SLIP);
      store<f64>(q + at + r, load<f64>(q + at + r) + drag * change);
    }
  }
}

/**
 * Opens, closes and slides contacts after a solve.
 * @param y where it ended; residual negative gradient there
 * @returns true: a state changed, or friction was unknown or too large, and the step needs another solve
 */
export function reviewColliderContacts(row: usize, y: usize, residual: usize): bool {
  let touch = <usize>load<u32>(row, L.IMPLICIT_TOUCHES);
  let changed = false;
  used = allowed = 0;
  for (let n = load<i32>(row, L.IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += L.TOUCH_BYTES) {
    const at = <usize>load<i32>(touch);
    const state = load<i32>(touch, L.TOUCH_STATE);
    if (state === L.TOUCH_OPEN) {
      if (!(above(touch, y + at) < 0)) continue;
      // sticking would stop a sliding particle at once
      store<i32>(touch, L.TOUCH_SLIDES, L.TOUCH_STATE);
      changed = true;
      continue;
    }
    const push = -across(touch, residual + at);
    if (push < 0) {
      store<i32>(touch, L.TOUCH_OPEN, L.TOUCH_STATE);
      changed = true;
    } else if (state === L.TOUCH_STICKS) changed = breaks(touch, residual + at, push) || changed;
    else changed = rubs(touch, y + at, push) || changed;
  }
  return changed || isFrictionOff(OFF);
}

/** Returns whether steady friction differed from its limit by more than a part of it in the last review. */
export function isFrictionOff(part: f64): bool {
  return abs<f64>(used - allowed) > part * allowed;
}

/** Lets a contact slide if friction cannot hold it. @param push lambda_n, N. @returns whether it slides */
function breaks(touch: usize, residual: usize, push: f64): bool {
  let size: f64 = 0;
  for (let r: usize = 0; r < 24; r += 8) {
    const along = -load<f64>(residual + r) - push * load<f64>(touch + r, L.TOUCH_NORMAL);
    size += along * along;
  }
  if (sqrt<f64>(size) <= BREAKS * load<f64>(touch, L.TOUCH_STATIC) * push) return false;
  store<f64>(touch, ROUNDED * load<f64>(touch, L.TOUCH_DYNAMIC) * push, L.TOUCH_FRICTION);
  store<i32>(touch, L.TOUCH_SLIDES, L.TOUCH_STATE);
  return true;
}

/** Stores the friction for the next solve. @returns true: this solve had none, or more than the limit */
function rubs(touch: usize, entry: usize, push: f64): bool {
  const before = load<f64>(touch, L.TOUCH_FRICTION);
  const friction = ROUNDED * load<f64>(touch, L.TOUCH_DYNAMIC) * push;
  store<f64>(touch, friction, L.TOUCH_FRICTION);
  if (before === 0) return friction > 0;
  if (load<f64>(touch, L.TOUCH_STEADY) !== 0) {
    used += before;
    allowed += friction;
    return false;
  }
  const resists = load<f64>(touch, L.TOUCH_DRAG) * rounded(touch, measureSlip(touch, entry));
  const begun = before > BEGUN * load<f64>(touch, L.TOUCH_LEAST) * load<f64>(touch, L.TOUCH_DRAG);
  return resists > (1 + (begun ? CHANGED_BEGUN : CHANGED)) * before;
}
