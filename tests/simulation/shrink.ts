/**
 * A smaller history that breaks the same rule: actions are left out, half of them at a time, then a quarter, down to
 * single ones, for as long as it still does (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input,
 * 2002). What is left is what it takes, as far as leaving out alone can tell.
 */
import type { Stage } from "./history.ts";
import type { Plan } from "./plan.ts";
import { runPlan } from "./run.ts";

/** Tries; each takes some milliseconds. */
const MOST_TRIES = 500;

/** @param rule that `plan` breaks */
export async function shrink(stage: Stage, plan: Plan, rule: string): Promise<Plan> {
  let smallest = plan;
  let tries = 0;
  for (let size = Math.ceil(plan.actions.length / 2); size >= 1; ) {
    let shrunk = false;
    for (let from = 0; from < smallest.actions.length && tries < MOST_TRIES; ) {
      const actions = smallest.actions.filter((_, i) => i < from || i >= from + size);
      const { violation } = await runPlan(stage, { ...smallest, actions });
      tries += 1;
      if (violation?.rule === rule) {
        smallest = { ...smallest, actions };
        shrunk = true;
      } else from += size;
    }
    if (size === 1 && !shrunk) break;
    size = shrunk ? size : Math.floor(size / 2);
  }
  return smallest;
}
