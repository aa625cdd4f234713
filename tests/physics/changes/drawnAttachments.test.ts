/** Rigid attachments to a world point that is apart from their body: they draw the body there at the speed of grabs. */
import { describe, expect, test } from "vitest";
import type { Attachment, Body, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory } from "../laboratory.ts";
import { topSpeed } from "../measures.ts";

const box = (material: object): Partial<Body> =>
  ({ kind: "soft", mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] }, material }) as Partial<Body>;
const SOFT = { density: 500, youngsModulus: 1e6, poissonsRatio: 0.3 };
const sheet = (solver: string): Partial<Body> =>
  ({
    kind: "cloth",
    solver,
    mesh: { type: "grid", size: [0.2, 0.2], cells: [4, 4] },
    material: { density: 300, thickness: 0.001, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-3 },
  }) as Partial<Body>;

const KINDS: Record<string, Partial<Body>> = {
  "compliant solid": { ...box(SOFT), solver: "compliant" } as Partial<Body>,
  "implicit solid": { ...box(SOFT), solver: "implicit" } as Partial<Body>,
  "rigid box": box({ density: 500, model: "shape-matching", mode: "rigid" }),
  "finite elements": { ...box(SOFT), method: { type: "finite-elements" }, contact: { self: false } } as Partial<Body>,
  "compliant cloth": sheet("compliant"),
  "prefactored cloth": sheet("prefactored"),
};
const FROM: Vec3 = [0.1, 0.1, 0.1];
const TO: Vec3 = [0.5, 0.3, -0.2];
const SPEED = 1;

/** A body in free space, held by its corner (sheets: by the one nearest to it). */
const open = (kind: Partial<Body>, more: Partial<Attachment> = {}): ReturnType<typeof laboratory> =>
  laboratory({
    refine: true,
    interaction: { grabSpeed: SPEED },
    bodies: [{ name: "body", ...kind } as Body],
    attachments: [{ from: { body: "body", near: FROM }, to: { world: TO }, ...more }],
  });

const apart = (x: Float64Array, p: Vec3): number[] =>
  Array.from({ length: x.length / 3 }, (_, i) => Math.hypot(...p.map((c, r) => c - x[3 * i + r]!)));

describe.each(Object.keys(KINDS))("%s", (name) => {
  // within one substep it got 100 m/s and more
  test("goes to its point no faster than a grab, and stays", async () => {
    const lab = await open(KINDS[name]!);
    let fastest = 0;
    for (let tick = 0; tick < 120; tick++) {
      expect(lab.run(1)).toEqual([]);
      fastest = Math.max(fastest, topSpeed(lab));
    }
    // the held corner is the fastest; the body swings behind it
    expect(fastest).toBeGreaterThan(0.5 * SPEED);
    expect(fastest).toBeLessThan(4 * SPEED);
    expect(Math.min(...apart(lab.positions(), TO))).toBeLessThan(1e-4);
  });
});

test("a reset begins anew", async () => {
  const lab = await open(KINDS["compliant solid"]!);
  lab.run(10);
  const x = lab.positions();
  lab.run(50);
  lab.run(10, [{ type: "reset", member: 1 }]);
  expect(lab.positions()).toEqual(x);
});

test("a spring begins stretched", async () => {
  const lab = await open(KINDS["rigid box"]!, { compliance: 0.01 });
  lab.run(1);
  // a = d/(alpha m), d = 0.57 m, m = 4 kg
  expect(topSpeed(lab)).toBeGreaterThan(0.2);
});
