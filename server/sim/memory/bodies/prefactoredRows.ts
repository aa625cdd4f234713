/**
 * Plans PREFACTORED rows for bodies of solver "prefactored", with their elements, factors and work area
 * (kernel/assembly/prefactored/step.ts), and RESPONSE rows for the points that may hold them.
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import { LANES } from "../../../kernel/assembly/layout/sizes.ts";
import type { BodyTemplate } from "../../body/template.ts";
import type { Factor } from "../../implicit/factor.ts";
import { prefactoredModel, type PrefactoredModel } from "../../prefactored/model.ts";
import type { Allocator } from "../memoryMap.ts";
import { planFactor, type WriteFactor } from "./factorRows.ts";
import { wholeRun, type StateRun } from "../writeBlocks.ts";

/** Share of the mean edge above which a correction is checked. */
const LARGE = 0.1;

export interface PlannedPrefactored {
  /** Address of the first row, and number of rows. */
  rows: number;
  count: number;
  /** Whether they may meet other bodies. */
  meets: boolean;
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
  /** Addresses to write into the row, by offset of the field (PREFACTORED_*). */
  at: Map<number, number>;
}

/**
 * Allocates memory for every prefactored body; the result's `write` fills it later.
 * @param h length of a substep, s
 * @param anchorsOf particles of a body that rigid attachments hold in space
 * @param points slots of weighted points in the room
 * @param meets whether the sheets may meet other bodies
 */
export function planPrefactored(
  bodies: readonly BodyTemplate[],
  h: number,
  anchorsOf: (body: number) => number[],
  points: number,
  meets: boolean,
  allocator: Allocator,
): PlannedPrefactored {
  const own = bodies.flatMap((body, index) => (body.form === "prefactored" ? [{ body, index }] : []));
  const rows = allocator.take(own.length * L.PREFACTORED_BYTES);
  const planned = own.map(({ body, index }): Planned => {
    const model = prefactoredModel(body, h, anchorsOf(index));
    const writeFactor = planFactor(model.factor, allocator);
    return { body, index, model, writeFactor, at: takeArrays(model, body.particleCount, meets, allocator) };
  });
  const columns = Math.max(0, ...planned.map(({ model }) => model.factor.order.length));
  const bytes = (L.RESPONSE_MOTION + 4 * columns + 15) & ~15;
  // an attachment may hold two bodies
  const responses = planned.length > 0 ? allocator.take(2 * points * bytes) : 0;
  return {
    rows,
    count: planned.length,
    meets,
    states: planned.flatMap(({ index, model: { factor }, at }) => {
      const columns = factor.order.length;
      const kept = wholeRun(index, at.get(L.PREFACTORED_KEPT)!, LANES * (columns + 1), allocator);
      const answers = at.get(L.PREFACTORED_ANSWERS);
      return answers === undefined ? [kept] : [kept, wholeRun(index, answers, (4 * columns + 15) & ~15, allocator)];
    }),
    write: (buffer, { x, dummies, bodyRows, points: slots }, firsts) => {
      const view = new DataView(buffer);
      planned.forEach(({ body, index, model, writeFactor, at }, n) => {
        const row = rows + n * L.PREFACTORED_BYTES;
        const first = x + 16 * firsts[index]!;
        view.setInt32(bodyRows + index * L.BODY_BYTES + L.BODY_PREFACTORED, row, true);
        writeRow(view, row, model, at, first);
        view.setInt32(row + L.PREFACTORED_END, first + 16 * body.particleCount, true);
        view.setFloat32(row + L.PREFACTORED_LARGE, (LARGE * body.meanEdge) ** 2, true);
        writeFactor(buffer, row + L.PREFACTORED_FACTOR);
        writeOrder(buffer, model, at);
        const columnOf = columnsOf(model.factor, body.particleCount);
        new Uint32Array(buffer, at.get(L.PREFACTORED_COLUMN)!, body.particleCount).set(columnOf.subarray(0, -1));
        writeTriangles(view, at.get(L.PREFACTORED_TRIANGLES)!, model, first, columnOf, x + 16 * dummies);
        if (model.bends) writeBends(view, at.get(L.PREFACTORED_BENDS)!, model, first, columnOf, x + 16 * dummies);
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
  { triangles, bends, factor }: PrefactoredModel,
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
  take(L.PREFACTORED_TRIANGLES, L.PREFACTORED_TRIANGLE_BYTES * fours(triangles.volume.length));
  if (bends) take(L.PREFACTORED_BENDS, L.PREFACTORED_BEND_BYTES * fours(bends.alpha.length));
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
  view.setInt32(row + L.PREFACTORED_TRIANGLE_ROWS, fours(model.triangles.volume.length), true);
  view.setInt32(row + L.PREFACTORED_BEND_ROWS, fours(model.bends?.alpha.length ?? 0), true);
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

/**
 * Writes the corners of element e into a lane; unused lanes of the last row have the dummies as corners, and no
 * stiffness.
 */
function writeCorners(
  view: DataView,
  lane: number,
  columns: number,
  particles: ArrayLike<number> | undefined,
  corners: number,
  first: number,
  columnOf: Uint32Array,
  dummies: number,
): void {
  for (let c = 0; c < corners; c++) {
    const particle = particles?.[c];
    view.setUint32(lane + LANES * c, particle === undefined ? dummies + 16 * (c % 4) : first + 16 * particle, true);
    view.setUint32(lane + columns + LANES * c, particle === undefined ? columnOf.at(-1)! : columnOf[particle]!, true);
  }
}

function writeTriangles(
  view: DataView,
  address: number,
  { triangles, stiffness: { c00, c01, c11, c22 } }: PrefactoredModel,
  first: number,
  columnOf: Uint32Array,
  dummies: number,
): void {
  const { particles, dmInverse, volume } = triangles;
  for (let e = 0; e < 4 * fours(volume.length); e++) {
    const lane = address + (e >> 2) * L.PREFACTORED_TRIANGLE_BYTES + 4 * (e & 3);
    const there = e < volume.length;
    const corners = there ? particles.subarray(3 * e, 3 * e + 3) : undefined;
    writeCorners(view, lane, L.PREFACTORED_TRIANGLE_COLUMN, corners, 3, first, columnOf, dummies);
    if (!there) continue;
    for (let k = 0; k < 4; k++)
      view.setFloat32(lane + L.PREFACTORED_TRIANGLE_DM + LANES * k, dmInverse[4 * e + k]!, true);
    [c00, c01, c11, c22].forEach((c, k) =>
      view.setFloat32(lane + L.PREFACTORED_TRIANGLE_C + LANES * k, volume[e]! * c, true),
    );
  }
}

function writeBends(
  view: DataView,
  address: number,
  { bends }: PrefactoredModel,
  first: number,
  columnOf: Uint32Array,
  dummies: number,
): void {
  const { particles, K, alpha, rest } = bends!;
  for (let e = 0; e < 4 * fours(alpha.length); e++) {
    const lane = address + (e >> 2) * L.PREFACTORED_BEND_BYTES + 4 * (e & 3);
    const there = e < alpha.length;
    const corners = there ? particles.subarray(4 * e, 4 * e + 4) : undefined;
    writeCorners(view, lane, L.PREFACTORED_BEND_COLUMN, corners, 4, first, columnOf, dummies);
    if (!there) continue;
    for (let k = 0; k < 4; k++) view.setFloat32(lane + L.PREFACTORED_BEND_K + LANES * k, K[4 * e + k]!, true);
    view.setFloat32(lane + L.PREFACTORED_BEND_STIFFNESS, 1 / alpha[e]!, true);
    view.setFloat32(lane + L.PREFACTORED_BEND_REST, rest[e]!, true);
  }
}
