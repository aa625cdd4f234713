/**
 * Contact begins where a body is: contact neither throws nor brakes a body placed exactly on a plane, within the
 * contact gap.
 */
import { describe, expect, test } from "vitest";
import type { Body } from "../../../shared/scene/scene.ts";
import { laboratory } from "../laboratory.ts";
import { middle } from "../measures.ts";

const G = 9.81;
const MU = 0.2;
const floor = [{ type: "plane" as const, normal: [0, 1, 0] as [number, number, number], offset: 0, friction: MU }];

const box = (size: [number, number, number], cells: [number, number, number], rigid: boolean): Body => ({
  name: "box",
  kind: "soft",
  mesh: { type: "box", size, cells },
  transform: { translate: [0, size[1] / 2, 0] },
  material: rigid
    ? { model: "shape-matching", mode: "rigid", density: 500, friction: MU }
    : { density: 500, youngsModulus: 1e6, poissonsRatio: 0.3, friction: MU },
});

describe.each([
  ["rigid", true],
  ["soft", false],
] as const)("a %s box", (_, rigid) => {
  test("that slides at 2 m/s comes as far as friction allows", async () => {
    const lab = await laboratory({
      gravity: [0, -G, 0],
      bodies: [box([0.4, 0.1, 0.4], [4, 1, 4], rigid)],
      colliders: floor,
    });
    lab.put(
      0,
      (x) => x,
      () => [2, 0, 0],
    );
    const before = middle(lab.positions())[0]!;
    lab.run(120);
    // v^2/2 mu g, within a hundredth
    expect(Math.abs((middle(lab.positions())[0]! - before) / (4 / (2 * MU * G)) - 1)).toBeLessThan(0.01);
    expect(Math.max(...lab.velocities().map(Math.abs))).toBeLessThan(0.01);
  });

  test("of 1 m rises into its gap slowly, and no higher", async () => {
    const lab = await laboratory({
      gravity: [0, -G, 0],
      bodies: [box([1, 1, 1], rigid ? [2, 2, 2] : [4, 4, 4], rigid)],
      colliders: floor,
    });
    const gap = Math.min(...lab.x.filter((_x, k) => k % 4 === 1));
    expect(gap).toBe(0);
    const margin = new Float32Array(lab.created.memory.buffer, lab.created.layout.xPrev)[3]!;
    const lowest = middle(lab.positions())[1]!;
    // Half the speed of a fall through the margin. An elastic box settles under its weight: its top falls freely until
    // the wave from the floor arrives.
    const slow = Math.max(Math.sqrt(2 * G * margin) / 2, rigid ? 0 : G / Math.sqrt(1e6 / 500));
    let highest = 0;
    for (let tick = 0; tick < 90; tick++) {
      lab.run(1);
      highest = Math.max(highest, middle(lab.positions())[1]! - lowest);
      expect(Math.max(...lab.velocities().filter((_v, k) => k % 3 === 1))).toBeLessThan(slow);
    }
    expect(highest).toBeLessThan(1.05 * margin);
    if (rigid) expect(middle(lab.positions())[1]! - lowest).toBeGreaterThan(0.95 * margin);
  });
});
