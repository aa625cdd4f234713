/**
 * How long a list of pairs is good for. It is made for a life of some substeps, in which every particle is expected to
 * go a trajectory: straight on, as fast as it is now. It holds every pair of primitives that come within r + m of each
 * other if all keep to their trajectories, m what both may stray from them (SURFACE_MARGIN each, pairs.ts). While no
 * particle has strayed further, pairs that are not listed are at least r apart, at every moment of every substep,
 * because a straight motion strays most at its ends. It is made at the start of a tick, and again at the end of a
 * substep in which a particle strayed too far or its life was over: then from the safe positions S of that substep,
 * with trajectories along the substep's own motion, for up to a tick, and with wider margins. Where everything is slow
 * it lives for some ticks: it is state, as positions are.
 *
 * Measured against trajectories of whole surfaces (one mean velocity each, margins for what differs from it): a cloth
 * that swings had to be listed in every substep, with up to a hundred times the pairs.
 */
import {
  HEADER,
  H_X,
  H_V,
  H_ACC,
  H_SAFE,
  H_SURFACE_COUNT,
  H_REFERENCE,
  H_TRAJECTORIES,
  H_LIST_SUBSTEPS,
  H_LIST_VALID,
  H_PARTICLES,
  H_SUBSTEPS,
  H_SUBSTEP_SECONDS,
  H_CONTACT_BLOCK_COUNT,
  H_VERTEX_CONTACT_BLOCKS,
  H_EDGE_CONTACT_BLOCKS,
  H_LIST_BLOCKS,
  H_COUNT_LISTS,
  H_LIST_LIFE,
  H_TRAVEL,
  SURFACE_FIRST,
  SURFACE_COUNT,
  SURFACE_RADIUS,
  SURFACE_MARGIN,
  SURFACE_LIMIT,
  SURFACE_OUTLIERS_SINCE,
} from "../layout/layout";
import { change } from "./changed";
import { bindNeighbors } from "../integrate/freeBodies";
import { forgetListed, noteListed } from "../state/islands";
import { listTogether } from "../broadPhase/pairChunks";
import { refitTrees } from "../broadPhase/pairs";
import { findOutliers, mendList, square, surfaceAt } from "./outliers";
import { restBlocks } from "./contactCheck";
import { packPairs } from "./contactList";
import { checkAll } from "./contactPasses";

/**
 * Margin: part of the radius; of what the fastest goes relative to the surface's mean, because that will turn; and the
 * bend of a fall, a T^2/8.
 */
const LEAST: f32 = 0.5;
/**
 * And of its limit: a core mesh has no radius, and yet its particles, rounded, are not exactly where their trajectories
 * have them.
 */
const LEAST_OF_LIMIT: f32 = 1.0 / 32;
const TURNS: f32 = 0.05;
const BEND: f32 = 0.125 * 1.25;
/** A surface falls when it is faster than what gravity makes it in so many ticks; squared. */
const FALLS: f32 = 4;
/** Ticks that a list may live, where everything is slow. */
const TICKS = 8;
/** It goes on after that if of so many particles no more than one moves by its margin in a tick. */
const FEW = 16;
/** It is made anew when it has grown by half, and this many blocks: what was taken out of it leaves gaps. */
const SCRAPS = 256;
/** When a list did not last, margins of the next are so many times as wide; at most SURFACE_LIMIT. */
const WIDER: f32 = 2;
/** Margins are widened likewise where one in so many particles strayed in a tick, else this part of them is kept. */
const OFTEN = 8;
const FADES: f32 = 0.7;
/** Share of a margin that particles are limited to: rounding must not take them beyond it. */
const ALMOST: f32 = 0.999;
/**
 * Lists that do not fit are made again: with a shorter life until it is one substep, then with so many margins, each
 * half of the one before, then without trajectories, again halving margins so many times.
 */
const NARROWER = 4;
const HALVINGS = 12;

/** At the start of a tick: a list for it and some that follow, unless the one that there is still holds. */
export function beginPairList(): void {
  if (
    !load<u32>(HEADER, H_SAFE) ||
    (load<i32>(HEADER, H_LIST_VALID) &&
      load<i32>(HEADER, H_LIST_SUBSTEPS) + load<i32>(HEADER, H_SUBSTEPS) <= load<i32>(HEADER, H_LIST_LIFE))
  )
    return;
  if (goOn()) return;
  const X = <usize>load<u32>(HEADER, H_X);
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  const tick = load<f32>(HEADER, H_SUBSTEP_SECONDS) * <f32>load<i32>(HEADER, H_SUBSTEPS);
  // how fast things are is what the last substep did; after a reset nobody knows that, and velocities have to do
  moved = load<i32>(HEADER, H_LIST_VALID) !== 0;
  let fastest: f32 = 0;
  for (let n = 0; n < surfaces; n++) fastest = max<f32>(fastest, restlessness(surfaceAt(n), tick));
  const ticks = fastest * <f32>TICKS > 1 ? max<i32>(1, <i32>(<f32>1 / fastest)) : TICKS;
  const seconds = tick * <f32>ticks;
  for (let n = 0; n < surfaces; n++) setTrajectories(surfaceAt(n), seconds);
  memory.copy(<usize>load<u32>(HEADER, H_SAFE), X, (<usize>load<i32>(HEADER, H_PARTICLES)) << 4);
  makeList(X, load<i32>(HEADER, H_SUBSTEPS) * ticks);
  // what is near now is solved in the first substep already
  checkAll();
}

/**
 * At the end of its life a list in which nearly everything lies still goes on, every trajectory at rest where it ends:
 * what was far enough apart there is so for as long as the trajectories rest, and what does not rest strays and gets a
 * trajectory of its own (outliers.ts).
 * @returns false: there is none, it was planned for a shorter life, it is full of gaps, or too much moves
 */
function goOn(): bool {
  const life = load<i32>(HEADER, H_LIST_LIFE);
  const substeps = load<i32>(HEADER, H_SUBSTEPS);
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  if (
    !load<i32>(HEADER, H_LIST_VALID) ||
    life !== TICKS * substeps ||
    2 * load<i32>(HEADER, H_CONTACT_BLOCK_COUNT) > 3 * load<i32>(HEADER, H_LIST_BLOCKS) + SCRAPS ||
    findOutliers(false)
  )
    return false;
  const X = <usize>load<u32>(HEADER, H_X);
  const toSafe = <usize>load<u32>(HEADER, H_SAFE) - X;
  let restless = 0;
  for (let n = 0; n < surfaces; n++) {
    const surface = surfaceAt(n);
    const margin = load<f32>(surface, SURFACE_MARGIN) / <f32>substeps;
    const margin2 = margin * margin;
    for (let i = load<i32>(surface, SURFACE_COUNT), at = <usize>load<u32>(surface, SURFACE_FIRST); i > 0; i--, at += 16)
      if (square(f32x4.sub(v128.load(at), v128.load(at + toSafe))) > margin2) restless++;
  }
  if (FEW * restless > load<i32>(HEADER, H_PARTICLES)) return false;
  const references = <usize>load<u32>(HEADER, H_REFERENCE);
  const trajectories = <usize>load<u32>(HEADER, H_TRAJECTORIES);
  const bytes = (<usize>load<i32>(HEADER, H_PARTICLES)) << 4;
  const part = f32x4.splat(<f32>load<i32>(HEADER, H_LIST_SUBSTEPS) / <f32>life);
  const zero = f32x4.splat(0);
  for (let at: usize = 0; at < bytes; at += 16) {
    v128.store(references + at, f32x4.add(v128.load(references + at), f32x4.mul(part, v128.load(trajectories + at))));
    v128.store(trajectories + at, zero);
  }
  allTheirLife(trajectories, bytes, life);
  refitTrees(references, trajectories);
  restBlocks();
  store<i32>(HEADER, 0, H_LIST_SUBSTEPS);
  store<f32>(HEADER, 0, H_TRAVEL);
  return true;
}

let moved = false;

/**
 * Velocity of the particle at `at`, m/s: its way in the last substep, or what it has as velocity. They differ where
 * contact moves xPrev along: what lies still under gravity has a velocity of some g h.
 */
// @inline
function velocity(at: usize, toSafe: usize, toV: usize, inverseH: v128): v128 {
  return moved ? f32x4.mul(inverseH, f32x4.sub(v128.load(at), v128.load(at + toSafe))) : v128.load(at + toV);
}

// of the last `look`: mean velocity, greatest squared difference from it, greatest squared acceleration
let mean: v128 = i32x4(0, 0, 0, 0);
let differs: f32;
let strongest: f32;

function look(surface: usize): void {
  const X = <usize>load<u32>(HEADER, H_X);
  const toV = <usize>load<u32>(HEADER, H_V) - X;
  const toAcc = <usize>load<u32>(HEADER, H_ACC) - X;
  const first = <usize>load<u32>(surface, SURFACE_FIRST);
  const count = load<i32>(surface, SURFACE_COUNT);
  const toSafe = <usize>load<u32>(HEADER, H_SAFE) - X;
  const inverseH = f32x4.splat(1 / load<f32>(HEADER, H_SUBSTEP_SECONDS));
  let sum = f32x4.splat(0);
  strongest = 0;
  differs = 0;
  for (let i = 0, at = first; i < count; i++, at += 16) {
    sum = f32x4.add(sum, velocity(at, toSafe, toV, inverseH));
    if (load<f32>(at, 12) !== 0) strongest = max<f32>(strongest, square(v128.load(at + toAcc)));
  }
  mean = f32x4.mul(sum, f32x4.splat(1 / <f32>count));
  for (let i = 0, at = first; i < count; i++, at += 16)
    differs = max<f32>(differs, square(f32x4.sub(velocity(at, toSafe, toV, inverseH), mean)));
}

/** Does the surface that was looked at fall, rather than lie or hang somewhere? Its trajectories then are. */
// @inline
function falls(tick: f32): bool {
  return square(mean) > FALLS * strongest * tick * tick;
}

// @inline
function leastMargin(surface: usize): f32 {
  return max<f32>(LEAST * load<f32>(surface, SURFACE_RADIUS), LEAST_OF_LIMIT * load<f32>(surface, SURFACE_LIMIT));
}

/** Part of its limit that a surface is expected to use up in a tick by turning and falling. */
function restlessness(surface: usize, tick: f32): f32 {
  look(surface);
  const limit = load<f32>(surface, SURFACE_LIMIT);
  const strays = TURNS * Mathf.sqrt(differs) * tick + (falls(tick) ? BEND * Mathf.sqrt(strongest) * tick * tick : 0);
  return limit > 0 ? strays / limit : 0;
}

function setTrajectories(surface: usize, seconds: f32): void {
  look(surface);
  const X = <usize>load<u32>(HEADER, H_X);
  const toV = <usize>load<u32>(HEADER, H_V) - X;
  const toAcc = <usize>load<u32>(HEADER, H_ACC) - X;
  const toTrajectory = <usize>load<u32>(HEADER, H_TRAJECTORIES) - X;
  const toSafe = <usize>load<u32>(HEADER, H_SAFE) - X;
  const inverseH = f32x4.splat(1 / load<f32>(HEADER, H_SUBSTEP_SECONDS));
  const fall = falls(load<f32>(HEADER, H_SUBSTEP_SECONDS) * <f32>load<i32>(HEADER, H_SUBSTEPS));
  const T = f32x4.splat(seconds);
  const half = f32x4.splat(fall ? 0.5 * seconds : 0);
  for (let i = load<i32>(surface, SURFACE_COUNT), at = <usize>load<u32>(surface, SURFACE_FIRST); i > 0; i--, at += 16) {
    const a = load<f32>(at, 12) !== 0 ? v128.load(at + toAcc) : f32x4.splat(0);
    v128.store(at + toTrajectory, f32x4.mul(T, f32x4.add(velocity(at, toSafe, toV, inverseH), f32x4.mul(half, a))));
  }
  const least = leastMargin(surface);
  const margin =
    least + TURNS * Mathf.sqrt(differs) * seconds + (fall ? BEND * Mathf.sqrt(strongest) * seconds * seconds : 0);
  // what the last list needed, this one may
  const strayed =
    OFTEN * load<i32>(surface, SURFACE_OUTLIERS_SINCE) * load<i32>(HEADER, H_SUBSTEPS) >
    load<i32>(surface, SURFACE_COUNT) * max<i32>(1, load<i32>(HEADER, H_LIST_SUBSTEPS));
  const before = moved ? (strayed ? WIDER : FADES) * load<f32>(surface, SURFACE_MARGIN) : 0;
  store<f32>(
    surface,
    min<f32>(max<f32>(margin, before), max<f32>(load<f32>(surface, SURFACE_LIMIT), least)),
    SURFACE_MARGIN,
  );
}

/** Trajectories are good for the whole life of the list: their fourth lane. */
function allTheirLife(trajectories: usize, bytes: usize, life: i32): void {
  for (let at = trajectories; at < trajectories + bytes; at += 16) store<f32>(at, <f32>life, 12);
}

/**
 * Lists and packs the pairs at `positions` with the trajectories of `life` substeps; both shrink until it fits. Margins
 * shrink before the trajectories go: those of one substep are its own motion (makeListAgain), and only what the
 * response moves needs a margin; without trajectories everything goes no further than that.
 */
function makeList(positions: usize, life: i32): void {
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  const trajectories = <usize>load<u32>(HEADER, H_TRAJECTORIES);
  const bytes = (<usize>load<i32>(HEADER, H_PARTICLES)) << 4;
  store<u32>(HEADER, load<u32>(HEADER, H_COUNT_LISTS) + 1, H_COUNT_LISTS);
  memory.copy(<usize>load<u32>(HEADER, H_REFERENCE), positions, bytes);
  store<i32>(HEADER, 0, H_LIST_SUBSTEPS);
  for (let n = 0; n < surfaces; n++) store<i32>(surfaceAt(n), 0, SURFACE_OUTLIERS_SINCE);
  store<f32>(HEADER, 0, H_TRAVEL);
  store<i32>(HEADER, 1, H_LIST_VALID);
  let left = life;
  for (let n = -NARROWER; n < HALVINGS; ) {
    store<i32>(HEADER, left, H_LIST_LIFE);
    if (listTogether(positions, trajectories) >= 0 && packPairs()) {
      forgetListed();
      noteListed();
      store<i32>(HEADER, load<i32>(HEADER, H_CONTACT_BLOCK_COUNT), H_LIST_BLOCKS);
      allTheirLife(trajectories, bytes, left);
      return;
    }
    if (left > 1) {
      const shorter = left >> 1;
      const share = f32x4.splat(<f32>shorter / <f32>left);
      for (let at = trajectories; at < trajectories + bytes; at += 16) v128.store(at, f32x4.mul(share, v128.load(at)));
      left = shorter;
      continue;
    }
    n++;
    // from here on particles may only go so far from where they are: on the straight way to where they would go
    // (limitMotion)
    if (n === 0) memory.fill(trajectories, 0, bytes);
    const by: f32 = n === 0 ? <f32>(1 << (NARROWER - 1)) : 0.5;
    for (let s = 0; s < surfaces; s++) {
      const margin = surfaceAt(s) + SURFACE_MARGIN;
      store<f32>(margin, by * load<f32>(margin));
    }
  }
  store<i32>(HEADER, 0, H_CONTACT_BLOCK_COUNT);
  store<i32>(HEADER, 0, H_VERTEX_CONTACT_BLOCKS);
  store<i32>(HEADER, 0, H_EDGE_CONTACT_BLOCKS);
  store<i32>(HEADER, 0, H_LIST_VALID);
}

/**
 * At the end of a substep, before anything is checked: counts it, and looks for what has strayed.
 * @returns withinReach
 */
export function advance(): bool {
  if (!load<i32>(HEADER, H_LIST_VALID)) return false;
  store<i32>(HEADER, load<i32>(HEADER, H_LIST_SUBSTEPS) + 1, H_LIST_SUBSTEPS);
  return !findOutliers(true) && lives();
}

// @inline
function lives(): bool {
  return load<i32>(HEADER, H_LIST_SUBSTEPS) <= load<i32>(HEADER, H_LIST_LIFE);
}

/** Has no particle strayed further from its trajectory than the list allows, and is its life not over? */
export function withinReach(): bool {
  return load<i32>(HEADER, H_LIST_VALID) !== 0 && !findOutliers(false) && lives();
}

/** Answers of `renewList`. */
export const NONE = 0;
const MENDED = 1;
export const ANEW = 2;

/**
 * After advance or withinReach has said no: a list that holds for this substep.
 * @returns NONE if none fits, however small the margins
 */
export function renewList(): i32 {
  if (lives() && mendList()) return MENDED;
  return makeListAgain() ? ANEW : NONE;
}

/**
 * Where a list had to do without trajectories, or with margins that rounding exceeds: particles go only as far from
 * their trajectories as it reaches, from S, where it was made, if they have none.
 * @returns how many
 */
export function limitMotion(): i32 {
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  const X = <usize>load<u32>(HEADER, H_X);
  const toReference = <usize>load<u32>(HEADER, H_REFERENCE) - X;
  const toTrajectory = <usize>load<u32>(HEADER, H_TRAJECTORIES) - X;
  const time = f32x4.splat(<f32>load<i32>(HEADER, H_LIST_SUBSTEPS) / <f32>load<i32>(HEADER, H_LIST_LIFE));
  let limited = 0;
  for (let n = 0; n < surfaces; n++) {
    const surface = surfaceAt(n);
    const margin = ALMOST * load<f32>(surface, SURFACE_MARGIN);
    for (
      let i = load<i32>(surface, SURFACE_COUNT), at = <usize>load<u32>(surface, SURFACE_FIRST);
      i > 0;
      i--, at += 16
    ) {
      const there = f32x4.add(v128.load(at + toReference), f32x4.mul(time, v128.load(at + toTrajectory)));
      const strays = f32x4.sub(v128.load(at), there);
      const far = Mathf.sqrt(square(strays));
      if (!(far > margin)) continue;
      change(at);
      const w = load<f32>(at, 12);
      v128.store(at, f32x4.add(there, f32x4.mul(strays, f32x4.splat(margin / far))));
      store<f32>(at, w, 12);
      limited++;
    }
  }
  return limited;
}

/**
 * A list from S for this substep and up to a tick's more.
 * @returns false if no list fits, however small the margins
 */
function makeListAgain(): bool {
  const X = <usize>load<u32>(HEADER, H_X);
  const safe = <usize>load<u32>(HEADER, H_SAFE);
  const toSafe = safe - X;
  const toTrajectory = <usize>load<u32>(HEADER, H_TRAJECTORIES) - X;
  const surfaces = load<i32>(HEADER, H_SURFACE_COUNT);
  // one that died young is followed by one that is not planned for much longer: what nobody lives to see need not be
  // listed
  const lived = load<i32>(HEADER, H_LIST_VALID) ? load<i32>(HEADER, H_LIST_SUBSTEPS) - 1 : 0;
  const life = max<i32>(1, min<i32>(2 * lived, load<i32>(HEADER, H_SUBSTEPS)));
  const times = f32x4.splat(<f32>life);
  for (let n = 0; n < surfaces; n++) {
    const surface = surfaceAt(n);
    for (let i = load<i32>(surface, SURFACE_COUNT), at = <usize>load<u32>(surface, SURFACE_FIRST); i > 0; i--, at += 16)
      v128.store(at + toTrajectory, f32x4.mul(times, f32x4.sub(v128.load(at), v128.load(at + toSafe))));
    store<f32>(
      surface,
      max<f32>(
        leastMargin(surface),
        min<f32>(WIDER * load<f32>(surface, SURFACE_MARGIN), load<f32>(surface, SURFACE_LIMIT)),
      ),
      SURFACE_MARGIN,
    );
  }
  makeList(safe, life);
  bindNeighbors();
  // this substep is already done
  store<i32>(HEADER, 1, H_LIST_SUBSTEPS);
  return load<i32>(HEADER, H_LIST_VALID) !== 0;
}
