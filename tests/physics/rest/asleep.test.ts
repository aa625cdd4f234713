/** Bodies that have come to rest sleep, including layers of cloth and piles whose contacts tremble. */
import { describe, expect, test } from "vitest";
import type { Body, Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

const FLOOR: Collider = { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 };

const cloth = {
  density: 300,
  thickness: 0.001,
  youngsModulus: 1e5,
  poissonsRatio: 0.3,
  bendingStiffness: 1e-4,
  friction: 0.4,
};

const sheet = (n: number): Body =>
  clothGrid(`sheet ${n}`, [0.6, 0.6], [10, 10], {
    transform: { translate: [0.02 * n, 0.05 + 0.05 * n, 0], rotate: [0, 11 * n, 0] },
    material: cloth,
  });

const jelly = (n: number): Body => {
  const translate: Vec3 = [0.09 * (((n * 7) % 3) - 1), 0.15 + 0.25 * n, 0.08 * (((n * 5) % 3) - 1)];
  return softBox(`jelly ${n}`, [0.2, 0.2, 0.2], [2, 2, 2], {
    transform: { translate, rotate: [10 * n, 25 * n, 0] },
    material: { density: 500, youngsModulus: 4e4, poissonsRatio: 0.35, friction: 0.5 },
  });
};

const scenes: Record<string, { bodies: Body[]; damping: number }> = {
  "five sheets, one on the other": { bodies: [0, 1, 2, 3, 4].map(sheet), damping: 0.5 },
  "a pile of ten jellies": { bodies: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(jelly), damping: 1.5 },
};

function height(lab: Laboratory): number {
  const { bodies } = lab.created;
  return bodies.reduce(
    (most, _, b) => lab.positions(b).reduce((m, c, k) => (k % 3 === 1 ? Math.max(m, c) : m), most),
    0,
  );
}

test.each(Object.entries(scenes))("%s: asleep within 15 s", async (_, { bodies, damping }) => {
  const lab = await laboratory({ gravity: [0, -9.81, 0], damping, refine: true, bodies, colliders: [FLOOR] });
  lab.world.mayRest = true;
  let ticks = 0;
  for (; ticks < 15 * 60 && !lab.world.resting; ticks++) lab.run(1);
  expect(lab.world.resting, `after ${ticks / 60} s`).toBe(true);
  // it has fallen and lies on the floor
  expect(height(lab)).toBeLessThan(0.5);
});

const marble = (n: number, translate: Vec3): Body => ({
  name: `marble ${n}`,
  kind: "ball",
  mesh: { type: "ball", radius: 0.026, subdivisions: 1 },
  transform: { translate },
  material: { density: 2500, friction: 0.3 },
});

describe("balls", () => {
  test("that lie in a bag with others sleep within 10 s", async () => {
    const bag: Body = {
      name: "bag",
      kind: "cloth",
      mesh: { type: "ball", radius: 0.1, subdivisions: 3 },
      transform: { translate: [0, 0.12, 0] },
      material: { ...cloth, friction: 0.4 },
      contact: { thickness: 0.003 },
    };
    const marbles = Array.from({ length: 8 }, (_, n) =>
      marble(n, [0.056 * ((n & 1) - 0.5), 0.12 + 0.056 * (((n >> 1) & 1) - 0.5), 0.056 * ((n >> 2) - 0.5)]),
    );
    const lab = await laboratory({
      gravity: [0, -9.81, 0],
      damping: 0.5,
      bodies: [bag, ...marbles],
      colliders: [FLOOR],
    });
    lab.world.mayRest = true;
    for (let tick = 0; tick < 600 && !lab.world.resting; tick++) lab.run(1);
    expect(lab.world.resting).toBe(true);
  });

  test("that roll at 2 cm/s beside each other stay awake", async () => {
    const row = Array.from({ length: 5 }, (_, n) => marble(n, [0, 0.026, 0.0525 * n]));
    const lab = await laboratory({ gravity: [0, -9.81, 0], bodies: row, colliders: [FLOOR] });
    lab.world.mayRest = true;
    for (let n = 0; n < 5; n++)
      lab.put(
        n,
        (x) => x,
        (x) => [0.02 * (x[1] / 0.026), 0, 0],
      );
    lab.run(180);
    expect([...lab.world.asleep()]).toEqual([0, 0, 0, 0, 0]);
  });
});

describe("a free body that drifts", () => {
  /** Returns the share of ticks at rest, after the first 1.5 s. @param seconds that it needs to leave its place */
  async function restingShare(seconds: number): Promise<number> {
    const size = 0.2 * Math.sqrt(3);
    const lab = await laboratory({ bodies: [{ ...jelly(0), transform: {} }] });
    lab.put(
      0,
      (x) => x,
      () => [(0.0002 * size) / seconds, 0, 0],
    );
    let resting = 0;
    lab.run(90);
    for (let tick = 0; tick < 240; tick++) {
      lab.run(1);
      resting += lab.world.asleep()[0]!;
    }
    return resting / 240;
  }

  test("is at rest, without a break, if it needs more than 1.25 s to leave each place", async () => {
    expect(await restingShare(1.5)).toBe(1);
  });

  test("is never at rest if it needs 1.1 s", async () => {
    expect(await restingShare(1.1)).toBe(0);
  });
});
