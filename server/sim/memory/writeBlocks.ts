/**
 * Constraints of all bodies -> colored blocks of four lanes in memory, in execution order. Bodies share no particle, so
 * color c of every body of a group goes into one range: few, large phases. The last block of a color is filled up with
 * lanes that rest on the dummy particles. A group is the bodies of one schedule (sweeps.ts); a scene that asks for none
 * has one.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { colorConstraints } from "../constraints/color.ts";
import { ELEMENT_KINDS, PARTICLES_PER_ELEMENT, type ElementKind, type Elements } from "../constraints/elements.ts";
import { BLOCK_KINDS } from "./blocks/kinds.ts";
import type { Allocator } from "./map.ts";
import type { WaitingRun } from "./program.ts";
import { massParts, scheduleOf, type Schedule } from "./sweeps.ts";

/**
 * compliant: C = sqrt(2E) and its relatives with a multiplier. paper: C = E. implicit and method: no constraints, but a
 * step of their own (memory/implicit.ts, methods/).
 */
export type Form = "compliant" | "paper" | "implicit" | "method";
const FORMS: readonly Form[] = ["compliant", "paper"];

export interface BodyElements {
  elements: Elements[];
  /** First particle of the body in the room. */
  first: number;
  particleCount: number;
  /** Default compliant. */
  form?: Form;
  /** Default Gauss-Seidel. */
  schedule?: Schedule;
  /** It may wait; default false. */
  waits?: boolean;
}

/** One constraint and where it comes from. */
interface Lane {
  from: Elements;
  index: number;
  first: number;
  body: number;
  /** Jacobi: parts of each of the body's particles. */
  parts: Float64Array | undefined;
}

export interface ColorRange {
  kind: ElementKind;
  form: Form;
  address: number;
  blocks: number;
  /** Address of the remembered stress of the same blocks, 0 for kinds without. */
  memory: number;
  /**
   * Where the blocks' rows are that are remembered between iterations: of each block `rows` of 16 bytes, `stride` bytes
   * apart.
   */
  remembered: { address: number; stride: number; rows: number };
  /** Chebyshev's copies of what the blocks remember, of iterations k and k - 1; 0 where there are none. */
  kept: number;
  older: number;
  /** Blocks that hold nothing but one body that may wait. */
  runs: WaitingRun[];
}

/**
 * Rows of one body's lanes in a range that are part of the room's state, and where their copies for reset and roll-back
 * lie (kernel/assembly/state/constraintState.ts).
 */
export interface StateRun {
  body: number;
  address: number;
  stride: number;
  offset: number;
  rows: number;
  firstLane: number;
  /** Exclusive. */
  lastLane: number;
  initial: number;
  good: number;
}

/** One body's lanes in a range, for who writes them anew (retune.ts). */
export interface MaterialRun {
  body: number;
  kind: ElementKind;
  address: number;
  firstLane: number;
  /** Exclusive. */
  lastLane: number;
  /** Address of the range's remembered stress, 0 for kinds without. */
  memory: number;
}

/** The run of a body's state that is kept as it lies: `bytes` from `address`, with room for both of its copies. */
export function wholeRun(body: number, address: number, bytes: number, allocator: Allocator): StateRun {
  const [initial, good] = [allocator.take(bytes), allocator.take(bytes)];
  return { body, address, stride: 16, offset: 0, rows: 1, firstLane: 0, lastLane: bytes / 4, initial, good };
}

/** Bodies of one schedule. */
export interface SweepGroup {
  schedule: Schedule;
  ranges: ColorRange[];
  /** Their particles, neighbors together. */
  runs: { first: number; count: number }[];
}

/** Addresses of particle arrays that Jacobi and Chebyshev need; 0 where no group does. */
export interface SweepArrays {
  kept: number;
  sum: number;
  older: number;
}

export interface PlannedBlocks {
  groups: SweepGroup[];
  /** Of all groups, in execution order. */
  ranges: ColorRange[];
  states: StateRun[];
  materials: MaterialRun[];
  /** Takes the particle arrays of all groups: @param particles padded count */
  takeSweepArrays: (particles: number, allocator: Allocator) => SweepArrays;
  /** Writes the blocks and the sweeps' arrays once memory and the particles in it exist. */
  write: (f32: Float32Array, u32: Uint32Array, x: number, dummies: number) => void;
}

type Planned = BodyElements & { index: number; schedule: Schedule; form: Form; parts: Float64Array | undefined };

function groupBodies(bodies: readonly BodyElements[]): Planned[][] {
  const groups = new Map<string, Planned[]>();
  for (const [index, body] of bodies.entries()) {
    const schedule = body.schedule ?? scheduleOf(undefined);
    const key = JSON.stringify(schedule);
    const parts =
      schedule.order === "jacobi" ? massParts(body.elements, body.particleCount, schedule.relaxation) : undefined;
    const group = groups.get(key) ?? [];
    group.push({ ...body, index, schedule, form: body.form ?? "compliant", parts });
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Lanes of one kind and form, color by color. */
function gather(kind: ElementKind, form: Form, bodies: readonly Planned[]): Lane[][] {
  const colors: Lane[][] = [];
  for (const body of bodies) {
    for (const from of body.elements) {
      if (from.kind !== kind || body.form !== form) continue;
      colorConstraints(from.particles, PARTICLES_PER_ELEMENT[kind], body.particleCount).forEach((members, color) => {
        const lanes = (colors[color] ??= []);
        for (const index of members)
          lanes.push({ from, index, first: body.first, body: body.index, parts: body.parts });
      });
    }
  }
  return colors;
}

function runsOf(bodies: readonly Planned[]): { first: number; count: number }[] {
  const runs: { first: number; count: number }[] = [];
  for (const { first, particleCount: count } of bodies) {
    const last = runs.at(-1);
    if (last && last.first + last.count === first) last.count += count;
    else runs.push({ first, count });
  }
  return runs;
}

/**
 * Lanes are body after body; a block that two bodies share is never left out, and a last one that is filled up is its
 * body's.
 */
function waitingRuns(lanes: readonly Lane[], bodies: readonly BodyElements[]): WaitingRun[] {
  const runs: WaitingRun[] = [];
  if (!bodies.some((b) => b.waits)) return runs;
  for (let from = 0, to = 0; from < lanes.length; from = to) {
    const { body } = lanes[from]!;
    for (to = from; to < lanes.length && lanes[to]!.body === body; ) to++;
    const run = { body, first: Math.ceil(from / 4), end: to === lanes.length ? Math.ceil(to / 4) : Math.floor(to / 4) };
    if (bodies[body]!.waits && run.first < run.end) runs.push(run);
  }
  return runs;
}

/** Takes memory for all blocks now and returns what writes them later. */
export function planBlocks(bodies: readonly BodyElements[], allocator: Allocator): PlannedBlocks {
  const states: StateRun[] = [];
  const materials: MaterialRun[] = [];
  const writers: PlannedBlocks["write"][] = [];
  const groups: SweepGroup[] = [];
  const grouped = groupBodies(bodies);
  for (const members of grouped) {
    const { schedule } = members[0]!;
    const ranges: ColorRange[] = [];
    for (const kind of ELEMENT_KINDS) {
      for (const form of FORMS) {
        const { bytes, state, body, remembers, write, pad } = BLOCK_KINDS[kind];
        const corners = PARTICLES_PER_ELEMENT[kind];
        for (const lanes of gather(kind, form, members)) {
          const blocks = Math.ceil(lanes.length / 4);
          const address = allocator.take(blocks * bytes);
          const copy = (): number =>
            schedule.rho && form === "compliant" ? allocator.take(16 * blocks * remembers.rows) : 0;
          const remembered =
            "apart" in remembers
              ? {
                  address: form === "compliant" ? allocator.take(16 * blocks * remembers.rows) : 0,
                  stride: 16 * remembers.rows,
                  rows: remembers.rows,
                }
              : { address: address + remembers.offset, stride: bytes, rows: remembers.rows };
          const memory =
            BLOCK_KINDS[kind].settles && form === "compliant" ? allocator.take(blocks * L.WARM_START_BYTES) : 0;
          ranges.push({
            kind,
            form,
            address,
            blocks,
            memory,
            remembered,
            kept: copy(),
            older: copy(),
            runs: waitingRuns(lanes, bodies),
          });
          const run = state && {
            ...state,
            address,
            stride: bytes,
            initial: allocator.take(16 * state.rows * blocks),
            good: allocator.take(16 * state.rows * blocks),
          };
          // lanes are body after body
          for (let from = 0, to = 0; from < lanes.length; from = to) {
            for (to = from; to < lanes.length && lanes[to]!.body === lanes[from]!.body; ) to++;
            const lanesOf = { body: lanes[from]!.body, firstLane: from, lastLane: to };
            if (run) states.push({ ...run, ...lanesOf });
            if (form === "compliant") materials.push({ ...lanesOf, kind, address, memory });
          }
          writers.push((f32, u32, x, dummies) => {
            for (let i = 0; i < 4 * blocks; i++) {
              const at = (address + Math.floor(i / 4) * bytes) / 4 + (i % 4);
              const lane = lanes[i];
              for (let c = 0; c < corners; c++)
                u32[at + 4 * c] = lane
                  ? x + 16 * (lane.first + lane.from.particles[corners * lane.index + c]!)
                  : x + 16 * (dummies + (c % 4));
              // a padded lane's body is one behind the last: its gain is 0
              if (memory)
                u32[(memory + Math.floor(i / 4) * L.WARM_START_BYTES + L.WARM_START_BODY) / 4 + (i % 4)] = lane
                  ? lane.body
                  : bodies.length;
              if (body !== undefined) u32[at + body / 4] = lane ? lane.body : bodies.length;
              // the inverse mass that the constraint will see: of a part of the particle, in a Jacobi sweep
              const w = (corner: number): number =>
                Math.fround(
                  f32[u32[at + 4 * corner]! / 4 + 3]! *
                    (lane!.parts
                      ? Math.fround(lane!.parts[lane!.from.particles[corners * lane!.index + corner]!]!)
                      : 1),
                );
              if (lane) write(f32, at, lane.from, lane.index, w);
              else pad(f32, at);
            }
            if (run) {
              for (let b = 0; b < blocks; b++) {
                const from = (address + b * bytes + run.offset) / 4;
                for (const copy of [run.initial, run.good])
                  f32.copyWithin((copy + 16 * b * run.rows) / 4, from, from + 4 * run.rows);
              }
            }
          });
        }
      }
    }
    groups.push({ schedule, ranges, runs: runsOf(members) });
  }
  const takeSweepArrays = (particles: number, from: Allocator): SweepArrays => {
    const splits = groups.some((g) => g.schedule.order === "jacobi");
    if (!splits && groups.every((g) => g.schedule.rho === 0)) return { kept: 0, sum: 0, older: 0 };
    const arrays = {
      kept: from.take(16 * particles),
      sum: splits ? from.take(16 * particles) : 0,
      older: from.take(16 * particles),
    };
    writers.push((f32, _, x) => {
      // the dummies' rows are read, too
      f32.copyWithin(arrays.kept / 4, x / 4, x / 4 + 4 * particles);
      for (const { parts, first } of grouped.flat())
        parts?.forEach((n, i) => (f32[arrays.sum / 4 + 4 * (first + i) + 3] = n));
    });
    return arrays;
  };
  return {
    groups,
    ranges: groups.flatMap((g) => g.ranges),
    states,
    materials,
    takeSweepArrays,
    write: (f32, u32, x, dummies) => writers.forEach((w) => w(f32, u32, x, dummies)),
  };
}
