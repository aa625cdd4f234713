/** CPU time of this thread. */

const word = new Int32Array(new SharedArrayBuffer(4));
const SLEEP_MS = 0.1;

/**
 * Returns the CPU time of this thread, ms. Linux updates the count when the thread leaves its processor, otherwise only
 * with the timer tick of 4 ms. A short sleep makes it exact: its own cost is about 0.02 ms.
 */
export function cpuMs(): number {
  Atomics.wait(word, 0, 0, SLEEP_MS);
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
