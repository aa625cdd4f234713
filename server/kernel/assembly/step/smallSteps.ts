/** Small steps (docs/decisions/small-steps.md): a group of substeps between two verifications of contact. */
import { updatePredictedContacts } from "../contact/pipeline";
import * as L from "../layout/layout";
import { runInAdvance } from "./stages";

/**
 * Begins a substep of a group of `every`, which are verified together. The group's first substep (`opens`) finds
 * contacts: it moves all bodies ahead by the whole group, looks for near pairs, and moves them back.
 */
export function beginSmallStep(opens: bool, every: i32): void {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const bytes = (<usize>load<i32>(L.HEADER, L.H_PARTICLES)) << 4;
  const start = <usize>load<u32>(L.HEADER, L.H_START);
  if (opens) {
    store<f32>(L.HEADER, load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS) * <f32>every, L.H_AHEAD);
    runInAdvance(L.KIND_PREDICT);
    updatePredictedContacts();
    store<f32>(L.HEADER, -1, L.H_AHEAD);
    runInAdvance(L.KIND_PREDICT);
    store<f32>(L.HEADER, 0, L.H_AHEAD);
  }
  memory.copy(start, X, bytes);
}

/** Keeps the positions at the last verification, from which the next group of small steps predicts. */
export function endSmallSteps(): void {
  memory.copy(
    <usize>load<u32>(L.HEADER, L.H_START),
    <usize>load<u32>(L.HEADER, L.H_SAFE),
    (<usize>load<i32>(L.HEADER, L.H_PARTICLES)) << 4,
  );
}
