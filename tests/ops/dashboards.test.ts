/** Dashboards written in TypeScript are up to date as JSON: the files match server/ops/grafana/source. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { dashboardFiles } from "../../server/ops/grafana/source/write.ts";

const folder = "server/ops/grafana/dashboards";

test.each(Object.entries(dashboardFiles))(
  "%s matches its source; `node server/ops/grafana/source/write.ts` rewrites it",
  (name, text) => {
    expect(readFileSync(`${folder}/${name}`, "utf8")).toBe(text);
  },
);

test("every dashboard has a unique name and title", () => {
  const all = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(`${folder}/${name}`, "utf8")) as { uid: string; title: string },
  );
  expect(new Set(all.map(({ uid }) => uid)).size).toBe(all.length);
  expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
});
