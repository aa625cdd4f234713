/** Looks at a thread regularly and tells when it must be ended (stuckRule.ts). */
import type { Worker } from "node:worker_threads";
import { StuckRule, type ThreadLook } from "../schedule/stuckRule.ts";
import type { StuckReason } from "../threadLost.ts";

/** Interval of CPU time queries, ms: each answer takes some microseconds of the thread. */
const CPU_INTERVAL_MS = 250;

/** A pending or answered query of the thread's CPU time. */
interface Question {
  worker: Worker;
  /** The thread's progress at the time of the query. */
  progress: number;
  askedMs: number;
  cpuMs: number | undefined;
  isOver: boolean;
}

export class ThreadWatch {
  readonly #rule = new StuckRule();
  #question: Question | undefined;

  /** @param look observations without CPU time, which the watch queries from the worker */
  look(worker: Worker | undefined, look: Omit<ThreadLook, "cpuMs">, elapsedMs: number): StuckReason | null {
    const question = this.#question;
    const isMeant = question?.worker === worker && question?.progress === look.progress;
    const reason = this.#rule.look({ ...look, cpuMs: isMeant ? question?.cpuMs : undefined }, elapsedMs);
    const isOpen = isMeant && (!question!.isOver || performance.now() - question!.askedMs < CPU_INTERVAL_MS);
    if (this.#rule.isSuspicious && worker && !isOpen) this.#question = ask(worker, look.progress);
    return reason;
  }
}

/** Queries the CPU time. A thread without a processor does not answer, but it has not used CPU time either. */
function ask(worker: Worker, progress: number): Question {
  const question: Question = { worker, progress, askedMs: performance.now(), cpuMs: undefined, isOver: false };
  worker.cpuUsage().then(
    ({ user, system }) => Object.assign(question, { cpuMs: (user + system) / 1000, isOver: true }),
    // A thread that has just ended does not answer.
    () => Object.assign(question, { isOver: true }),
  );
  return question;
}
