/**
 * Integration of a range of particles: prediction (symplectic Euler) and the velocity update (Bender et al. 2014,
 * Algorithm 1, lines 1-2, 10 and 12). A fixed particle has w = 0 and does not move.
 *
 * A position is the sum of two words: x, which all other code reads, and a low word (Kahan 1965). Float32 has steps of
 * 0.03 mm at 300 m, more than gravity moves a body from rest in ten substeps; at 1 m still more than 1/10,000 s at 1
 * mm/s. A correction by less than half a step would change nothing, and a larger one is off by as much: forces are
 * lost, undamped bodies gain energy, and damped ones tremble. So constraints add their corrections to the low word
 * alone (math/lanes.ts), whose steps are as small as the correction. `carryAll` then moves whole steps over to x:
 *   x' = x + low,  low' = low - (x' - x)                                                          exact if |x| > |low|
 * The velocity is computed from the true displacement, (x - xPrev) + (low - lowPrev). Velocities of undamped particles
 * have low words too: at 20 m/s, 1/10,000 s of gravity adds 500 steps of float32, always rounded alike.
 */
import * as L from "../layout/layout";
import { carryAll, carryOver } from "../math/carry";
import { dotXyz, placeBits } from "../math/lanes";

/** Damping below which velocities have low words, 1/s. More damping hides their rounding. */
const UNDAMPED: f32 = 0.25;

/**
 * v += h a; xPrev = x; x += h v, without the part `later` of the way at the old velocity, which follows the elastic
 * solve (drift), and with the displacement of remembered stress (warmStart.ts).
 * @param begin, end particle numbers; h s; unforced 1: v is the velocity of the free motion, with all forces; later 0
 * to 1
 */
export function predict(begin: i32, end: i32, h: f32, unforced: i32, later: f32): void {
  const from = (<usize>begin) << 4;
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - X;
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - X;
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - X;
  const toLow = <usize>load<u32>(L.HEADER, L.H_LOW) - X;
  const toLowPrev = <usize>load<u32>(L.HEADER, L.H_LOW_PREV) - X;
  const toLowSpeed = <usize>load<u32>(L.HEADER, L.H_LOW_SPEED) - X;
  const toSupport = <usize>load<u32>(L.HEADER, L.H_SUPPORT) - X;
  const supported = load<i32>(L.HEADER, L.H_WARM_STARTED);
  const hh = f32x4.splat(h);
  const waits = f32x4.splat(h * later);
  const zero = f32x4.splat(0);
  const place = placeBits;
  for (let i = begin, x = X + from; i < end; i++, x += 16) {
    const here = v128.load(x);
    const old = v128.load(x + toV);
    const damping = f32x4.extract_lane(old, 3);
    const free = f32x4.gt(v128.shuffle<f32>(here, here, 3, 3, 3, 3), zero);
    let gain = unforced ? zero : f32x4.mul(hh, v128.load(x + toAcc));
    if (damping < UNDAMPED) gain = f32x4.add(gain, v128.load(x + toLowSpeed));
    const faster = v128.and(f32x4.add(old, gain), free);
    v128.store(x + toV, f32x4.replace_lane(faster, 3, damping));
    let way = f32x4.sub(f32x4.mul(hh, faster), f32x4.mul(waits, old));
    if (damping < UNDAMPED) {
      const slow = v128.and(f32x4.sub(gain, f32x4.sub(faster, old)), v128.and(place, free));
      v128.store(x + toLowSpeed, slow);
      way = f32x4.add(way, f32x4.mul(hh, slow));
    }
    if (supported) way = f32x4.add(way, v128.load(x + toSupport));
    v128.store(x + toPrev, f32x4.replace_lane(here, 3, load<f32>(x + toPrev, 12)));
    const before = v128.load(x + toLow);
    v128.store(x + toLowPrev, before);
    carryOver(x, toLow, here, v128.and(f32x4.add(way, before), place));
  }
}

/**
 * Predicts particles body by body, because bodies differ in BODY_DRIFT, or moves them on after the elastic solve.
 * @param begin, end, h, unforced as for `predict`; drifts whether the elastic solve is done
 */
export function predictBodies(begin: i32, end: i32, h: f32, unforced: i32, drifts: bool): void {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  let row = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let i = begin; i < end; row += L.BODY_BYTES) {
    const first = <i32>((<usize>load<u32>(row, L.BODY_FIRST) - X) >> 4);
    const stop = min<i32>(first + load<i32>(row, L.BODY_COUNT), end);
    if (stop <= i) continue;
    const later = load<f32>(row, L.BODY_DRIFT);
    if (!drifts) predict(i, stop, h, unforced, later);
    else if (later > 0) drift(i, stop, h, later);
    i = stop;
  }
}

/** Moves particles by the part `later` of their way at the old velocity, v - h a. */
export function drift(begin: i32, end: i32, h: f32, later: f32): void {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - X;
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - X;
  const toLow = <usize>load<u32>(L.HEADER, L.H_LOW) - X;
  const hh = f32x4.splat(h);
  const waits = f32x4.splat(h * later);
  const zero = f32x4.splat(0);
  const place = placeBits;
  for (let i = begin, x = X + ((<usize>begin) << 4); i < end; i++, x += 16) {
    const here = v128.load(x);
    const free = v128.and(place, f32x4.gt(v128.shuffle<f32>(here, here, 3, 3, 3, 3), zero));
    const old = f32x4.sub(v128.load(x + toV), f32x4.mul(hh, v128.load(x + toAcc)));
    const way = v128.and(f32x4.mul(waits, old), free);
    carryOver(x, toLow, here, f32x4.add(way, v128.load(x + toLow)));
  }
}

/**
 * Predicts where particles are after t, for detection alone. They go as far as in the time t before, or as v says,
 * whichever is less: v contains vibrations that are shorter than t.
 * @param t s, from one verification to the next; H_START has the positions at the last one
 */
export function predictAhead(begin: i32, end: i32, t: f32): void {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - X;
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - X;
  const toStart = <usize>load<u32>(L.HEADER, L.H_START) - X;
  const far = f32x4.splat(t);
  const square = f32x4.splat(t * t);
  for (let i = begin, x = X + ((<usize>begin) << 4); i < end; i++, x += 16) {
    const here = v128.load(x);
    const w = f32x4.extract_lane(here, 3);
    if (w === 0) continue;
    const before = f32x4.sub(here, v128.load(x + toStart));
    const speed = f32x4.mul(far, v128.load(x + toV));
    const way = dotXyz(before, before) < dotXyz(speed, speed) ? before : speed;
    const there = f32x4.add(here, f32x4.add(way, f32x4.mul(square, v128.load(x + toAcc))));
    v128.store(x, f32x4.replace_lane(there, 3, w));
  }
}

/** Takes back predictAhead. */
export function returnToSafe(begin: i32, end: i32): void {
  const x = <usize>load<u32>(L.HEADER, L.H_X) + ((<usize>begin) << 4);
  const safe = <usize>load<u32>(L.HEADER, L.H_SAFE) + ((<usize>begin) << 4);
  memory.copy(x, safe, (<usize>(end - begin)) << 4);
}

/** Carries low words over to x, if there is contact between surfaces or balls, which reads x before updateVelocity. */
export function carry(begin: i32, end: i32): void {
  if (load<u32>(L.HEADER, L.H_SAFE) || load<i32>(L.HEADER, L.H_BALL_COUNT)) carryAll(begin, end);
}

/**
 * v = displacement/h / (1 + h damping): the implicit form of dv/dt = -damping v, stable for any damping. Carries low
 * words over to x.
 */
export function updateVelocity(begin: i32, end: i32, h: f32): void {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - X;
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - X;
  const toLow = <usize>load<u32>(L.HEADER, L.H_LOW) - X;
  const toLowPrev = <usize>load<u32>(L.HEADER, L.H_LOW_PREV) - X;
  const toLowSpeed = <usize>load<u32>(L.HEADER, L.H_LOW_SPEED) - X;
  const hh = f32x4.splat(h);
  const inverseH = f32x4.splat(1 / h);
  for (let i = begin, x = X + ((<usize>begin) << 4); i < end; i++, x += 16) {
    const before = v128.load(x);
    const low = v128.load(x + toLow);
    // carried over first, so that the bits do not depend on whether contact needed that
    const here = f32x4.add(before, low);
    const left = f32x4.sub(low, f32x4.sub(here, before));
    v128.store(x, here);
    v128.store(x + toLow, left);
    const predicted = v128.load(x + toV);
    const damping = f32x4.extract_lane(predicted, 3);
    const way = f32x4.add(f32x4.sub(here, v128.load(x + toPrev)), f32x4.sub(left, v128.load(x + toLowPrev)));
    // change since the prediction: if there is none, the velocity keeps all its bits
    let expected = f32x4.mul(hh, predicted);
    if (damping < UNDAMPED) expected = f32x4.add(expected, f32x4.mul(hh, v128.load(x + toLowSpeed)));
    const sum = f32x4.add(predicted, f32x4.mul(inverseH, f32x4.sub(way, expected)));
    const v = f32x4.mul(f32x4.splat(1 / (1 + h * damping)), sum);
    v128.store(x + toV, f32x4.replace_lane(v, 3, damping));
  }
}
