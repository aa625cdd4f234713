/** Reasons of a lost thread, and whether the rejected work is to blame. */

/** Reasons for which the main thread ends a thread (stuckRule.ts). */
export type StuckReason = "no_progress" | "blocked";
/** `ended`: it crashed, ran out of memory, or was ended from outside. */
export type LossReason = StuckReason | "ended";

const TEXTS: Record<LossReason, string> = {
  no_progress: "used its CPU time without progress",
  blocked: "was blocked",
  ended: "ended",
};

export class ThreadLost extends Error {
  readonly reason: LossReason;
  /** The thread was executing this very work when it was lost, not another room's work before or in its middle. */
  readonly charged: boolean;

  constructor(reason: LossReason, charged: boolean, cause: unknown) {
    super(`the thread ${TEXTS[reason]} in the work of ${charged ? "this room" : "another room"}`, { cause });
    this.name = "ThreadLost";
    this.reason = reason;
    this.charged = charged;
  }
}

/** Returns whether the work is to blame. An error that the work itself threw counts, too. */
export const isCharged = (error: unknown): boolean => !(error instanceof ThreadLost) || error.charged;
