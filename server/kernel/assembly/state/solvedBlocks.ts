/** Packed blocks of near pairs (contact/prepare/packNearPairs.ts), which a pass of the solve runs over. */
import * as L from "../layout/layout";

/** Address of packed block number n. */
// @inline
export function solvedAt(n: i32): usize {
  const front = <usize>load<u32>(L.HEADER, L.H_FRONT);
  return <usize>load<u32>(front, L.FRONT_SOLVED) + <usize>n * L.CONTACT_BLOCK_BYTES;
}

/** Returns the number of packed blocks. */
export function countSolved(): i32 {
  const front = <usize>load<u32>(L.HEADER, L.H_FRONT);
  return front ? load<i32>(front, L.FRONT_SOLVED_VERTEX) + load<i32>(front, L.FRONT_SOLVED_EDGE) : 0;
}

/** Returns whether a packed pair has a rigid body: then such pairs are taken out of the blocks (rigidContact.ts). */
export function hasRigidPairs(): bool {
  return load<i32>(<usize>load<u32>(L.HEADER, L.H_FRONT), L.FRONT_RIGID_PAIRS) !== 0;
}
