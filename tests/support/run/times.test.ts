/** The summary of where the time of a run went, by files and projects. */
import { expect, test } from "vitest";
import { LONGEST, times } from "./times.ts";

test("projects are added up, and the most expensive files and late long files are named", () => {
  const page = (i: number) => ({ path: `tests/a/${i}.test.ts`, project: "pages", seconds: 2 * i, cpu: i });
  const files = Array.from({ length: 17 }, (_, i) => page(i));
  const known = { path: `tests/${LONGEST[0]}.test.ts`, project: "unit", seconds: 90, cpu: 15.5 };
  const late = { path: "tests/a/late.test.ts", project: "unit", seconds: 11, cpu: 10.5 };
  const lines = times([...files, late, known]);
  expect(lines).toEqual([
    "files, added up: pages 136 CPU s, 272 s in 17 files, unit 26 CPU s, 101 s in 2 files",
    "16.0 CPU s, 32.0 s pages tests/a/16.test.ts",
    `15.5 CPU s, 90.0 s unit tests/${LONGEST[0]}.test.ts`,
    ...[15, 14, 13, 12, 11].map((i) => `${i}.0 CPU s, ${2 * i}.0 s pages tests/a/${i}.test.ts`),
    "10.5 CPU s, 11.0 s unit tests/a/late.test.ts",
    ...[10, 9, 8, 7, 6, 5, 4].map((i) => `${i}.0 CPU s, ${2 * i}.0 s pages tests/a/${i}.test.ts`),
    "tests/a/late.test.ts belongs among the first (LONGEST in tests/support/run/times.ts)",
  ]);
});
