/**
 * Tests that take minutes. `npm test` runs the same test with fewer cases or shorter runs, enough to fail if its
 * subject is broken. `npm run test:long` runs the files that import this one, in full.
 */
import { readFileSync } from "node:fs";
import { importsOf, repositoryFiles } from "../../architecture/sources.ts";

/** Set by `npm run test:long`. */
const LONG = process.env.TEST_LONG === "1";

/** @param small value for `npm test` */
export const inLong = <T>(full: T, small: T): T => (LONG ? full : small);

/** Test files that do more in `npm run test:long`. */
export const longFiles = (): string[] =>
  repositoryFiles().filter(
    (path) =>
      path.endsWith(".test.ts") &&
      importsOf(path, readFileSync(path, "utf8")).some(({ target }) => target === "tests/support/run/long.ts"),
  );
