/**
 * server/ops/METRICS.md: the metrics of the server as a table, from the registry itself. `node
 * tests/ops/writeMetrics.ts` rewrites it.
 */
import { Metrics } from "../../server/metrics/metrics.ts";

export const METRICS_PAGE = "server/ops/METRICS.md";

const HEAD = `# Metrics

What \`/metrics\` exposes of the server itself, in Prometheus' conventions: prefix \`pliant_\`, base units (seconds, bytes, ratios from 0 to 1), counters end in \`_total\`. No label ever holds a
room, a member, an address or anything else that somebody outside may choose: every label has a fixed list of values, so the number of series does not grow with use. What concerns one room is in the
[log](LOGS.md). Beside these there are prom-client's own \`process_*\` and \`nodejs_*\` metrics. Made by \`node tests/ops/writeMetrics.ts\` from the registry; a test
holds it to the registry and to a running server.

| name | type | labels | what |
| --- | --- | --- | --- |
`;

interface Described {
  name: string;
  help: string;
  type: string;
  labelNames: string[];
}

/** Sorted by name. */
export function describedMetrics(): Described[] {
  const zero = (): number => 0;
  const metrics = new Metrics({
    rooms: zero,
    sessions: () => ({ connected: 0, resumable: 0 }),
    bodiesHeld: zero,
    roomMemory: () => ({ reserved: 0, used: 0 }),
    queueDepth: zero,
    workerThreads: zero,
    timeDilation: zero,
    bufferedBytes: zero,
  });
  const all = metrics.registry.getMetricsAsArray() as unknown as (Omit<Described, "type"> & {
    constructor: { name: string };
  })[];
  const own = all
    .filter(({ name }) => name.startsWith("pliant_"))
    .map((metric) => ({
      name: metric.name,
      help: metric.help,
      labelNames: [...metric.labelNames],
      type: metric.constructor.name.toLowerCase(),
    }));
  metrics.close();
  return own.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function metricsPage(): string {
  return (
    HEAD +
    describedMetrics()
      .map(
        ({ name, type, labelNames, help }) =>
          `| \`${name}\` | ${type} | ${labelNames.map((label) => `\`${label}\``).join(", ")} | ${help} |\n`,
      )
      .join("")
  );
}
