/**
 * A kind of constraint needs changes in at most six files, tests apart. These are its function in the kernel, the
 * function that names all kinds, the layout of its block, its descriptor, the list of descriptors, and the scene schema
 * (server/kernel/README.md, "A new constraint").
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { CONSTRAINTS, ELEMENT_KINDS } from "../../server/sim/constraints/kinds.ts";
import { repositoryFiles } from "./sources.ts";

const MOST_FILES = 6;

const sources = repositoryFiles()
  .filter((path) => /^(server|shared|client|load-tests)\/.*\.ts$/.test(path))
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));

/**
 * Pattern that finds each kind in a file: its name in any form. If the name is a common word: its function, constants,
 * elements and descriptor. Code that uses another kind's elements does not count (methods/elements/massSpring.ts uses
 * distances).
 */
const NAMED: Record<string, RegExp> = {
  hexahedron: /hexahedr/i,
  distance: /\bsolveDistances\b|\bKIND_DISTANCE\b|\bDISTANCE_[A-Z]+\b|\bDistanceElements\b|import \{ distance \}/,
  volume: /\bsolveVolumes\b|\bKIND_VOLUME\b|\bVOLUME_[A-Z]+\b|\bVolumeElements\b|import \{ volume \}/,
};

test.each(Object.entries(NAMED))("constraint %s is named in at most six files, its own included", (kind, pattern) => {
  const files = sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
  for (const own of [
    `server/kernel/assembly/constraints/${kind}.ts`,
    "server/kernel/assembly/constraints/solveBlocks.ts",
    "server/kernel/assembly/layout/constraints.ts",
    `server/sim/constraints/${kind}.ts`,
    "server/sim/constraints/kinds.ts",
  ])
    expect(files).toContain(own);
  expect(files.length, files.join(", ")).toBeLessThanOrEqual(MOST_FILES);
});

test("no two phases of the kernel have the same number", () => {
  const kinds = Object.entries(L).filter(([name]) => name.startsWith("KIND_"));
  expect(kinds.length).toBeGreaterThan(40);
  expect(new Set(kinds.map(([, number]) => number)).size).toBe(kinds.length);
});

test("the rows of a constraint and its twin keep the same state, and a block has room for more than corners", () => {
  for (const kind of ELEMENT_KINDS) {
    const { bytes, corners, remembers, twin } = CONSTRAINTS[kind];
    expect(bytes % 16, kind).toBe(0);
    expect(bytes, kind).toBeGreaterThan(16 * corners);
    expect(remembers.rows, kind).toBe(twin.memory);
  }
});
