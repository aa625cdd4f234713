/** Plans SHAPE rows and rest shapes for shape-matched bodies (kernel/assembly/constraints/shape.ts). */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../../body/template.ts";
import { leftOutOf } from "../../body/template.ts";
import type { Allocator } from "../memoryMap.ts";
import type { Phase } from "../substepProgram.ts";
import type { StateRun, SpawnableRun } from "../writeBlocks.ts";

/**
 * Weight of a pinned particle in masses of its body: the best fit then passes through it to 1e-6 of the error, and
 * float64 keeps ten digits.
 */
const PINNED_WEIGHT = 1e6;

/**
 * Relative excess of a ball's contact sphere over its radius. The corners of its mesh lie on the sphere. If one of them
 * met the face of a box, rounding would decide their distance, and the contact check would separate them. (A ball that
 * slid over a box without friction lost 0.4 % of its speed.)
 */
const SKIN = 1e-4;

export interface PlannedShapes {
  /** Address of the first row, and number of rows. */
  rows: number;
  count: number;
  /** Rows of bodies that may be left out. */
  runs: SpawnableRun[];
  /**
   * Phases of one iteration.
   * @param pass sum of PASS_FIRST and PASS_LAST
   */
  phases: (pass: number) => Phase[];
  /** Address of each shape-matched body's row, by body number. */
  rowOf: ReadonlyMap<number, number>;
  /** State besides particles: the rest shape's plastic part, for each body that has one. */
  states: StateRun[];
  /**
   * @param x address of the room's positions
   * @param firsts first particle of each body
   * @param bodyRows address of the BODY rows
   */
  write: (buffer: ArrayBufferLike, x: number, firsts: readonly number[], bodyRows: number) => void;
}

function runsOf(
  shaped: readonly { body: BodyTemplate; index: number }[],
  leftOut: (body: BodyTemplate) => boolean,
): SpawnableRun[] {
  return shaped.flatMap(({ body, index }, n) => (leftOut(body) ? [{ body: index, first: n, end: n + 1 }] : []));
}

/** Allocates memory for every shape-matched body; the result's `write` fills it later. */
export function planShapes(bodies: readonly BodyTemplate[], iterations: number, allocator: Allocator): PlannedShapes {
  const shaped = bodies.flatMap((body, index) => (body.shape ? [{ body, index, shape: body.shape }] : []));
  const rows = allocator.take(shaped.length * L.SHAPE_BYTES);
  const planned = shaped.map((s) => ({
    ...s,
    rest: allocator.take(32 * s.body.particleCount),
    // needed only with several iterations and a spring that yields: displacements by earlier iterations
    memory: iterations > 1 && s.shape.rate < Infinity ? allocator.take(16 * s.body.particleCount) : 0,
  }));
  const copies = planned.map(({ shape }) =>
    shape.plasticity ? [0, 1].map(() => allocator.take(16 * L.SHAPE_STATE_ROWS)) : [],
  );
  const states = planned.flatMap(({ index }, n) => {
    const [initial, good] = copies[n]!;
    return initial && good
      ? [
          {
            body: index,
            address: rows + n * L.SHAPE_BYTES,
            stride: L.SHAPE_BYTES,
            offset: L.SHAPE_PLASTIC,
            rows: L.SHAPE_STATE_ROWS,
            firstLane: 0,
            lastLane: 4,
            initial,
            good,
          },
        ]
      : [];
  });
  const runs = runsOf(shaped, leftOutOf(bodies));
  const phase = { kind: L.KIND_SHAPE, data: 0, count: shaped.length, chunk: 1, stage: L.STAGE_SHAPES, runs };
  return {
    rows,
    count: shaped.length,
    runs,
    phases: (pass) => (shaped.length > 0 ? [{ ...phase, pass }] : []),
    rowOf: new Map(shaped.map(({ index }, n) => [index, rows + n * L.SHAPE_BYTES])),
    states,
    write(buffer, x, firsts, bodyRows) {
      const i32 = new Int32Array(buffer);
      const f64 = new Float64Array(buffer);
      planned.forEach(({ body, index, shape, rest, memory }, n) => {
        const row = rows + n * L.SHAPE_BYTES;
        const at = row / 8;
        i32.set(
          [
            x + 16 * firsts[index]!,
            body.particleCount,
            rest,
            memory,
            shape.mode === "linear" ? 1 : 0,
            bodyRows + index * L.BODY_BYTES,
          ],
          row / 4,
        );
        i32[(row + L.SHAPE_SURFACE) / 4] = body.streamedCount;
        f64[(row + L.SHAPE_RADIUS) / 8] = (1 + SKIN) * (shape.radius ?? 0);
        const { yield: begin, creep, max } = shape.plasticity ?? { yield: Infinity, creep: 0, max: 0 };
        f64.set([shape.rate, shape.linearity, begin, creep, max], at + L.SHAPE_RATE / 8);
        const { q, moment } = restShape(body);
        f64.set(q, rest / 8);
        f64.set(invert(moment), at + L.SHAPE_MOMENT / 8);
        f64.set([1, 0, 0, 0, 1, 0, 0, 0, 1], at + L.SHAPE_PLASTIC / 8);
        for (const copy of copies[n]!)
          f64.copyWithin(copy / 8, at + L.SHAPE_PLASTIC / 8, at + L.SHAPE_PLASTIC / 8 + 2 * L.SHAPE_STATE_ROWS);
      });
    },
  };
}

/** Particles relative to the center of mass, with their masses, float64[4N], and sum m q q^T. */
function restShape(body: Pick<BodyTemplate, "positions" | "mass" | "pinned" | "particleCount">): {
  q: Float64Array;
  moment: number[];
} {
  const N = body.particleCount;
  const q = new Float64Array(4 * N);
  const moment = new Array<number>(9).fill(0);
  const center = [0, 0, 0];
  const total = body.mass.reduce((a, b) => a + b, 0);
  let sum = 0;
  for (let i = 0; i < N; i++) {
    // mass after float32 rounding of its inverse, as the other constraints use it
    q[4 * i + 3] = body.pinned[i] || !body.mass[i] ? PINNED_WEIGHT * total : 1 / Math.fround(1 / body.mass[i]!);
    sum += q[4 * i + 3]!;
    for (let r = 0; r < 3; r++) center[r]! += q[4 * i + 3]! * (body.positions[3 * i + r]! - body.positions[r]!);
  }
  for (let i = 0; i < N; i++) {
    for (let r = 0; r < 3; r++) q[4 * i + r] = body.positions[3 * i + r]! - body.positions[r]! - center[r]! / sum;
    for (let r = 0; r < 9; r++) moment[r]! += q[4 * i + 3]! * q[4 * i + Math.floor(r / 3)]! * q[4 * i + (r % 3)]!;
  }
  return { q, moment };
}

/** Inverse of a 3x3 matrix, row by row. */
function invert(m: readonly number[]): number[] {
  const [a, b, c, d, e, f, g, h, i] = m as [number, number, number, number, number, number, number, number, number];
  const det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  return [
    e * i - f * h,
    c * h - b * i,
    b * f - c * e,
    f * g - d * i,
    a * i - c * g,
    c * d - a * f,
    d * h - e * g,
    b * g - a * h,
    a * e - b * d,
  ].map((k) => k / det);
}
