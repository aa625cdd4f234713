/**
 * Creates the metrics of one registry, each with its help text. Series with a fixed list of labels exist from the start
 * with value 0, so that rates and alerts work from the first scrape.
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { Distribution } from "./distribution.ts";

/** Buckets for operations that wait for a disk or another machine: 1 2.5 5 10 25 50 100 250 ms 1 2.5 10 s. */
export const IO_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

export class Maker {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** A counter without labels, or with label values that are not known beforehand. */
  counter<T extends string>(name: string, help: string, labelNames: T[] = []): Counter<T> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  /** A counter with one label of fixed values. @returns a function that counts one (or `by`) */
  countBy<V extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly V[],
  ): (value: V, by?: number) => void {
    const counter = this.counter(name, help, [label]);
    for (const value of values) counter.inc({ [label]: value }, 0);
    return (value, by = 1) => counter.inc({ [label]: value }, by);
  }

  /** A counter whose total is kept elsewhere and read at every scrape. @param read never decreases */
  readCounter(name: string, help: string, read: () => number): void {
    let counted = 0;
    new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        const total = read();
        this.inc(Math.max(0, total - counted));
        counted = Math.max(total, counted);
      },
    });
  }

  histogram<T extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: T[] = [],
  ): Histogram<T> {
    return new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [this.#registry] });
  }

  /** A histogram for values of every tick. @param label its only one; absent: none */
  distribution(name: string, help: string, buckets: readonly number[], label?: string): Distribution {
    return new Distribution(this.#registry, name, help, buckets, label);
  }

  /** A gauge whose value is read at every scrape. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** A gauge whose series are chosen anew at every scrape; `read` bounds their number. */
  gaugeOf<T extends string>(
    name: string,
    help: string,
    labelNames: T[],
    read: () => { labels: Record<T, string>; value: number }[],
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) this.set(labels, value);
      },
    });
  }

  /** A gauge with one label, whose values are read at every scrape. */
  gaugeBy(name: string, help: string, label: string, read: () => Record<string, number>): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect() {
        for (const [value, number] of Object.entries(read())) this.set({ [label]: value }, number);
      },
    });
  }
}
