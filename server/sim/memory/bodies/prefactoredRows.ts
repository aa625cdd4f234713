/**
 * Plans PREFACTORED rows for bodies of solver "prefactored", with their elements, factors and work area
 * (kernel/assembly/prefactored/step.ts), and RESPONSE rows for the points that may hold them.
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import { LANES } from "../../../kernel/assembly/layout/sizes.ts";
import type { BodyTemplate } from "../../body/template.ts";
import type { BendElements, TetElements } from "../../constraints/elements.ts";
import type { Factor } from "../../implicit/factor.ts";
import { prefactoredModel, type PrefactoredModel } from "../../prefactored/model.ts";
import { planPairs, type PlannedPairs } from "./prefactoredPairs.ts";
import type { Allocator } from "../memoryMap.ts";
import { planFactor, type WriteFactor } from "./factorRows.ts";
import { wholeRun, type StateRun } from "../writeBlocks.ts";

/** Share of the mean edge above which a correction is checked; twice as much where the forces lead. */
const LARGE = 0.1;

export interface PlannedPrefactored {
  /** Address of the first row, and number of rows. */
  rows: number;
  count: number;
  /** Whether they may meet other bodies, and whether they may touch anything. */
  meets: boolean;
  touches: boolean;
  /** Kept contact forces, and answers to other bodies. */
  states: StateRun[];
  /**
   * Called once the particles are written.
   * @param x address of the room's positions; dummies number of the first dummy particle
   * @param firsts first particle of each body
   * @param bodyRows address of the BODY rows
   * @param points address of the POINT slots
   */
  write: (
    buffer: ArrayBufferLike,
    at: { x: number; dummies: number; bodyRows: number; points: number },
    firsts: readonly number[],
  ) => void;
}

interface Planned {
  body: BodyTemplate;
  index: number;
  model: PrefactoredModel;
  writeFactor: WriteFactor;
  pairs: PlannedPairs | undefined;
  /** Addresses to write into the row, by offset of the field (PREFACTORED_*). */
  at: Map<number, number>;
}

/**
 * Allocates memory for every prefactored body; the result's `write` fills it later.
 * @param h length of a substep, s
 * @param anchorsOf particles of a body that rigid attachments hold in space
 * @param points slots of weighted points in the room
 * @param meets whether the sheets may meet other bodies
 * @param touches whether they may touch anything
 */
export function planPrefactored(
  bodies: readonly BodyTemplate[],
  h: number,
  anchorsOf: (body: number) => number[],
  points: number,
  meets: boolean,
  touches: boolean,
  allocator: Allocator,
): PlannedPrefactored {
  const own = bodies.flatMap((body, index) => (body.form === "prefactored" ? [{ body, index }] : []));
  const rows = allocator.take(own.length * L.PREFACTORED_BYTES);
  const planned = own.map(({ body, index }): Planned => {
    const model = prefactoredModel(body, h, anchorsOf(index), touches);
    const writeFactor = planFactor(model.factor, allocator);
    const at = takeArrays(model, body.particleCount, meets, allocator);
    // with pairs a draped sheet did not fall asleep within 10 s, but crept: another rounding
    const pairs = touches ? undefined : planPairs(model, columnsOf(model.factor, body.particleCount), allocator);
    return { body, index, model, writeFactor, pairs, at };
  });
  const columns = Math.max(0, ...planned.map(({ model }) => model.factor.order.length));
  const bytes = (L.RESPONSE_MOTION + 4 * columns + 15) & ~15;
  // an attachment may hold two bodies
  const responses = planned.length > 0 ? allocator.take(2 * points * bytes) : 0;
  return {
    rows,
    count: planned.length,
    meets,
    touches,
    states: planned.flatMap(({ index, model: { factor }, at }) => {
      if (!touches) return [];
      const columns = factor.order.length;
      const kept = wholeRun(index, at.get(L.PREFACTORED_KEPT)!, LANES * (columns + 1), allocator);
      const answers = at.get(L.PREFACTORED_ANSWERS);
      return answers === undefined ? [kept] : [kept, wholeRun(index, answers, (4 * columns + 15) & ~15, allocator)];
    }),
    write: (buffer, { x, dummies, bodyRows, points: slots }, firsts) => {
      const view = new DataView(buffer);
      planned.forEach(({ body, index, model, writeFactor, pairs, at }, n) => {
        const row = rows + n * L.PREFACTORED_BYTES;
        const first = x + 16 * firsts[index]!;
        view.setInt32(bodyRows + index * L.BODY_BYTES + L.BODY_PREFACTORED, row, true);
        writeRow(view, row, model, at, first);
        view.setInt32(row + L.PREFACTORED_END, first + 16 * body.particleCount, true);
        const large = (model.lead < 1 && !model.tets ? 2 : 1) * LARGE;
        view.setFloat32(row + L.PREFACTORED_LARGE, (large * body.meanEdge) ** 2, true);
        writeFactor(buffer, row + L.PREFACTORED_FACTOR);
        writeOrder(buffer, model, at);
        const columnOf = columnsOf(model.factor, body.particleCount);
        new Uint32Array(buffer, at.get(L.PREFACTORED_COLUMN)!, body.particleCount).set(columnOf.subarray(0, -1));
        const residual = at.get(L.PREFACTORED_RESIDUAL)!;
        const corners = { first, columnOf, residual, dummies: x + 16 * dummies };
        if (model.triangles) writeTriangles(view, at.get(L.PREFACTORED_TRIANGLES)!, model, corners);
        pairs?.write(view, row);
        if (model.bends) writeBends(view, at.get(L.PREFACTORED_BENDS)!, model.bends, corners);
        if (model.tets) writeTets(view, at.get(L.PREFACTORED_TETS)!, model.tets, corners);
      });
      for (let n = 0; responses && n < points; n++) {
        const response = responses + 2 * n * bytes;
        view.setInt32(slots + n * L.POINT_BYTES + L.POINT_RESPONSE, response, true);
        view.setInt32(response + L.RESPONSE_OTHER, response + bytes, true);
      }
    },
  };
}

/** Rows of four elements. */
const fours = (elements: number): number => Math.ceil(elements / 4);

function takeArrays(
  { triangles, bends, tets, factor }: PrefactoredModel,
  particles: number,
  meets: boolean,
  allocator: Allocator,
): Map<number, number> {
  const at = new Map<number, number>();
  const take = (field: number, bytes: number): void => void at.set(field, allocator.take(bytes));
  const columns = factor.order.length;
  take(L.PREFACTORED_ORDER, 4 * columns);
  take(L.PREFACTORED_COLUMN, 4 * particles);
  take(L.PREFACTORED_RESIDUAL, LANES * (columns + 1));
  take(L.PREFACTORED_MOVED, LANES * (columns + 1));
  take(L.PREFACTORED_PLACES, LANES * (columns + 1));
  take(L.PREFACTORED_KEPT, LANES * (columns + 1));
  take(L.PREFACTORED_LOWS, LANES * columns);
  if (meets) take(L.PREFACTORED_ANSWERS, (4 * columns + 15) & ~15);
  if (meets) take(L.PREFACTORED_BEFORE, LANES * columns);
  take(L.PREFACTORED_INERTIA, 4 * columns);
  if (triangles) take(L.PREFACTORED_TRIANGLES, L.PREFACTORED_TRIANGLE_BYTES * fours(triangles.volume.length));
  if (bends) take(L.PREFACTORED_BENDS, L.PREFACTORED_BEND_BYTES * fours(bends.alpha.length));
  if (tets) take(L.PREFACTORED_TOUCHES, L.PREFACTORED_TOUCH_BYTES * columns);
  if (tets) take(L.PREFACTORED_TETS, L.PREFACTORED_TET_BYTES * fours(tets.volume.length));
  return at;
}

function writeRow(
  view: DataView,
  row: number,
  model: PrefactoredModel,
  at: ReadonlyMap<number, number>,
  first: number,
): void {
  at.forEach((address, field) => view.setInt32(row + field, address, true));
  view.setInt32(row + L.PREFACTORED_FIRST, first, true);
  view.setInt32(row + L.PREFACTORED_COLUMNS, model.factor.order.length, true);
  view.setInt32(row + L.PREFACTORED_TRIANGLE_ROWS, fours(model.triangles?.volume.length ?? 0), true);
  view.setInt32(row + L.PREFACTORED_BEND_ROWS, fours(model.bends?.alpha.length ?? 0), true);
  view.setInt32(row + L.PREFACTORED_TET_ROWS, fours(model.tets?.volume.length ?? 0), true);
  view.setFloat32(row + L.PREFACTORED_STIFFER, model.stiffer, true);
  view.setFloat32(row + L.PREFACTORED_LEAD, model.lead, true);
  view.setFloat32(row + L.PREFACTORED_BOUND, model.bound, true);
}

function writeOrder(
  buffer: ArrayBufferLike,
  { factor, inertia }: PrefactoredModel,
  at: ReadonlyMap<number, number>,
): void {
  const integers = (field: number, values: Uint32Array): void =>
    new Uint32Array(buffer, at.get(field)!, values.length).set(values);
  const numbers = (field: number, values: Float32Array): void =>
    new Float32Array(buffer, at.get(field)!, values.length).set(values);
  integers(
    L.PREFACTORED_ORDER,
    factor.order.map((particle) => 16 * particle),
  );
  numbers(
    L.PREFACTORED_INERTIA,
    Float32Array.from(factor.order, (particle) => inertia[particle]!),
  );
}

/**
 * Byte offset of each particle's column in a vector, and one more: fixed particles and unused lanes have the entry
 * behind the last column.
 */
function columnsOf({ order }: Factor, particles: number): Uint32Array {
  const offsets = new Uint32Array(particles + 1).fill(LANES * order.length);
  order.forEach((particle, k) => (offsets[particle] = LANES * k));
  return offsets;
}

interface Corners {
  /** Address of the body's first particle. */
  first: number;
  columnOf: Uint32Array;
  /** Address of the residual. */
  residual: number;
  /** Address of the first dummy particle. */
  dummies: number;
}

/**
 * Writes the corners of element e into a lane; unused lanes of the last row have the dummies as corners, and no
 * stiffness.
 * @param columns offset of the columns
 * @param count of corners
 */
function writeCorners(
  view: DataView,
  lane: number,
  columns: number,
  { particles, count, e }: { particles: Uint32Array; count: number; e: number },
  { first, columnOf, residual, dummies }: Corners,
): void {
  for (let c = 0; c < count; c++) {
    const particle = particles[count * e + c];
    const column = particle === undefined ? columnOf.at(-1)! : columnOf[particle]!;
    view.setUint32(lane + LANES * c, particle === undefined ? dummies + 16 * (c % 4) : first + 16 * particle, true);
    view.setUint32(lane + columns + LANES * c, residual + column, true);
  }
}

/** Calls `write` with the address of each lane's element, and with functions that write its values there. */
function writeElements(
  view: DataView,
  address: number,
  { bytes, columns, particles, count }: { bytes: number; columns: number; particles: Uint32Array; count: number },
  corners: Corners,
  write: (e: number, numbers: (offset: number, values: Iterable<number>) => void) => void,
): void {
  const elements = particles.length / count;
  for (let e = 0; e < 4 * fours(elements); e++) {
    const lane = address + (e >> 2) * bytes + 4 * (e & 3);
    writeCorners(view, lane, columns, { particles, count, e }, corners);
    if (e >= elements) continue;
    write(e, (offset, values) => {
      let at = lane + offset - LANES;
      for (const value of values) view.setFloat32((at += LANES), value, true);
    });
  }
}

function writeTriangles(
  view: DataView,
  address: number,
  { triangles, stiffness: { c00, c01, c11, c22 } }: PrefactoredModel,
  corners: Corners,
): void {
  const { particles, dmInverse, volume } = triangles!;
  const form = { bytes: L.PREFACTORED_TRIANGLE_BYTES, columns: L.PREFACTORED_TRIANGLE_COLUMN, particles, count: 3 };
  writeElements(view, address, form, corners, (e, numbers) => {
    numbers(L.PREFACTORED_TRIANGLE_DM, dmInverse.subarray(4 * e, 4 * e + 4));
    numbers(
      L.PREFACTORED_TRIANGLE_C,
      [c00, c01, c11, c22].map((c) => volume[e]! * c),
    );
  });
}

function writeBends(
  view: DataView,
  address: number,
  { particles, K, alpha, rest }: BendElements,
  corners: Corners,
): void {
  const form = { bytes: L.PREFACTORED_BEND_BYTES, columns: L.PREFACTORED_BEND_COLUMN, particles, count: 4 };
  writeElements(view, address, form, corners, (e, numbers) => {
    numbers(L.PREFACTORED_BEND_K, K.subarray(4 * e, 4 * e + 4));
    numbers(L.PREFACTORED_BEND_STIFFNESS, [1 / alpha[e]!, rest[e]!]);
  });
}

function writeTets(
  view: DataView,
  address: number,
  { particles, dmInverse, volume, lambda, mu }: TetElements,
  corners: Corners,
): void {
  const form = { bytes: L.PREFACTORED_TET_BYTES, columns: L.PREFACTORED_TET_COLUMN, particles, count: 4 };
  writeElements(view, address, form, corners, (e, numbers) => {
    numbers(L.PREFACTORED_TET_DM, dmInverse.subarray(9 * e, 9 * e + 9));
    numbers(L.PREFACTORED_TET_LAMBDA, [lambda * volume[e]!, mu * volume[e]!]);
  });
}
