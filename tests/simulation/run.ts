/** Many histories, one after another, and what was wrong with some of them. */
import { History, makeStage, type Outcome, type Stage } from "./history.ts";
import { loadProgram, type Mutation } from "./load.ts";
import { type Fault, type Plan, planOf } from "./plan.ts";

/** The server's modules, evaluated for as many histories as there are. */
export async function prepareStage(mutations: readonly Mutation[] = []): Promise<Stage> {
  return makeStage(await loadProgram(mutations));
}

/** @param told its lines are wanted */
export async function runPlan(stage: Stage, plan: Plan, told = false): Promise<Outcome> {
  const history = new History(plan, stage, told);
  // Nobody waits for it: in a real server it would be the process's end.
  const unhandled = (error: unknown): void => history.fails(error as Error);
  process.on("unhandledRejection", unhandled);
  try {
    return await history.run();
  } finally {
    process.off("unhandledRejection", unhandled);
  }
}

export interface Histories {
  stage: Stage;
  /** Of the first; each has the next. */
  seed: number;
  count: number;
  faults: readonly Fault[];
  /** Told of each; true: enough. */
  report?: (outcome: Outcome) => boolean | void;
}

export interface Summary {
  histories: number;
  ticks: number;
  virtualSeconds: number;
  violations: Outcome[];
}

export async function runHistories({ stage, seed, count, faults, report }: Histories): Promise<Summary> {
  const summary: Summary = { histories: 0, ticks: 0, virtualSeconds: 0, violations: [] };
  for (let i = 0; i < count; i++) {
    const outcome = await runPlan(stage, planOf(seed + i, faults));
    summary.histories += 1;
    summary.ticks += outcome.ticks;
    summary.virtualSeconds += outcome.endMs / 1000;
    if (outcome.violation) summary.violations.push(outcome);
    if (report?.(outcome)) break;
  }
  return summary;
}
