/**
 * Writes the constraints of all bodies to memory as colored blocks of four lanes, in execution order. Bodies share no
 * particle, so color c of every body of a group goes into one range: few, large phases. The last block of a color is
 * filled up with lanes on the dummy particles. A group is the bodies of one schedule (sweeps.ts); without schedules in
 * the scene there is one group.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { colorConstraints } from "../constraints/color.ts";
import { CONSTRAINTS, ELEMENT_KINDS, type ElementKind, type Elements } from "../constraints/kinds.ts";
import type { Form } from "../constraints/constraint.ts";
import type { Visits } from "../constraints/overRelaxation.ts";
import type { Allocator } from "./memoryMap.ts";
import { massParts, scheduleOf, type Schedule } from "./sweeps.ts";

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
  /** Whether it may be inactive, or asleep while others move; default false. */
  leftOut?: boolean;
}

/** One constraint and its source. */
interface Lane {
  from: Elements;
  index: number;
  first: number;
  body: number;
  /** Number of parts into which each particle's mass is split, for Jacobi sweeps. */
  parts: Float64Array | undefined;
}

/** Blocks (or rows, for bodies) first .. end of a body that may be inactive or asleep. */
export interface SpawnableRun {
  body: number;
  first: number;
  end: number;
}

export interface ColorRange {
  kind: ElementKind;
  form: Form;
  address: number;
  blocks: number;
  /** Address of the remembered stress of the same blocks, 0 for kinds without. */
  memory: number;
  /**
   * Address of the rows that blocks keep between iterations: `rows` of 16 bytes for each block, `stride` bytes apart.
   */
  remembered: { address: number; stride: number; rows: number };
  /** Chebyshev's copies of those rows, of iterations k and k - 1; 0 without Chebyshev. */
  kept: number;
  older: number;
  /** Blocks that contain only one body, which may be left out. */
  runs: SpawnableRun[];
}

/**
 * Rows of one body's lanes in a range that are part of the room's state, with the addresses of their copies for reset
 * and roll-back (kernel/assembly/state/constraintState.ts).
 */
export interface StateRun {
  body: number;
  address: number;
  stride: number;
  offset: number;
  rows: number;
  firstLane: number;
  /** One past the last lane. */
  lastLane: number;
  initial: number;
  good: number;
}

/** One body's lanes in a range, to be rewritten when its material changes (retune.ts). */
export interface MaterialRun {
  body: number;
  kind: ElementKind;
  address: number;
  firstLane: number;
  /** One past the last lane. */
  lastLane: number;
  /** Address of the range's remembered stress, 0 for kinds without. */
  memory: number;
}

/** A run of a body's state that is copied as a whole: `bytes` from `address`. Allocates both of its copies. */
export function wholeRun(body: number, address: number, bytes: number, allocator: Allocator): StateRun {
  const [initial, good] = [allocator.take(bytes), allocator.take(bytes)];
  return { body, address, stride: 16, offset: 0, rows: 1, firstLane: 0, lastLane: bytes / 4, initial, good };
}

/** Bodies of one schedule. */
export interface SweepGroup {
  schedule: Schedule;
  ranges: ColorRange[];
  /** Their particles, with adjacent runs joined. */
  runs: { first: number; count: number }[];
}

/** Addresses of particle arrays for Jacobi and Chebyshev; 0 if no group needs them. */
export interface SweepArrays {
  kept: number;
  sum: number;
  older: number;
}

export interface PlannedBlocks {
  groups: SweepGroup[];
  /** Ranges of all groups, in execution order. */
  ranges: ColorRange[];
  states: StateRun[];
  materials: MaterialRun[];
  /**
   * Allocates the particle arrays of all groups.
   * @param particles padded count
   */
  takeSweepArrays: (particles: number, allocator: Allocator) => SweepArrays;
  /** Writes the blocks and the sweeps' arrays, once the particles are in memory. */
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
      colorConstraints(from.particles, CONSTRAINTS[kind].corners, body.particleCount).forEach((members, color) => {
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
 * Blocks that may be left out. Lanes are sorted by body: a block that two bodies share is never left out, and a padded
 * last block belongs to its body.
 */
function spawnableRuns(lanes: readonly Lane[], bodies: readonly BodyElements[]): SpawnableRun[] {
  const runs: SpawnableRun[] = [];
  if (!bodies.some((b) => b.leftOut)) return runs;
  for (let from = 0, to = 0; from < lanes.length; from = to) {
    const { body } = lanes[from]!;
    for (to = from; to < lanes.length && lanes[to]!.body === body; ) to++;
    const run = { body, first: Math.ceil(from / 4), end: to === lanes.length ? Math.ceil(to / 4) : Math.floor(to / 4) };
    if (bodies[body]!.leftOut && run.first < run.end) runs.push(run);
  }
  return runs;
}

/** A range with the data to write it. */
interface PlannedRange {
  range: ColorRange;
  lanes: readonly Lane[];
  /** State of the blocks, if they have any. */
  run: Omit<StateRun, "body" | "firstLane" | "lastLane"> | undefined;
  /** Set if the sweep is over-relaxed. */
  visits?: Visits | undefined;
}

/** Allocates the blocks of one color. */
function planRange(
  kind: ElementKind,
  form: Form,
  lanes: readonly Lane[],
  { rho }: Schedule,
  bodies: readonly BodyElements[],
  allocator: Allocator,
): PlannedRange {
  const { bytes, state, remembers, settles } = CONSTRAINTS[kind];
  const compliant = form === "compliant";
  const blocks = Math.ceil(lanes.length / 4);
  const address = allocator.take(blocks * bytes);
  const rows = 16 * blocks * remembers.rows;
  const remembered =
    "apart" in remembers
      ? { address: compliant ? allocator.take(rows) : 0, stride: 16 * remembers.rows, rows: remembers.rows }
      : { address: address + remembers.offset, stride: bytes, rows: remembers.rows };
  const memory = settles && compliant ? allocator.take(blocks * L.WARM_START_BYTES) : 0;
  const copy = (): number => (rho && compliant ? allocator.take(rows) : 0);
  const runs = spawnableRuns(lanes, bodies);
  const range = { kind, form, address, blocks, memory, remembered, kept: copy(), older: copy(), runs };
  if (!state) return { range, lanes, run: undefined };
  const good = 16 * state.rows * blocks;
  const copies = { initial: allocator.take(good), good: allocator.take(good) };
  return { range, lanes, run: { ...state, address, stride: bytes, ...copies } };
}

/** Each body's lanes in a range, which are sorted by body. */
function lanesByBody({ lanes }: PlannedRange): { body: number; firstLane: number; lastLane: number }[] {
  const runs: { body: number; firstLane: number; lastLane: number }[] = [];
  for (let from = 0, to = 0; from < lanes.length; from = to) {
    const { body } = lanes[from]!;
    for (to = from; to < lanes.length && lanes[to]!.body === body; ) to++;
    runs.push({ body, firstLane: from, lastLane: to });
  }
  return runs;
}

/** State of each body in a range. */
function stateRuns(planned: PlannedRange): StateRun[] {
  const { run } = planned;
  return run ? lanesByBody(planned).map((lanes) => ({ ...run, ...lanes })) : [];
}

/** Lanes of each body that can be rewritten. */
function materialRuns(planned: PlannedRange): MaterialRun[] {
  const { kind, form, address, memory } = planned.range;
  return form === "compliant" ? lanesByBody(planned).map((lanes) => ({ ...lanes, kind, address, memory })) : [];
}

/**
 * Writes the blocks of a range, lane by lane, and the copies of their state.
 * @param bodies number in the room
 */
function writeRange(
  { range, lanes, run, visits }: PlannedRange,
  bodies: number,
  f32: Float32Array,
  u32: Uint32Array,
  x: number,
  dummies: number,
): void {
  const { kind, address, blocks, memory } = range;
  const { bytes, body, corners, write, pad } = CONSTRAINTS[kind];
  for (let i = 0; i < 4 * blocks; i++) {
    const block = Math.floor(i / 4);
    const at = (address + block * bytes) / 4 + (i % 4);
    const lane = lanes[i];
    for (let c = 0; c < corners; c++)
      u32[at + 4 * c] = lane
        ? x + 16 * (lane.first + lane.from.particles[corners * lane.index + c]!)
        : x + 16 * (dummies + (c % 4));
    // a padded lane's body is one past the last: its gain is 0
    const of = lane ? lane.body : bodies;
    if (memory) u32[(memory + block * L.WARM_START_BYTES + L.WARM_START_BODY) / 4 + (i % 4)] = of;
    if (body !== undefined) u32[at + body / 4] = of;
    if (lane)
      write(f32, at, lane.from, lane.index, (corner) => inverseMass(f32, u32, at, lane, corners, corner), visits);
    else pad(f32, at);
  }
  if (!run) return;
  for (let b = 0; b < blocks; b++) {
    const from = (address + b * bytes + run.offset) / 4;
    for (const copy of [run.initial, run.good])
      f32.copyWithin((copy + 16 * b * run.rows) / 4, from, from + 4 * run.rows);
  }
}

/** Inverse mass that a constraint uses, 1/kg: in a Jacobi sweep, that of a part of the particle. */
function inverseMass(
  f32: Float32Array,
  u32: Uint32Array,
  at: number,
  { parts, from, index }: Lane,
  corners: number,
  corner: number,
): number {
  const part = parts ? Math.fround(parts[from.particles[corners * index + corner]!]!) : 1;
  return Math.fround(f32[u32[at + 4 * corner]! / 4 + 3]! * part);
}

/** Allocates the particle arrays of Jacobi and Chebyshev if a group needs them. */
function takeSweepArrays(groups: readonly SweepGroup[], particles: number, from: Allocator): SweepArrays {
  const splits = groups.some((g) => g.schedule.order === "jacobi");
  if (!splits && groups.every((g) => g.schedule.rho === 0)) return { kept: 0, sum: 0, older: 0 };
  return {
    kept: from.take(16 * particles),
    sum: splits ? from.take(16 * particles) : 0,
    older: from.take(16 * particles),
  };
}

/**
 * Allocates memory for all blocks; the result's `write` fills it later.
 * @param visits of each constraint; absent: no sweep is over-relaxed
 */
export function planBlocks(bodies: readonly BodyElements[], allocator: Allocator, visits?: Visits): PlannedBlocks {
  const planned: PlannedRange[] = [];
  const groups: SweepGroup[] = [];
  const grouped = groupBodies(bodies);
  for (const members of grouped) {
    const { schedule } = members[0]!;
    const first = planned.length;
    for (const kind of ELEMENT_KINDS)
      for (const form of FORMS)
        for (const lanes of gather(kind, form, members))
          planned.push({
            ...planRange(kind, form, lanes, schedule, bodies, allocator),
            visits: form === "compliant" && schedule.order !== "jacobi" ? visits : undefined,
          });
    groups.push({ schedule, ranges: planned.slice(first).map(({ range }) => range), runs: runsOf(members) });
  }
  let particles = 0;
  let arrays: SweepArrays = { kept: 0, sum: 0, older: 0 };
  return {
    groups,
    ranges: planned.map(({ range }) => range),
    states: planned.flatMap(stateRuns),
    materials: planned.flatMap(materialRuns),
    takeSweepArrays(count, from) {
      particles = count;
      arrays = takeSweepArrays(groups, count, from);
      return arrays;
    },
    write(f32, u32, x, dummies) {
      for (const range of planned) writeRange(range, bodies.length, f32, u32, x, dummies);
      if (!arrays.kept) return;
      // the dummies' rows are read, too
      f32.copyWithin(arrays.kept / 4, x / 4, x / 4 + 4 * particles);
      for (const { parts, first } of grouped.flat())
        parts?.forEach((n, i) => (f32[arrays.sum / 4 + 4 * (first + i) + 3] = n));
    },
  };
}
