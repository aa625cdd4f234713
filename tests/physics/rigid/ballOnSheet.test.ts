/**
 * A heavy ball on a thin sheet on a collider (server/kernel/assembly/rigid/heldCorners.ts): the collider carries it,
 * through one or more sheets (heldLayers.ts), without the exact response. Friction is the smaller one of the two sides
 * of a sheet.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { middle } from "../measures.ts";

const R = 0.026;
const GAP = 0.003;
const G = 9.81;
const SUBSTEPS = 20;
const H = 1 / 60 / SUBSTEPS;
/** Coefficients of friction. That of a pair is the root of their product. */
const BALL = 0.5;
const SHEET = 0.5;

/** @param cells of 1 cm along the sheets, which end 10 cm behind the ball */
function room(ground: Collider, layers = 1, cells = 60): Promise<Laboratory> {
  return laboratory({
    gravity: [0, -G, 0],
    damping: 0,
    substeps: SUBSTEPS,
    iterations: 1,
    colliders: [ground],
    bodies: [
      ...Array.from(
        { length: layers },
        (_, n): Body => ({
          name: `sheet ${n}`,
          kind: "cloth",
          mesh: { type: "grid", size: [cells / 100, 0.2], cells: [cells, 20] },
          transform: { translate: [cells / 200 - 0.1, (n + 0.5) * GAP, 0] },
          material: {
            density: 300,
            thickness: 0.001,
            youngsModulus: 500_000,
            poissonsRatio: 0.3,
            bendingStiffness: 2e-5,
            friction: SHEET,
          },
          contact: { thickness: GAP },
          solver: "compliant",
        }),
      ),
      {
        name: "ball",
        kind: "ball",
        mesh: { type: "ball", radius: R, subdivisions: 2 },
        transform: { translate: [0, layers * GAP + R, 0] },
        material: { density: 2500, friction: BALL },
      },
    ],
  });
}

const plane = (friction: number): Collider => ({ type: "plane", normal: [0, 1, 0], offset: 0, friction });

const grounds: Record<string, Collider> = {
  "a plane": plane(0.5),
  "a box": { type: "box", center: [0, -0.1, 0], halfExtents: [1, 0.1, 1], friction: 0.5 },
};

test.each(Object.entries(grounds))(
  "a marble on a sheet on %s stays at the distances of contact, without exact responses",
  async (_, ground) => {
    const lab = await room(ground);
    lab.run(60);
    const { impulses } = lab.world.contactCounts();
    for (let tick = 0; tick < 30; tick++) {
      lab.run(1);
      // in a substep it falls by g h^2 before it is pushed back
      expect(Math.abs(middle(lab.positions(1))[1] - R - GAP)).toBeLessThan(4 * G * H * H);
    }
    expect(lab.world.contactCounts().impulses).toBe(impulses);
  },
);

test("a floor carries a marble through two sheets without exact responses", async () => {
  const lab = await room(plane(0.5), 2, 20);
  lab.run(30);
  const { impulses } = lab.world.contactCounts();
  lab.run(10);
  expect(middle(lab.positions(2))[1]).toBeGreaterThan(R + 1.5 * GAP);
  expect(lab.world.contactCounts().impulses).toBe(impulses);
});

describe("a marble that slides over a sheet", () => {
  const SPEED = 0.5;
  const TICKS = 3;

  async function slide(friction: number): Promise<Laboratory> {
    const lab = await room(plane(friction));
    lab.run(6);
    lab.put(
      1,
      (x) => x,
      () => [SPEED, 0, 0],
    );
    lab.run(TICKS);
    return lab;
  }

  test("is decelerated by the friction of the floor, if that is less than its own", async () => {
    const mu = Math.sqrt(SHEET * 0.1);
    const seconds = TICKS / 60;
    // it slides until mu g t = 2/7 v; with its own friction it would roll by then
    expect(mu * G * seconds).toBeLessThan((2 / 7) * SPEED);
    expect(Math.sqrt(SHEET * BALL) * G * seconds).toBeGreaterThan((2 / 7) * SPEED);
    expect((SPEED - middle((await slide(0.1)).velocities(1))[0]) / (mu * G * seconds)).toBeCloseTo(1, 1);
  });

  test("takes the sheet along on a smooth floor, with their momentum", async () => {
    const lab = await slide(0);
    const masses = [0, 1].map((b) => {
      const { first, count } = lab.created.layout.bodies[b]!;
      return Array.from({ length: count }, (_, i) => 1 / lab.x[4 * (first + i) + 3]!);
    });
    const whole = masses.map((of, b) => {
      const v = lab.velocities(b);
      return of.reduce((sum, m, i) => sum + m * v[3 * i]!, 0);
    });
    const before = SPEED * masses[1]!.reduce((sum, m) => sum + m, 0);
    expect(whole[0]! / before).toBeGreaterThan(0.001);
    expect((whole[0]! + whole[1]!) / before).toBeCloseTo(1, 2);
  });
});
