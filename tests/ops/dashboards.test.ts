/** Dashboards that are written in TypeScript are written out: server/ops/grafana/source says what the JSON says. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { dashboardFiles } from "../../server/ops/grafana/source/write.ts";

const folder = "server/ops/grafana/dashboards";

test.each(Object.entries(dashboardFiles))(
  "%s is what its source says; `node server/ops/grafana/source/write.ts` writes it anew",
  (name, text) => {
    expect(readFileSync(`${folder}/${name}`, "utf8")).toBe(text);
  },
);

test("every dashboard has a name and a title of its own", () => {
  const all = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(`${folder}/${name}`, "utf8")) as { uid: string; title: string },
  );
  expect(new Set(all.map(({ uid }) => uid)).size).toBe(all.length);
  expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
});
