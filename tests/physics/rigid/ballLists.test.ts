/** Lists of balls (kernel/assembly/rigid/ballLists.ts) stay short if something else in the room is fast. */
import { expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import type { Body, Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";

const FLOOR: Collider = { type: "plane", name: "floor", normal: [0, 1, 0], offset: 0, friction: 0.5 };
const R = 0.026;
const THICKNESS = 0.003;
const CELLS = 20;

const ball = (name: string, translate: Vec3): Body =>
  ({
    name,
    kind: "ball",
    mesh: { type: "ball", radius: R, subdivisions: 1 },
    transform: { translate },
    material: { density: 2500, friction: 0.3 },
  }) as Body;

const sheet = (name: string, height: number): Body => ({
  name,
  kind: "cloth",
  mesh: { type: "grid", size: [0.28, 0.28], cells: [CELLS, CELLS] },
  transform: { translate: [0, height, 0] },
  material: {
    density: 300,
    thickness: 0.001,
    youngsModulus: 5e5,
    poissonsRatio: 0.3,
    bendingStiffness: 2e-5,
    friction: 0.4,
  },
  contact: { thickness: THICKNESS },
});

const room = (bodies: Body[]): Promise<Laboratory> =>
  laboratory({ gravity: [0, -9.81, 0], damping: 0.5, substeps: 20, iterations: 1, colliders: [FLOOR], bodies });

test("a fast body elsewhere does not make lists long", async () => {
  const lab = await room([sheet("sheet", 0.002), ball("ball", [0.004, R + 0.006, 0.003]), ball("fast", [3, 1, 0])]);
  lab.run(30);
  lab.put(
    2,
    (x) => x,
    () => [0, 40, 0],
  );
  lab.run(1);
  const words = new Int32Array(lab.created.memory.buffer);
  const row = words[(L.HEADER + L.H_BALLS) / 4]! / 4;
  const all = (CELLS + 1) ** 2 + 2 * CELLS ** 2;
  expect(words[row + L.BALL_COUNT / 4]).toBeGreaterThan(0);
  expect(words[row + L.BALL_COUNT / 4]).toBeLessThan(all / 4);
});
