/**
 * A histogram that ticks observe, with one label or none. prom-client's own makes a string, two objects and a closure
 * of each value, and a tick has twenty values.
 */
import type { Metric, Registry } from "prom-client";

export class Distribution {
  // As prom-client's metrics have them, for the registry.
  readonly name: string;
  readonly help: string;
  readonly type = "histogram";
  readonly labelNames: readonly string[];
  readonly #bounds: Float64Array;
  /** Number of values of each bucket, of values above all of them, and the sum of all values; by label value. */
  readonly #series = new Map<string, Float64Array>();

  constructor(registry: Registry, name: string, help: string, bounds: readonly number[], label?: string) {
    this.name = name;
    this.help = help;
    this.labelNames = label === undefined ? [] : [label];
    this.#bounds = Float64Array.from([...bounds, Infinity]);
    if (label === undefined) this.#begin("");
    registry.registerMetric(this as unknown as Metric);
  }

  /** @param value not NaN. label: value of the label, if there is one; of a fixed list */
  observe(value: number, label = ""): void {
    const series = this.#series.get(label) ?? this.#begin(label);
    let bucket = 0;
    while (value > this.#bounds[bucket]!) bucket += 1;
    series[bucket]! += 1;
    series[this.#bounds.length]! += value;
  }

  #begin(label: string): Float64Array {
    const series = new Float64Array(this.#bounds.length + 1);
    this.#series.set(label, series);
    return series;
  }

  /** The registry calls it at each scrape. */
  get(): object {
    const values: object[] = [];
    for (const [label, series] of this.#series) {
      const sharedLabels = Object.fromEntries(this.labelNames.map((name) => [name, label]));
      const add = (suffix: string, value: number, labels: object = {}): void =>
        void values.push({ metricName: `${this.name}_${suffix}`, labels, sharedLabels, value });
      let count = 0;
      for (const [bucket, bound] of this.#bounds.entries()) {
        count += series[bucket]!;
        add("bucket", count, { le: bound === Infinity ? "+Inf" : bound });
      }
      add("sum", series.at(-1)!);
      add("count", count);
    }
    return { name: this.name, help: this.help, type: this.type, aggregator: "sum", values };
  }
}
