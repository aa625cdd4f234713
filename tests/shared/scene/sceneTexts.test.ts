/** Every bundled scene explains itself in all four languages. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Scene } from "../../../shared/scene/scene.ts";
import type { SceneTexts } from "../../../shared/scene/sceneSettings.ts";

const folder = new URL("../../../scenes/", import.meta.url);
const scenes = readdirSync(folder).filter((file) => file.endsWith(".json") && file !== "schema.json");
/** Longest texts that fit a card and the line on entry, characters. */
const LONGEST = { title: 40, description: 160, try: 110, notice: 110 } as const;
/** Largest number of bodies that pages label (client/ui/room/roomPage.ts). */
const MOST_NAMED = 8;

test.each(scenes)("%s has a title, a description, one thing to try and one to notice, in every language", (file) => {
  const scene = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Scene & SceneTexts;
  const { de, es, ar } = scene.texts ?? {};
  for (const [field, most] of Object.entries(LONGEST) as [keyof SceneTexts, number][]) {
    const texts = [scene, de, es, ar].map((said) => said?.[field] ?? "");
    for (const text of texts) {
      expect(text.length).toBeGreaterThan(0);
      expect(text.length).toBeLessThanOrEqual(most);
    }
    expect(new Set(texts).size).toBe(4);
  }
});

test.each(scenes)("%s names its bodies in every language, if it has few", (file) => {
  const { bodies, texts } = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Scene;
  for (const language of ["de", "es", "ar"] as const) {
    const { names } = texts![language]!;
    expect(names?.length).toBe(bodies.length > MOST_NAMED ? undefined : bodies.length);
    expect(new Set(names).size).toBe(names?.length ?? 0);
  }
});
