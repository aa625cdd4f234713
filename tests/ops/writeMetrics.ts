/**
 * `node tests/ops/writeMetrics.ts`: writes server/ops/METRICS.md anew, after a metric was added, renamed or explained.
 */
import { writeFileSync } from "node:fs";
import { METRICS_PAGE, metricsPage } from "./metricsTable.ts";

writeFileSync(METRICS_PAGE, metricsPage());
