/**
 * Loads of piles. A pass over near pairs carries a push from one layer to the next, and colliders answer only after
 * the solve. A pile of twenty sheets sank until the exact check pushed its pairs apart one by one, 20,000 a tick. In a
 * room with piles, pairs begin a substep with their pushes of the last one (warm start), and may take them back: then
 * one pass a substep carries any load, and the load limits friction (Catto 2005, section 4; Macklin et al. 2019).
 *   x_k += w_k b_k L n,  L the push of the last substep          then in the pass, W = sum_k w_k b_k^2:
 *   dL = max(-L, (hold - n . sum_k b_k x_k) / W),  L += dL
 * While pairs are solved, particles that pairs press into a collider are outside of it: the collider carries them.
 * Then they go back in, because the collider's friction is proportional to their depth.
 */
import * as L from "../../layout/layout";
import { restOnColliders } from "../../colliders/leaveColliders";
import { spendWork } from "../../scheduler/clock";
import { rigidRow } from "../../state/owners";
import { nearOf } from "../prepare/blockStatus";
import { laneOf } from "../verify/contactPair";
import { ownWeight, pushAsBefore } from "./contactSolver";
import { hasLoads } from "../../state/islands";
import { countSolved, solvedAt } from "../../state/solvedBlocks";
import { countWork } from "../../state/work";

/**
 * Mark of a particle in the fourth lane of its color mask. A held particle has minus its inverse mass there, and its
 * displacement in the other lanes.
 */
const SEEN: f32 = 1;
/** Counted work of a packed block whose pairs keep their pushes: it is packed, held out of colliders and stored. */
const UNITS_OF_LOAD = 16;

// @inline
function maskOf(particle: usize): usize {
  return particle + (<usize>load<u32>(L.HEADER, L.H_COLOR_MASKS) - <usize>load<u32>(L.HEADER, L.H_X));
}

/**
 * Call before the passes of an iteration. @param first whether it is the substep's first iteration @returns whether
 * pairs keep their pushes
 */
export function beginLoads(first: bool): bool {
  if (!load<u32>(L.HEADER, L.H_FRONT) || !hasLoads()) return false;
  const blocks = countSolved();
  const collides = load<i32>(L.HEADER, L.H_COLLIDER_COUNT) !== 0;
  if (first) pushAsBefore(solvedAt(0), blocks);
  if (collides) for (let n = 0; n < blocks; n++) holdBlock(solvedAt(n));
  spendWork(blocks);
  countWork(UNITS_OF_LOAD * blocks);
  return true;
}

/** Call after the passes of an iteration. */
export function endLoads(last: bool): void {
  const blocks = countSolved();
  if (load<i32>(L.HEADER, L.H_COLLIDER_COUNT)) for (let n = 0; n < blocks; n++) releaseBlock(solvedAt(n));
  if (last) for (let n = 0; n < blocks; n++) keepPushes(solvedAt(n));
}

/** Holds the particles of a block that are in colliders. */
function holdBlock(block: usize): void {
  for (let k: usize = 0; k < 64; k += 4)
    if (load<i32>(block + (k & 12), L.CONTACT_BLOCK_PAIR)) holdOnColliders(<usize>load<u32>(block + k));
}

/** Releases a block's particles. */
function releaseBlock(block: usize): void {
  for (let k: usize = 0; k < 64; k += 4) releaseFromColliders(<usize>load<u32>(block + k));
}

/** Puts a particle that is in a collider onto it, where it does not move until it is released. */
function holdOnColliders(particle: usize): void {
  if (load<f32>(particle, 12) === 0 || rigidRow(particle)) return;
  const mask = maskOf(particle);
  if (load<f32>(mask, 12) !== 0) return;
  store<f32>(mask, SEEN, 12);
  const inside = v128.load(particle);
  if (!restOnColliders(particle)) return;
  const moved = f32x4.sub(v128.load(particle), inside);
  v128.store(mask, f32x4.replace_lane(moved, 3, -f32x4.extract_lane(inside, 3)));
  store<f32>(particle, 0, 12);
}

/** Puts a particle that restOnColliders moved out of a collider back into it. Masks are 0 between substeps. */
function releaseFromColliders(particle: usize): void {
  const mask = maskOf(particle);
  const moved = v128.load(mask);
  if (f32x4.extract_lane(moved, 3) === 0) return;
  if (f32x4.extract_lane(moved, 3) < 0) v128.store(particle, f32x4.sub(v128.load(particle), moved));
  v128.store(mask, f32x4.splat(0));
}

/**
 * Pushes of a packed block go to its pairs. They grow by no more than the weight that a pair carries alone: the push
 * of an impact ends with the impact, because one pass does not take it back.
 */
function keepPushes(block: usize): void {
  const growth = ownWeight(block);
  for (let k: usize = 0; k < 16; k += 4) {
    const pair = load<i32>(block + k, L.CONTACT_BLOCK_PAIR);
    if (!pair) continue;
    const lane = laneOf(pair - 1);
    const size = sizeOf(block + k);
    const most = sizeOf(lane) + laneAt(growth, k);
    const scale: f32 = size > most ? most / size : 1;
    for (let row: usize = 0; row < 48; row += 16)
      store<f32>(lane + row, scale * load<f32>(block + k + row, L.CONTACT_BLOCK_PUSH), L.CONTACT_BLOCK_PUSH);
  }
}

// @inline
function laneAt(a: v128, k: usize): f32 {
  if (k === 0) return f32x4.extract_lane(a, 0);
  if (k === 4) return f32x4.extract_lane(a, 1);
  return k === 8 ? f32x4.extract_lane(a, 2) : f32x4.extract_lane(a, 3);
}

/** Size of a lane's push, kg m. */
function sizeOf(lane: usize): f32 {
  const x = load<f32>(lane, L.CONTACT_BLOCK_PUSH);
  const y = load<f32>(lane, L.CONTACT_BLOCK_PUSH + 16);
  const z = load<f32>(lane, L.CONTACT_BLOCK_PUSH + 32);
  return Mathf.sqrt(x * x + y * y + z * z);
}

// @inline
function pushAt(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_PUSHES) + <usize>n * L.PUSH_BYTES;
}

/** Near pairs of a new list take over the pushes of the list before it. Those of sleeping bodies are kept. */
export function takePushes(): void {
  const count = load<i32>(L.HEADER, L.H_PUSH_COUNT);
  if (!count) return;
  // chains of the pushes on each first particle, in the color masks
  for (let n = 0; n < count; n++) {
    const head = maskOf(<usize>load<u32>(pushAt(n)));
    store<i32>(pushAt(n), load<i32>(head), L.PUSH_NEXT);
    store<i32>(head, n + 1);
  }
  const capacity = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY);
  takeRange(0, load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS));
  takeRange(capacity - load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS), capacity);
  for (let n = 0; n < count; n++) store<i32>(maskOf(<usize>load<u32>(pushAt(n))), 0);
  let kept = 0;
  for (let n = 0; n < count; n++) {
    const push = pushAt(n);
    const sleeps = load<f32>(<usize>load<u32>(push), 12) === 0 && load<f32>(<usize>load<u32>(push, 12), 12) === 0;
    if (sleeps && !isTaken(push)) {
      memory.copy(pushAt(kept), push, L.PUSH_BYTES);
      kept++;
    }
  }
  memory.fill(pushAt(kept), 0, <usize>(count - kept) * L.PUSH_BYTES);
  store<i32>(L.HEADER, kept, L.H_PUSH_COUNT);
}

// @inline
function isTaken(push: usize): bool {
  return !(load<i32>(push, L.PUSH_FORCE) | load<i32>(push, L.PUSH_FORCE + 4) | load<i32>(push, L.PUSH_FORCE + 8));
}

/** Takes over the pushes of the blocks begin .. end. */
function takeRange(begin: i32, end: i32): void {
  for (let n = begin, near = nearOf(begin); n < end; n++, near += 4) {
    spendWork(1);
    if (!(load<i32>(near) & ~L.NEAR_FAR_LANES)) continue;
    for (let pair = n << 2; pair < (n + 1) << 2; pair++) takePush(laneOf(pair));
  }
}

function takePush(lane: usize): void {
  for (let n = load<i32>(maskOf(<usize>load<u32>(lane))); n; n = load<i32>(pushAt(n - 1), L.PUSH_NEXT)) {
    const push = pushAt(n - 1);
    let same = true;
    for (let k: usize = 0; k < 4; k++)
      same = same && load<u32>(push + (k << 2), L.PUSH_ADDRESS) === load<u32>(lane + (k << 4));
    if (!same) continue;
    for (let r: usize = 0; r < 3; r++) {
      store<f32>(lane + (r << 4), load<f32>(push + (r << 2), L.PUSH_FORCE), L.CONTACT_BLOCK_PUSH);
      // a taken push is not kept
      store<f32>(push + (r << 2), 0, L.PUSH_FORCE);
    }
    return;
  }
}
