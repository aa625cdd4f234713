/** Functions of the host that the kernel calls (server/sim/world/kernelModule.ts). */

/** Returns the host's time, s. */
export declare function now(): f64;
/**
 * Called before every substep while H_WATCH has WATCH_SUBSTEPS: for the free motion of bodies with a method.
 * @returns seconds that methods stepped
 */
export declare function substepBegins(): f64;
/**
 * Called after every substep while H_WATCH has WATCH_SUBSTEPS: for methods that interact with bodies of constraints,
 * and for recordings.
 * @returns seconds that methods stepped
 */
export declare function substepDone(): f64;
/**
 * Called by the orchestrating thread after every phase while H_WATCH has WATCH_PHASES, with its number in the program:
 * for the energy ledger. While H_WATCH has WATCH_SHARES, also before and after shared work inside a phase: for
 * benchmarks.
 */
export declare function phaseDone(phase: i32): void;
/** Called by preemptionPoint (clock.ts) while H_WATCH has WATCH_PREEMPTION. @returns time spent in other work, s */
export declare function preempt(): f64;
