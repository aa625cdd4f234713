/** The order of scenes in the lobby. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { groupScenes } from "../../../client/ui/sceneCards.ts";

const scene = (id: string, more: { report?: string; thumbnail?: string } = {}) => ({
  id,
  title: id,
  description: "",
  thumbnail: `/thumbnails/${id}.jpg`,
  ...more,
});

test("selected scenes come first in their order, then custom ones, then similar scenes and figures of papers", () => {
  const own = { ...scene("aaa"), thumbnail: undefined };
  const list = [own, scene("bunny"), scene("crush", { report: "/report#fig11" }), scene("dragon"), scene("funnel")];
  const { first, more, paper } = groupScenes(list as Parameters<typeof groupScenes>[0]);
  expect(first.map(({ id }) => id)).toEqual(["dragon", "bunny", "aaa"]);
  expect(more.map(({ id }) => id)).toEqual(["funnel"]);
  expect(paper.map(({ id }) => id)).toEqual(["crush"]);
});

test("every bundled scene has its picture", () => {
  const named = (folder: string, ending: string): string[] =>
    readdirSync(new URL(`../../../${folder}`, import.meta.url))
      .filter((file) => file.endsWith(ending) && file !== "schema.json")
      .map((file) => file.slice(0, -ending.length))
      .sort();
  const scenes = named("scenes", ".json");
  expect(scenes.length).toBeGreaterThan(20);
  expect(named("client/public/thumbnails", ".jpg")).toEqual(scenes);
});
