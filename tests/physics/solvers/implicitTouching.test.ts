/**
 * Bodies of solver "implicit" that touch each other, themselves and mesh colliders. Stacks stand in static equilibrium
 * for any masses, friction holds and slips by Coulomb's law, momentum is kept, no energy is added, and nothing passes
 * through anything, by the exact checker.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { memoryUse } from "../../../server/sim/memory/usage.ts";
import { watch } from "../contact/contactWatch.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { along, fastest, mean, middle } from "../measures.ts";

const G = 9.81;
const SIZE = 0.1;
/** Contact radius of a cube of that size with two cells a side, m. Two cubes keep twice that apart. */
const RADIUS = 0.00114;

interface Block {
  density?: number;
  youngsModulus?: number;
  poissonsRatio?: number;
  friction?: number;
  damping?: number;
  translate: Vec3;
  rotate?: Vec3;
  velocity?: Vec3;
  cells?: Vec3;
  size?: Vec3;
}

function block(name: string, { translate, rotate, velocity, cells, size, ...material }: Block): Body {
  return {
    name,
    kind: "soft",
    solver: "implicit",
    contact: { self: false },
    mesh: { type: "box", size: size ?? [SIZE, SIZE, SIZE], cells: (cells ?? [2, 2, 2]) as [number, number, number] },
    transform: { translate, ...(rotate && { rotate }) },
    ...(velocity && { velocity }),
    material: { density: 1000, youngsModulus: 1e6, poissonsRatio: 0.3, friction: 0.5, damping: 0, ...material },
  };
}

/** A cloth one meter wide. */
const sheet = (name: string, height: number, contact: Body["contact"]): Body => ({
  name,
  kind: "cloth",
  solver: "implicit",
  contact,
  mesh: { type: "grid", size: [1, 1], cells: [12, 12] },
  transform: { translate: [0, height, 0] },
  material: {
    density: 200,
    thickness: 1e-3,
    youngsModulus: 1e5,
    poissonsRatio: 0.3,
    bendingStiffness: 1e-4,
    friction: 0.5,
  },
});

/** A table of triangles whose top passes through the origin, turned about z by `angle`. */
const table = (friction: number, angle = 0): Collider => ({
  type: "mesh",
  mesh: { type: "box", size: [4, 0.2, 1], cells: [8, 1, 2] },
  transform: {
    translate: [-0.1 * Math.sin(-angle), -0.1 * Math.cos(angle), 0],
    rotate: [0, 0, (angle * 180) / Math.PI],
  },
  friction,
});

const room = (bodies: Body[], colliders: Collider[] = []): Promise<Laboratory> =>
  laboratory({ gravity: [0, -G, 0], bodies, colliders });
const coordinate = (lab: Laboratory, body: number, r: number): Float64Array => along(lab.positions(body), r);
/** kg m/s and J */
function motionOf(lab: Laboratory): { momentum: number[]; kinetic: number } {
  const momentum = [0, 0, 0];
  let kinetic = 0;
  lab.created.bodies.forEach(({ mass }, b) => {
    const v = lab.velocities(b);
    v.forEach((c, k) => {
      momentum[k % 3]! += mass[Math.floor(k / 3)]! * c;
      kinetic += 0.5 * mass[Math.floor(k / 3)]! * c * c;
    });
  });
  return { momentum, kinetic };
}

describe("stacks", () => {
  test("three blocks stand on a mesh, each shortened by the load that it carries", async () => {
    const E = 1e6;
    const column = (n: number): Body =>
      block(`block ${n}`, {
        translate: [0, SIZE / 2 + n * SIZE + (2 * n + 1) * RADIUS, 0],
        youngsModulus: E,
        poissonsRatio: 0,
        damping: 8,
      });
    const lab = await room([0, 1, 2].map(column), [table(0.5)]);
    lab.run(240);
    const before = [0, 1, 2].map((n) => lab.positions(n));
    lab.run(60);
    for (const n of [0, 1, 2]) {
      // creep below a tenth of a millimeter a second
      const moved = lab.positions(n).map((c, k) => Math.abs(c - before[n]![k]!));
      expect(Math.max(...moved), `block ${n}`).toBeLessThan(1e-4);
      const y = coordinate(lab, n, 1);
      const rest = along(lab.created.bodies[n]!.positions, 1);
      const middle = mean(rest);
      // Saint Venant-Kirchhoff is softer by 3 strains / 2; masses of particles are those of two layers of tetrahedra
      const strain = (1000 * G * SIZE * (2.5 - n)) / E;
      const layer = (side: number): number => mean(y.filter((_, i) => (rest[i]! - middle) * side > 0.4 * SIZE));
      const height = layer(1) - layer(-1);
      expect(Math.abs(1 - height / SIZE - strain), `block ${n}`).toBeLessThan(0.15 * strain + 1.5 * strain * strain);
    }
  });

  test("a block of 1000 times its mass rests on a soft one", async () => {
    const size = 0.05;
    const cube = (name: string, y: number, density: number): Body =>
      block(name, { size: [size, size, size], translate: [0, y, 0], density, damping: 8, youngsModulus: 1e6 });
    const lab = await room(
      [cube("light", size / 2 + RADIUS, 100), cube("heavy", 1.5 * size + 3 * RADIUS, 1e5)],
      [table(0.5)],
    );
    lab.run(300);
    const [low, high] = [coordinate(lab, 0, 1), coordinate(lab, 1, 1)];
    // 49 kPa on 1e6 Pa: the sides bulge and friction holds the ends, so the strain is between that of free and of fixed
    // ends
    const strain = (1e5 * G * size) / 1e6;
    const sag = 1 - (Math.max(...low) - Math.min(...low)) / size;
    expect(sag).toBeGreaterThan(0.7 * strain);
    expect(sag).toBeLessThan(1.2 * strain);
    expect(Math.min(...high)).toBeGreaterThan(Math.max(...low) - 1e-3);
    expect(Math.max(fastest(lab, 0), fastest(lab, 1))).toBeLessThan(1e-3);
  });
});

/** A plate on a slope of `part` times the angle of friction. */
function onSlope(mu: number, part: number, velocity: number): Promise<Laboratory> {
  const slope = Math.atan(part * mu);
  const [sin, cos] = [Math.sin(slope), Math.cos(slope)];
  const up = 0.025 + RADIUS;
  const plate = block("plate", {
    youngsModulus: 1e7,
    friction: mu,
    size: [0.4, 0.05, 0.4],
    cells: [3, 1, 3],
    translate: [up * sin, up * cos, 0],
    rotate: [0, 0, (-slope * 180) / Math.PI],
    velocity: [velocity * cos, -velocity * sin, 0],
  });
  return room([plate], [table(mu, -slope)]);
}

describe.each([0.2, 0.5])("friction of %d between a plate and a mesh", (mu) => {
  test("sticks on a slope of 95 % of its angle", async () => {
    const lab = await onSlope(mu, 0.95, 0);
    lab.run(90);
    const from = lab.positions();
    lab.run(60);
    const moved = lab.positions().map((c, k) => Math.abs(c - from[k]!));
    expect(Math.max(...moved)).toBeLessThan(1e-4);
  });
});

test("two blocks that collide keep their momentum, and gain no energy", async () => {
  const lab = await laboratory({
    bodies: [
      block("still", { translate: [0, 0, 0] }),
      block("comes", { translate: [0.03, 0.16, 0.02], rotate: [10, 20, 30], velocity: [0, -2, 0] }),
    ],
  });
  const before = motionOf(lab);
  lab.run(30);
  const after = motionOf(lab);
  // velocities are read as float32
  before.momentum.forEach((p, r) => expect(Math.abs(after.momentum[r]! - p)).toBeLessThan(1e-6));
  expect(after.kinetic).toBeLessThan(before.kinetic);
  expect(middle(lab.velocities(0))[1]).toBeLessThan(-0.5);
});

describe("nothing passes through anything", () => {
  const none: Scene["colliders"] = [];
  test.each<[string, Body[], Scene["colliders"]]>([
    [
      "a block that falls on its corner on another",
      [
        block("low", { translate: [0, 0.055, 0] }),
        block("high", { translate: [0.02, 0.2, 0.01], rotate: [30, 20, 40], velocity: [0, -3, 0] }),
      ],
      [table(0.5)],
    ],
    [
      "a sheet that falls on a block",
      [block("block", { translate: [0, 0.06, 0] }), sheet("sheet", 0.16, { self: false })],
      [table(0.5)],
    ],
    [
      "two sheets that hit each other",
      [sheet("low", 0, { self: false }), { ...sheet("high", 0.05, { self: false }), velocity: [0, -1, 0] }],
      none,
    ],
    [
      "a sheet that falls over a ball and folds",
      [sheet("sheet", 0.27, { self: true })],
      [
        { type: "sphere", center: [0, 0.15, 0], radius: 0.1, friction: 0.5 },
        { type: "plane", normal: [0, 1, 0], offset: 0 },
      ],
    ],
  ])("%s", async (_, bodies, colliders) => {
    const { findings, frames } = await watch({ scene: { gravity: [0, -G, 0], bodies, colliders }, ticks: 40 });
    expect(frames).toBe(161);
    expect(findings).toEqual([]);
  });
});

describe("a body whose near pairs exceed its share of the rows", () => {
  /** Two pairs of blocks, one on the other. Returns the room, and the IMPLICIT row of each block. */
  async function pairs(): Promise<{ lab: Laboratory; rows: number[]; words: Int32Array }> {
    const at = (x: number, n: number): Vec3 => [x, SIZE / 2 + n * (SIZE + 2 * RADIUS), 0];
    const names = ["full below", "full above", "below", "above"];
    const lab = await room(
      names.map((name, n) => block(name, { translate: at(n < 2 ? 0 : 1, n % 2), damping: 2 })),
      [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 }],
    );
    const words = new Int32Array(lab.created.memory.buffer);
    const { bodyRows } = lab.created.layout;
    const rows = names.map((_, n) => words[(bodyRows + n * L.BODY_BYTES + L.BODY_IMPLICIT) / 4]!);
    return { lab, rows, words };
  }

  test("keeps its share, is counted by name, and takes none from other bodies", async () => {
    const { lab, rows, words } = await pairs();
    const untouched = await pairs();
    for (const row of rows.slice(0, 2)) words[(row + L.IMPLICIT_MOST_ROWS) / 4] = 3;
    for (let n = 0; n < 6; n++) {
      lab.run(10);
      expect(crossings(lab)).toBe(0);
    }
    untouched.lab.run(60);
    expect(memoryUse(lab.created.memory).full).toEqual(["implicit rows"]);
    expect(memoryUse(untouched.lab.created.memory).full).toEqual([]);
    expect(lab.world.contactCounts().full).toBeGreaterThan(0);
    expect(lab.positions(1)).not.toEqual(untouched.lab.positions(1));
    for (const b of [2, 3]) expect(lab.positions(b)).toEqual(untouched.lab.positions(b));
  });
});
