/**
 * A short run of the contact scenes: grabs pull from the first tick on, and no substep has intersections. The long run
 * is `npm run check:scenes`.
 */
import { expect, test } from "vitest";
import { checkScene } from "./checkScene.ts";
import type { Script } from "./hands.ts";
import { JELLIES, rush } from "./scripts.ts";
import { inLong } from "../../support/run/long.ts";

/** A second shot at a curtain under a grab, while the first bullet hangs in it. */
const shots = (ticks: number): Script => ({
  ...rush(["curtain"], ticks),
  resets: [8],
  blows: [{ body: "bullet", at: [0, 0, 10], tick: 8, impulse: [0.027, -0.027, 0] }],
});

test.each<[string, number, (ticks: number) => Script]>([
  ["cloth-through-funnel", inLong(48, 36), (ticks) => rush(["sheet"], ticks)],
  ["flag-on-pole", 48, (ticks) => rush(["flag"], ticks)],
  ["tangled-hands", 24, (ticks) => rush(["blue sheet", "red sheet", "jelly"], ticks)],
  ["hundred-bodies", 16, (ticks) => rush(JELLIES, ticks)],
  ["bullet-curtain", inLong(24, 18), shots],
])("%s: grabs cause no intersections", async (scene, ticks, script) => {
  const { substeps, pairs, staticIntersections, sweptCrossings, belowPlanes, events, findings } = await checkScene(
    scene,
    { ticks, script: script(ticks) },
  );
  expect({ staticIntersections, sweptCrossings, belowPlanes, events, first: findings[0] }).toEqual({
    staticIntersections: 0,
    sweptCrossings: 0,
    belowPlanes: 0,
    events: [],
    first: undefined,
  });
  expect(substeps).toBeGreaterThanOrEqual(180);
  expect(pairs).toBeGreaterThan(10); // contacts did occur
});
