/** Where the time of a run goes: what its last lines say of files and projects. */
import { expect, test } from "vitest";
import { LONGEST, times } from "./times.ts";

test("projects are added up, the ten slowest files named, and long ones that are begun too late", () => {
  const files = Array.from({ length: 12 }, (_, i) => ({ path: `tests/a/${i}.test.ts`, project: "pages", seconds: i }));
  const known = { path: `tests/${LONGEST[0]}.test.ts`, project: "unit", seconds: 90 };
  const late = { path: "tests/a/late.test.ts", project: "unit", seconds: 21 };
  const lines = times([...files, late, known]);
  expect(lines).toEqual([
    "files, added up: pages 66 s in 12 files, unit 111 s in 2 files",
    `90.0 s unit tests/${LONGEST[0]}.test.ts`,
    "21.0 s unit tests/a/late.test.ts",
    ...[11, 10, 9, 8, 7, 6, 5, 4].map((i) => `${i}.0 s pages tests/a/${i}.test.ts`),
    "tests/a/late.test.ts belongs among the first (LONGEST in tests/support/times.ts)",
  ]);
});
