/**
 * Scenes with changed, missing and misplaced fields are valid, or refused with path, value and limit. A valid scene is
 * built, or refused in the same way.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { MeshError } from "../../server/meshing/mesh.ts";
import { createWorld } from "../../server/sim/world/createWorld.ts";
import type { Scene } from "../../shared/scene/scene.ts";
import { SceneError } from "../../shared/scene/sceneError.ts";
import { validateScene } from "../../shared/scene/sceneValidator.ts";
import { inLong } from "../support/run/long.ts";
import { bent } from "./mutate.ts";
import { Random } from "./random.ts";

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const readScenes = (dir: string): Scene[] =>
  readdirSync(dir)
    .filter((file) => file.endsWith(".json") && !["schema.json", "invalid.json", "broken.json"].includes(file))
    .map((file) => JSON.parse(readFileSync(`${dir}${file}`, "utf8")) as Scene);
const scenes = [...readScenes(folder("../../scenes/")), ...readScenes(folder("../integration/scenes/"))];

function judge(scene: unknown): Scene | "refused" {
  try {
    return validateScene(scene);
  } catch (error) {
    if (!(error instanceof SceneError)) throw error;
    expect(error.message).toMatch(/must be|limit|allowed/);
    return "refused";
  }
}

test("the unchanged scenes are valid", () => {
  expect(scenes.length).toBeGreaterThan(10);
  for (const scene of scenes) expect(judge(scene)).not.toBe("refused");
});

const MUTANTS = inLong(20_000, 10_000);
test(`${MUTANTS} mutated scenes are valid, or refused with path, value and limit`, () => {
  const random = new Random(5);
  const counts = { valid: 0, refused: 0 };
  for (let i = 0; i < MUTANTS; i++)
    counts[judge(bent(random.pick(scenes), random)) === "refused" ? "refused" : "valid"] += 1;
  expect(counts.refused).toBeGreaterThan(MUTANTS / 4);
  expect(counts.valid).toBeGreaterThan(MUTANTS / 20);
});

test.each([
  null,
  1,
  "scene",
  [],
  {},
  [[[]]],
  { version: 1, title: "x", bodies: [] },
  JSON.parse('{"version":1,"title":"x","bodies":[{"__proto__":{"a":1}}]}'),
  JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`),
])("values that are not scenes are refused: %#", (scene) => {
  expect(judge(scene)).toBe("refused");
});

/** Scenes with few particles, so that many can be built. */
const small = readScenes(folder("../integration/scenes/")).filter(({ title }) => !/hour|victim/i.test(title));

async function build(scene: Scene): Promise<"built" | "refused"> {
  try {
    const { memory, layout, topology } = await createWorld(scene, { baseDir: folder("../integration/scenes/") });
    expect(memory.buffer.byteLength).toBeGreaterThan(0);
    expect(layout.streamedParticles).toBeGreaterThan(0);
    expect(topology.particles).toBe(layout.streamedParticles);
    return "built";
  } catch (error) {
    if (error instanceof SceneError || error instanceof MeshError) return "refused";
    throw new Error(`${(error as Error).message}: ${JSON.stringify(scene)}`, { cause: error });
  }
}

const BUILDS = inLong(300, 60);
test(`${BUILDS} valid mutated scenes are built, or refused as documented`, async () => {
  const random = new Random(6);
  const counts = { built: 0, refused: 0 };
  while (counts.built + counts.refused < BUILDS) {
    const scene = judge(bent(random.pick(small), random));
    // A mesh of millions of cells is limited by the build's deadline, not by this test.
    if (
      scene === "refused" ||
      scene.bodies.some(({ mesh }) => "cells" in mesh && mesh.cells.reduce((product, n) => product * n, 1) > 20_000)
    )
      continue;
    counts[await build(scene)] += 1;
  }
  expect(counts.built).toBeGreaterThan(BUILDS / 3);
});

const seeds = new URL("./seeds/scenes/", import.meta.url);
test.each(existsSync(seeds) ? readdirSync(seeds) : [])("earlier finding: %s", async (file) => {
  const scene = judge(JSON.parse(readFileSync(new URL(file, seeds), "utf8")));
  if (scene !== "refused") await build(scene);
});
