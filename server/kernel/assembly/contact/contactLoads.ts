/**
 * Loads of piles. A pass over near pairs carries a push from one layer to the next, and colliders answer only after
 * the solve. A pile of twenty sheets sank until the exact check pushed its pairs apart one by one, 20,000 a tick. In a
 * room with piles, pairs begin a substep with their pushes of the last one (warm start), and may take them back: then
 * one pass a substep carries any load, and friction has it as its limit (Catto 2005, section 4; Macklin et al. 2019).
 *   x_k += w_k b_k L n,  L the push of the last substep          then in the pass, W = sum_k w_k b_k^2:
 *   dL = max(-L, (hold - n . sum_k b_k x_k) / W),  L += dL
 * While pairs are solved, particles that pairs press into a collider are outside of it: the collider carries them.
 * Then they go back in, because the collider's friction goes by their depth.
 */
import {
  HEADER,
  H_X,
  H_COLOR_MASKS,
  H_COLLIDER_COUNT,
  H_FRONT,
  H_PRESSED,
  H_SUBSTEP_SECONDS,
  FRONT_SOLVED,
  FRONT_SOLVED_EDGE,
  FRONT_SOLVED_VERTEX,
  CONTACT_BLOCK_BYTES,
  CONTACT_BLOCK_PAIR,
  CONTACT_BLOCK_PUSH,
} from "../layout/layout";
import { restOnColliders } from "../colliders/leaveColliders";
import { spendWork } from "../scheduler/clock";
import { rigidRow } from "../state/owners";
import { laneOf } from "./contactPair";
import { pushAsBefore } from "./contactSolver";

/** A pair whose gap is below this part of its thickness is pressed. */
const PRESSED: f32 = 0.25;
/** Pairs are pressed in all substeps for so long where there is a pile, s. */
const SECONDS: f32 = 0.25;
/** H_PRESSED where there is a pile. */
const LOADED = -1;

/** Mark of a particle in the fourth lane of its color mask. Of one that is held: minus its inverse mass, and its way. */
const SEEN: f32 = 1;

let anyPressed = false;
let any = false;

/** Before near pairs are packed. */
export function beginPressed(): void {
  anyPressed = false;
  any = false;
}

/** @param gap of a pair that is packed, when the substep began, m */
// @inline
export function notePressed(gap: f32, r: f32): void {
  any = true;
  if (gap < PRESSED * r) anyPressed = true;
}

/** After near pairs were packed. */
export function endPressed(): void {
  const substeps = load<i32>(HEADER, H_PRESSED);
  if (substeps === LOADED) {
    if (!any) store<i32>(HEADER, 0, H_PRESSED);
    return;
  }
  const next = anyPressed ? substeps + 1 : 0;
  store<i32>(HEADER, <f32>next * load<f32>(HEADER, H_SUBSTEP_SECONDS) > SECONDS ? LOADED : next, H_PRESSED);
}

/** Do pairs keep their pushes? */
// @inline
export function hasLoads(): bool {
  return load<i32>(HEADER, H_PRESSED) === LOADED;
}

// @inline
function solvedAt(n: i32): usize {
  const front = <usize>load<u32>(HEADER, H_FRONT);
  return <usize>load<u32>(front, FRONT_SOLVED) + <usize>n * CONTACT_BLOCK_BYTES;
}

// @inline
function countSolved(): i32 {
  const front = <usize>load<u32>(HEADER, H_FRONT);
  return load<i32>(front, FRONT_SOLVED_VERTEX) + load<i32>(front, FRONT_SOLVED_EDGE);
}

// @inline
function maskOf(particle: usize): usize {
  return particle + (<usize>load<u32>(HEADER, H_COLOR_MASKS) - <usize>load<u32>(HEADER, H_X));
}

/** Before the passes of an iteration. @param first of the substep @returns whether pairs keep their pushes */
export function beginLoads(first: bool): bool {
  if (!load<u32>(HEADER, H_FRONT) || !hasLoads()) return false;
  const blocks = countSolved();
  const collides = load<i32>(HEADER, H_COLLIDER_COUNT) !== 0;
  if (first) pushAsBefore(solvedAt(0), blocks);
  if (collides) for (let n = 0; n < blocks; n++) putOut(solvedAt(n));
  spendWork(blocks);
  return true;
}

/** After the passes of an iteration. */
export function endLoads(last: bool): void {
  const blocks = countSolved();
  for (let n = 0; n < blocks; n++) {
    if (load<i32>(HEADER, H_COLLIDER_COUNT)) putBack(solvedAt(n));
    if (last) keepPushes(solvedAt(n));
  }
}

/** Puts the particles of a block that are in colliders onto them, and holds them there. */
function putOut(block: usize): void {
  for (let k: usize = 0; k < 64; k += 4) {
    const particle = <usize>load<u32>(block + k);
    const mask = maskOf(particle);
    if (load<f32>(mask, 12) !== 0) continue;
    store<f32>(mask, SEEN, 12);
    if (load<f32>(particle, 12) === 0 || rigidRow(particle)) continue;
    const inside = v128.load(particle);
    if (!restOnColliders(particle)) continue;
    const moved = f32x4.sub(v128.load(particle), inside);
    v128.store(mask, f32x4.replace_lane(moved, 3, -f32x4.extract_lane(inside, 3)));
    store<f32>(particle, 0, 12);
  }
}

/** Moves them back in. Masks are 0 between substeps. */
function putBack(block: usize): void {
  const zero = f32x4.splat(0);
  for (let k: usize = 0; k < 64; k += 4) {
    const particle = <usize>load<u32>(block + k);
    const mask = maskOf(particle);
    const moved = v128.load(mask);
    if (f32x4.extract_lane(moved, 3) < 0) v128.store(particle, f32x4.sub(v128.load(particle), moved));
    v128.store(mask, zero);
  }
}

/** Pushes of a packed block go to its pairs. */
function keepPushes(block: usize): void {
  for (let k: usize = 0; k < 16; k += 4) {
    const pair = load<i32>(block + k, CONTACT_BLOCK_PAIR);
    if (!pair) continue;
    const lane = laneOf(pair - 1);
    for (let row: usize = 0; row < 48; row += 16)
      store<f32>(lane + row, load<f32>(block + k + row, CONTACT_BLOCK_PUSH), CONTACT_BLOCK_PUSH);
  }
}
