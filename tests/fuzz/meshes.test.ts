/** Every importer on damaged files: it returns a valid mesh, or an error that names file, field, value and limit. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MeshError } from "../../server/meshing/mesh.ts";
import { FORMATS, type Format, text } from "./meshFormats.ts";
import { damaged } from "./mutate.ts";
import { Random } from "./random.ts";

/** @returns outcome of the bytes */
function judge(read: Format["read"], bytes: Uint8Array): "read" | "refused" {
  try {
    const { positions, corners } = read(bytes);
    expect(positions.every(Number.isFinite)).toBe(true);
    expect(corners.length).toBeGreaterThan(0);
    expect(corners.every((corner) => corner < positions.length / 3)).toBe(true);
    return "read";
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    expect(error.fault.file).toMatch(/^a\./);
    for (const part of [error.fault.field, String(error.fault.limit)]) expect(part).not.toBe("");
    return "refused";
  }
}

describe.each(FORMATS)("$name", ({ name, file, read }) => {
  test("the intact file is read", () => {
    expect(judge(read, file)).toBe("read");
  });

  test("3,000 damaged files are read or refused, and both occur", () => {
    const random = new Random(name.length);
    const counts = { read: 0, refused: 0 };
    for (let i = 0; i < 3000; i++) counts[judge(read, damaged(file, random))] += 1;
    expect(counts.refused).toBeGreaterThan(300);
    // A gzip file detects nearly every damage by its own checksum.
    expect(counts.read).toBeGreaterThan(name === "ply.gz" ? 0 : 30);
  });

  const seeds = new URL(`./seeds/meshes/${name.replace(/\W+/g, "-")}/`, import.meta.url);
  test.each(existsSync(seeds) ? readdirSync(seeds) : [])("earlier finding: %s", (found) => {
    expect(judge(read, readFileSync(new URL(found, seeds)))).toBe("refused");
  });
});

test("a line of 2 MB with backslashes is read in linear time", () => {
  // Quadratic work on 2 MB would be 10^12 steps, far beyond the test's timeout.
  const line = `# ${"\\ ".repeat(1_000_000)}\n`;
  expect(judge(FORMATS[0]!.read, Buffer.concat([text(line), FORMATS[0]!.file]))).toBe("read");
});
