/**
 * A kind of constraint touches at most six files, tests apart: its function in the kernel and the one that names all of
 * them, its block's layout, its descriptor and the list of those, and what a scene may say
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
 * By kind: its name in any form, or, where that is a common word, its function, numbers, elements and descriptor. What
 * uses elements of others (methods/massSpring.ts takes distances) is no part of them.
 */
const NAMED: Record<string, RegExp> = {
  hexahedron: /hexahedr/i,
  distance: /\bsolveDistances\b|\bKIND_DISTANCE\b|\bDISTANCE_[A-Z]+\b|\bDistanceElements\b|import \{ distance \}/,
  volume: /\bsolveVolumes\b|\bKIND_VOLUME\b|\bVOLUME_[A-Z]+\b|\bVolumeElements\b|import \{ volume \}/,
};

test.each(Object.entries(NAMED))("%s is named in at most six files, its own among them", (kind, pattern) => {
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

test("no two phases of the kernel have one number", () => {
  const kinds = Object.entries(L).filter(([name]) => name.startsWith("KIND_"));
  expect(kinds.length).toBeGreaterThan(40);
  expect(new Set(kinds.map(([, number]) => number)).size).toBe(kinds.length);
});

test("what a constraint remembers in its rows is what its twin remembers, and a block holds more than corners", () => {
  for (const kind of ELEMENT_KINDS) {
    const { bytes, corners, remembers, twin } = CONSTRAINTS[kind];
    expect(bytes % 16, kind).toBe(0);
    expect(bytes, kind).toBeGreaterThan(16 * corners);
    expect(remembers.rows, kind).toBe(twin.memory);
  }
});
