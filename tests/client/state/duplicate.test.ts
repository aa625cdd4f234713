/** The changes that make a room a duplicate of another (client/state/duplicate.ts). */
import { expect, test } from "vitest";
import { linkTo, tuningOfLink } from "../../../client/state/duplicate.ts";
import { changesTo } from "../../../shared/members/tuningLimits.ts";
import type { Tuning } from "../../../shared/members/tuningLimits.ts";

const SCENE: Tuning = {
  gravity: [0, -9.81, 0],
  wind: { velocity: [1, 0, 0], density: 1.2, drag: 1.2, lift: 1.2, intensity: 0, scale: 1, seed: 1 },
  timeScale: 1,
  pausedTicks: 0,
  bodies: [
    { body: 0, damping: 1, friction: 0.5 },
    { body: 2, damping: 0, friction: 0.5, youngsModulus: 1e4, pins: true },
  ],
};

test("a duplicate changes exactly the values that differ", () => {
  expect(changesTo(SCENE, SCENE)).toEqual([]);
  expect(changesTo({ ...SCENE, gravity: [0, 1, 0] }, SCENE)).toEqual([{ gravity: [0, 1, 0] }]);
  const bodies = [SCENE.bodies[0]!, { ...SCENE.bodies[1]!, damping: 3, youngsModulus: 2e4, pins: false }];
  expect(changesTo({ ...SCENE, bodies }, SCENE)).toEqual([{ body: 2, damping: 3, youngsModulus: 2e4, pins: false }]);
  const wind = { ...SCENE.wind, intensity: 0.5 };
  expect(changesTo({ ...SCENE, wind, timeScale: 0.5, pausedTicks: 9 }, SCENE)).toEqual([{ wind, timeScale: 0.5 }]);
});

test("a link carries the same values, and its invalid values are ignored", () => {
  const link = linkTo("http://host", "a room", "cube", SCENE)!;
  expect(link).toMatch(/^http:\/\/host\/r\/a%20room\?scene=cube#as=[\w-]+$/);
  expect(tuningOfLink(new URL(link).hash)).toEqual(SCENE);
  for (const hash of ["", "#as=", "#as=!!", "#as=e30", "#other=1"]) expect(tuningOfLink(hash)).toBeUndefined();
  const many = { ...SCENE, bodies: Array.from({ length: 100 }, (_, body) => ({ ...SCENE.bodies[1]!, body })) };
  expect(linkTo("http://host", "r", "cube", many)).toBeUndefined();
});
