/**
 * Yield points. Long work calls `yieldPoint` about every millisecond, so that a thread with deferrable work can let
 * others go first (server/workers/stepping/stepsRunning.ts). In other threads it does nothing.
 */
let yieldThread = (): void => {};

export const yieldPoint = (): void => yieldThread();

/** Sets the function that this thread calls at yield points. */
export function atYieldPoints(does: () => void): void {
  yieldThread = does;
}
