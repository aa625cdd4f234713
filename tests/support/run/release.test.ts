/** Conditions under which CI runs `npm run test:long`, too. */
import { expect, test } from "vitest";
import { isRelease } from "./release.ts";

const changelog = (...headings: string[]): string =>
  ["# Changelog", "", ...headings.flatMap((heading) => [heading, "", "- Something.", ""])].join("\n");

test.each([
  ["a version that is not released yet", ["## [1.2.0] - unreleased", "## [1.1.0] - 2026-01-31"], undefined, false],
  ["a version with its date", ["## [1.2.0] - 2026-02-28", "## [1.1.0] - 2026-01-31"], undefined, true],
  ["its tagged commit", ["## [1.2.0] - 2026-02-28"], "head", true],
  ["a commit after it", ["## [1.2.0] - 2026-02-28"], "before", false],
  ["the next version's work", ["## [Unreleased]", "## [1.2.0] - 2026-02-28"], undefined, false],
  ["a date above another version", ["## [1.1.0] - 2026-01-31"], undefined, false],
  ["no changelog", [], undefined, false],
] as const)("%s", (_, headings, tagged, release) => {
  expect(isRelease(changelog(...headings), "1.2.0", tagged, "head")).toBe(release);
});
