/** Status words of contact blocks, stored apart from them: is any lane near, is any lane bad? */
import * as L from "../../layout/layout";

// @inline
export function numberOfBlock(block: usize): i32 {
  return <i32>((block - <usize>load<u32>(L.HEADER, L.H_CONTACT_BLOCKS)) / L.CONTACT_BLOCK_BYTES);
}

/** Value of CONTACT_BLOCK_KEEP or CONTACT_BLOCK_THICKNESS for lanes that are not verified or not solved, m. */
export const NEVER: f32 = -1e30;

/** Address of the status word of block number n. */
// @inline
export function nearOf(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_BLOCK_NEAR) + ((<usize>n) << 2);
}
// @inline
export function badOf(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_BLOCK_BAD) + ((<usize>n) << 2);
}

/** Address of the QUIET_* bits of block number n. */
// @inline
export function quietOf(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_BLOCK_QUIET) + ((<usize>n) << 2);
}
/** Address of the block's nearOf word at the time when near lanes were packed. */
// @inline
export function packedOf(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_BLOCK_PACKED) + ((<usize>n) << 2);
}

/** Bits of lane 0 in a nearOf word. */
const LANE_KEY: i32 = 1 | (1 << L.NEAR_PRESSED) | (1 << L.NEAR_BESIDE);

/**
 * Returns whether a lane was far at the last check: its direction separates it by `NEAR` thicknesses, and by half of
 * its least distance at S (contactCheck.ts).
 */
// @inline
export function isFar(pair: i32): bool {
  return ((load<i32>(nearOf(pair >> 2)) >> (pair & 3)) & (1 << L.NEAR_FAR)) !== 0;
}

/** Notes that the direction of a lane, or its pair, has changed. */
export function forgetFar(pair: i32): void {
  const at = nearOf(pair >> 2);
  store<i32>(at, load<i32>(at) & ~(1 << (L.NEAR_FAR + (pair & 3))));
}

/** Returns the bits of a lane in its block's nearOf word, as those of lane 0, except NEAR_FAR. */
export function nearBits(pair: i32): i32 {
  return (load<i32>(nearOf(pair >> 2)) >> (pair & 3)) & LANE_KEY;
}

/** Replaces the bits of a lane in its block's nearOf word. @param bits as `nearBits` returns them; 0: it is not near */
export function putNearBits(pair: i32, bits: i32): void {
  const at = nearOf(pair >> 2);
  store<i32>(
    at,
    (load<i32>(at) & ~((LANE_KEY | (1 << L.NEAR_FAR)) << (pair & 3))) | (bits << (pair & 3)) | L.NEAR_FRESH,
  );
}

/** Clears the status of block number n: nothing near, nothing bad. */
export function clearStatus(n: i32): void {
  store<i32>(nearOf(n), 0);
  store<i32>(badOf(n), 0);
  store<i32>(quietOf(n), 0);
}

/** Number of a block among the packed ones (packNearPairs.ts), -1: it belongs to the list. */
// @inline
function numberSolved(block: usize): i32 {
  const front = <usize>load<u32>(L.HEADER, L.H_FRONT);
  if (!front) return -1;
  const first = <usize>load<u32>(front, L.FRONT_SOLVED);
  return block >= first && block < first + <usize>load<i32>(front, L.FRONT_SOLVED_CAPACITY) * L.CONTACT_BLOCK_BYTES
    ? <i32>((block - first) / L.CONTACT_BLOCK_BYTES)
    : -1;
}

/** Returns whether a block of the list, or a packed one, holds vertex-triangle pairs. */
export function isVertexBlock(block: usize): bool {
  const n = numberSolved(block);
  return n < 0
    ? block <
        <usize>load<u32>(L.HEADER, L.H_CONTACT_BLOCKS) +
          <usize>load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS) * L.CONTACT_BLOCK_BYTES
    : n < load<i32>(<usize>load<u32>(L.HEADER, L.H_FRONT), L.FRONT_SOLVED_VERTEX);
}

/** Address of the near words of this block and those behind it. */
export function nearsFrom(block: usize): usize {
  const n = numberSolved(block);
  return n < 0
    ? nearOf(numberOfBlock(block))
    : <usize>load<u32>(<usize>load<u32>(L.HEADER, L.H_FRONT), L.FRONT_SOLVED_HEADS) + ((<usize>n) << 2);
}

/** Play of a leaf, as a part of its surface's radius. */
export const PLAY: f32 = 1.0 / 32;
/** Returns twice the play of the leaf with the larger of these contact radii. */
// @inline
export function playsOf(a: f32, b: f32): f32 {
  return 2 * PLAY * max<f32>(a, b);
}
