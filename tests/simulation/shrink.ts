/**
 * Finds a smaller history that breaks the same rule. Actions are removed while the rule still breaks: half of them at a
 * time, then a quarter, down to single ones (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input,
 * 2002). Each remaining action is necessary, as far as removing actions can tell.
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
