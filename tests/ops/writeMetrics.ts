/**
 * `node tests/ops/writeMetrics.ts`: rewrites server/ops/METRICS.md, after a metric was added, renamed or described
 * anew.
 */
import { writeFileSync } from "node:fs";
import { METRICS_PAGE, metricsPage } from "./metricsTable.ts";

writeFileSync(METRICS_PAGE, metricsPage());
