/**
 * Contact between surfaces, as the step sees it: the list at the start of a tick, near pairs in every iteration,
 * verification at the end of a substep.
 *
 *   tick       beginPairList   list of pairs, unless the last one goes on               pairListLifetime.ts, pairs.ts,
 *   contactList.ts
 *   substep    keepSafe       S = x
 *              ... predict, solve with solveNearContacts in every iteration           contactPasses.ts,
 *              contactSolver.ts
 *              ... velocity, colliders
 *              verifyContacts  strayed too far? list again from S. Are all pairs clear?   pairListLifetime.ts,
 *                              contactCheck.ts
 *                             if not: impulses, zones, stop                          contactResponse.ts,
 *                             rigidImpactZones.ts
 *
 * After verifyContacts no two surfaces that meet intersect at x, nor did they on the straight way from S to x.
 */
import { HEADER, H_X, H_SAFE, H_PARTICLES } from "../layout/layout";
import { ANEW, NONE, advance, limitMotion, renewList, withinReach } from "./pairListLifetime";
import { changedCount } from "./changed";
import { checkAll } from "./contactPasses";
import { respond, stopAll, updateChanged } from "./contactResponse";

/** Lists that one substep may take: the response itself may carry something beyond the list's reach. */
const LISTS = 4;

/** S = x, before a substep moves anything. */
export function keepSafe(): void {
  const safe = <usize>load<u32>(HEADER, H_SAFE);
  if (safe) memory.copy(safe, <usize>load<u32>(HEADER, H_X), (<usize>load<i32>(HEADER, H_PARTICLES)) << 4);
}

/** @param h s */
export function verifyContacts(h: f32): void {
  if (!load<u32>(HEADER, H_SAFE)) return;
  let limited = 0;
  for (let n = 0; n < LISTS; n++) {
    if (n ? !withinReach() : !advance()) {
      const renewed = renewList();
      if (renewed === NONE) break;
      if (renewed === ANEW && !withinReach()) limited += limitMotion();
    }
    const found = checkAll();
    if ((!found || !respond()) && !limited) {
      // the list before this one may have been answered
      if (changedCount) updateChanged(h);
      return;
    }
    if (withinReach()) {
      updateChanged(h);
      return;
    }
  }
  stopAll();
  updateChanged(h);
}
