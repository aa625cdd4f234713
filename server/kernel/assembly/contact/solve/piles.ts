/**
 * Finds whether a room has a pile, or a lasting load: then pairs keep their pushes from substep to substep
 * (contactLoads.ts). Otherwise a load sinks into its pairs in each substep, and comes out as a swing that never ends.
 */
import * as L from "../../layout/layout";
import { hasLoads } from "../../state/islands";
import { bodyOf, isPrefactored } from "../../state/owners";

/** A pair whose gap is below this part of its thickness is pressed. */
export const PRESSED: f32 = 0.25;
/** Least number of pressed pairs of a pile. A fold has fewer. */
const MANY = 64;
/** Time for which a pile has that many in every substep, s. */
const SECONDS: f32 = 0.05;
/**
 * A load lasts if some pair is under load in every substep for that time, s; impacts are shorter. Pairs keep pushes
 * until there has been none to keep for that time: a body that bounces comes back.
 */
const SECONDS_OF_LOAD: f32 = 0.5;

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}

/** Call after the first pass of a substep, which counts pairs under load. */
export function noteLoaded(): void {
  if (hasLoads()) return;
  const next = load<i32>(L.HEADER, L.H_LOADED_NOW) ? load<i32>(L.HEADER, L.H_LOADED) + 1 : 0;
  const lasts = <f32>next * load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS) > SECONDS_OF_LOAD;
  store<i32>(L.HEADER, lasts ? 0 : next, L.H_LOADED);
  if (lasts) store<i32>(L.HEADER, L.PILES, L.H_PRESSED);
}

/** Call before near pairs are packed. */
export function beginPressed(): void {
  store<i32>(front(), 0, L.FRONT_KEEPS);
  store<i32>(front(), 0, L.FRONT_PRESSED);
}

/** Corrects the number of pressed pairs while packed pairs stay. */
// @inline
export function addPressed(more: i32): void {
  if (more) store<i32>(front(), load<i32>(front(), L.FRONT_PRESSED) + more, L.FRONT_PRESSED);
}

/**
 * Returns whether a pair may keep its push. Pairs of islands with rigid bodies may not, because these are solved after
 * the pass; nor may pairs of prefactored bodies, which keep forces themselves (keptForces.ts).
 * @param lane of a listed or packed block
 */
function mayKeep(lane: usize): bool {
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  const island = load<i32>(bodyOf(<usize>load<u32>(lane)), L.BODY_ISLAND);
  if (load<i32>(rows + <usize>island * L.BODY_BYTES, L.BODY_HELD) & L.HELD_RIGID) return false;
  for (let k: usize = 0; k < 64; k += 16) if (isPrefactored(<usize>load<u32>(lane + k))) return false;
  return true;
}

/** Counts pairs under load. @param lanes mask of a block's lanes that approach fast */
export function addLoaded(block: usize, lanes: v128): void {
  for (let bits = v128.bitmask<i32>(lanes); bits; bits &= bits - 1)
    if (mayKeep(block + ((<usize>ctz(bits)) << 2))) {
      atomic.add<i32>(L.HEADER, 1, L.H_LOADED_NOW);
      return;
    }
}

/** Counts a packed pair. @returns whether it keeps its push */
export function notePressed(lane: usize): bool {
  const isPressed = load<f32>(lane, L.CONTACT_BLOCK_GAP) < PRESSED * load<f32>(lane, L.CONTACT_BLOCK_THICKNESS);
  if (!isPressed && !hasLoads()) return false;
  if (!mayKeep(lane)) {
    for (let row: usize = 0; row < 48; row += 16) store<f32>(lane + row, 0, L.CONTACT_BLOCK_PUSH);
    return false;
  }
  store<i32>(front(), load<i32>(front(), L.FRONT_KEEPS) + 1, L.FRONT_KEEPS);
  if (isPressed) addPressed(1);
  return true;
}

/** Call when near pairs are packed. */
export function endPressed(): void {
  const substeps = load<i32>(L.HEADER, L.H_PRESSED);
  if (substeps === L.PILES) {
    // the pushes of a sleeping pile are in the table
    const keeps = load<i32>(front(), L.FRONT_KEEPS) || load<i32>(L.HEADER, L.H_PUSH_COUNT);
    const idle = keeps ? 0 : load<i32>(L.HEADER, L.H_LOADED) + 1;
    const ends = <f32>idle * load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS) > SECONDS_OF_LOAD;
    store<i32>(L.HEADER, ends ? 0 : idle, L.H_LOADED);
    if (ends) store<i32>(L.HEADER, 0, L.H_PRESSED);
    return;
  }
  const next = load<i32>(front(), L.FRONT_PRESSED) >= MANY ? substeps + 1 : 0;
  store<i32>(L.HEADER, <f32>next * load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS) > SECONDS ? L.PILES : next, L.H_PRESSED);
}
