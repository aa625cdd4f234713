/**
 * Movers that close to less than the width of a rigid body (kernel/assembly/contact/solve/movers.ts). They yield: they
 * stay outside of it, hold it with bounded forces, carry it by friction, and return to their paths.
 */
import { describe, expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { inLong } from "../../support/run/long.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { heightOf, topSpeed } from "../measures.ts";

const WIDTH = 0.1;
const HALF = WIDTH / 2;
/** Thickness of a jaw, and its distance from the middle at the start, m. */
const JAW = 0.1;
const OPEN = 0.08;
const FRICTION = 0.6;
/** Speed of the lift, m/s. */
const SPEED = 0.5;
/** Jaws are closed from CLOSED, lift from LIFT to TOP, and are open at the end, s. */
const [CLOSED, LIFT, TOP, END] = [0.3, 0.6, 2.6, 3.6];
/**
 * Largest speed of a particle above that of the movers, m/s. Solved to COARSER * RESIDUE of a weight, a substep leaves
 * 0.1 mm/s; turning bodies add the rest.
 */
const BOUND = 0.05;
const G = 9.81;
const floor = { type: "plane", normal: [0, 1, 0], offset: 0, friction: FRICTION };

interface Case {
  ball?: boolean;
  turn?: Vec3;
  stacked?: boolean;
  restitution?: number;
  meshes?: boolean;
  gravity?: number;
  /** Number of jaws, evenly around. */
  jaws?: number;
}

const body = (name: string, height: number, { ball, turn, restitution }: Case): object => ({
  name,
  kind: ball ? "ball" : "soft",
  mesh: ball ? { type: "ball", radius: HALF } : { type: "box", size: [WIDTH, WIDTH, WIDTH], cells: [2, 2, 2] },
  transform: { rotate: turn ?? [0, 0, 0], translate: [0, height, 0] },
  material: { density: 1000, friction: FRICTION, ...(!ball && { model: "shape-matching", mode: "rigid" }) },
  contact: { restitution: restitution ?? 0 },
});

/** A jaw at an angle, rad, that closes to `reach` from the middle, lifts and opens. */
function jaw(angle: number, reach: number, { meshes, restitution }: Case): object {
  const along = (far: number, up: number): Vec3 => [far * Math.cos(angle), up, far * Math.sin(angle)];
  const [shut, top] = [reach - OPEN, SPEED * (TOP - LIFT)];
  const keys = [
    { time: 0 },
    { time: CLOSED, translate: along(shut, 0) },
    { time: LIFT, translate: along(shut, 0) },
    { time: TOP, translate: along(shut, top) },
    { time: TOP + 0.5, translate: along(shut, top) },
    { time: END - 0.3, translate: along(0.05, top) },
    { time: 9, translate: along(0.05, top) },
  ];
  const place = { rotate: [0, (-angle * 180) / Math.PI, 0], translate: along(OPEN + JAW / 2, 0.1) };
  const more = { friction: FRICTION, restitution: restitution ?? 0, motion: { keys } };
  const size = [JAW, 0.2, 0.16];
  if (meshes) return { type: "mesh", mesh: { type: "box", size, cells: [1, 1, 1] }, transform: place, ...more };
  return { type: "box", center: place.translate, rotate: place.rotate, halfExtents: size.map((s) => s / 2), ...more };
}

/** Displacements of all movers from their paths, m. */
function yields({ created }: Laboratory): number[] {
  const { buffer } = created.memory;
  const header = new Int32Array(buffer, L.HEADER);
  return Array.from({ length: header[L.H_MOTION_COUNT / 4]! }, (_, n) =>
    Math.hypot(...new Float64Array(buffer, header[L.H_MOTIONS / 4]! + n * L.MOTION_BYTES + L.MOTION_YIELD, 3)),
  );
}

const cases: [string, Case][] = [
  ["a box", {}],
  ["a turned box", { turn: [0, 20, 0] }],
  ["a tilted box", { turn: [0, 0, 20] }],
  ["a ball", { ball: true }],
  ["two boxes on each other", { stacked: true }],
  ["a box that bounces", { restitution: 0.5 }],
  ["a ball that bounces", { ball: true, restitution: 0.5 }],
  ["a box without gravity", { gravity: 0 }],
  ["a box between three jaws", { jaws: 3 }],
  ["a box between jaws of triangles", { meshes: true }],
  ["a ball between jaws of triangles", { ball: true, meshes: true }],
];

/** Parts of a body's width to which movers close. */
const SHARES = [0.98, 0.9, 0.5];

describe.each(cases.map(([name, one], n) => [name, one, n] as const))("%s", (_, one, n) => {
  const places = one.stacked ? [HALF, 3 * HALF + 0.0015] : [one.turn?.[2] ? 0.066 : HALF];
  const count = one.jaws ?? 2;

  // In the short run each share meets several kinds.
  test.each(inLong(SHARES, [SHARES[n % 3]!]))("is held by jaws that close to %f of its width", async (share) => {
    const colliders = Array.from({ length: count }, (_, n) => jaw((2 * Math.PI * n) / count, share * HALF, one));
    const lab = await laboratory({
      bodies: places.map((height, n) => body(`${n}`, height, one)) as never,
      colliders: [...colliders, ...(one.gravity === 0 ? [] : [floor])] as never,
      gravity: [0, -(one.gravity ?? G), 0],
    });
    const hz = lab.created.layout.tickHz;
    lab.run(Math.round(LIFT * hz));
    const before = places.map((_, b) => heightOf(lab, b));
    let fastest = 0;
    for (let t = 0; t < (TOP - LIFT) * hz; t++) {
      lab.run(1);
      for (const b of places.keys()) fastest = Math.max(fastest, topSpeed(lab, b));
    }
    expect(fastest).toBeLessThan(SPEED + BOUND);
    for (const b of places.keys())
      expect(Math.abs(heightOf(lab, b) - before[b]! - SPEED * (TOP - LIFT))).toBeLessThan(0.01);
    // a rigid body has kept its width, so the jaws together are off their paths by at least the missing width
    const lacks = 2 * (1 - share) * HALF;
    expect(yields(lab).reduce((sum, y) => sum + y, 0)).toBeGreaterThan(count === 2 ? 0.99 * lacks : 0);
    expect(lab.world.contactCounts().stops).toBe(0);
    lab.run(Math.round((END - TOP) * hz));
    expect(yields(lab)).toEqual(Array.from({ length: count }, () => 0));
  });
});

test.each(SHARES)("a press that goes down to %f of a box's height stops on it", async (share) => {
  const down = share * WIDTH - 0.15;
  const keys = [{ time: 0 }, { time: 1, translate: [0, down, 0] }, { time: 2, translate: [0, down, 0] }, { time: 3 }];
  const press = { type: "plane", normal: [0, -1, 0], offset: -0.15, friction: FRICTION, motion: { keys } };
  const lab = await laboratory({
    bodies: [body("box", HALF, {})] as never,
    colliders: [press, floor] as never,
    gravity: [0, -G, 0],
  });
  let fastest = 0;
  let told = 0;
  for (let t = 0; t < 2 * lab.created.layout.tickHz; t++) {
    // Members draw the displacement of each tick, to a tenth of a millimeter.
    for (const event of lab.run(1)) if (event.type === "yielded") told = event.movers[0]?.[2] ?? 0;
    expect(Math.abs(told - yields(lab)[0]!)).toBeLessThanOrEqual(0.5001e-4);
    fastest = Math.max(fastest, topSpeed(lab, 0));
  }
  expect(fastest).toBeLessThan(BOUND);
  expect(Math.abs(heightOf(lab, 0) - HALF)).toBeLessThan(0.002);
  expect(yields(lab)[0]).toBeGreaterThan(0.99 * (1 - share) * WIDTH);
  lab.run(2 * lab.created.layout.tickHz);
  expect(yields(lab)).toEqual([0]);
});

// The same between a mover and another body, through which the mover's push goes to the floor.
test.each([
  ["a plane", { type: "plane", normal: [0, -1, 0], offset: -0.25 }],
  ["triangles", { type: "mesh", mesh: { type: "box", size: [1, 0.1, 1], cells: [1, 1, 1] }, transform: { translate: [0, 0.3, 0] } }], // biome-ignore format: one line
])("a press of %s stops on a ball that lies on a box", async (_, shape) => {
  const keys = [{ time: 0 }, { time: 1, translate: [0, -0.08, 0] }, { time: 2, translate: [0, -0.08, 0] }, { time: 3 }];
  const lab = await laboratory({
    bodies: [body("box", HALF, {}), body("ball", 3 * HALF, { ball: true })] as never,
    colliders: [{ ...shape, friction: FRICTION, motion: { keys } }, floor] as never,
    gravity: [0, -G, 0],
  });
  const hz = lab.created.layout.tickHz;
  // Before it is touched, the ball settles on the box's margin.
  lab.run(Math.round(0.2 * hz));
  let fastest = 0;
  for (let t = 0; t < 1.8 * hz; t++) {
    lab.run(1);
    fastest = Math.max(fastest, topSpeed(lab, 0), topSpeed(lab, 1));
  }
  expect(fastest).toBeLessThan(BOUND);
  expect(Math.abs(heightOf(lab, 1) - 3 * HALF)).toBeLessThan(0.004);
  expect(yields(lab)[0]).toBeGreaterThan(0.02);
  lab.run(2 * hz);
  expect(yields(lab)).toEqual([0]);
});
