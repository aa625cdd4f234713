/** The scenes in the documents are valid, because readers copy them. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { validateScene } from "../../shared/scene/sceneValidator.ts";

test.each(["README.md", "scenes/README.md"])("every whole scene in %s is valid", (path) => {
  const blocks = [...readFileSync(path, "utf8").matchAll(/```json\n([\s\S]*?)```/g)].map(
    ([, text]) => JSON.parse(text) as object,
  );
  const scenes = blocks.filter((block) => "version" in block);
  expect(scenes.length).toBeGreaterThan(0);
  for (const scene of scenes) expect(() => validateScene(scene)).not.toThrow();
});
