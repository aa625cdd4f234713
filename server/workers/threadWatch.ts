/** Looks at a thread now and then, and says when it has to be ended (stuckRule.ts). */
import type { Worker } from "node:worker_threads";
import { StuckRule, type ThreadLook } from "./stuckRule.ts";
import type { StuckReason } from "./threadLost.ts";

/** CPU time is asked for this often, ms: each answer takes some microseconds of the thread. */
const CPU_INTERVAL_MS = 250;

/** A question for the thread's CPU time. */
interface Question {
  worker: Worker;
  /** The thread's progress when it was asked. */
  progress: number;
  askedMs: number;
  cpuMs: number | undefined;
  isOver: boolean;
}

export class ThreadWatch {
  readonly #rule = new StuckRule();
  #question: Question | undefined;

  /** @param look without CPU time, which the watch asks the worker for */
  look(worker: Worker | undefined, look: Omit<ThreadLook, "cpuMs">, elapsedMs: number): StuckReason | null {
    const question = this.#question;
    const isMeant = question?.worker === worker && question?.progress === look.progress;
    const reason = this.#rule.look({ ...look, cpuMs: isMeant ? question?.cpuMs : undefined }, elapsedMs);
    const isOpen = isMeant && (!question!.isOver || performance.now() - question!.askedMs < CPU_INTERVAL_MS);
    if (this.#rule.isSuspicious && worker && !isOpen) this.#question = ask(worker, look.progress);
    return reason;
  }
}

/** A thread that gets no processor does not answer: it has used no CPU time. */
function ask(worker: Worker, progress: number): Question {
  const question: Question = { worker, progress, askedMs: performance.now(), cpuMs: undefined, isOver: false };
  worker.cpuUsage().then(
    ({ user, system }) => Object.assign(question, { cpuMs: (user + system) / 1000, isOver: true }),
    // A thread that has just ended does not say.
    () => Object.assign(question, { isOver: true }),
  );
  return question;
}
