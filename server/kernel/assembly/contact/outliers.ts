/**
 * Particles that stray further from their trajectories than the list of pairs allows (pairListLifetime.ts) get new
 * ones, straight on from the safe positions S of this substep as they went in it, and only their pairs are looked for
 * again: where a sheet falls on something, what has touched it strays in every substep, and the rest goes as expected.
 *   p(t) = R + t d, t = n/life in substep n of the list:  u = x - S,  d = life u,  R = S - (n - 1) u
 * goes through S at the start of the substep and through x at its end; before that it went nowhere in particular, and
 * nobody asks. The pairs that such a particle had are taken out, the new ones packed behind the others, so what is not
 * concerned keeps its place, directions and peace. New trajectories are looked at only for up to a tick (in the fourth
 * lane, the substep of the list up to which): then the particle counts as strayed.
 *
 * Measured against lists made anew each time: the falling sheet of scenes/drape.json made six a tick.
 */
import {
  HEADER,
  H_X,
  H_SAFE,
  H_SURFACE,
  H_SURFACE_COUNT,
  H_REFERENCE,
  H_TRAJECTORIES,
  H_LIST_SUBSTEPS,
  H_LIST_VALID,
  H_LIST_LIFE,
  H_SUBSTEPS,
  H_TRAVEL,
  H_TRAVEL_STEP,
  H_PARTICLES,
  H_OUTLIERS,
  H_COUNT_MENDED,
  SURFACE_FIRST,
  SURFACE_COUNT,
  SURFACE_MARGIN,
  SURFACE_OUTLIERS,
  SURFACE_OUTLIERS_SINCE,
  SURFACE_BYTES,
  MARK_OUTLIER,
} from "../layout/layout";
import { markAt, numberOf } from "./changed";
import { bindNeighbors } from "../integrate/freeBodies";
import { noteListed } from "../state/islands";
import { listOutliers } from "../broadPhase/pairs";
import { dropPairs, packMore } from "./contactList";

/** Of so many particles at most one may have strayed: where more have, the list is made anew. */
const MANY = 3;
/**
 * What strays by this part of its margin in one substep has strayed, if not because the response moved it (its pairs
 * are looked at anew): the rest then goes nearly as expected, and contactCheck.ts need not look at most pairs.
 */
const STEP: f32 = 0.25;

let strays = 0;

// @inline
export function surfaceAt(n: i32): usize {
  return <usize>load<u32>(HEADER, H_SURFACE) + <usize>n * SURFACE_BYTES;
}

// @inline
export function square(a: v128): f32 {
  const b = f32x4.mul(a, a);
  return f32x4.extract_lane(b, 0) + f32x4.extract_lane(b, 1) + f32x4.extract_lane(b, 2);
}

/**
 * Looks for strays at the end of a substep: counts and notes them.
 * @param counts whether the substep has yet to be counted in H_TRAVEL, which is about particles that have not strayed
 */
export function findOutliers(counts: bool): i32 {
  const X = <usize>load<u32>(HEADER, H_X);
  const toReference = <usize>load<u32>(HEADER, H_REFERENCE) - X;
  const toTrajectory = <usize>load<u32>(HEADER, H_TRAJECTORIES) - X;
  const toSafe = <usize>load<u32>(HEADER, H_SAFE) - X;
  const list = <usize>load<u32>(HEADER, H_OUTLIERS);
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  const done = load<i32>(HEADER, H_LIST_SUBSTEPS);
  const n: f32 = <f32>done;
  const part = f32x4.splat(1 / <f32>load<i32>(HEADER, H_LIST_LIFE));
  const time = f32x4.splat(n / <f32>load<i32>(HEADER, H_LIST_LIFE));
  let most: f32 = 0;
  strays = 0;
  for (let s = 0; s < surfaces; s++) {
    const surface = surfaceAt(s);
    const margin = load<f32>(surface, SURFACE_MARGIN);
    const margin2 = margin * margin;
    const before = strays;
    for (
      let i = load<i32>(surface, SURFACE_COUNT), at = <usize>load<u32>(surface, SURFACE_FIRST);
      i > 0;
      i--, at += 16
    ) {
      const x = v128.load(at);
      const trajectory = v128.load(at + toTrajectory);
      const lately = square(f32x4.sub(f32x4.sub(x, v128.load(at + toSafe)), f32x4.mul(part, trajectory)));
      // not a number strays nowhere: the guard deals with it
      if (
        square(f32x4.sub(f32x4.sub(x, v128.load(at + toReference)), f32x4.mul(time, trajectory))) > margin2 ||
        (counts && lately > STEP * STEP * margin2) ||
        f32x4.extract_lane(trajectory, 3) < n
      ) {
        store<u32>(list + ((<usize>strays) << 2), <u32>at);
        strays++;
      } else most = max<f32>(most, lately);
    }
    store<i32>(surface, strays - before, SURFACE_OUTLIERS);
    store<i32>(surface, load<i32>(surface, SURFACE_OUTLIERS_SINCE) + strays - before, SURFACE_OUTLIERS_SINCE);
  }
  if (counts) {
    const step = Mathf.sqrt(most) * (1 + 1e-5);
    store<f32>(HEADER, step, H_TRAVEL_STEP);
    store<f32>(HEADER, load<f32>(HEADER, H_TRAVEL) + step, H_TRAVEL);
  }
  return strays;
}

/**
 * Gives what has strayed new trajectories and pairs.
 * @returns false where the list should rather be made anew, or does not hold them
 */
export function mendList(): bool {
  if (!load<i32>(HEADER, H_LIST_VALID) || MANY * strays > load<i32>(HEADER, H_PARTICLES)) return false;
  store<u32>(HEADER, load<u32>(HEADER, H_COUNT_MENDED) + 1, H_COUNT_MENDED);
  const X = <usize>load<u32>(HEADER, H_X);
  const safe = <usize>load<u32>(HEADER, H_SAFE);
  const toSafe = safe - X;
  const toReference = <usize>load<u32>(HEADER, H_REFERENCE) - X;
  const toTrajectory = <usize>load<u32>(HEADER, H_TRAJECTORIES) - X;
  const list = <usize>load<u32>(HEADER, H_OUTLIERS);
  const life = load<i32>(HEADER, H_LIST_LIFE);
  const past = load<i32>(HEADER, H_LIST_SUBSTEPS) - 1;
  const end = min<i32>(life, past + load<i32>(HEADER, H_SUBSTEPS));
  const gone = f32x4.splat(<f32>past);
  const all = f32x4.splat(<f32>life);
  for (let n = 0; n < strays; n++) {
    const particle = <usize>load<u32>(list + ((<usize>n) << 2));
    const S = v128.load(particle + toSafe);
    const u = f32x4.sub(v128.load(particle), S);
    const mark = markAt(numberOf(particle));
    v128.store(particle + toReference, f32x4.sub(S, f32x4.mul(gone, u)));
    v128.store(particle + toTrajectory, f32x4.replace_lane(f32x4.mul(all, u), 3, <f32>end));
    dropPairs(particle);
    store<u8>(mark, <u8>(load<u8>(mark) | MARK_OUTLIER));
  }
  const fits = listOutliers(safe, <f32>past / <f32>life, <f32>end / <f32>life) >= 0 && packMore();
  noteListed();
  for (let n = 0; n < strays; n++) {
    const mark = markAt(numberOf(<usize>load<u32>(list + ((<usize>n) << 2))));
    store<u8>(mark, <u8>(load<u8>(mark) & ~MARK_OUTLIER));
  }
  bindNeighbors();
  return fits;
}
