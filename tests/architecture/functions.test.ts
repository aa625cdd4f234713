/**
 * A function has at most 60 lines. Biome counts them. STRAIGHT lists the exceptions, and only functions that need one:
 * kernels that run straight through SIMD lanes, whose sections have headings.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryFiles } from "./sources.ts";
import { testFolder } from "../support/testFolder.ts";

const MOST_LINES = 60;
const KERNEL = "server/kernel/assembly/";

/**
 * Straight code over SIMD lanes: hundreds of values live at once, all in registers or in the block's memory. Splitting
 * it would pass them through memory and save nothing.
 */
const STRAIGHT = [
  "constraints/hyperelastic.ts solve",
  "constraints/inversion.ts continueLanes",
  "constraints/paper/paperHyperelastic.ts hyperelasticStress",
  "constraints/paper/paperTetrahedron.ts stvkStress",
  "constraints/paper/paperTetrahedron.ts solvePaperTetrahedra",
  "constraints/paper/paperTriangle.ts solvePaperTriangles",
  "constraints/paper/paperTriangle.ts continueLane",
  "constraints/plasticity.ts flow",
  "constraints/tetrahedron.ts solveStrains",
  "constraints/triangle.ts solve",
  "constraints/volume.ts solveVolumes",
  "implicit/sheetProducts.ts multiplyQuad",
  "prefactored/elements.ts triangles",
  "prefactored/tetrahedra.ts tetrahedra",
  "contact/verify/contactCheck.ts checkContacts",
  "contact/solve/contactLanes.ts closestVertex",
  "contact/solve/contactSolver.ts solveContacts",
  "math/closestPoints.ts closestEdges",
  "math/svd.ts svdLanes",
  "warmStart/warmStartHyperelastic.ts settle",
  "warmStart/warmStartStrains.ts warmStartStrains",
]
  .map((name) => KERNEL + name)
  .concat("shared/snapshot/assembly/body.ts codeBody");

/** `describe(...)` and its variants only group tests, so their length does not count. */
const describes = (line: string): boolean => /^\s*describe\b/.test(line);

interface Long {
  path: string;
  /** Counted from 0. */
  line: number;
  name: string;
  lines: string[];
}

function longFunctions(): Long[] {
  const folder = testFolder("functions");
  const options = { maxLines: MOST_LINES, skipBlankLines: true };
  const complexity = { noExcessiveLinesPerFunction: { level: "error", options } };
  const rules = { recommended: false, complexity };
  writeFileSync(join(folder, "biome.json"), JSON.stringify({ root: true, linter: { rules } }));
  const paths = repositoryFiles().filter(
    (path) => /\.m?tsx?$|\.jsx?$/.test(path) && path !== "shared/snapshot/wasm.ts",
  );
  const { stdout } = spawnSync(
    process.execPath,
    [
      "node_modules/@biomejs/biome/bin/biome",
      "lint",
      `--config-path=${folder}`,
      "--max-diagnostics=none",
      "--reporter=json",
      ...paths,
    ],
    { encoding: "utf8", maxBuffer: 1 << 26 },
  );
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: { message: string; location: { path: string; start: { line: number } } }[];
  };
  return diagnostics.flatMap(({ message, location: { path, start } }) => {
    if (!message.startsWith("This function has too many lines")) return [];
    const lines = readFileSync(path, "utf8").split("\n");
    const line = start.line - 1;
    const name = /function\*? (\w+)/.exec(lines[line]!)?.[1] ?? /(\w+)\s*[(=]/.exec(lines[line]!)?.[1] ?? "?";
    return [{ path, line, name, lines }];
  });
}

const found = longFunctions();

test(`no function is longer than ${MOST_LINES} lines, except those listed here`, () => {
  const long = found.filter(({ path, line, lines }) => !path.startsWith("tests/") || !describes(lines[line]!));
  expect(long.map(({ path, name }) => `${path} ${name}`).sort()).toEqual([...STRAIGHT].sort());
});

test("a straight kernel has a heading comment at least every sixty lines", () => {
  for (const { path, name, line, lines } of found.filter((one) => STRAIGHT.includes(`${one.path} ${one.name}`))) {
    let since = 0;
    for (let at = line + 1; lines[at] !== "}"; at++) {
      since = /^\s*\/\//.test(lines[at]!) ? 0 : since + 1;
      expect(since, `${path}:${at + 1}, in ${name}`).toBeLessThanOrEqual(MOST_LINES);
    }
  }
});
