/**
 * Momentum of three stiff sheets in free flight that are thrown at each other edge on, and crumple: contact stops some
 * of their particles, and the energy guard takes what contact has gained (prefactored/energyGuard.ts).
 */
import { expect, test } from "vitest";
import type { Body, Vec3 } from "../../../shared/scene/scene.ts";
import { norm, subtract } from "../../../server/sim/reference/vector.ts";
import { Stage } from "../pairs/act.ts";

/** m/s */
const SPEED = 30;
const SIZE = 0.4;

const sheet = (n: number, rotate: Vec3): Body => {
  const [c, s] = [Math.cos((2 * Math.PI * n) / 3), Math.sin((2 * Math.PI * n) / 3)];
  return {
    name: `sheet ${n}`,
    kind: "cloth",
    solver: "prefactored",
    mesh: { type: "grid", size: [SIZE, SIZE], cells: [10, 10] },
    transform: { translate: [0.32 * c, 0.012 * n, 0.32 * s], rotate },
    velocity: [-SPEED * c, 0, -SPEED * s],
    material: {
      density: 300,
      thickness: 0.001,
      youngsModulus: 1e7,
      poissonsRatio: 0.3,
      bendingStiffness: 1e-4,
      friction: 0.3,
    },
  };
};

// the guard left out the momentum of sheets that are near each other, and measured their turn where the substep began;
// and their solve moved their center without momentum: 6e-4 of the linear and 5e-3 of the angular momentum were lost
test.each([
  [
    [-2, -8, -8],
    [-3, -117, 19],
    [-13, -237, -5],
  ],
  [
    [12, -7, -15],
    [10, -125, 5],
    [-15, -238, 12],
  ],
] as Vec3[][])("three sheets turned by %j, %j and %j keep linear and angular momentum", async (...turns) => {
  const stage = await Stage.open(
    turns.map((turn, n) => sheet(n, turn)),
    {},
  );
  const before = stage.momentum();
  const moving = turns.reduce((sum, _, n) => sum + stage.mass(n) * SPEED, 0);
  const drift = { linear: 0, angular: 0 };
  stage.run(0.25, () => {
    const now = stage.momentum();
    drift.linear = Math.max(drift.linear, norm(subtract(now.linear, before.linear)) / moving);
    drift.angular = Math.max(drift.angular, norm(subtract(now.angular, before.angular)) / (moving * SIZE));
  });
  expect(drift.linear).toBeLessThan(1e-6);
  expect(drift.angular).toBeLessThan(1e-5);
  expect(stage.crossed).toBe(0);
});
