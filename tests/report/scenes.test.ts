/** A scene's `report` field names a section of the report: the id of a figure. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Scene } from "../../shared/scene/scene.ts";
import { FIGURES } from "./figures/index.ts";

const folder = new URL("../../scenes/", import.meta.url);
const named = readdirSync(folder)
  .filter((file) => file.endsWith(".json") && file !== "schema.json")
  .flatMap((file): [string, string][] => {
    const { report } = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Scene;
    return report === undefined ? [] : [[file, report]];
  });

describe("report fields of scenes", () => {
  test("some scenes have one", () => expect(named.length).toBeGreaterThan(3));
  test.each(named)("%s: %s is a figure", (_, report) => expect(Object.keys(FIGURES)).toContain(report));
});
