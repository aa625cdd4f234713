/**
 * How long a list of pairs is good for. It holds every pair of primitives that were within r + m of each other when it was made; m is what both may
 * stray from the way that their surface was expected to go (SURFACE_MARGIN each, pairs.ts). While no particle has strayed further, pairs that are
 * not listed are still at least r apart, at every moment of every substep, because a straight motion strays most at its ends.
 * It is made at the start of a tick, and from S again at the end of a substep in which a particle strayed too far, with twice the margin.
 */
import {
  HEADER, H_X, H_V, H_ACC, H_SAFE, H_SURFACE, H_SURFACE_COUNT, H_REFERENCE, H_COURSES, H_LIST_SUBSTEPS, H_LIST_VALID, H_PARTICLES, H_SUBSTEP, H_SUBSTEPS, H_SUBSTEP_SECONDS, H_TOUCHES, H_TOUCH_COUNT, H_VERTEX_TOUCHES, H_COUNT_LISTS, H_LIST_LIFE,
  SURFACE_FIRST, SURFACE_COUNT, SURFACE_RADIUS, SURFACE_MARGIN, SURFACE_LIMIT, SURFACE_DRIFT, SURFACE_BYTES, TOUCH_BYTES,
} from "./layout";
import { change } from "./changed";
import { listPairs } from "./pairs";
import { bindTouching } from "./momentum";
import { packPairs } from "./touchList";
import { checkTouches } from "./touchCheck";

/** Margins allow for so much more than what the velocities of the start say: they change meanwhile. */
const CAUTION: f32 = 1.25;
/** Part of its radius that a margin is at least. */
const LEAST: f32 = 0.5;
/** And of its limit: a core mesh has no radius, and yet its particles, rounded, are not exactly where its drift has them. About as much as LEAST is of a thin cloth. */
const LEAST_OF_LIMIT: f32 = 1.0 / 64;
/** Margins of a list made from S are so many times what this substep strays: halved once they still hold it, and do not by rounding only. */
const AGAIN: f32 = 2.125;
/** Share of a margin that particles are limited to: rounding must not take them beyond it. */
const ALMOST: f32 = 0.999;
/** Limits of margins that a surface may drift while a list lives. */
const DRIFTS: f32 = 2;
/** A list that does not fit is made again with half the margins, so many times. */
const HALVINGS = 12;

@inline function surfaceAt(n: i32): usize { return <usize>load<u32>(HEADER, H_SURFACE) + <usize>n * SURFACE_BYTES; }

/** At the start of a tick: S = x, and a list for all of it. */
export function beginTouches(): void {
  store<i32>(HEADER, 0, H_LIST_VALID);
  store<i32>(HEADER, 0, H_TOUCH_COUNT);
  if (!load<u32>(HEADER, H_SAFE)) return;
  const X = <usize>load<u32>(HEADER, H_X), bytes = <usize>load<i32>(HEADER, H_PARTICLES) << 4;
  memory.copy(<usize>load<u32>(HEADER, H_SAFE), X, bytes);
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT), h = load<f32>(HEADER, H_SUBSTEP_SECONDS), toV = <usize>load<u32>(HEADER, H_V) - X;
  let fastest: f32 = 0;
  for (let n = 0; n < surfaces; n++) fastest = max<f32>(fastest, drift(surfaceAt(n), X + toV, 0, h));
  const life = lifeOf(fastest, load<i32>(HEADER, H_SUBSTEPS));
  for (let n = 0; n < surfaces; n++) planMargin(surfaceAt(n), toV, h * <f32>life, life);
  makeList(X, life);
  // what is near now is solved in the first substep already
  const touches = <usize>load<u32>(HEADER, H_TOUCHES), vertex = load<i32>(HEADER, H_VERTEX_TOUCHES), all = load<i32>(HEADER, H_TOUCH_COUNT);
  checkTouches(touches, vertex, true);
  checkTouches(touches + <usize>vertex * TOUCH_BYTES, all - vertex, false);
}

/** Writes the mean of (there - here) * scale over a surface as its drift of one substep. @param there address parallel to X; here likewise, 0: nothing. @returns how many of its limits it goes */
function drift(surface: usize, there: usize, here: usize, scale: f32): f32 {
  const X = <usize>load<u32>(HEADER, H_X), first = <usize>load<u32>(surface, SURFACE_FIRST), count = load<i32>(surface, SURFACE_COUNT);
  let sum = f32x4.splat(0);
  for (let i = 0, at = first - X; i < count; i++, at += 16) sum = f32x4.add(sum, here ? f32x4.sub(v128.load(there + at), v128.load(here + at)) : v128.load(there + at));
  const mean = f32x4.mul(sum, f32x4.splat(scale / <f32>count));
  store<f32>(surface, f32x4.extract_lane(mean, 0), SURFACE_DRIFT); store<f32>(surface, f32x4.extract_lane(mean, 1), SURFACE_DRIFT + 4); store<f32>(surface, f32x4.extract_lane(mean, 2), SURFACE_DRIFT + 8);
  const far = Mathf.sqrt(square(mean)), limit = load<f32>(surface, SURFACE_LIMIT);
  return far > 0 && limit > 0 ? far / limit : 0;
}

/** Substeps that a list is planned for: what drifts fast soon has others around it. @param fastest greatest drift in a substep, in limits of its surface; left substeps of the tick that are to come */
function lifeOf(fastest: f32, left: i32): i32 {
  return fastest * <f32>left > DRIFTS ? max<i32>(1, <i32>(DRIFTS / fastest)) : left;
}

/** Drift -> that of `life` substeps, and the margin for them, from the velocities at particle + toV. */
function planMargin(surface: usize, toV: usize, seconds: f32, life: i32): void {
  const first = <usize>load<u32>(surface, SURFACE_FIRST), count = load<i32>(surface, SURFACE_COUNT), toAcc = <usize>load<u32>(HEADER, H_ACC) - <usize>load<u32>(HEADER, H_X);
  const mean = f32x4.div(driftOf(surface), f32x4.splat(load<f32>(HEADER, H_SUBSTEP_SECONDS)));
  let most: f32 = 0, strongest: f32 = 0;
  for (let i = 0, at = first; i < count; i++, at += 16) {
    most = max<f32>(most, square(f32x4.sub(v128.load(at + toV), mean)));
    strongest = max<f32>(strongest, square(v128.load(at + toAcc)));
  }
  const margin = CAUTION * (Mathf.sqrt(most) * seconds + 0.5 * Mathf.sqrt(strongest) * seconds * seconds), least = leastMargin(surface);
  store<f32>(surface, min<f32>(margin + least, max<f32>(load<f32>(surface, SURFACE_LIMIT), least)), SURFACE_MARGIN);
  lengthen(surface, life);
}

@inline function leastMargin(surface: usize): f32 { return max<f32>(LEAST * load<f32>(surface, SURFACE_RADIUS), LEAST_OF_LIMIT * load<f32>(surface, SURFACE_LIMIT)); }

function lengthen(surface: usize, life: i32): void {
  const d = f32x4.mul(driftOf(surface), f32x4.splat(<f32>life));
  store<f32>(surface, f32x4.extract_lane(d, 0), SURFACE_DRIFT); store<f32>(surface, f32x4.extract_lane(d, 1), SURFACE_DRIFT + 4); store<f32>(surface, f32x4.extract_lane(d, 2), SURFACE_DRIFT + 8);
}

@inline function driftOf(surface: usize): v128 { return f32x4(load<f32>(surface, SURFACE_DRIFT), load<f32>(surface, SURFACE_DRIFT + 4), load<f32>(surface, SURFACE_DRIFT + 8), 0); }

@inline function square(a: v128): f32 {
  const b = f32x4.mul(a, a);
  return f32x4.extract_lane(b, 0) + f32x4.extract_lane(b, 1) + f32x4.extract_lane(b, 2);
}

/** Every particle is expected to go as its surface drifts. */
function writeCourses(): void {
  const toCourses = <usize>load<u32>(HEADER, H_COURSES) - <usize>load<u32>(HEADER, H_X), surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  for (let n = 0; n < surfaces; n++) {
    const surface = surfaceAt(n), drift = driftOf(surface);
    for (let i = load<i32>(surface, SURFACE_COUNT), at = <usize>load<u32>(surface, SURFACE_FIRST) + toCourses; i > 0; i--, at += 16) v128.store(at, drift);
  }
}

/** Lists and packs the pairs at `positions`; margins shrink until they fit. */
function makeList(positions: usize, life: i32): void {
  store<i32>(HEADER, life, H_LIST_LIFE);
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  store<u32>(HEADER, load<u32>(HEADER, H_COUNT_LISTS) + 1, H_COUNT_LISTS);
  memory.copy(<usize>load<u32>(HEADER, H_REFERENCE), positions, <usize>load<i32>(HEADER, H_PARTICLES) << 4);
  store<i32>(HEADER, 0, H_LIST_SUBSTEPS);
  for (let n = 0; n < HALVINGS; n++) {
    writeCourses();
    if (listPairs(positions, <usize>load<u32>(HEADER, H_COURSES)) >= 0 && packPairs()) { store<i32>(HEADER, 1, H_LIST_VALID); return; }
    for (let s = 0; s < surfaces; s++) {
      const margin = surfaceAt(s) + SURFACE_MARGIN;
      store<f32>(margin, 0.5 * load<f32>(margin));
    }
  }
  store<i32>(HEADER, 0, H_TOUCH_COUNT);
  store<i32>(HEADER, 0, H_LIST_VALID);
}

/** How far the list's time has gone, in the time that drifts were planned for. */
@inline function elapsed(): f32 {
  return <f32>load<i32>(HEADER, H_LIST_SUBSTEPS) / <f32>load<i32>(HEADER, H_LIST_LIFE);
}

/** Has no particle strayed further from its surface's drift than the list allows? */
export function withinReach(): bool {
  if (!load<i32>(HEADER, H_LIST_VALID) || load<i32>(HEADER, H_LIST_SUBSTEPS) > load<i32>(HEADER, H_LIST_LIFE)) return false;
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT), time = elapsed();
  for (let n = 0; n < surfaces; n++) {
    const surface = surfaceAt(n), margin = load<f32>(surface, SURFACE_MARGIN);
    // not a number strays nowhere: the guard deals with it
    if (farthest(surface, time) > margin * margin) return false;
  }
  return true;
}

/** Greatest squared distance of a surface's particles from where the drift has them. */
function farthest(surface: usize, time: f32): f32 {
  const first = <usize>load<u32>(surface, SURFACE_FIRST), count = load<i32>(surface, SURFACE_COUNT), toReference = <usize>load<u32>(HEADER, H_REFERENCE) - <usize>load<u32>(HEADER, H_X);
  const drift = f32x4.mul(driftOf(surface), f32x4.splat(time));
  let most = f32x4.splat(0);
  for (let i = 0, at = first; i < count; i++, at += 16) {
    const d = f32x4.sub(f32x4.sub(v128.load(at), v128.load(at + toReference)), drift), dd = f32x4.mul(d, d);
    most = f32x4.pmax(most, f32x4.add(dd, f32x4.add(v128.shuffle<f32>(dd, dd, 1, 2, 0, 3), v128.shuffle<f32>(dd, dd, 2, 0, 1, 3))));
  }
  return f32x4.extract_lane(most, 0);
}

/**
 * Where margins had to shrink below what this substep strays: particles go only as far as the list, just made from S, reaches.
 * @returns how many
 */
export function limitMotion(): i32 {
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT), toSafe = <usize>load<u32>(HEADER, H_SAFE) - <usize>load<u32>(HEADER, H_X), time = elapsed();
  let limited = 0;
  for (let n = 0; n < surfaces; n++) {
    const surface = surfaceAt(n), drift = f32x4.mul(driftOf(surface), f32x4.splat(time)), margin = ALMOST * load<f32>(surface, SURFACE_MARGIN);
    for (let i = load<i32>(surface, SURFACE_COUNT), at = <usize>load<u32>(surface, SURFACE_FIRST); i > 0; i--, at += 16) {
      const safe = v128.load(at + toSafe), strays = f32x4.sub(f32x4.sub(v128.load(at), safe), drift), far = Mathf.sqrt(square(strays));
      if (!(far > margin)) continue;
      change(at);
      const w = load<f32>(at, 12);
      v128.store(at, f32x4.add(safe, f32x4.add(drift, f32x4.mul(strays, f32x4.splat(margin / far)))));
      store<f32>(at, w, 12);
      limited++;
    }
  }
  return limited;
}

/**
 * A list for this substep and those that follow, from S: drifts are the mean motions of this substep going on, margins twice what they were and at least
 * what this substep strays.
 * @returns false if no list fits, however small the margins
 */
export function makeListAgain(): bool {
  const X = <usize>load<u32>(HEADER, H_X), safe = <usize>load<u32>(HEADER, H_SAFE), toSafe = safe - X, surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  let fastest: f32 = 0;
  for (let n = 0; n < surfaces; n++) fastest = max<f32>(fastest, drift(surfaceAt(n), X, safe, 1));
  const life = lifeOf(fastest, load<i32>(HEADER, H_SUBSTEPS) - load<i32>(HEADER, H_SUBSTEP));
  for (let n = 0; n < surfaces; n++) {
    const surface = surfaceAt(n), mean = driftOf(surface), least = leastMargin(surface);
    let most: f32 = 0;
    for (let i = load<i32>(surface, SURFACE_COUNT), at = <usize>load<u32>(surface, SURFACE_FIRST); i > 0; i--, at += 16) most = max<f32>(most, square(f32x4.sub(f32x4.sub(v128.load(at), v128.load(at + toSafe)), mean)));
    const usual = min<f32>(2 * load<f32>(surface, SURFACE_MARGIN), load<f32>(surface, SURFACE_LIMIT));
    store<f32>(surface, max<f32>(AGAIN * Mathf.sqrt(most), max<f32>(usual, least)), SURFACE_MARGIN);
    lengthen(surface, life);
  }
  makeList(safe, life);
  bindTouching();
  // this substep is already done
  store<i32>(HEADER, 1, H_LIST_SUBSTEPS);
  return load<i32>(HEADER, H_LIST_VALID) != 0;
}
