/**
 * Constraints of all bodies -> colored blocks of four lanes in memory, in execution order. Bodies share no particle, so color c of every
 * body goes into one range: few, large phases. The last block of a color is filled up with lanes that rest on the dummy particles.
 */
import * as L from "../../kernel/assembly/layout.ts";
import { colorConstraints } from "../constraints/color.ts";
import { PARTICLES_PER_ELEMENT, type BendElements, type Elements, type TetElements, type TriangleElements } from "../constraints/elements.ts";
import type { Allocator } from "./map.ts";

export interface BodyElements {
  elements: Elements[];
  /** First particle of the body in the room. */
  first: number;
  particleCount: number;
}

/** One constraint and where it comes from. */
interface Lane<E> {
  from: E;
  index: number;
  first: number;
}

export interface ColorRange {
  kind: Elements["kind"];
  address: number;
  blocks: number;
}

const BLOCK_BYTES = { tet: L.TET_BYTES, triangle: L.TRI_BYTES, bend: L.BEND_BYTES } as const;

/** Lanes of one kind, color by color. */
function gather<E extends Elements>(kind: E["kind"], bodies: readonly BodyElements[]): Lane<E>[][] {
  const colors: Lane<E>[][] = [];
  for (const body of bodies) {
    for (const from of body.elements) {
      if (from.kind !== kind) continue;
      colorConstraints(from.particles, PARTICLES_PER_ELEMENT[kind], body.particleCount).forEach((members, color) => {
        const lanes = (colors[color] ??= []);
        for (const index of members) lanes.push({ from: from as E, index, first: body.first });
      });
    }
  }
  return colors;
}

export interface PlannedBlocks {
  ranges: ColorRange[];
  /** Writes the blocks once memory exists. */
  write: (f32: Float32Array, u32: Uint32Array, x: number, dummies: number) => void;
}

/** Takes memory for all blocks now and returns what writes them later. */
export function planBlocks(bodies: readonly BodyElements[], allocator: Allocator): PlannedBlocks {
  const ranges: ColorRange[] = [], writers: PlannedBlocks["write"][] = [];
  const plan = <E extends Elements>(kind: E["kind"], writeLane: WriteLane<E>, writePadding: WritePadding): void => {
    for (const lanes of gather<E>(kind, bodies)) {
      const blocks = Math.ceil(lanes.length / 4), bytes = BLOCK_BYTES[kind], address = allocator.take(blocks * bytes);
      ranges.push({ kind, address, blocks });
      writers.push((f32, u32, x, dummies) => {
        for (let i = 0; i < 4 * blocks; i++) {
          const at = (address + Math.floor(i / 4) * bytes) / 4 + (i % 4), lane = lanes[i];
          const corners = PARTICLES_PER_ELEMENT[kind];
          for (let c = 0; c < corners; c++) u32[at + 4 * c] = lane ? x + 16 * (lane.first + lane.from.particles[corners * lane.index + c]!) : x + 16 * (dummies + c);
          if (lane) writeLane(f32, at, lane.from, lane.index, (corner) => f32[u32[at + 4 * corner]! / 4 + 3]!);
          else writePadding(f32, at);
        }
      });
    }
  };
  plan<TetElements>("tet", writeTet, padTet);
  plan<TriangleElements>("triangle", writeTriangle, padTriangle);
  plan<BendElements>("bend", writeBend, padBend);
  return { ranges, write: (f32, u32, x, dummies) => writers.forEach((w) => w(f32, u32, x, dummies)) };
}

/** @param w inverse mass of a corner: particles are in memory before constraints */
type WriteLane<E> = (f32: Float32Array, at: number, e: E, i: number, w: (corner: number) => number) => void;
type WritePadding = (f32: Float32Array, at: number) => void;

function writeTet(f32: Float32Array, at: number, e: TetElements, i: number, w: (corner: number) => number): void {
  const B = e.dmInverse.subarray(9 * i, 9 * i + 9);
  B.forEach((b, k) => (f32[at + L.TET_DM / 4 + 4 * k] = b));
  const rows = [0, 1, 2].map((corner) => [B[3 * corner]!, B[3 * corner + 1]!, B[3 * corner + 2]!]);
  rows.push([0, 1, 2].map((r) => -rows[0]![r]! - rows[1]![r]! - rows[2]![r]!));
  [[0, 0], [1, 1], [2, 2], [1, 2], [0, 2], [0, 1]].forEach(([a, b], k) => {
    f32[at + L.TET_K / 4 + 4 * k] = rows.reduce((sum, row, corner) => sum + w(corner) * row[a!]! * row[b!]!, 0);
  });
  // isotropic: mu = k/(2(1+nu)) and lambda = k nu/((1+nu)(1-2nu)) give k and nu back
  const k = (e.mu * (3 * e.lambda + 2 * e.mu)) / (e.lambda + e.mu), nu = e.lambda / (2 * (e.lambda + e.mu)), V = e.volume[i]!;
  [1 / (k * V), -nu / (k * V), 1 / (e.mu * V)].forEach((s, row) => (f32[at + L.TET_S / 4 + 4 * row] = s));
}

/** The dummies' unit tetrahedron, undeformed; any compliance will do, nothing there has mass. */
function padTet(f32: Float32Array, at: number): void {
  for (let k = 0; k < 9; k++) f32[at + L.TET_DM / 4 + 4 * k] = k % 4 === 0 ? 1 : 0;
  f32[at + L.TET_S / 4] = f32[at + L.TET_S / 4 + 8] = 1;
}

function writeTriangle(f32: Float32Array, at: number, e: TriangleElements, i: number): void {
  for (let k = 0; k < 4; k++) f32[at + L.TRI_DM / 4 + 4 * k] = e.dmInverse[4 * i + k]!;
  const { s00, s01, s11, s22 } = e.compliance, V = e.volume[i]!;
  [s00, s01, s11, s22].forEach((s, k) => (f32[at + L.TRI_S / 4 + 4 * k] = s / V));
}

/** Corners 0 and 1 are the dummies (1,0,0) and (0,1,0), corner 2 is (0,0,1): any compliance will do, nothing there has mass. */
function padTriangle(f32: Float32Array, at: number): void {
  f32[at + L.TRI_DM / 4] = 1;
  f32[at + L.TRI_DM / 4 + 12] = 1;
  for (const k of [0, 2, 3]) f32[at + L.TRI_S / 4 + 4 * k] = 1;
}

function writeBend(f32: Float32Array, at: number, e: BendElements, i: number): void {
  for (let k = 0; k < 4; k++) f32[at + L.BEND_K / 4 + 4 * k] = e.K[4 * i + k]!;
  f32[at + L.BEND_ALPHA / 4] = e.alpha[i]!;
  f32[at + L.BEND_REST / 4] = e.rest[i]!;
}

function padBend(f32: Float32Array, at: number): void {
  f32[at + L.BEND_ALPHA / 4] = 1;
}
