/** What the kernel calls in its host (server/sim/kernelModule.ts). */

/** Seconds, from the host. */
export declare function now(): f64;
/**
 * Called after every substep while H_WATCH has WATCH_SUBSTEPS: methods that meet bodies of constraints, recordings.
 * @returns for how long methods stepped, s
 */
export declare function substepDone(): f64;
/**
 * Called by the orchestrating thread after every phase while H_WATCH has WATCH_PHASES, with its number in the program:
 * energy ledger; before and after what is shared out within one while H_WATCH has WATCH_SHARES: benchmarks.
 */
export declare function phaseDone(phase: i32): void;
/** Called by preemptionPoint (clock.ts) while H_WATCH has WATCH_PREEMPTION. @returns for how long, s */
export declare function preempt(): f64;
