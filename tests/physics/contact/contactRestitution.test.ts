/**
 * Restitution of surface contacts. A sheet that falls flat on a mesh collider or a fixed body leaves with e (the
 * geometric mean of both) times its speed, wherever in a substep it arrives. It falls flat so that nothing bends:
 * elastic energy that a body returns is not restitution.
 *
 * Velocities before and after are those of substeps, so they are known to g h. Contacts of edges act a little later
 * than those of vertices, so not all of the sheet turns around in the same substep: 2 % of its speed, as for friction.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

const G = 9.81;
const H = 1 / 1200;
const SPEED = 3;
const sheet = (restitution: number, y: number): Body =>
  clothGrid("sheet", [0.4, 0.4], [4, 4], {
    transform: { translate: [0.03, y, 0.02], rotate: [0, 15, 0] },
    velocity: [0, -SPEED, 0],
    material: { density: 300, thickness: 0.002, youngsModulus: 1e5, poissonsRatio: 0.3, friction: 0 },
    contact: { restitution },
  });
const SUPPORTS: Record<string, (restitution: number) => { bodies: Body[]; colliders: Collider[] }> = {
  "a mesh collider": (restitution) => ({
    bodies: [],
    colliders: [
      {
        type: "mesh",
        mesh: { type: "box", size: [3, 0.5, 3], cells: [4, 1, 4] },
        transform: { translate: [0, -0.25, 0] },
        restitution,
        friction: 0,
      },
    ],
  }),
  "a held body": (restitution) => ({
    bodies: [
      softBox("support", [3, 0.2, 3], [15, 1, 15], {
        transform: { translate: [0, -0.1, 0] },
        pins: [{ select: { box: { min: [-9, -9, -9], max: [9, 9, 9] } } }],
        material: { density: 500, youngsModulus: 1e6, poissonsRatio: 0.3, friction: 0 },
        contact: { restitution },
      }),
    ],
    colliders: [],
  }),
};

const fallSpeed = (lab: Laboratory): number => {
  const m = lab.created.bodies[0]!.mass;
  const v = lab.velocities();
  return m.reduce((sum, mass, i) => sum + mass * v[3 * i + 1]!, 0) / m.reduce((a, b) => a + b, 0);
};

/** Vertical velocities before and after the first impact. */
async function impact(
  own: number,
  other: number,
  support: string,
  y: number,
): Promise<{ before: number; after: number; lab: Laboratory }> {
  const { bodies, colliders } = SUPPORTS[support]!(other);
  const lab = await laboratory({ substeps: 20, gravity: [0, -G, 0], bodies: [sheet(own, y), ...bodies], colliders });
  let last = fallSpeed(lab);
  let found: { before: number; after: number } | undefined;
  lab.world.watchSubsteps(() => {
    const now = fallSpeed(lab);
    if (!found && now > last + 2 * G * H) found = { before: last, after: now };
    last = now;
  });
  lab.run(6);
  return { ...found!, lab };
}

describe.each(Object.keys(SUPPORTS))("on %s", (support) => {
  test.each([
    [0.5, 0.5, 0.5],
    [1, 0.64, 0.8],
    [1, 1, 1],
  ])("of %d on %d leaves with %d of its speed", async (own, other, e) => {
    // 2.5 mm a substep: five starts, a fifth of that apart
    for (let n = 0; n < 5; n++) {
      const { before, after } = await impact(own, other, support, 0.05 + n * 0.0005);
      expect(before).toBeLessThan(-SPEED);
      expect(Math.abs(after + e * before), `from ${n * 0.5} mm higher: ${before} to ${after} m/s`).toBeLessThan(
        2 * G * H + (support === "a held body" ? 0.02 * SPEED : 0),
      );
    }
  });

  test("without restitution on either side the sheet stays down and lies still", async () => {
    const { lab } = await impact(1, 0, support, 0.05);
    expect(Math.abs(fallSpeed(lab))).toBeLessThan(2 * G * H);
  });

  test("a sheet at rest does not hop, whatever its restitution", async () => {
    const { lab } = await impact(0.9, 0.9, support, 0.05);
    lab.run(600);
    // heights only: nothing keeps the sheet from gliding
    const heights = (): number[] => [...lab.positions()].filter((_, k) => k % 3 === 1);
    const before = heights();
    lab.run(60);
    // contacts of edges begin at 65 % of the thickness (contactList.ts), so a sheet that glides over edges may be that
    // much lower
    expect(Math.max(...heights().map((y, i) => Math.abs(y - before[i]!)))).toBeLessThan(
      0.35 * (0.5 * 0.002 + lab.created.bodies.at(-1)!.contactRadius),
    );
  });
});
