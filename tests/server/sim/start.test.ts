/** `start` of a body: its initial positions, with an unchanged rest shape. */
import { expect, test } from "vitest";
import type { Body } from "../../../shared/scene/scene.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { laboratory, volumeOf } from "../../physics/laboratory.ts";

const box = (start?: "flattened" | "mirrored"): Body => ({
  name: "box",
  kind: "soft",
  mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
  transform: { translate: [1, 0.5, 0] },
  ...(start && { start }),
  pins: [{ select: { box: { min: [0.5, 0.59, -1], max: [0.95, 1, -0.05] } } }],
  material: { density: 500, youngsModulus: 3e4, poissonsRatio: 0.3, damping: 1 },
});

test("flattened: every free particle is at the height of the lowest", async () => {
  const whole = (await laboratory({ bodies: [box()] })).positions();
  const lab = await laboratory({ bodies: [box("flattened")] });
  const x = lab.positions();
  const pinned = lab.created.bodies[0]!.pinned;
  expect(pinned.reduce((n, p) => n + p, 0)).toBe(1);
  for (let i = 0; i < x.length / 3; i++) {
    expect([x[3 * i], x[3 * i + 2]]).toEqual([whole[3 * i], whole[3 * i + 2]]);
    expect(x[3 * i + 1]).toBeCloseTo(pinned[i] ? whole[3 * i + 1]! : 0.4, 6);
  }
});

test("mirrored: every element is inside out, in the same place", async () => {
  const lab = await laboratory({ bodies: [{ ...box("mirrored"), pins: [] }] });
  const { tets, positions } = lab.created.bodies[0]!;
  const { volume, inverted } = volumeOf(lab.positions(), tets);
  expect(inverted).toBe(tets.length / 4);
  expect(volume).toBeCloseTo(-volumeOf(positions, tets).volume, 8);
  const x = lab.positions().filter((_, k) => k % 3 === 0);
  expect([Math.min(...x), Math.max(...x)].map((v) => v.toFixed(6))).toEqual(["0.900000", "1.100000"]);
});

test("it recovers, and a reset begins again", async () => {
  const lab = await laboratory({ bodies: [{ ...box("flattened"), pins: [] }] });
  const { tets, positions } = lab.created.bodies[0]!;
  lab.run(1);
  const first = lab.positions();
  lab.run(119);
  const now = volumeOf(lab.positions(), tets);
  expect(now.inverted).toBe(0);
  expect(now.volume / volumeOf(positions, tets).volume).toBeCloseTo(1, 2);
  lab.run(1, [{ type: "reset", member: 0 }]);
  expect(lab.positions()).toEqual(first);
});

test("any other value is refused", () => {
  expect(() => validateScene({ version: 1, title: "t", bodies: [{ ...box(), start: "crumpled" }] })).toThrow(
    /\/bodies\/0\/start/,
  );
});
