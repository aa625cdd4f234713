/** Filters: a body passes only through the bodies and colliders that it ignores. */
import { expect, test } from "vitest";
import type { Body, Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { heightOf } from "../measures.ts";

const FLOOR: Collider = { type: "plane", name: "floor", normal: [0, 1, 0], offset: 0 };
const at = (translate: Vec3): { transform: { translate: Vec3 } } => ({ transform: { translate } });
const jelly = (name: string, place: Vec3): Body => ({
  name,
  kind: "soft",
  mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
  ...at(place),
  material: { density: 500, youngsModulus: 1e5, poissonsRatio: 0.3 },
});
const die = (name: string, place: Vec3): Body => ({
  name,
  kind: "soft",
  mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
  ...at(place),
  material: { density: 500, model: "shape-matching", mode: "rigid" },
});
const ball = (name: string, place: Vec3): Body => ({
  name,
  kind: "ball",
  mesh: { type: "ball", radius: 0.1, subdivisions: 2 },
  ...at(place),
  material: { density: 500 },
});

/** 0.6 s of falling from 0.5 m: 1.3 m below it, or on the floor. */
const fall = async (bodies: Body[], colliders: Collider[]): Promise<Laboratory> => {
  const lab = await laboratory({ gravity: [0, -9.81, 0], bodies, colliders });
  lab.run(36);
  return lab;
};

test.each([
  ["soft", jelly],
  ["rigid", die],
  ["ball", ball],
] as const)("a %s body falls through the floor that it ignores; its neighbor does not", async (_, make) => {
  const lab = await fall(
    [make("a", [0, 0.5, 0]), { ...make("b", [1, 0.5, 0]), contact: { ignore: ["floor"] } }, make("c", [2, 0.5, 0])],
    [FLOOR, { type: "sphere", center: [0, 9, 0], radius: 0.1 }],
  );
  expect(heightOf(lab, 0)).toBeGreaterThan(0.05);
  expect(heightOf(lab, 2)).toBeGreaterThan(0.05);
  // free fall: symplectic steps of 1/1200 s would be g t h/2 = 2.5 mm below the parabola
  expect(heightOf(lab, 1)).toBeCloseTo(0.5 - 0.5 * 9.81 * 0.6 ** 2, 3);
});

test("a floor can ignore a body instead", async () => {
  const lab = await fall([jelly("a", [0, 0.5, 0]), jelly("b", [1, 0.5, 0])], [{ ...FLOOR, ignore: ["b"] }]);
  expect(heightOf(lab, 0)).toBeGreaterThan(0.05);
  expect(heightOf(lab, 1)).toBeLessThan(-1);
});

test.each([
  ["soft", jelly],
  ["ball", ball],
] as const)("a %s body falls through a body that it ignores", async (_, make) => {
  for (const [ignore, through] of [
    [["low"], true],
    [[], false],
  ] as const) {
    const lab = await fall(
      [jelly("low", [0, 0.101, 0]), { ...make("high", [0.01, 0.35, 0]), contact: { ignore: [...ignore] } }],
      [FLOOR],
    );
    // on the floor beside, or on top of 0.2 m
    if (through) expect(heightOf(lab, 1)).toBeLessThan(0.15);
    else expect(heightOf(lab, 1)).toBeGreaterThan(0.2);
  }
});
