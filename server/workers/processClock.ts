/** One clock for all threads of the process, because each thread's performance.now() starts with the thread. */

const OFFSET_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** @param ms of this thread's performance.now() */
export const toProcessMs = (ms: number): number => ms + OFFSET_MS;

/** @returns ms of this thread's performance.now() */
export const fromProcessMs = (ms: number): number => ms - OFFSET_MS;
