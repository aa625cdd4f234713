/**
 * Scenes with difficult contacts even without grabs: a twisted mat, sheets in a press, rings that hang in each other,
 * sheets on needles.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Body, Collider, Scene, Vec3 } from "../../shared/scene/scene.ts";

const HEAD = { version: 1, tickHz: 60, substeps: 10, iterations: 1 } as const;
const CLOTH = {
  density: 300,
  thickness: 0.001,
  youngsModulus: 2e5,
  poissonsRatio: 0.3,
  bendingStiffness: 3e-5,
  friction: 0.3,
};
const FLOOR: Collider = { type: "plane", name: "floor", normal: [0, 1, 0], offset: 0, friction: 0.6 };

export interface Stone {
  name: string;
  /** Simulated time until the hardest part is over, s. */
  seconds: number;
  /** Writes the scene's files, if it has any. @param folder for these files */
  build(folder: string): Scene;
}

/** Cells along x and z, and size, m, of the mat: 651 particles. */
const MAT_CELLS: [number, number] = [30, 20];
const MAT_SIZE: [number, number] = [0.6, 0.4];
const TURNS = 3;

/** A mat with one end held and the other twisted three times about the mat's length. */
function twistedMat(): Scene {
  const [length, width] = MAT_SIZE;
  const end = length / 2;
  const held = Array.from({ length: MAT_CELLS[1] + 1 }, (_, k): Vec3 => [end, 0.5, width * (k / MAT_CELLS[1] - 0.5)]);
  return {
    ...HEAD,
    title: "Twisted mat",
    damping: 1,
    bodies: [
      {
        name: "mat",
        kind: "cloth",
        mesh: { type: "grid", size: MAT_SIZE, cells: MAT_CELLS },
        transform: { translate: [0, 0.5, 0] },
        material: CLOTH,
        contact: { ignore: ["winch"] },
        pins: [{ select: { box: { min: [-end - 0.001, 0, -1], max: [-end + 0.001, 1, 1] } } }],
      },
    ],
    colliders: [
      {
        type: "cylinder",
        name: "winch",
        a: [end, 0.5, -width / 2],
        b: [end, 0.5, width / 2],
        radius: 0.005,
        motion: {
          keys: [{ time: 0 }, { time: 0.5 }, { time: 3.5, rotate: [360 * TURNS, 0, 0], translate: [-0.15, 0, 0] }],
        },
      },
    ],
    attachments: held.map((near) => ({ from: { body: "mat", near }, to: { collider: "winch" } })),
  };
}

const SHEETS = 10;
const SHEET_SIZE = 0.4;

/**
 * Ten sheets above each other.
 * @param y height of the lowest, m
 * @param gap from one to the next, m
 * @param cells along each side
 */
function sheets(y: number, gap: number, cells: number): Body[] {
  return Array.from({ length: SHEETS }, (_, n) => ({
    name: `sheet ${n + 1}`,
    kind: "cloth",
    mesh: { type: "grid", size: [SHEET_SIZE, SHEET_SIZE], cells: [cells, cells] },
    transform: { translate: [0, y + n * gap, 0], rotate: [0, 7 * n, 0] },
    material: CLOTH,
  }));
}

/** Ten sheets of 1 mm under a plate that lowers to 9 mm, turns on them, and rises again. */
function press(): Scene {
  const start = 0.12;
  const down: Vec3 = [0, 0.009 - start + 0.02, 0];
  return {
    ...HEAD,
    title: "Press of ten sheets",
    damping: 1,
    bodies: sheets(0.004, 0.004, 14),
    colliders: [
      FLOOR,
      {
        type: "box",
        name: "plate",
        center: [0, start, 0],
        halfExtents: [0.15, 0.02, 0.15],
        friction: 0.6,
        motion: {
          keys: [
            { time: 0 },
            { time: 0.3 },
            { time: 1, translate: down },
            { time: 1.5, translate: down, rotate: [0, 30, 0] },
            { time: 2 },
          ],
        },
      },
    ],
  };
}

const RINGS = 4;
/** Radius of a ring's center line and of its tube, m, and number of segments of each. */
const RING = { radius: 0.06, tube: 0.015, around: 32, across: 10 } as const;
/** Rings start this much nearer to each other than they will hang, m. */
const SLACK = 0.004;

/** Wavefront text of a ring in the x-y plane. */
function ringMesh(): string {
  const { radius, tube, around, across } = RING;
  const lines: string[] = [];
  for (let i = 0; i < around; i++) {
    for (let j = 0; j < across; j++) {
      const [a, b] = [(2 * Math.PI * i) / around, (2 * Math.PI * j) / across];
      const r = radius + tube * Math.cos(b);
      lines.push(`v ${r * Math.cos(a)} ${r * Math.sin(a)} ${tube * Math.sin(b)}`);
    }
  }
  const at = (i: number, j: number): number => (i % around) * across + (j % across) + 1;
  for (let i = 0; i < around; i++) {
    for (let j = 0; j < across; j++)
      lines.push(
        `f ${at(i, j)} ${at(i + 1, j)} ${at(i + 1, j + 1)}`,
        `f ${at(i, j)} ${at(i + 1, j + 1)} ${at(i, j + 1)}`,
      );
  }
  return `${lines.join("\n")}\n`;
}

/** A chain of soft rings, the uppermost pinned: only a slight swing at the start. */
function rings(folder: string): Scene {
  writeFileSync(join(folder, "ring.obj"), ringMesh());
  const pitch = 2 * RING.radius - 2 * RING.tube - SLACK;
  const top = 1;
  const bodies = Array.from(
    { length: RINGS },
    (_, n): Body => ({
      name: `ring ${n + 1}`,
      kind: "soft",
      mesh: { type: "file", path: "ring.obj" },
      tetrahedralize: { spacing: 0.012 },
      transform: { rotate: [0, 90 * (n % 2), 0], translate: [0, top - n * pitch, 0] },
      material: { density: 200, youngsModulus: 5e5, poissonsRatio: 0.3, friction: 0.4 },
      ...(n === 0 && { pins: [{ select: { box: { min: [-1, top + RING.radius - 0.005, -1], max: [1, 2, 1] } } }] }),
    }),
  );
  return { ...HEAD, title: "Hanging rings", damping: 1, bodies };
}

const NEEDLES = 5;

/** Ten sheets that fall onto five by five needles of 2 mm. */
function needles(): Scene {
  const place = (n: number): number => 0.06 * (n - (NEEDLES - 1) / 2);
  const spikes = Array.from({ length: NEEDLES ** 2 }, (_, n): Collider => {
    const [x, z] = [place(n % NEEDLES), place(Math.floor(n / NEEDLES))];
    return { type: "capsule", name: `needle ${n + 1}`, a: [x, 0, z], b: [x, 0.15, z], radius: 0.002, friction: 0.3 };
  });
  return {
    ...HEAD,
    title: "Needles under ten sheets",
    damping: 1,
    bodies: sheets(0.17, 0.008, 16),
    colliders: [FLOOR, ...spikes],
  };
}

export const STONES: readonly Stone[] = [
  { name: "twisted mat", seconds: 5, build: twistedMat },
  { name: "press of ten sheets", seconds: 2, build: press },
  { name: "hanging rings", seconds: 3, build: rings },
  { name: "needles under ten sheets", seconds: 2, build: needles },
];
