/**
 * Plans IMPLICIT rows for bodies of solver "implicit", with their elements, factors, state and work area
 * (kernel/assembly/implicit/step.ts).
 */
import type { BendElements, TetElements, TriangleElements } from "../../constraints/elements.ts";
import * as L from "../../../kernel/assembly/layout/layout.ts";
import { LANES } from "../../../kernel/assembly/layout/sizes.ts";
import type { BodyTemplate } from "../../body/template.ts";
import { startPositions } from "../../body/start.ts";
import { implicitModel, type ImplicitModel, type Stencils } from "../../implicit/model.ts";
import { initialState } from "../../implicit/state.ts";
import type { Allocator } from "../memoryMap.ts";
import { planFactor, type WriteFactor } from "./factorRows.ts";
import { wholeRun, type StateRun } from "../writeBlocks.ts";

/** Bytes of a particle in a vector. */
const VECTOR = 24;

export interface PlannedImplicit {
  /** Address of the first row, and number of rows. */
  rows: number;
  count: number;
  /** Number of bodies that may touch surfaces. */
  together: number;
  /** Inertia of each implicit body in its step, by body. */
  inertias: ReadonlyMap<number, StepInertia>;
  /** Positions and velocities in float64, current and of the step before. */
  states: StateRun[];
  /**
   * Called once the particles are written.
   * @param at addresses of the room's arrays
   * @param firsts first particle of each body
   * @param bodyRows address of the BODY rows
   */
  write: (buffer: ArrayBufferLike, at: { x: number; acc: number }, firsts: readonly number[], bodyRows: number) => void;
}

/** Surfaces and colliders that an implicit body meets. */
export interface Met {
  /** Whether its particles meet any collider, and any moving collider. */
  any: boolean;
  moving: boolean;
  /** Address of its bytes for every collider; 0: it meets all. */
  table: number;
  /** Whether it may touch a surface, including its own. */
  surfaces: boolean;
}

interface Planned {
  body: BodyTemplate;
  index: number;
  model: ImplicitModel;
  /** Of a sheet: writes its factor. */
  writeSheetFactor?: WriteFactor;
  /** Addresses to write into the row, by offset of the field (IMPLICIT_*). */
  at: Map<number, number>;
}

/**
 * Allocates memory for every implicit body; the result's `write` fills it later.
 * @param substeps of a tick; a body that meets a moving collider takes one step in each of them
 * @param met by body
 * @param points slots of weighted points in the room
 */
export function planImplicit(
  bodies: readonly BodyTemplate[],
  { tickHz, substeps }: { tickHz: number; substeps: number },
  met: readonly Met[],
  points: number,
  allocator: Allocator,
): PlannedImplicit {
  const implicit = bodies.flatMap((body, index) => (body.form === "implicit" ? [{ body, index }] : []));
  const rows = allocator.take(implicit.length * L.IMPLICIT_BYTES);
  const states: StateRun[] = [];
  const planned = implicit.map(({ body, index }): Planned => {
    const { any, moving, surfaces } = met[index]!;
    const model = implicitModel(body, tickHz, moving || surfaces ? substeps : undefined);
    const at = takeArrays(model, points, any, allocator);
    if (surfaces) at.set(L.IMPLICIT_STIFFNESS, allocator.take(8 * model.count));
    const bytes = stateBytes(model.count, any);
    states.push(wholeRun(index, at.get(L.IMPLICIT_STATE)!, bytes, allocator));
    const sheet = model.tets === undefined && { writeSheetFactor: planFactor(model.factor, allocator) };
    return { body, index, model, at, ...sheet };
  });
  const meeting = planned.flatMap(({ index, model: { count } }, n) =>
    met[index]!.surfaces ? [{ n, index, count }] : [],
  );
  const together = planTogether(meeting, allocator);
  return {
    rows,
    count: planned.length,
    inertias: new Map(planned.map(({ index, model }) => [index, inertiaOf(model)])),
    together: meeting.length,
    states: together ? [...states, together.state] : states,
    write: (buffer, { x, acc }, firsts, bodyRows) => {
      together?.write(
        buffer,
        meeting.map(({ n }) => rows + n * L.IMPLICIT_BYTES),
      );
      planned.forEach(({ body, index, model, at, writeSheetFactor }, n) => {
        const view = new DataView(buffer);
        const row = rows + n * L.IMPLICIT_BYTES;
        const first = firsts[index]!;
        view.setInt32(bodyRows + index * L.BODY_BYTES + L.BODY_IMPLICIT, row, true);
        writeRow(view, row, model, at, x + 16 * first);
        view.setInt32(row + L.IMPLICIT_SELF, row, true);
        view.setInt32(row + L.IMPLICIT_TOGETHER, met[index]!.surfaces ? 1 : 0, true);
        view.setInt32(row + L.IMPLICIT_MEETS, met[index]!.table, true);
        view.setInt32(row + L.IMPLICIT_MOST_ROWS, ROWS_PER_PARTICLE * model.count, true);
        writeOrder(buffer, model, at);
        if (writeSheetFactor) writeSheetFactor(buffer, row + L.IMPLICIT_FACTOR);
        else writeBlocks(buffer, model, at);
        new Float64Array(buffer, at.get(L.IMPLICIT_MASS)!, model.count).set(model.mass);
        const stiffness = at.get(L.IMPLICIT_STIFFNESS);
        if (stiffness) new Float64Array(buffer, stiffness, model.count).set(model.diagonal);
        if (model.tets) writeTets(view, at.get(L.IMPLICIT_TETS)!, model.tets);
        if (model.triangles) writeTriangles(view, at.get(L.IMPLICIT_TRIANGLES)!, model.triangles);
        if (model.triangles) writeQuads(view, at.get(L.IMPLICIT_QUADS)!, model.triangles);
        if (model.stencils) writeStencils(view, at, model.stencils);
        if (model.bends) writeBends(view, at.get(L.IMPLICIT_BENDS)!, model.bends);
        writeState(buffer, body, model, acc + 16 * first, states[n]!);
      });
    },
  };
}

/** Parts of a step's matrix that limit explicit forces. */
export interface StepInertia {
  /** Length of the step, s. */
  seconds: number;
  /**
   * float64[n]: each particle's mass over the inertia that the step's matrix gives it, stiffness included; at most 1.
   */
  share: Float64Array;
}

function inertiaOf({ h, mass, coefficient, diagonal }: ImplicitModel): StepInertia {
  return { seconds: h, share: mass.map((m, i) => (m > 0 ? (coefficient * m) / diagonal[i]! : 0)) };
}

/** Near pairs per particle. Two layers vertex on vertex have 20 (surfaceRows.ts), of which few push. */
const ROWS_PER_PARTICLE = 6;

/**
 * Plans the shared memory of bodies that may touch surfaces.
 * @param meeting the bodies, and their particle counts
 */
function planTogether(
  meeting: readonly { index: number; count: number }[],
  allocator: Allocator,
): { state: StateRun; write: (buffer: ArrayBufferLike, list: readonly number[]) => void } | undefined {
  if (meeting.length === 0) return undefined;
  const capacity = ROWS_PER_PARTICLE * meeting.reduce((sum, { count }) => sum + count, 0);
  const size = 2 ** Math.ceil(Math.log2(2 * capacity));
  const row = allocator.take(L.TOGETHER_BYTES);
  const list = allocator.take(8 * meeting.length);
  const contacts = allocator.take(capacity * L.ROW_BYTES);
  const order = allocator.take(4 * capacity);
  const bytes = 16 + capacity * L.KEPT_BYTES;
  const kept = allocator.take(bytes);
  const table = allocator.take(8 * size);
  return {
    state: wholeRun(meeting[0]!.index, kept, bytes, allocator),
    write: (buffer, addresses) => {
      const u32 = new Uint32Array(buffer);
      u32.set(addresses, list / 4);
      u32[(L.HEADER + L.H_TOGETHER) / 4] = row;
      u32.set([list, meeting.length, contacts, 0, order, kept, table, size], row / 4);
    },
  };
}

/** Bytes of a body's state; friction forces of a touching body follow the rest. */
const stateBytes = (count: number, touches: boolean): number =>
  (touches ? 5 : 4) * VECTOR * count + L.IMPLICIT_STATE_END;

function takeArrays(
  { count, tets, triangles, bends, stencils, factor, retardationTime }: ImplicitModel,
  points: number,
  touches: boolean,
  allocator: Allocator,
): Map<number, number> {
  const at = new Map<number, number>();
  const take = (field: number, bytes: number): void => void at.set(field, allocator.take(bytes));
  take(L.IMPLICIT_STATE, stateBytes(count, touches));
  take(L.IMPLICIT_MASS, 8 * count);
  take(L.IMPLICIT_WORK, L.VECTORS * VECTOR * count);
  if (tets) take(L.IMPLICIT_ROTATIONS, 72 * count);
  if (tets) take(L.IMPLICIT_TETS, L.IMPLICIT_TET_BYTES * tets.volume.length);
  if (triangles) take(L.IMPLICIT_TRIANGLES, L.IMPLICIT_TRIANGLE_BYTES * triangles.volume.length);
  if (triangles) take(L.IMPLICIT_QUADS, L.QUAD_BYTES * Math.ceil(triangles.volume.length / 4));
  if (triangles) take(L.IMPLICIT_LANES, 2 * LANES * count);
  if (stencils) take(L.IMPLICIT_STENCIL_START, 4 * count);
  if (stencils) take(L.IMPLICIT_STENCILS, 8 * stencils.columns.length);
  if (bends) take(L.IMPLICIT_BENDS, L.IMPLICIT_BEND_BYTES * bends.alpha.length);
  const rates = 6 * (tets?.volume.length ?? 0) + 3 * ((triangles?.volume.length ?? 0) + (bends?.alpha.length ?? 0));
  if (retardationTime > 0) take(L.IMPLICIT_PAST, 8 * rates);
  take(L.IMPLICIT_ORDER, factor.order.byteLength);
  take(L.IMPLICIT_SOLVED, LANES * factor.order.length);
  if (tets) {
    take(L.IMPLICIT_START, factor.start.byteLength);
    take(L.IMPLICIT_ENTRY_ROWS, factor.rows.byteLength);
    take(L.IMPLICIT_ENTRIES, factor.values.byteLength);
    take(L.IMPLICIT_DIAGONAL, factor.diagonal.byteLength);
  }
  take(L.IMPLICIT_HELD, L.HELD_BYTES * points);
  if (touches) take(L.IMPLICIT_TOUCHES, L.TOUCH_BYTES * count);
  return at;
}

/** @param first address of the body's first particle */
function writeRow(
  view: DataView,
  row: number,
  model: ImplicitModel,
  at: ReadonlyMap<number, number>,
  first: number,
): void {
  const integer = (field: number, value: number): void => view.setInt32(row + field, value, true);
  const number = (field: number, value: number): void => view.setFloat64(row + field, value, true);
  at.forEach((address, field) => integer(field, address));
  integer(L.IMPLICIT_FIRST, first);
  integer(L.IMPLICIT_COUNT, model.count);
  integer(L.IMPLICIT_TET_COUNT, model.tets?.volume.length ?? 0);
  integer(L.IMPLICIT_TRIANGLE_COUNT, model.triangles?.volume.length ?? 0);
  integer(L.IMPLICIT_BEND_COUNT, model.bends?.alpha.length ?? 0);
  integer(L.IMPLICIT_COLUMNS, model.factor.order.length);
  integer(L.IMPLICIT_STEPS, model.steps);
  number(L.IMPLICIT_STEP_SECONDS, model.h);
  number(L.IMPLICIT_COEFFICIENT, model.coefficient);
  number(L.IMPLICIT_EULER, model.euler);
  number(L.IMPLICIT_KEEP, model.keep);
  number(L.IMPLICIT_TOLERANCE, model.tolerance);
  number(L.IMPLICIT_RETARDATION, model.retardationTime);
  number(L.IMPLICIT_STIFFENING, 1);
  number(L.IMPLICIT_MU, model.tets?.mu ?? 0);
  number(L.IMPLICIT_LAMBDA, model.tets?.lambda ?? 0);
  number(L.IMPLICIT_C00, model.stiffness.c00);
  number(L.IMPLICIT_C01, model.stiffness.c01);
  number(L.IMPLICIT_C11, model.stiffness.c11);
  number(L.IMPLICIT_C22, model.stiffness.c22);
}

function writeOrder(
  buffer: ArrayBufferLike,
  { factor: { order } }: ImplicitModel,
  at: ReadonlyMap<number, number>,
): void {
  new Uint32Array(buffer, at.get(L.IMPLICIT_ORDER)!, order.length).set(order.map((particle) => VECTOR * particle));
}

/** Writes the factor of a solid. */
function writeBlocks(buffer: ArrayBufferLike, { factor }: ImplicitModel, at: ReadonlyMap<number, number>): void {
  const integers = (field: number, values: Uint32Array): void =>
    new Uint32Array(buffer, at.get(field)!, values.length).set(values);
  const numbers = (field: number, values: Float32Array): void =>
    new Float32Array(buffer, at.get(field)!, values.length).set(values);
  integers(L.IMPLICIT_START, factor.start);
  integers(
    L.IMPLICIT_ENTRY_ROWS,
    factor.rows.map((row) => 16 * row),
  );
  numbers(L.IMPLICIT_ENTRIES, factor.values);
  numbers(L.IMPLICIT_DIAGONAL, factor.diagonal);
}

/** Writes the corners of element e as byte offsets in a vector. */
function writeCorners(view: DataView, row: number, particles: Uint32Array, e: number, corners: number): void {
  for (let c = 0; c < corners; c++) view.setUint32(row + 4 * c, VECTOR * particles[corners * e + c]!, true);
}

function writeNumbers(view: DataView, at: number, values: ArrayLike<number>, from: number, count: number): void {
  for (let k = 0; k < count; k++) view.setFloat64(at + 8 * k, values[from + k]!, true);
}

function writeTets(view: DataView, address: number, { particles, dmInverse, volume }: TetElements): void {
  for (let e = 0, row = address; e < volume.length; e++, row += L.IMPLICIT_TET_BYTES) {
    writeCorners(view, row, particles, e, 4);
    writeNumbers(view, row + L.IMPLICIT_TET_DM, dmInverse, 9 * e, 9);
    writeNumbers(view, row + L.IMPLICIT_TET_VOLUME, volume, e, 1);
  }
}

function writeTriangles(view: DataView, address: number, { particles, dmInverse, volume }: TriangleElements): void {
  for (let e = 0, row = address; e < volume.length; e++, row += L.IMPLICIT_TRIANGLE_BYTES) {
    writeCorners(view, row, particles, e, 3);
    writeNumbers(view, row + L.IMPLICIT_TRIANGLE_DM, dmInverse, 4 * e, 4);
    writeNumbers(view, row + L.IMPLICIT_TRIANGLE_VOLUME, volume, e, 1);
  }
}

/**
 * Writes four triangles per row; unused lanes of the last row have no volume, and their corners are the first particle.
 */
function writeQuads(view: DataView, address: number, { particles, dmInverse, volume }: TriangleElements): void {
  for (let e = 0; e < volume.length; e++) {
    const lane = address + (e >> 2) * L.QUAD_BYTES + 4 * (e & 3);
    for (let c = 0; c < 3; c++) view.setUint32(lane + LANES * c, LANES * particles[3 * e + c]!, true);
    for (let k = 0; k < 4; k++) view.setFloat32(lane + L.QUAD_DM + LANES * k, dmInverse[4 * e + k]!, true);
    view.setFloat32(lane + L.QUAD_VOLUME, volume[e]!, true);
  }
}

function writeStencils(view: DataView, at: ReadonlyMap<number, number>, { start, columns, values }: Stencils): void {
  const entries = at.get(L.IMPLICIT_STENCILS)!;
  const ends = at.get(L.IMPLICIT_STENCIL_START)!;
  for (let i = 0; i + 1 < start.length; i++) view.setUint32(ends + 4 * i, entries + 8 * start[i + 1]!, true);
  columns.forEach((column, p) => {
    view.setUint32(entries + 8 * p, LANES * column, true);
    view.setFloat32(entries + 8 * p + 4, values[p]!, true);
  });
}

function writeBends(view: DataView, address: number, { particles, K, alpha, rest }: BendElements): void {
  for (let e = 0, row = address; e < alpha.length; e++, row += L.IMPLICIT_BEND_BYTES) {
    writeCorners(view, row, particles, e, 4);
    writeNumbers(view, row + L.IMPLICIT_BEND_K, K, 4 * e, 4);
    view.setFloat64(row + L.IMPLICIT_BEND_STIFFNESS, 1 / alpha[e]!, true);
    writeNumbers(view, row + L.IMPLICIT_BEND_REST, rest, e, 1);
  }
}

/**
 * Writes the initial state from the room's float32 particles, so that float64 adds nothing to it.
 * @param acc address of the body's first acceleration
 */
function writeState(
  buffer: ArrayBufferLike,
  body: BodyTemplate,
  model: ImplicitModel,
  acc: number,
  run: StateRun,
): void {
  const f32 = new Float32Array(buffer);
  const size = 3 * model.count;
  const a = new Float64Array(size);
  const v = new Float64Array(size);
  const x = Float64Array.from(startPositions(body), Math.fround);
  for (let k = 0; k < size; k++) {
    a[k] = f32[acc / 4 + 4 * Math.floor(k / 3) + (k % 3)]!;
    v[k] = model.mass[Math.floor(k / 3)]! > 0 ? Math.fround(body.velocity[k % 3]!) : 0;
  }
  const state = initialState(model, x, v, a);
  for (const address of [run.address, run.initial, run.good]) {
    [state.x, state.v, state.x1, state.v1].forEach((values, n) =>
      new Float64Array(buffer, address + 8 * size * n, size).set(values),
    );
    new Float64Array(buffer, address + 32 * size, 1)[0] = -1;
  }
}
