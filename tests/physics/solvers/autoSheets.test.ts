/**
 * Sheets at default settings, under load: without a solver, iterations or (but for the last) substeps in the scene,
 * they have the length of their material. Sources of the right values: closed formulas; a bar's path.
 */
import { expect, test } from "vitest";
import { compileMotion, poseAt } from "../../../shared/geometry/colliderMotion.ts";
import type { Body, Collider, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { along, mean, stretchUnder } from "../measures.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

const G = 9.81;

const open = (scene: Partial<Scene> & Pick<Scene, "bodies">): Promise<Laboratory> =>
  laboratory({ gravity: [0, -G, 0], refine: true, ...scene });

const heights = (lab: Laboratory, body: number): Float64Array => along(lab.positions(body), 1);

/** Largest length of a sheet's edge over its rest length. */
function stretchOf(lab: Laboratory): number {
  const x = lab.positions(0);
  const { positions, triangles } = lab.created.bodies[0]!;
  const length = (at: ArrayLike<number>, a: number, b: number): number =>
    Math.hypot(...[0, 1, 2].map((r) => at[3 * a + r]! - at[3 * b + r]!));
  return triangles.reduce((most, a, n) => {
    const b = triangles[n - (n % 3) + ((n + 1) % 3)]!;
    return Math.max(most, length(x, a, b) / length(positions, a, b));
  }, 0);
}

test("a ribbon of 5 g carries a box of 1 kg at its material's length", async () => {
  const [length, width, k] = [0.9, 0.02, 1e7];
  const lab = await open({
    damping: 2,
    bodies: [
      clothGrid("ribbon", [length, width], [30, 1], {
        transform: { translate: [0, -length / 2, 0], rotate: [0, 0, 90] },
        material: { density: 300, thickness: 1e-3, youngsModulus: k, poissonsRatio: 0 },
        pins: [{ select: { box: { min: [-9, -1e-3, -9], max: [9, 9, 9] } } }],
        contact: { ignore: ["box"], self: false },
      }),
      softBox("box", [0.1, 0.1, 0.1], [2, 2, 2], {
        transform: { translate: [0, -length - 0.06, 0] },
        material: { model: "shape-matching", mode: "rigid", density: 1000 },
      }),
    ],
    attachments: [-0.01, 0.01].map((z) => ({
      from: { body: "box", near: [0, -length - 0.01, z] as Vec3 },
      to: { body: "ribbon", near: [0, -length, z] as Vec3 },
    })),
  });
  expect(lab.created.bodies[0]!.form).toBe("prefactored");
  lab.run(600);
  // the weight of the box and half of the ribbon
  const s = stretchUnder((1.0027 * G) / (width * 1e-3), k);
  expect(Math.abs(mean(heights(lab, 1)) + length * s + 0.06)).toBeLessThan(1e-3);
});

test("two sheets that begin in the same place part, and rest on each other", async () => {
  const sheet = (name: string): Body =>
    clothGrid(name, [0.5, 0.5], [10, 10], {
      transform: { translate: [0, 0.2, 0] },
      material: { density: 300, thickness: 1e-3, youngsModulus: 2e5, poissonsRatio: 0.3, bendingStiffness: 2e-5 },
      contact: { thickness: 4e-3 },
    });
  const lab = await open({
    damping: 0.5,
    bodies: [sheet("one"), sheet("two")],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.6 }],
  });
  lab.run(240);
  expect(crossings(lab)).toBe(0);
  const apart = Math.abs(mean(heights(lab, 0)) - mean(heights(lab, 1)));
  expect(apart).toBeGreaterThan(3.5e-3);
  expect(apart).toBeLessThan(4.5e-3);
});

test.each([undefined, 20])("a sheet on a bar that starts and stops follows it (substeps: %o)", async (substeps) => {
  // at rest, then with 1 g from 0.5 s to 1.5 s, then at rest 5 m further
  const start = 0.5;
  const keys = Array.from({ length: 21 }, (_, n) => ({
    time: start + n / 20,
    translate: [0, 0, 5 * (n / 20) ** 2] as Vec3,
  }));
  const motion = { keys: [{ time: 0 }, ...keys, { time: 9, translate: [0, 0, 5] as Vec3 }], loop: false };
  const path = compileMotion(motion);
  const bar: Collider = { type: "box", name: "bar", center: [0, 2.05, 0], halfExtents: [0.6, 0.04, 0.04], motion };
  const lab = await open({
    damping: 0.5,
    ...(substeps !== undefined && { substeps }),
    bodies: [
      clothGrid("sheet", [1, 1], [10, 10], {
        transform: { rotate: [90, 0, 0], translate: [0, 1.5, 0] },
        material: { density: 300, thickness: 1e-3, youngsModulus: 3e5, poissonsRatio: 0.3, bendingStiffness: 2e-5 },
      }),
    ],
    colliders: [bar, { type: "plane", normal: [0, 1, 0], offset: 0 }],
    attachments: Array.from({ length: 11 }, (_, n) => ({
      from: { body: "sheet", near: [n / 10 - 0.5, 2, 0] as Vec3 },
      to: { collider: "bar" },
    })),
  });
  expect(lab.created.bodies[0]!.form).toBe("prefactored");
  expect(lab.created.layout.substeps).toBe(substeps ?? 10);
  const { positions } = lab.created.bodies[0]!;
  const held = Array.from({ length: positions.length / 3 }, (_, i) => i).filter((i) => positions[3 * i + 1]! > 1.999);
  for (let tick = 1; tick <= 180; tick++) {
    lab.run(1);
    const x = lab.positions();
    const z = poseAt(path, tick / 60).translate[2]!;
    // after the stop the sheet swings against the bar, which pushes it away
    const most = tick <= 90 ? 1e-3 : 5e-3;
    for (const i of held)
      expect(Math.hypot(x[3 * i]! - positions[3 * i]!, x[3 * i + 1]! - 2, x[3 * i + 2]! - z)).toBeLessThan(most);
    expect(stretchOf(lab)).toBeLessThan(1.5);
  }
});
