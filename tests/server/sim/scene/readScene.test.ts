/** Scene files: read, or refused with the reason. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readScene } from "../../../../server/sim/scene/readScene.ts";
import { SceneError } from "../../../../shared/scene/sceneError.ts";
import { testFolder } from "../../../support/testFolder.ts";
import { clothGrid } from "../../../support/bodies.ts";

const dir = testFolder("scene");

const written = (text: string): string => {
  const path = join(dir, "scene.json");
  writeFileSync(path, text);
  return path;
};
const fault = async (text: string): Promise<SceneError> => {
  const error: unknown = await readScene(written(text)).then(
    () => undefined,
    (e: unknown) => e,
  );
  if (error instanceof SceneError) return error;
  throw new Error(`not refused: ${String(error)}`);
};
const scene = {
  version: 1,
  title: "t",
  bodies: [
    clothGrid("a", [1, 1], [1, 1], { material: { density: 1, thickness: 1, youngsModulus: 1, poissonsRatio: 0 } }),
  ],
};
const LIMIT = 4 * 1024 * 1024;

test.each(["", "\ufeff"])("a valid file gives its scene, also behind a byte order mark (%j)", async (mark) =>
  expect(await readScene(written(mark + JSON.stringify(scene)))).toEqual(scene),
);

test.each(["", "{", '{ "version": 1, }', "version: 1", '{"version": NaN}'])("%j is not JSON", async (text) => {
  const found = await fault(text);
  expect(found).toMatchObject({ path: "", limit: "JSON" });
  expect(found.message).toMatch(/^scene \/: text with the error ".*JSON.*" is not allowed, must be JSON$/s);
});

test.each(["null", "[]", "3", '"scene"'])("%s is JSON, but not a scene", async (text) =>
  expect(await fault(text)).toMatchObject({ path: "", limit: "an object" }),
);

test("a number beyond float64", async () => {
  expect(await fault(JSON.stringify(scene).replace('"density":1', '"density":1e999'))).toMatchObject({
    path: "/bodies/0/material/density",
    value: Infinity,
    limit: "a finite number",
  });
});

test("the limit counts bytes", async () => {
  const text = JSON.stringify(scene);
  expect(await readScene(written(text.padEnd(LIMIT)))).toEqual(scene);
  expect(await fault(text.padEnd(LIMIT + 1))).toMatchObject({
    path: "",
    value: `${LIMIT + 1} bytes`,
    limit: `at most ${LIMIT} bytes`,
  });
  const wide = "\u00e9".repeat(LIMIT / 2); // two bytes each
  expect(await fault(JSON.stringify({ ...scene, description: wide }))).toMatchObject({
    path: "",
    limit: `at most ${LIMIT} bytes`,
  });
});

test("a missing file", async () => expect(readScene(join(dir, "none.json"))).rejects.toThrow(/ENOENT.*none\.json/));
