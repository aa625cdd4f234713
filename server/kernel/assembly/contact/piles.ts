/** Finds whether a room has a pile: then pairs keep their pushes from substep to substep (contactLoads.ts). */
import * as L from "../layout/layout";
import { bodyOf } from "../state/owners";

/** A pair whose gap is below this part of its thickness is pressed. */
const PRESSED: f32 = 0.25;
/** Least number of pressed pairs of a pile. A fold has fewer. */
const MANY = 64;
/** Time for which a pile has that many in every substep, s. */
const SECONDS: f32 = 0.05;

// pairs of the packed ones that may keep pushes, and pressed ones
let near = 0;
let pressed = 0;

/** Call before near pairs are packed. */
export function beginPressed(): void {
  near = 0;
  pressed = 0;
}

/**
 * Counts a packed pair. @returns whether it keeps its push. Pairs of rigid bodies, which are solved after the pass, do
 * not
 */
export function notePressed(lane: usize): bool {
  const isPressed = load<f32>(lane, L.CONTACT_BLOCK_GAP) < PRESSED * load<f32>(lane, L.CONTACT_BLOCK_THICKNESS);
  if (!isPressed && !hasLoads()) return false;
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  const island = load<i32>(bodyOf(<usize>load<u32>(lane)), L.BODY_ISLAND);
  if (load<i32>(rows + <usize>island * L.BODY_BYTES, L.BODY_HELD) & L.HELD_RIGID) {
    for (let row: usize = 0; row < 48; row += 16) store<f32>(lane + row, 0, L.CONTACT_BLOCK_PUSH);
    return false;
  }
  near++;
  if (isPressed) pressed++;
  return true;
}

/** Call after near pairs were packed. */
export function endPressed(): void {
  const substeps = load<i32>(L.HEADER, L.H_PRESSED);
  if (substeps === L.PILES) {
    // the pushes of a sleeping pile are in the table
    if (!near && !load<i32>(L.HEADER, L.H_PUSH_COUNT)) store<i32>(L.HEADER, 0, L.H_PRESSED);
    return;
  }
  const next = pressed >= MANY ? substeps + 1 : 0;
  store<i32>(L.HEADER, <f32>next * load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS) > SECONDS ? L.PILES : next, L.H_PRESSED);
}

/** Returns whether pairs keep their pushes. */
// @inline
export function hasLoads(): bool {
  return load<i32>(L.HEADER, L.H_PRESSED) === L.PILES;
}
