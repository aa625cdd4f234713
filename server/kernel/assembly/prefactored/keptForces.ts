/**
 * Contact forces that prefactored bodies keep from substep to substep. Contacts move particles with their masses, which
 * the next solve knows nothing of: it would push a resting sheet back into its support in every substep. So the solve's
 * residual includes the forces F that contacts had to make up for:
 *   q = m s d/h^2,  s = the part of the push d against the solve's own motion z:  s = clamp(-z.d / d.d)
 *   F = KEPT F + share t q,  t = q.(s d) / q.(P^-1 q): the step that ends these pushes best together
 * Pushes that stop a fall are left out by s: they are impacts, and keeping them would return their energy. Forces of
 * particles without a push fade, and end where the particle leaves along them, or slides along what it touches:
 * friction is limited by the pushes of the substep, and a sheet with kept forces slid a third too far. They are
 * proportional to impulses, so they conserve momentum as contacts do.
 */
import * as L from "../layout/layout";
import { depth, findTouch, slide } from "../colliders/touch";
import { gather } from "../contact/solve/contactLanes";
import { gapAlong, loadDirections, slide2Of } from "../contact/solve/contactSlide";
import { dotXyz } from "../math/lanes";
import { standsForIsland } from "../state/islands";
import { hasMarks, mark, marksOf, numberOf, unmark } from "../state/marks";
import { countSolved, solvedAt } from "../state/solvedBlocks";
import { lowFrom } from "../math/places";
import { countWork } from "../state/work";
import { bodyOf } from "../state/owners";
import { showAnswers } from "./answer";
import { isClosed, isNoted, takeGain } from "./energyGuard";
import { isHeld, isMet, isSolid, keepsForces, noteForces, stateOf } from "./held";
import { moveByForces, openMetric } from "./metric";

/** Share of its kept force that a pushed particle, and one without a push, keeps. */
const KEPT: f32 = 0.98;
const FADING: f32 = 0.5;
/**
 * Share of the best common step. Whole steps of steepest descent zigzag between two patterns of forces (Akaike 1959).
 * Some particles leave their support at each turn, and their force ends. A sheet that hung over a ball then trembled at
 * 8 cm/s for ever; with half of it, it sleeps after 6 s. A sheet near another body makes whole steps: that body's
 * answers disturb the pattern, and slow steps let it slip (sheet on a shell: median 18 mm/s, whole steps 0.7 to 3).
 */
const SHARE: f32 = 0.5;
/**
 * Least s of a solid, which makes whole steps. With 0 a cube of 10^6 Pa rebounded to three quarters of the height, with
 * 1 soft crushed ones exploded. With half steps cubes trembled at 2 cm/s.
 */
const SOLID_LEAST: f32 = 0.3;
/** A particle nearer to a surface than this factor of its margin, or of a pair's thickness, touches it. */
const TOUCHING: f32 = 1.1;
// share of the current body
let share: f32 = 1;
/** Counted work of a column. */
const UNITS_OF_COLUMN = 2;

/**
 * Notes the positions of bodies begin .. end before contacts move them.
 * @param rows address of the PREFACTORED rows
 */
export function notePlaces(rows: usize, begin: i32, end: i32): void {
  const toLow = lowFrom();
  for (let b = begin; b < end; b++) {
    const row = rows + <usize>b * L.PREFACTORED_BYTES;
    if (isHeld(row)) continue;
    const first = <usize>load<u32>(row, L.PREFACTORED_FIRST);
    const order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
    let at = <usize>load<u32>(row, L.PREFACTORED_PLACES);
    let low = <usize>load<u32>(row, L.PREFACTORED_LOWS);
    for (let k = load<i32>(row, L.PREFACTORED_COLUMNS), p = order; k > 0; k--, p += 4, at += 16, low += 16) {
      const particle = first + <usize>load<u32>(p);
      v128.store(at, v128.load(particle));
      v128.store(low, v128.load(particle + toLow));
    }
    if (load<u32>(row, L.PREFACTORED_ANSWERS)) showAnswers(row);
  }
}

/** Updates the kept forces of bodies begin .. end at the end of a substep. */
export function keepForces(rows: usize, begin: i32, end: i32, h: f32): void {
  const closed = isClosed();
  for (let b = begin; b < end; b++) {
    const row = rows + <usize>b * L.PREFACTORED_BYTES;
    if (isHeld(row)) continue;
    const columns = load<i32>(row, L.PREFACTORED_COLUMNS);
    countWork(UNITS_OF_COLUMN * columns);
    const work = findImpulses(row, columns);
    let step: f32 = 0;
    if (work > 0) {
      const y = <usize>load<u32>(row, L.PREFACTORED_RESIDUAL);
      memory.copy(y, <usize>load<u32>(row, L.PREFACTORED_PLACES), (<usize>columns) << 4);
      openMetric(row);
      moveByForces(y);
      step = stepFor(row, columns, y, work);
    }
    // a sheet under a load trembles along its support
    const mayEnd = !isMet(row);
    if (mayEnd && hasMarks() && keepsForces(row)) markSliding(row, h);
    takeForces(row, columns, step, mayEnd, h);
    const met = load<i32>(row, L.PREFACTORED_MET) !== 0;
    const guarded = isSolid(row) ? met || work > 0 || keepsForces(row) : !met && keepsForces(row);
    const noted = isNoted(row, false);
    store<i32>(row, 0, L.PREFACTORED_NOTED);
    if (closed && guarded && noted) takeGain(row, stateOf(row) + 8, h);
    noteForces(row, work > 0);
  }
}

/** Returns whether contacts may add energy in this substep: those of a free solid also where they begin. */
export function mayGain(row: usize): bool {
  if (keepsForces(row)) return true;
  const first = load<u32>(row, L.PREFACTORED_FIRST);
  const particles = (load<u32>(row, L.PREFACTORED_END) - first) >> 4;
  if (!isSolid(row) || load<u32>(row, L.PREFACTORED_COLUMNS) !== particles) return false;
  return !load<i32>(bodyOf(<usize>first), L.BODY_FREE);
}

/** Returns the displacement that the fall of a free body adds (integrate/momentum.ts), m. */
function leadOf(first: usize): v128 {
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  const body = bodyOf(first);
  const island = load<i32>(body, L.BODY_ISLAND);
  if (!load<i32>(body, L.BODY_FREE) && !standsForIsland(rows, island)) return f32x4.splat(0);
  const lead = rows + <usize>island * L.BODY_BYTES + L.BODY_LEAD;
  return f32x4(<f32>load<f64>(lead), <f32>load<f64>(lead, 8), <f32>load<f64>(lead, 16), 0);
}

/** Replaces the noted places by q. @returns sum of q.(s d), J */
function findImpulses(row: usize, columns: i32): f64 {
  const first = <usize>load<u32>(row, L.PREFACTORED_FIRST);
  const order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
  const inertia = <usize>load<u32>(row, L.PREFACTORED_INERTIA);
  const moved = <usize>load<u32>(row, L.PREFACTORED_MOVED);
  const places = <usize>load<u32>(row, L.PREFACTORED_PLACES);
  const kept = <usize>load<u32>(row, L.PREFACTORED_KEPT);
  const meets = hasMarks() && load<u32>(row, L.PREFACTORED_ANSWERS) !== 0;
  const lead = leadOf(first);
  const lows = <usize>load<u32>(row, L.PREFACTORED_LOWS);
  const toLow = lowFrom();
  let sum: f64 = 0;
  const least: f32 = isSolid(row) ? SOLID_LEAST : 0;
  share = isSolid(row) ? 1 : SHARE;
  for (let k: usize = 0; k < <usize>columns; k++) {
    const place = places + (k << 4);
    const particle = first + <usize>load<u32>(order + (k << 2));
    const met = meets && (marksOf(numberOf(particle)) & L.MARK_MET) !== 0;
    if (met || load<f32>(kept + (k << 4), 12) !== 0) {
      if (met) share = 1;
      v128.store(place, f32x4.splat(0));
      continue;
    }
    const left = f32x4.add(f32x4.sub(v128.load(particle + toLow), v128.load(lows + (k << 4))), lead);
    const push = f32x4.replace_lane(f32x4.add(f32x4.sub(v128.load(particle), v128.load(place)), left), 3, 0);
    const square = dotXyz(push, push);
    const against = -dotXyz(push, v128.load(moved + (k << 4)));
    let q = f32x4.splat(0);
    if (square > 0 && (against > 0 || least > 0)) {
      const part = f32x4.mul(f32x4.splat(max<f32>(least, min<f32>(1, against / square))), push);
      q = f32x4.mul(v128.load32_splat(inertia + (k << 2)), part);
      sum += <f64>dotXyz(q, part);
    }
    v128.store(place, q);
  }
  return sum;
}

/** t = work / q.y for y = P^-1 q */
function stepFor(row: usize, columns: i32, y: usize, work: f64): f32 {
  const places = <usize>load<u32>(row, L.PREFACTORED_PLACES);
  let sum: f64 = 0;
  for (let k: usize = 0; k < <usize>columns; k++)
    sum += <f64>dotXyz(v128.load(places + (k << 4)), v128.load(y + (k << 4)));
  return sum > 0 ? <f32>(work / sum) : 0;
}

/** @param mayEnd whether forces end where particles slide */
function takeForces(row: usize, columns: i32, step: f32, mayEnd: bool, h: f32): void {
  const first = <usize>load<u32>(row, L.PREFACTORED_FIRST);
  const order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
  const places = <usize>load<u32>(row, L.PREFACTORED_PLACES);
  const kept = <usize>load<u32>(row, L.PREFACTORED_KEPT);
  const table = <usize>load<u32>(bodyOf(first), L.BODY_MEETS);
  const by = f32x4.splat(share * step);
  const marked = hasMarks();
  for (let k: usize = 0; k < <usize>columns; k++) {
    const q = v128.load(places + (k << 4));
    const at = kept + (k << 4);
    let F = v128.load(at);
    const particle = first + <usize>load<u32>(order + (k << 2));
    const slid = marked && (marksOf(numberOf(particle)) & L.MARK_SLIDES) !== 0;
    if (slid) unmark(numberOf(particle), L.MARK_SLIDES);
    // those of colliders have their own rule
    if (f32x4.extract_lane(F, 3) !== 0) continue;
    const pushed = v128.any_true(q);
    if (!pushed && !v128.any_true(F)) continue;
    if (pushed) F = f32x4.add(f32x4.mul(f32x4.splat(KEPT), F), f32x4.mul(by, q));
    else F = f32x4.mul(f32x4.splat(FADING), F);
    const ends = slid || (!pushed && leaves(particle, F, h)) || (mayEnd && slides(particle, F, table, h));
    v128.store(at, ends ? f32x4.splat(0) : F);
  }
}

/** Square of the speed that two substeps of a particle's external acceleration make. */
// @inline
function restingSpeed2(particle: usize, h: f32): f32 {
  const a = v128.load(particle + (<usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X)));
  return 4 * h * h * dotXyz(a, a);
}

/** Returns whether a particle moves along F faster than at rest. */
function leaves(particle: usize, F: v128, h: f32): bool {
  const along = dotXyz(F, v128.load(particle + toSpeed()));
  return along > 0 && along * along > restingSpeed2(particle, h) * dotXyz(F, F);
}

/** Returns whether a particle slides on a collider faster than at rest. @param table of filters.ts */
function slides(particle: usize, F: v128, table: usize, h: f32): bool {
  const v = v128.load(particle + toSpeed());
  const along = dotXyz(F, v);
  const resting = restingSpeed2(particle, h);
  const square = dotXyz(F, F);
  if (!load<i32>(L.HEADER, L.H_MOTION_COUNT) && !(dotXyz(v, v) * square - along * along > resting * square))
    return false;
  const prev = particle + (<usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X));
  if (!findTouch(particle, prev, h, table, true)) return false;
  return depth > (1 - TOUCHING) * load<f32>(prev, 12) && dotXyz(slide, slide) > h * h * resting;
}

/** Bytes from X to V. */
// @inline
function toSpeed(): usize {
  return <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
}

/** Marks the particles of a body in pairs that touch and slide. */
function markSliding(row: usize, h: f32): void {
  const first = load<u32>(row, L.PREFACTORED_FIRST);
  const end = load<u32>(row, L.PREFACTORED_END);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const resting = f32x4.splat(h * h * restingSpeed2(<usize>first, h));
  for (let n = 0, count = countSolved(); n < count; n++) {
    const block = solvedAt(n);
    let pairs = v128.load(block, L.CONTACT_BLOCK_NEAR);
    if (!v128.any_true(pairs)) continue;
    // the first and the last particle of a pair are on its two sides
    if (!owns(v128.load(block), first, end) && !owns(v128.load(block, 48), first, end)) continue;
    gather(block, 0);
    loadDirections(block);
    pairs = v128.and(pairs, f32x4.gt(slide2Of(block, toPrev), resting));
    const near = f32x4.mul(f32x4.splat(TOUCHING), v128.load(block, L.CONTACT_BLOCK_THICKNESS));
    const slid = i32x4.bitmask(v128.and(pairs, f32x4.lt(gapAlong(), near)));
    for (let k: usize = 0; k < 64; k += 4) {
      const particle = load<u32>(block + k);
      if ((slid >> ((k >> 2) & 3)) & 1 && particle >= first && particle < end && load<f32>(<usize>particle, 12) > 0)
        mark(numberOf(<usize>particle), L.MARK_SLIDES);
    }
  }
}

/** Returns whether one of four particles is in first .. end. */
// @inline
function owns(particles: v128, first: u32, end: u32): bool {
  return v128.any_true(i32x4.lt_u(i32x4.sub(particles, i32x4.splat(first)), i32x4.splat(end - first)));
}
