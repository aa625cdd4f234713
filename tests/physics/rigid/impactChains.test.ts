/**
 * Impacts pass along a chain of equal bodies (Newton's cradle): with restitution 1 the last one leaves with the speed
 * of the first, whatever the gaps, the direction and the order of the bodies in the scene. Energy is kept to 2 %.
 */
import { describe, expect, test } from "vitest";
import type { Body, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";

const SPEED = 2;
const RADIUS = 0.1;

type Make = (name: string, place: Vec3, velocity: Vec3) => Body;
const ball: Make = (name, place, velocity) => ({
  name,
  kind: "ball",
  mesh: { type: "ball", radius: RADIUS },
  transform: { translate: place },
  velocity,
  material: { density: 1000, friction: 0 },
  contact: { restitution: 1 },
});

/** Five bodies with `gap` between them along `way`; the first arrives from 0.3 m. `order`: place of each body. */
function chain(make: Make, gap: number, way: Vec3, order: readonly number[]): Body[] {
  const along = (s: number): Vec3 => way.map((w) => s * w) as Vec3;
  return order.map((k) => make(`b${k}`, along(k === 0 ? -0.3 : k * (2 * RADIUS + gap)), along(k === 0 ? SPEED : 0)));
}

/** Mean velocity of a body along `way`, m/s. */
function speedOf(lab: Laboratory, body: number, way: Vec3): number {
  const v = lab.velocities(body);
  return v.reduce((sum, each, k) => sum + each * way[k % 3]!, 0) / (v.length / 3);
}

const X: Vec3 = [1, 0, 0];
const OBLIQUE: Vec3 = [0.48, 0.64, -0.6];
const UP = [0, 1, 2, 3, 4];
const DOWN = [4, 3, 2, 1, 0];
const MIXED = [2, 0, 4, 1, 3];

describe("five balls, restitution 1", () => {
  test.each([
    ["gaps of 0.5 mm", 0.0005, X, UP],
    ["gaps of 0.5 mm, hit from the other end", 0.0005, X, DOWN],
    ["gaps of 0.5 mm, in another order", 0.0005, X, MIXED],
    ["gaps of 0.5 mm, in an oblique line", 0.0005, OBLIQUE, MIXED],
    ["gaps of 2.5 mm", 0.0025, X, DOWN],
    ["gaps of 20 mm", 0.02, X, MIXED],
    ["touching", 0, X, UP],
    ["touching, in an oblique line", 0, OBLIQUE, DOWN],
  ])("%s: the last one leaves with all of the speed", async (_, gap, way, order) => {
    const lab = await laboratory({ substeps: 20, bodies: chain(ball, gap, way, order) });
    lab.run(20);
    const speeds = order.map((_, body) => speedOf(lab, body, way));
    const energy = speeds.reduce((sum, v) => sum + v * v, 0);
    expect(energy).toBeGreaterThan(0.98 * SPEED ** 2);
    expect(energy).toBeLessThan(1.001 * SPEED ** 2);
    order.forEach((k, body) => expect(Math.abs(speeds[body]! - (k === 4 ? SPEED : 0))).toBeLessThan(0.01 * SPEED));
  });
});
