/**
 * Bodies of solver "implicit" on colliders: they settle at static equilibrium, friction holds and slips by Coulomb's
 * law, nothing gains energy, nothing passes through.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { along, fastest, mean, middle } from "../measures.ts";

const G = 9.81;
const STEP = 1 / 240;
const SIZE = 0.2;
const DENSITY = 1000;

interface Block {
  youngsModulus: number;
  poissonsRatio?: number;
  friction?: number;
  damping?: number;
  translate?: Vec3;
  rotate?: Vec3;
  velocity?: Vec3;
  cells?: [number, number, number];
  size?: Vec3;
}

function block({ translate, rotate, velocity, cells, size, ...material }: Block): Body {
  return {
    name: "block",
    kind: "soft",
    solver: "implicit",
    contact: { self: false },
    mesh: { type: "box", size: size ?? [SIZE, SIZE, SIZE], cells: cells ?? [4, 4, 4] },
    transform: { translate: translate ?? [0, SIZE / 2 + 0.005, 0], ...(rotate && { rotate }) },
    ...(velocity && { velocity }),
    material: { density: DENSITY, poissonsRatio: 0.3, friction: 0.5, damping: 0, ...material },
  };
}

const floor = (friction: number, normal: Vec3 = [0, 1, 0]): Collider => ({
  type: "plane",
  normal,
  offset: 0,
  friction,
});
const room = (body: Body, collider: Collider): Promise<Laboratory> =>
  laboratory({ gravity: [0, -G, 0], bodies: [body], colliders: [collider] });
const coordinate = (lab: Laboratory, r: number): Float64Array => along(lab.positions(), r);

describe("at rest", () => {
  test("a column with Poisson's ratio 0 shortens by the strain of its own weight", async () => {
    const lab = await room(block({ youngsModulus: 1e6, poissonsRatio: 0, friction: 0, damping: 3 }), floor(0));
    lab.run(600);
    const y = coordinate(lab, 1);
    const rest = coordinate(await room(block({ youngsModulus: 1e6 }), floor(0)), 1);
    const top = y.filter((_, i) => rest[i]! > SIZE);
    // integral of rho g (H - y)/E. Masses of particles are those of a tetrahedral mesh: a 4th of a cell's corner, or
    // less, at each height, in 4 layers.
    const sag = (DENSITY * G * SIZE ** 2) / (2 * 1e6);
    expect(Math.abs((SIZE - (mean(top) - Math.min(...y))) / sag - 1)).toBeLessThan(0.02);
    expect(fastest(lab)).toBeLessThan(1e-6);
  });

  test.each([1e7, 1e9, 2e11])("a block of %d Pa lies without a tremor", async (youngsModulus) => {
    const lab = await room(block({ youngsModulus, damping: 1 }), floor(0.5));
    lab.run(600);
    const before = lab.positions();
    lab.run(60);
    // float32 steps at 0.2 m are 1.5e-8 m
    expect(Math.max(...lab.positions().map((c, k) => Math.abs(c - before[k]!)))).toBeLessThan(1.5e-8);
    expect(fastest(lab)).toBeLessThan(1e-6);
  });
});

describe.each([1e5, 1e7, 1e9])("a block of %d Pa that falls", (youngsModulus) => {
  const drop = 0.3;

  test("never rises above its start, nor passes through the floor", async () => {
    const lab = await room(
      block({ youngsModulus, translate: [0, SIZE / 2 + drop, 0], rotate: [20, 0, 35] }),
      floor(0.5),
    );
    const start = mean(coordinate(lab, 1));
    let highest = -Infinity;
    for (let t = 0; t < 300; t++) {
      lab.run(1);
      expect(Math.min(...coordinate(lab, 1))).toBeGreaterThan(0);
      if (t > 30) highest = Math.max(highest, mean(coordinate(lab, 1)));
    }
    expect(highest).toBeLessThan(start);
  });
});

test("a block that is crushed on landing settles to the same shape as a block placed there", async () => {
  const soft = { youngsModulus: 1e4, damping: 1 };
  const heights = async (above: number): Promise<number> => {
    const lab = await room(block({ ...soft, translate: [0, SIZE / 2 + above, 0] }), floor(0.5));
    lab.run(900);
    return mean(coordinate(lab, 1));
  };
  const [put, fell] = [await heights(0.002), await heights(0.05)];
  // friction differs between the two
  expect(Math.abs(fell / put - 1)).toBeLessThan(0.02);
});

describe.each([0.2, 0.5])("friction of %d", (mu) => {
  const angle = Math.atan(mu);
  /** A plate, which does not tip over, on a slope of `part` times the angle of friction. */
  const onSlope = (part: number, velocity: number): Promise<Laboratory> => {
    const slope = Math.atan(part * Math.tan(angle));
    const normal: Vec3 = [Math.sin(slope), Math.cos(slope), 0];
    const up = 0.025 + 0.0012;
    return room(
      block({
        youngsModulus: 1e7,
        friction: mu,
        size: [0.4, 0.05, 0.4],
        cells: [4, 1, 4],
        translate: [up * normal[0], up * normal[1], 0],
        rotate: [0, 0, (-slope * 180) / Math.PI],
        velocity: [velocity * normal[1], -velocity * normal[0], 0],
      }),
      floor(mu, normal),
    );
  };
  test("sticks on a slope of 95 % of its angle", async () => {
    const lab = await onSlope(0.95, 0);
    lab.run(120);
    const from = lab.positions();
    lab.run(240);
    const moved = lab.positions().map((c, k) => Math.abs(c - from[k]!));
    expect(Math.max(...moved) / 4).toBeLessThan(1e-4);
  });

  test("slips on one of 110 %, and slides down with g (sin - mu cos)", async () => {
    const lab = await onSlope(1.1, 0);
    const slope = Math.atan(1.1 * mu);
    lab.run(60);
    const v = middle(lab.velocities())[0] / Math.cos(slope);
    lab.run(60);
    const w = middle(lab.velocities())[0] / Math.cos(slope);
    const a = G * (Math.sin(slope) - mu * Math.cos(slope));
    expect(Math.abs((w - v) / a - 1)).toBeLessThan(0.05);
  });

  test("stops a plate of 2 m/s after v^2/(2 mu g)", async () => {
    const lab = await onSlope(0, 2);
    const from = mean(coordinate(lab, 0));
    lab.run(240);
    // the first step is Euler's, and the stop is known to a step: the travel of two steps
    expect(Math.abs(mean(coordinate(lab, 0)) - from - 4 / (2 * mu * G))).toBeLessThan(2 * 2 * STEP);
    expect(fastest(lab)).toBeLessThan(1e-6);
  });
});

test("a grab cannot press a block into the floor", async () => {
  const lab = await room(block({ youngsModulus: 1e6, damping: 1 }), floor(0.5));
  lab.run(30);
  const grab = { type: "grab", member: 1, grab: 0, body: 0, triangle: 5, u: 0.3, v: 0.3 } as const;
  lab.run(1, [{ ...grab, target: [0, -1, 0] }]);
  for (let t = 0; t < 120; t++) {
    lab.run(1);
    expect(Math.min(...coordinate(lab, 1))).toBeGreaterThan(0);
  }
});

test("a moving platform carries a block along, sideways and up", async () => {
  const way: Vec3 = [0.3, 0.2, 0];
  const lab = await room(block({ youngsModulus: 1e6, damping: 1, translate: [0, 0.203, 0] }), {
    type: "box",
    center: [0, 0, 0],
    halfExtents: [1, 0.1, 1],
    friction: 0.5,
    motion: {
      keys: [
        { time: 0, translate: [0, 0, 0] },
        { time: 1, translate: [0, 0, 0] },
        { time: 3, translate: way },
        { time: 9, translate: way },
      ],
      loop: false,
    },
  });
  lab.run(60);
  const [x, y] = [mean(coordinate(lab, 0)), mean(coordinate(lab, 1))];
  lab.run(180);
  // it starts and stops with a jerk of 0.15 m/s, in which it slips by v^2/(2 mu g), and flies for 2 u/g where it stops
  const [v, u] = [0.15, 0.1];
  expect(Math.abs(mean(coordinate(lab, 0)) - x - way[0])).toBeLessThan(v ** 2 / (2 * 0.5 * G) + (v * 2 * u) / G);
  expect(Math.abs(mean(coordinate(lab, 1)) - y - way[1])).toBeLessThan(1e-3);
});

test("a reset room repeats the motion to the bit", async () => {
  const lab = await room(block({ youngsModulus: 1e6, velocity: [2, 0, 0] }), floor(0.2));
  lab.run(45);
  const first = lab.positions();
  lab.run(1, [{ type: "reset", member: 1 }]);
  lab.run(44);
  const again = lab.positions();
  lab.run(1);
  expect([again, lab.positions()]).toContainEqual(first);
});
