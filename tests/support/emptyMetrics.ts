/** Metrics of a process without rooms, for tests of code that counts in them. */
import { Metrics } from "../../server/metrics/metrics.ts";

export const emptyMetrics = (): Metrics =>
  new Metrics({
    rooms: () => 0,
    sessions: () => ({ connected: 0, resumable: 0 }),
    bodiesHeld: () => 0,
    roomMemory: () => ({ reserved: 0, used: 0 }),
    queueDepth: () => 0,
    workerThreads: () => 0,
    bufferedBytes: () => 0,
    roomLoads: () => [],
    timeDilation: () => 1,
  });
