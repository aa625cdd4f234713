/**
 * Contact between surfaces: near vertex-triangle and edge-edge pairs, as unilateral constraints with Coulomb friction
 * on displacements.
 *   C = n . sum_k b_k x_k - r >= 0,  n and b from the closest points at the start of the substep (contactCheck.ts; of
 *   sliding pairs: contactSlide.ts), r the pair's thickness
 *   dL = -C / sum_k w_k b_k^2,  x_k += w_k b_k dL n
 * The part of the push that undoes this substep's approach changes velocity. The part that opens an older gap below r
 * also moves xPrev, so overlap never becomes speed. It opens at most RELEASE of the gap a substep, within the bound of
 * release.ts. Particles of a pair belong to ten other pairs, so the release is measured from the safe positions S.
 * Restitution e: xPrev moves so that a pair which approached by a in this substep leaves with e a/h, wherever in the
 * substep it hit. (With a push of e times the part beyond the surface, e = 1 returned between none and all of the
 * speed.) No restitution if a is at most the displacement that external acceleration makes in two substeps: resting
 * bodies do not hop.
 * Friction: t, the relative tangential displacement of this substep, is undone if |t| <= mu_s p, else reduced by mu_d
 * p, p the undone approach (Coulomb; Bridson et al. 2002, section 5.2). Pairs of a color share no free particle, so
 * threads may solve its blocks in parallel. Pairs of rigid bodies are collected from the blocks and solved elsewhere:
 * rigidContact.ts, balls.ts.
 */
import { sub, add, mul, madd, dot3, xs, ys, zs, ws, between, inverseMasses, largest, smallest } from "../../math/lanes";
import { lowFrom, lowPrevFrom } from "../../math/places";
import { FAST, openedShare, RELEASE_FALLS } from "./release";
import { collectRigidPairs } from "./rigidContact";
import { nearsFrom } from "../prepare/blockStatus";
import {
  loadDirections,
  slides,
  turnAlong,
  nx as lastX,
  ny as lastY,
  nz as lastZ,
  b0 as last0,
  b1 as last1,
  b2 as last2,
  b3 as last3,
} from "./contactSlide";
import { addLowWords, gather, x0, y0, z0, x1, y1, z1, x2, y2, z2 } from "./contactLanes";
import * as L from "../../layout/layout";
import { hasLoads } from "../../state/islands";
import { addLoaded } from "./piles";
import { hasRigidPairs } from "../../state/solvedBlocks";

/** Share of an older gap's violation that a substep restores. */
const RELEASE: f32 = 0.25;

/** An undone approach above this part of the thickness calls for another pass. */
const UNDONE: f32 = 0.03125;

/** A pair under load approaches by more than this part of its thickness in a substep. */
const LOADED: f32 = 0.125;

/** Largest motion of a particle for a unit of undone approach, in rooms with piles. Free pairs have at most 1. */
const MOST_STEP: f32 = 4;

/**
 * @param block address of the first of `count` blocks
 * @param again whether an earlier pass has taken out pairs of rigid bodies and released older gaps
 * @returns number of blocks with a pair that was pushed far
 */
export function solveContacts(block: usize, count: i32, again: bool): i32 {
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  const release = f32x4.splat(again ? 0 : RELEASE);
  const opened = f32x4.splat(openedShare());
  const rigid = hasRigidPairs();
  findArrays();
  const low = toLow;
  const first = block;
  const nears = nearsFrom(block);
  const undone = f32x4.splat(UNDONE);
  const laden = f32x4.splat(LOADED);
  const carries = hasLoads();
  const counts = !again && !carries;
  let far = 0;
  for (let n = 0; n < count; n++) {
    const word = nears + ((<usize>n) << 2);
    if (n + 4 <= count && !v128.any_true(v128.load(word))) {
      n += 3;
      continue;
    }
    if (!load<i32>(word)) continue;
    block = first + <usize>n * L.CONTACT_BLOCK_BYTES;
    let active = v128.load(block, L.CONTACT_BLOCK_NEAR);
    if (!v128.any_true(active)) continue;
    if (rigid) {
      active = collectRigidPairs(block, active, again);
      if (!v128.any_true(active)) continue;
    }
    let nx = v128.load(block, L.CONTACT_BLOCK_NORMAL);
    let ny = v128.load(block, L.CONTACT_BLOCK_NORMAL + 16);
    let nz = v128.load(block, L.CONTACT_BLOCK_NORMAL + 32);
    const r = v128.load(block, L.CONTACT_BLOCK_THICKNESS);
    let a = sumFrom(block, 0, low);
    let b = sumFrom(block + 4, 0, low);
    let c = sumFrom(block + 8, 0, low);
    let d = sumFrom(block + 12, 0, low);
    let tx = xs(a, b, c, d);
    let ty = ys(a, b, c, d);
    let tz = zs(a, b, c, d);
    let g = dot3(nx, tx, ny, ty, nz, tz);
    // pairs that were pushed in the last substep may take that push back
    const kept = carries ? i32x4.gt_s(v128.load(block, L.CONTACT_BLOCK_PAIR), zero) : zero;
    const ox = v128.and(kept, v128.load(block, L.CONTACT_BLOCK_PUSH));
    const oy = v128.and(kept, v128.load(block, L.CONTACT_BLOCK_PUSH + 16));
    const oz = v128.and(kept, v128.load(block, L.CONTACT_BLOCK_PUSH + 32));
    let pushed = f32x4.pmax(zero, dot3(ox, nx, oy, ny, oz, nz));
    active = v128.and(active, v128.or(f32x4.lt(g, r), f32x4.gt(pushed, zero)));
    if (!v128.any_true(active)) continue;
    // relative position at the start of the substep, and the tangential part of the relative displacement
    a = sumFrom(block, toPrev, prevLow);
    b = sumFrom(block + 4, toPrev, prevLow);
    c = sumFrom(block + 8, toPrev, prevLow);
    d = sumFrom(block + 12, toPrev, prevLow);
    let ux = xs(a, b, c, d);
    let uy = ys(a, b, c, d);
    let uz = zs(a, b, c, d);
    tx = sub(tx, ux);
    ty = sub(ty, uy);
    tz = sub(tz, uz);
    let along = dot3(tx, nx, ty, ny, tz, nz);
    let b0 = v128.load(block, L.CONTACT_BLOCK_WEIGHT);
    let b1 = v128.load(block, L.CONTACT_BLOCK_WEIGHT + 16);
    let b2 = v128.load(block, L.CONTACT_BLOCK_WEIGHT + 32);
    let b3 = v128.load(block, L.CONTACT_BLOCK_WEIGHT + 48);
    const slide2 = sub(dot3(tx, tx, ty, ty, tz, tz), mul(along, along));
    const slid = v128.and(active, slides(slide2, r));
    if (v128.any_true(slid)) {
      loadDirections(block);
      gather(block, 0);
      addLowWords(block, 0, low);
      active = v128.andnot(active, turnAlong(block, slid, toPrev, r));
      nx = lastX;
      ny = lastY;
      nz = lastZ;
      b0 = last0;
      b1 = last1;
      b2 = last2;
      b3 = last3;
      addLowWords(block, 0, low);
      tx = madd(b0, x0, madd(b1, x1, mul(b2, x2)));
      ty = madd(b0, y0, madd(b1, y1, mul(b2, y2)));
      tz = madd(b0, z0, madd(b1, z1, mul(b2, z2)));
      g = dot3(nx, tx, ny, ty, nz, tz);
      pushed = f32x4.pmax(zero, dot3(ox, nx, oy, ny, oz, nz));
      active = v128.and(active, v128.or(f32x4.lt(g, r), f32x4.gt(pushed, zero)));
      if (!v128.any_true(active)) continue;
      gather(block, toPrev);
      addLowWords(block, toPrev, prevLow);
      ux = madd(b0, x0, madd(b1, x1, mul(b2, x2)));
      uy = madd(b0, y0, madd(b1, y1, mul(b2, y2)));
      uz = madd(b0, z0, madd(b1, z1, mul(b2, z2)));
      tx = sub(tx, ux);
      ty = sub(ty, uy);
      tz = sub(tz, uz);
      along = dot3(tx, nx, ty, ny, tz, nz);
    }
    // inverse masses, and the motion of each particle for a unit of push
    const w0 = inverseMasses(block);
    const w1 = inverseMasses(block + 16);
    const w2 = inverseMasses(block + 32);
    const w3 = inverseMasses(block + 48);
    const W = madd(w0, mul(b0, b0), madd(w1, mul(b1, b1), madd(w2, mul(b2, b2), mul(w3, mul(b3, b3)))));
    const s0 = mul(w0, b0);
    const s1 = mul(w1, b1);
    const s2 = mul(w2, b2);
    const s3 = mul(w3, b3);
    active = v128.and(active, f32x4.gt(W, zero));
    if (!v128.any_true(active)) continue;
    const hold = f32x4.pmin(r, dot3(nx, ux, ny, uy, nz, uz));
    const before = mul(W, pushed);
    const approach = f32x4.pmax(f32x4.neg(before), sub(hold, g));
    if (counts) {
      const loaded = v128.and(active, f32x4.gt(approach, mul(laden, r)));
      if (v128.any_true(loaded)) addLoaded(block, loaded);
    }
    let still = mul(release, sub(r, hold));
    const slow = mul(opened, r);
    if (v128.any_true(v128.and(active, f32x4.gt(still, slow)))) {
      const fast = mul(f32x4.splat(FAST), slow);
      const isSlow = f32x4.le(dot3(tx, tx, ty, ty, tz, tz), mul(fast, fast));
      if (v128.any_true(v128.and(active, isSlow)))
        still = v128.bitselect(
          f32x4.pmin(still, slowRelease(block, hold, slow, nx, ny, nz, b0, b1, b2)),
          still,
          isSlow,
        );
    }
    let iW = v128.and(f32x4.div(one, W), active);
    if (carries) iW = f32x4.pmin(iW, mostStep(s0, s1, s2, s3));
    // distance still missing after the approach is undone; less than `still` if the pair is already parting
    const extra = f32x4.pmax(zero, sub(add(hold, still), add(g, approach)));
    if (v128.any_true(v128.and(active, f32x4.gt(approach, mul(undone, r))))) far++;
    tx = sub(tx, mul(along, nx));
    ty = sub(ty, mul(along, ny));
    tz = sub(tz, mul(along, nz));
    if (carries) {
      // add the slip that the last substep's friction already prevented
      const normal = dot3(ox, nx, oy, ny, oz, nz);
      tx = sub(tx, mul(W, sub(ox, mul(normal, nx))));
      ty = sub(ty, mul(W, sub(oy, mul(normal, ny))));
      tz = sub(tz, mul(W, sub(oz, mul(normal, nz))));
    }
    const slide = f32x4.sqrt(dot3(tx, tx, ty, ty, tz, tz));
    const pressed = add(before, approach);
    const sticks = f32x4.le(slide, mul(v128.load(block, L.CONTACT_BLOCK_STATIC), pressed));
    const slips = f32x4.pmin(
      one,
      f32x4.pmax(zero, f32x4.div(mul(v128.load(block, L.CONTACT_BLOCK_DYNAMIC), pressed), slide)),
    );
    const cut = v128.bitselect(one, slips, sticks);

    const push = mul(iW, approach);
    const more = mul(iW, extra);
    const drag = mul(iW, cut);
    const all = add(push, more);
    let fx = sub(mul(all, nx), mul(drag, tx));
    let fy = sub(mul(all, ny), mul(drag, ty));
    let fz = sub(mul(all, nz), mul(drag, tz));
    const bounce = v128.load(block, L.CONTACT_BLOCK_BOUNCE);
    let bounces = v128.and(active, f32x4.gt(bounce, zero));
    if (v128.any_true(bounces)) bounces = v128.and(bounces, f32x4.lt(along, restingApproach(block)));
    if (carries) {
      fx = add(fx, v128.and(active, sub(mul(pushed, nx), ox)));
      fy = add(fy, v128.and(active, sub(mul(pushed, ny), oy)));
      fz = add(fz, v128.and(active, sub(mul(pushed, nz), oz)));
      // an impact is no load: the next substep must not begin with it
      v128.store(block, v128.andnot(add(ox, sub(fx, mul(more, nx))), bounces), L.CONTACT_BLOCK_PUSH);
      v128.store(block, v128.andnot(add(oy, sub(fy, mul(more, ny))), bounces), L.CONTACT_BLOCK_PUSH + 16);
      v128.store(block, v128.andnot(add(oz, sub(fz, mul(more, nz))), bounces), L.CONTACT_BLOCK_PUSH + 32);
    }
    // displacement of xPrev along n: `extra`, and the reversal of the approach
    let back = more;
    if (v128.any_true(bounces)) {
      const impact = f32x4.pmax(along, f32x4.pmin(zero, approachBefore(block, nx, ny, nz, b0, b1, b2)));
      back = add(more, v128.and(bounces, mul(iW, add(madd(bounce, impact, along), approach))));
    }
    shift(block, 0, low, s0, s1, s2, s3, fx, fy, fz);
    if (v128.any_true(f32x4.ne(back, zero)))
      shift(block, toPrev, prevLow, s0, s1, s2, s3, mul(back, nx), mul(back, ny), mul(back, nz));
  }
  return far;
}

/**
 * Returns, for each lane, the part of the allowed release that other pairs have left.
 * @param hold gaps at the start of the substep, with the release so far; slow release without external acceleration
 */
function slowRelease(
  block: usize,
  hold: v128,
  slow: v128,
  nx: v128,
  ny: v128,
  nz: v128,
  b0: v128,
  b1: v128,
  b2: v128,
): v128 {
  const gap = alongIn(block, L.H_SAFE, nx, ny, nz, b0, b1, b2);
  const most = sub(slow, mul(f32x4.splat(0.5 * RELEASE_FALLS), restingApproach(block)));
  return f32x4.pmax(f32x4.splat(0), sub(add(gap, most), hold));
}

/**
 * Returns n . sum b y of each lane, y the particles' rows in another array.
 * @param array field of the header with its address
 */
function alongIn(block: usize, array: usize, nx: v128, ny: v128, nz: v128, b0: v128, b1: v128, b2: v128): v128 {
  const by = <usize>load<u32>(L.HEADER + array) - <usize>load<u32>(L.HEADER, L.H_X);
  const last = block + 48;
  let sum = f32x4.splat(0);
  for (let k = 0; k < 3; k++) {
    const corner = block + ((<usize>k) << 4);
    const a = rowBetween(last, corner, by);
    const b = rowBetween(last + 4, corner + 4, by);
    const c = rowBetween(last + 8, corner + 8, by);
    const d = rowBetween(last + 12, corner + 12, by);
    const weight = k === 0 ? b0 : k === 1 ? b1 : b2;
    sum = madd(weight, dot3(nx, xs(a, b, c, d), ny, ys(a, b, c, d), nz, zs(a, b, c, d)), sum);
  }
  return sum;
}

/**
 * Returns the row of one particle minus that of another, in an array beside X. @param from, to where the particles'
 * addresses are stored; by offset of the array from X
 */
// @inline
function rowBetween(from: usize, to: usize, by: usize): v128 {
  return sub(v128.load(<usize>load<u32>(to) + by), v128.load(<usize>load<u32>(from) + by));
}

/**
 * Returns, for each lane, the push for each meter of approach that moves a particle by MOST_STEP of it. Where colliders
 * hold three of a pair's particles, the fourth may have a weight of 0.001: to undo 1 mm, it would move by 1 m.
 * @param s0, s1, s2, s3 motion of each particle for a unit of push
 */
// @inline
function mostStep(s0: v128, s1: v128, s2: v128, s3: v128): v128 {
  const a = f32x4.pmax(f32x4.abs(s0), f32x4.abs(s1));
  const b = f32x4.pmax(f32x4.abs(s2), f32x4.abs(s3));
  return f32x4.div(f32x4.splat(MOST_STEP), f32x4.pmax(a, b));
}

/**
 * Returns, for each lane, minus the displacement that the largest external acceleration of its particles makes in two
 * substeps.
 */
function restingApproach(block: usize): v128 {
  const h = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const same = load<f32>(L.HEADER, L.H_FALL2);
  return mul(f32x4.splat(-2 * h * h), f32x4.sqrt(same >= 0 ? f32x4.splat(same) : mostFall2(block)));
}

/** Returns, for each lane, the square of the largest external acceleration of its particles. */
function mostFall2(block: usize): v128 {
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  let most = f32x4.splat(0);
  for (let k: usize = 0; k < 64; k += 16) {
    const at = block + k;
    const a = v128.load(<usize>load<u32>(at, 0) + toAcc);
    const b = v128.load(<usize>load<u32>(at, 4) + toAcc);
    const c = v128.load(<usize>load<u32>(at, 8) + toAcc);
    const d = v128.load(<usize>load<u32>(at, 12) + toAcc);
    const x = xs(a, b, c, d);
    const y = ys(a, b, c, d);
    const z = zs(a, b, c, d);
    most = f32x4.pmax(most, dot3(x, x, y, y, z, z));
  }
  return most;
}

/** Finds H_FALL2, before the first substep: a pair then need not read the accelerations of its particles. */
export function findFall(): void {
  const blows = load<i32>(<usize>load<u32>(L.HEADER, L.H_WIND), L.WIND_ON) !== 0;
  store<f32>(L.HEADER, blows ? -1 : commonFall2(), L.H_FALL2);
}

/** Returns the largest squared acceleration of all particles if all free ones have it, or -1. */
function commonFall2(): f32 {
  let at = <usize>load<u32>(L.HEADER, L.H_X);
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - at;
  const end = at + ((<usize>load<i32>(L.HEADER, L.H_PARTICLES)) << 4);
  const zero = f32x4.splat(0);
  let least = f32x4.splat(Infinity);
  let most = zero;
  for (; at < end; at += 64) {
    const a = v128.load(at + toAcc);
    const b = v128.load(at + toAcc, 16);
    const c = v128.load(at + toAcc, 32);
    const d = v128.load(at + toAcc, 48);
    const x = xs(a, b, c, d);
    const y = ys(a, b, c, d);
    const z = zs(a, b, c, d);
    const fall2 = dot3(x, x, y, y, z, z);
    const w = ws(v128.load(at), v128.load(at, 16), v128.load(at, 32), v128.load(at, 48));
    most = f32x4.pmax(most, fall2);
    least = f32x4.pmin(least, v128.bitselect(fall2, f32x4.splat(Infinity), f32x4.ne(w, zero)));
  }
  return smallest(least) === largest(most) ? largest(most) : -1;
}

/**
 * Returns, for each lane, the displacement along n in this substep by the velocities before it, m. Any further
 * displacement is the pull of the bodies, not an impact (rigidRow.ts).
 */
function approachBefore(block: usize, nx: v128, ny: v128, nz: v128, b0: v128, b1: v128, b2: v128): v128 {
  return mul(f32x4.splat(load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS)), alongIn(block, L.H_V, nx, ny, nz, b0, b1, b2));
}

/** Returns the push of each pair that balances two substeps of external acceleration, kg m. */
export function ownWeight(block: usize): v128 {
  const zero = f32x4.splat(0);
  let W = zero;
  for (let k: usize = 64; k > 0; ) {
    k -= 16;
    const b = v128.load(block + k, L.CONTACT_BLOCK_WEIGHT);
    W = madd(inverseMasses(block + k), mul(b, b), W);
  }
  return v128.and(f32x4.div(f32x4.neg(restingApproach(block)), W), f32x4.gt(W, zero));
}

/** Pushes the pairs of `count` blocks apart as in the last substep. */
export function pushAsBefore(block: usize, count: i32): void {
  findArrays();
  const zero = f32x4.splat(0);
  for (let n = 0; n < count; n++, block += L.CONTACT_BLOCK_BYTES) {
    let fx = v128.load(block, L.CONTACT_BLOCK_PUSH);
    let fy = v128.load(block, L.CONTACT_BLOCK_PUSH + 16);
    let fz = v128.load(block, L.CONTACT_BLOCK_PUSH + 32);
    if (!v128.any_true(v128.or(fx, v128.or(fy, fz)))) continue;
    // a pair does not pull
    const pushes = f32x4.gt(
      dot3(
        fx,
        v128.load(block, L.CONTACT_BLOCK_NORMAL),
        fy,
        v128.load(block, L.CONTACT_BLOCK_NORMAL + 16),
        fz,
        v128.load(block, L.CONTACT_BLOCK_NORMAL + 32),
      ),
      zero,
    );
    fx = v128.and(fx, pushes);
    fy = v128.and(fy, pushes);
    fz = v128.and(fz, pushes);
    v128.store(block, fx, L.CONTACT_BLOCK_PUSH);
    v128.store(block, fy, L.CONTACT_BLOCK_PUSH + 16);
    v128.store(block, fz, L.CONTACT_BLOCK_PUSH + 32);
    const s0 = mul(inverseMasses(block), v128.load(block, L.CONTACT_BLOCK_WEIGHT));
    const s1 = mul(inverseMasses(block + 16), v128.load(block, L.CONTACT_BLOCK_WEIGHT + 16));
    const s2 = mul(inverseMasses(block + 32), v128.load(block, L.CONTACT_BLOCK_WEIGHT + 32));
    const s3 = mul(inverseMasses(block + 48), v128.load(block, L.CONTACT_BLOCK_WEIGHT + 48));
    shift(block, 0, toLow, s0, s1, s2, s3, fx, fy, fz);
  }
}

// offsets from X to xPrev and to the low words, and from xPrev to its own
let toPrev: usize = 0;
let toLow: usize = 0;
let prevLow: usize = 0;

function findArrays(): void {
  toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  toLow = lowFrom();
  prevLow = lowPrevFrom() - toPrev;
}

/**
 * Returns b0 (x0 - x3) + b1 (x1 - x3) + b2 (x2 - x3) of a pair, in one row: one transpose of four sums costs less than
 * three of positions. @param lane address of the pair's lane; from offset of the array of x from X; toLow of its low
 * words from it
 */
// @inline
function sumFrom(lane: usize, from: usize, toLow: usize): v128 {
  const last = <usize>load<u32>(lane, 48) + from;
  return madd(
    v128.load32_splat(lane, L.CONTACT_BLOCK_WEIGHT),
    between(last, <usize>load<u32>(lane) + from, toLow),
    madd(
      v128.load32_splat(lane, L.CONTACT_BLOCK_WEIGHT + 16),
      between(last, <usize>load<u32>(lane, 16) + from, toLow),
      mul(
        v128.load32_splat(lane, L.CONTACT_BLOCK_WEIGHT + 32),
        between(last, <usize>load<u32>(lane, 32) + from, toLow),
      ),
    ),
  );
}

/**
 * Moves the four particles of each lane by its vector times their s, at offset `by`; their low words are `low` bytes
 * further. Lanes that are not solved add 0. Vectors are transposed once, not the products of each particle. Inlined:
 * calls would store all registers, a sixth of the solve.
 */
// @inline
function shift(
  block: usize,
  by: usize,
  low: usize,
  s0: v128,
  s1: v128,
  s2: v128,
  s3: v128,
  x: v128,
  y: v128,
  z: v128,
): void {
  const none = f32x4.splat(0);
  const a = xs(x, y, z, none);
  const b = ys(x, y, z, none);
  const c = zs(x, y, z, none);
  const d = ws(x, y, z, none);
  moveFour(block, by, low, s0, a, b, c, d);
  moveFour(block + 16, by, low, s1, a, b, c, d);
  moveFour(block + 32, by, low, s2, a, b, c, d);
  moveFour(block + 48, by, low, s3, a, b, c, d);
}

/** Moves the particles whose addresses are at `at` by a, b, c and d times their lane of s. */
// @inline
function moveFour(at: usize, by: usize, low: usize, s: v128, a: v128, b: v128, c: v128, d: v128): void {
  move(<usize>load<u32>(at, 0) + by, low, mul(v128.shuffle<f32>(s, s, 0, 0, 0, 0), a));
  move(<usize>load<u32>(at, 4) + by, low, mul(v128.shuffle<f32>(s, s, 1, 1, 1, 1), b));
  move(<usize>load<u32>(at, 8) + by, low, mul(v128.shuffle<f32>(s, s, 2, 2, 2, 2), c));
  move(<usize>load<u32>(at, 12) + by, low, mul(v128.shuffle<f32>(s, s, 3, 3, 3, 3), d));
}

// @inline
function move(at: usize, low: usize, by: v128): void {
  const x = v128.load(at);
  const way = add(v128.load(at + low), by);
  const there = add(x, way);
  v128.store(at, there);
  v128.store(at + low, sub(way, sub(there, x)));
}
