/**
 * Metrics of the main thread's event loop. Both only grow, so any number of scrapers reads the same values, and a rate
 * over minutes does not depend on how often they ask.
 */
import { performance } from "node:perf_hooks";
import type { Maker } from "./maker.ts";

/** Interval of the samples, ms. */
const SAMPLE_MS = 20;
/** Seconds; PliantEventLoopLag has its threshold at 0.1. */
const LAG_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export class EventLoopMetrics {
  readonly #timer: NodeJS.Timeout;

  constructor(maker: Maker) {
    const lag = maker.histogram(
      "pliant_event_loop_lag_seconds",
      `Delay of a timer on the main thread after its due time; one sample every ${SAMPLE_MS} ms.`,
      LAG_BUCKETS,
    );
    let dueMs = performance.now() + SAMPLE_MS;
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      lag.observe(Math.max(0, nowMs - dueMs) / 1000);
      dueMs = nowMs + SAMPLE_MS;
    }, SAMPLE_MS);
    this.#timer.unref();
    maker.readCounter(
      "pliant_event_loop_busy_seconds_total",
      "Time that the main thread was busy, not waiting for events.",
      () => performance.eventLoopUtilization().active / 1000,
    );
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
