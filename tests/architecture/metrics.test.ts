/** server/ops/METRICS.md matches the registry. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describedMetrics, METRICS_PAGE, metricsPage } from "../ops/metricsTable.ts";

test("the page lists every metric with its type, labels and help text; `node tests/ops/writeMetrics.ts` rewrites it", () => {
  expect(describedMetrics().length).toBeGreaterThan(50);
  expect(readFileSync(METRICS_PAGE, "utf8")).toBe(metricsPage());
});

test("names use base units, and counters end in _total", () => {
  for (const { name, type } of describedMetrics()) {
    expect(name, name).not.toMatch(/_(ms|milliseconds|minutes|kib|mib|kb|mb|percent)(_|$)/);
    expect(name.endsWith("_total"), name).toBe(type === "counter");
  }
});
