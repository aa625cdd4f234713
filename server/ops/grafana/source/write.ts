/**
 * `node server/ops/grafana/source/write.ts`: regenerates the dashboards' JSON. tests/ops/dashboards.test.ts checks that
 * the files match.
 */
import { writeFileSync } from "node:fs";
import { cluster } from "./cluster.ts";
import { dashboard } from "./dashboard.ts";
import { red } from "./red.ts";
import { survival } from "./survival.ts";
import { use } from "./use.ts";

/** Content by file name, below server/ops/grafana/dashboards. */
export const dashboardFiles: Record<string, string> = Object.fromEntries(
  [red, use, survival, cluster].map((source) => [
    `${source.uid}.json`,
    `${JSON.stringify(dashboard(source), null, 1)}\n`,
  ]),
);

if (import.meta.main)
  for (const [name, text] of Object.entries(dashboardFiles))
    writeFileSync(new URL(`../dashboards/${name}`, import.meta.url), text);
