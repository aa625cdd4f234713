/**
 * server/ops/METRICS.md: the metrics of the server as a table, from the registry itself. `node
 * tests/ops/writeMetrics.ts` rewrites it.
 */
import { emptyMetrics } from "../support/emptyMetrics.ts";

export const METRICS_PAGE = "server/ops/METRICS.md";

const HEAD = `# Metrics

The server's own metrics at \`/metrics\`, in Prometheus' conventions: prefix \`pliant_\`, base units (seconds, bytes, ratios from 0 to 1), counters end in \`_total\`. Labels have
fixed lists of values, so the number of series does not grow with use. Only the metrics \`pliant_busiest_*\` and \`pliant_slowest_*\` name rooms and scenes, ten at a time. No label is a member or
an address. No value depends on the times of the scrapes: several Prometheus servers read the same. Events of one room are in the [log](LOGS.md). In addition there are prom-client's own \`process_*\` and \`nodejs_*\` metrics, without its gauges of the event loop. \`node tests/ops/writeMetrics.ts\` writes this page from the registry; a test compares it with the registry and with a running
server.

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
  const metrics = emptyMetrics();
  const all = metrics.registry.getMetricsAsArray() as unknown as Described[];
  const own = all.filter(({ name }) => name.startsWith("pliant_"));
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
