/** What a duplicate of a room (client/state/duplicate.ts) has to change. */
import { expect, test } from "vitest";
import { changesTo } from "../../../client/state/duplicate.ts";
import type { Tuning } from "../../../shared/protocol.ts";

const SCENE: Tuning = {
  gravity: [0, -9.81, 0],
  bodies: [
    { body: 0, damping: 1, friction: 0.5 },
    { body: 2, damping: 0, friction: 0.5 },
  ],
};

test("what a duplicate has to change is what differs, and nothing else", () => {
  expect(changesTo(SCENE, SCENE)).toEqual([]);
  expect(changesTo({ ...SCENE, gravity: [0, 1, 0] }, SCENE)).toEqual([{ gravity: [0, 1, 0] }]);
  const bodies = [SCENE.bodies[0]!, { body: 2, damping: 3, friction: 0.5 }];
  expect(changesTo({ ...SCENE, bodies }, SCENE)).toEqual([{ body: 2, damping: 3, friction: 0.5 }]);
});
