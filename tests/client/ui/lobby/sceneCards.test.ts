/** Order and groups of scenes in the lobby. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import type { SceneSummary } from "../../../../client/net/api.ts";
import { groupsOf, inOrder } from "../../../../client/ui/lobby/sceneCards.ts";

const scene = (id: string, more: Partial<SceneSummary> = {}): SceneSummary => ({
  id,
  title: id,
  description: "",
  thumbnail: `/thumbnails/${id}.jpg`,
  kinds: ["soft"],
  lesson: false,
  ...more,
});

test("selected scenes come first in their order, and the others in the order of the server", () => {
  const list = [scene("bunny"), scene("crush"), scene("dragon"), scene("funnel")];
  expect(inOrder(list).map(({ id }) => id)).toEqual(["dragon", "bunny", "crush", "funnel"]);
});

test("a scene is in the groups of its bodies; selected and custom scenes are favourites, lessons are apart", () => {
  expect(groupsOf(scene("bunny"))).toEqual(["favourites", "soft", "all"]);
  expect(groupsOf(scene("mine", { thumbnail: undefined as never, kinds: ["ball"] }))).toEqual(["favourites", "all"]);
  const mixed = { kinds: ["cloth", "points", "soft"] };
  expect(groupsOf(scene("smoke", mixed))).toEqual(["soft", "cloth", "fluid", "all"]);
  expect(groupsOf(scene("crush", { lesson: true }))).toEqual(["lessons", "all"]);
});

test("every bundled scene has its picture for light and for dark pages", () => {
  const named = (folder: string, ending: string): string[] =>
    readdirSync(new URL(`../../../../${folder}`, import.meta.url))
      .filter((file) => file.endsWith(ending) && file !== "schema.json")
      .map((file) => file.slice(0, -ending.length))
      .sort();
  const scenes = named("scenes", ".json");
  expect(scenes.length).toBeGreaterThan(20);
  expect(named("client/public/thumbnails", ".jpg")).toEqual(scenes.flatMap((scene) => [scene, `${scene}.dark`]).sort());
});
