/**
 * Pushes of piles (kernel/assembly/contact/solve/contactLoads.ts) outlive the list of pairs: without them a pile sinks
 * whenever a checkpoint is taken or an island falls asleep. Rows of pairs between sleeping bodies stay for as long as
 * these sleep.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";

/** Invalidates the pair list. The next tick rebuilds it, and the new list takes over the pushes. */
export function forgetPairList(memory: WebAssembly.Memory): void {
  const i32 = new Int32Array(memory.buffer);
  const valid = (L.HEADER + L.H_LIST_VALID) / 4;
  if (i32[valid] === 1) savePushes(i32);
  i32[valid] = 0;
}

/** Forgets all pushes, after bodies were placed elsewhere. */
export function forgetPushes(memory: WebAssembly.Memory): void {
  const i32 = new Int32Array(memory.buffer);
  i32[(L.HEADER + L.H_PUSH_COUNT) / 4] = 0;
  i32[(L.HEADER + L.H_PRESSED) / 4] = 0;
  i32[(L.HEADER + L.H_LOADED) / 4] = 0;
}

function savePushes(i32: Int32Array): void {
  const header = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
  if (header(L.H_PRESSED) !== L.PILES || header(L.H_PUSHES) === 0) return;
  const most = L.PUSHES_A_PARTICLE * header(L.H_PARTICLES);
  const end = header(L.H_CONTACT_BLOCK_CAPACITY);
  let count = header(L.H_PUSH_COUNT);
  const keepRange = (begin: number, blocks: number): void => {
    for (let pair = 4 * begin; pair < 4 * (begin + blocks) && count < most; pair++) {
      const lane = (header(L.H_CONTACT_BLOCKS) + (pair >> 2) * L.CONTACT_BLOCK_BYTES) / 4 + (pair & 3);
      const push = lane + L.CONTACT_BLOCK_PUSH / 4;
      if ((i32[push]! | i32[push + 4]! | i32[push + 8]!) === 0) continue;
      const row = (header(L.H_PUSHES) + count * L.PUSH_BYTES) / 4;
      for (let k = 0; k < 4; k++) i32[row + L.PUSH_ADDRESS / 4 + k] = i32[lane + 4 * k]!;
      for (let r = 0; r < 3; r++) i32[row + L.PUSH_FORCE / 4 + r] = i32[push + 4 * r]!;
      count++;
    }
  };
  keepRange(0, header(L.H_VERTEX_CONTACT_BLOCKS));
  keepRange(end - header(L.H_EDGE_CONTACT_BLOCKS), header(L.H_EDGE_CONTACT_BLOCKS));
  i32[(L.HEADER + L.H_PUSH_COUNT) / 4] = count;
}
