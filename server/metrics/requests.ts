/** Metrics of HTTP by route, and of sockets from upgrade to welcome: rate, errors, duration. */
import type { Counter, Histogram } from "prom-client";
import type { Maker } from "./maker.ts";

/** Seconds. Opening a room may have to wait for its scene. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export class RequestMetrics {
  readonly #requestSeconds: Histogram<"method" | "route" | "status">;
  readonly #joinSeconds: Histogram;
  readonly #opened: Counter;

  constructor(maker: Maker) {
    this.#requestSeconds = maker.histogram(
      "pliant_http_request_seconds",
      "Time of one HTTP request, by method, route and class of status.",
      REQUEST_BUCKETS,
      ["method", "route", "status"],
    );
    this.#opened = maker.counter("pliant_sockets_opened_total", "Upgraded sockets.");
    this.#joinSeconds = maker.histogram(
      "pliant_socket_join_seconds",
      "Time from a socket's upgrade until its member is welcomed.",
      REQUEST_BUCKETS,
    );
  }

  /**
   * Records an answered request.
   * @param route pattern of the route, absent for an address without one: label values must not come from outside
   */
  answered(method: string, route: string | undefined, status: number, seconds: number): void {
    const known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].includes(method);
    this.#requestSeconds.observe(
      { method: known ? method : "other", route: route ?? "none", status: `${Math.floor(status / 100)}xx` },
      seconds,
    );
  }

  socketOpened(): void {
    this.#opened.inc();
  }

  joined(seconds: number): void {
    this.#joinSeconds.observe(seconds);
  }
}
