/** Runs many histories, one after another, and reports which failed. */
import { History, makeStage, type Outcome, type Stage } from "./history.ts";
import { loadProgram, type Mutation } from "./load.ts";
import { type Fault, type Plan, planOf } from "./plan.ts";

/** Evaluates the server's modules once for all histories. */
export async function prepareStage(mutations: readonly Mutation[] = []): Promise<Stage> {
  return makeStage(await loadProgram(mutations));
}

/** @param told keep the log lines */
export async function runPlan(stage: Stage, plan: Plan, told = false): Promise<Outcome> {
  const history = new History(plan, stage, told);
  // An unhandled rejection would end a real server.
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
  /** Seed of the first history; each next one has the next seed. */
  seed: number;
  count: number;
  faults: readonly Fault[];
  /** Called with each outcome; returns true to stop. */
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
