/** Touching pairs of bodies: reported when bodies are as near as the contact distance, and not when they are apart. */
import { describe, expect, test } from "vitest";
import type { Scene } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { along, middle } from "../measures.ts";

type Body = Scene["bodies"][number];

/** m; the contact distance is the sum of both. */
const THICKNESS = 0.003;
const KEPT = 2 * THICKNESS;

const SOFT = { density: 300, youngsModulus: 50_000, poissonsRatio: 0.3 };
const materials = {
  soft: SOFT,
  rigid: { model: "shape-matching", mode: "rigid", density: 300 },
} as unknown as Record<string, Body["material"]>;

const box = (name: string, y: number, material: Body["material"]): Body =>
  ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
    transform: { translate: [0, y, 0] },
    material,
    contact: { thickness: THICKNESS },
  }) as Body;

/** Vertical distance of two boxes, one above the other, m. */
function between(lab: Laboratory, below: number, above: number): number {
  const heights = (body: number): Float64Array => along(lab.positions(body), 1);
  return Math.min(...heights(above)) - Math.max(...heights(below));
}

describe.each(["soft", "rigid"])("two %s boxes", (kind) => {
  test("touch when one has fallen onto the other, and not before", async () => {
    const lab = await laboratory({
      gravity: [0, -9.81, 0],
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
      bodies: [box("below", 0.1 + THICKNESS, materials[kind]!), box("above", 0.5, materials[kind]!)],
    });
    let touched = 0;
    for (let tick = 1; tick <= 240; tick++) {
      lab.run(1);
      const pairs = lab.world.touching();
      expect(pairs.length === 0 || pairs.join() === "0,1").toBe(true);
      const gap = between(lab, 0, 1);
      // No point of a bent top is higher than its highest particle, so the gap is a lower bound.
      if (gap > 1.2 * KEPT) expect(pairs, `tick ${tick}, ${gap} m apart`).toEqual([]);
      if (pairs.length > 0) touched += 1;
    }
    expect(touched).toBeGreaterThan(100);
    expect(lab.world.touching()).toEqual([0, 1]);
  });
});

test("in a row of three the middle one touches both, and the outer two do not touch", async () => {
  const lab = await laboratory({
    gravity: [0, -9.81, 0],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    bodies: [0, 1, 2].map((n) => box(`${n}`, 0.105 + 0.206 * n, materials.rigid!)),
  });
  lab.run(120);
  expect(lab.world.touching()).toEqual([0, 1, 1, 2]);
});

test("a cloth that falls over a box touches it, and does not count as touching itself", async () => {
  const lab = await laboratory({
    gravity: [0, -9.81, 0],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    bodies: [
      box("box", 0.1 + THICKNESS, materials.rigid!),
      {
        name: "cloth",
        kind: "cloth",
        mesh: { type: "grid", size: [0.6, 0.6], cells: [16, 16] },
        transform: { translate: [0, 0.25, 0] },
        material: { density: 500, thickness: 0.001, youngsModulus: 20_000, poissonsRatio: 0.3 },
        contact: { thickness: THICKNESS },
      } as Body,
    ],
  });
  expect(lab.world.touching()).toEqual([]);
  lab.run(90);
  expect(lab.world.touching()).toEqual([0, 1]);
});

test("balls touch the body below them, and each other", async () => {
  const ball = (name: string, x: number, y: number): Body =>
    ({
      name,
      kind: "ball",
      mesh: { type: "ball", radius: 0.05, subdivisions: 1 },
      transform: { translate: [x, y, 0] },
      material: { density: 500 },
    }) as unknown as Body;
  const lab = await laboratory({
    gravity: [0, -9.81, 0],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    bodies: [
      box("box", 0.1 + THICKNESS, materials.soft!),
      ball("on the box", 0, 0.3),
      ball("on that", 0, 0.45),
      ball("apart", 0.5, 0.06),
    ],
  });
  const pairs = new Set<string>();
  const center = (body: number): number[] => middle(lab.positions(body));
  for (let tick = 1; tick <= 120; tick++) {
    lab.run(1);
    const now = lab.world.touching();
    for (let i = 0; i < now.length; i += 2) pairs.add(`${now[i]} ${now[i + 1]}`);
    const [one, other] = [center(1), center(2)] as [number[], number[]];
    const apart = Math.hypot(...one.map((c, r) => c - other[r]!)) > 0.102;
    if (apart) expect(now.join(" ")).not.toContain("1 2");
  }
  // Later the upper one may roll off.
  expect([...pairs].slice(0, 2)).toEqual(["0 1", "1 2"]);
  expect([...pairs].join()).not.toContain("3");
});
