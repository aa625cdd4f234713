/**
 * Constraints of all bodies -> colored blocks of four lanes in memory, in execution order. Bodies share no particle, so color c of every
 * body goes into one range: few, large phases. The last block of a color is filled up with lanes that rest on the dummy particles.
 */
import * as L from "../../kernel/assembly/layout.ts";
import { colorConstraints } from "../constraints/color.ts";
import { ELEMENT_KINDS, PARTICLES_PER_ELEMENT, type ElementKind, type Elements } from "../constraints/elements.ts";
import { BLOCK_KINDS } from "./blocks/kinds.ts";
import type { Allocator } from "./map.ts";

export interface BodyElements {
  elements: Elements[];
  /** First particle of the body in the room. */
  first: number;
  particleCount: number;
}

/** One constraint and where it comes from. */
interface Lane {
  from: Elements;
  index: number;
  first: number;
  body: number;
}

export interface ColorRange {
  kind: ElementKind;
  address: number;
  blocks: number;
  /** Address of the remembered stress of the same blocks, 0 for kinds without. */
  memory: number;
}

/** Lanes of one kind, color by color. */
function gather(kind: ElementKind, bodies: readonly BodyElements[]): Lane[][] {
  const colors: Lane[][] = [];
  for (const [number, body] of bodies.entries()) {
    for (const from of body.elements) {
      if (from.kind !== kind) continue;
      colorConstraints(from.particles, PARTICLES_PER_ELEMENT[kind], body.particleCount).forEach((members, color) => {
        const lanes = (colors[color] ??= []);
        for (const index of members) lanes.push({ from, index, first: body.first, body: number });
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
  for (const kind of ELEMENT_KINDS) {
    const { bytes, write, pad } = BLOCK_KINDS[kind], corners = PARTICLES_PER_ELEMENT[kind];
    for (const lanes of gather(kind, bodies)) {
      const blocks = Math.ceil(lanes.length / 4), address = allocator.take(blocks * bytes);
      const memory = kind === "tet" ? allocator.take(blocks * L.MEMORY_BYTES) : 0;
      ranges.push({ kind, address, blocks, memory });
      writers.push((f32, u32, x, dummies) => {
        for (let i = 0; i < 4 * blocks; i++) {
          const at = (address + Math.floor(i / 4) * bytes) / 4 + (i % 4), lane = lanes[i];
          for (let c = 0; c < corners; c++) u32[at + 4 * c] = lane ? x + 16 * (lane.first + lane.from.particles[corners * lane.index + c]!) : x + 16 * (dummies + (c % 4));
          // a padded lane's body is one behind the last: its gain is 0
          if (memory) u32[(memory + Math.floor(i / 4) * L.MEMORY_BYTES + L.MEMORY_BODY) / 4 + (i % 4)] = lane ? lane.body : bodies.length;
          if (lane) write(f32, at, lane.from, lane.index, (corner) => f32[u32[at + 4 * corner]! / 4 + 3]!);
          else pad(f32, at);
        }
      });
    }
  }
  return { ranges, write: (f32, u32, x, dummies) => writers.forEach((w) => w(f32, u32, x, dummies)) };
}
