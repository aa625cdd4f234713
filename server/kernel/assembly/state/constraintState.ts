/**
 * Rows of constraint blocks that outlive a substep (plastic strain). They are part of a room's state, like positions
 * and velocities, so reset, roll-back and the state hash include them. A body's constraints are a run of lanes in a
 * range of blocks. The lanes before and after it, in the run's first and last block, belong to other bodies.
 */

/**
 * Copies the rows at `offset` of lanes firstLane .. lastLane - 1 of a range of blocks to, or back from, a saved copy.
 * @param blocks address of the range's first block; stride bytes of a block; offset, rows: first row and number of
 * rows; saved address of `rows` rows a block
 * @param back 0: state -> saved, 1: saved -> state
 */
export function copyState(
  blocks: usize,
  stride: i32,
  offset: i32,
  rows: i32,
  firstLane: i32,
  lastLane: i32,
  saved: usize,
  back: i32,
): void {
  const lane = i32x4(0, 1, 2, 3);
  for (let n = firstLane >> 2; n < (lastLane + 3) >> 2; n++) {
    const number = i32x4.add(i32x4.splat(n << 2), lane);
    const mine = v128.and(i32x4.ge_s(number, i32x4.splat(firstLane)), i32x4.lt_s(number, i32x4.splat(lastLane)));
    let live = blocks + <usize>(n * stride + offset);
    let copy = saved + <usize>((n * rows) << 4);
    for (let r = 0; r < rows; r++, live += 16, copy += 16) {
      const from = back ? copy : live;
      const to = back ? live : copy;
      v128.store(to, v128.bitselect(v128.load(from), v128.load(to), mine));
    }
  }
}

/** FNV-1a as in guard.ts, continued over those rows, lane after lane. */
export function hashState(
  hash: u64,
  blocks: usize,
  stride: i32,
  offset: i32,
  rows: i32,
  firstLane: i32,
  lastLane: i32,
): u64 {
  for (let lane = firstLane; lane < lastLane; lane++) {
    const at = blocks + <usize>((lane >> 2) * stride + offset + ((lane & 3) << 2));
    for (let r = 0; r < rows; r++) hash = (hash ^ load<u32>(at + <usize>(r << 4))) * 0x100000001b3;
  }
  return hash;
}
