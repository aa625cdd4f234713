/**
 * Long work looks up at yield points, every millisecond or so: a thread whose work can wait lets others go first there
 * (server/workers/stepsRunning.ts). Elsewhere they do nothing.
 */
let yieldThread = (): void => {};

export const yieldPoint = (): void => yieldThread();

/** What this thread does at yield points from now on. */
export function atYieldPoints(does: () => void): void {
  yieldThread = does;
}
