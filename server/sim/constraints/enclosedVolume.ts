/**
 * The volume inside a body's whole closed surface, one constraint over all of its particles (Mueller et al. 2007,
 * section 4.3; Rodero Gomez, section 4.2; kernel/assembly/constraints/enclosedVolume.ts).
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../body/template.ts";
import { leftOutOf } from "../body/template.ts";
import type { Allocator } from "../memory/map.ts";
import type { Phase } from "../memory/program.ts";
import { vectorAt, type Particles } from "../reference/particles.ts";
import type { Pace } from "./constraint.ts";
import { holdOf, project, stored, type Held, type Hold } from "./geometric.ts";
import { polyhedron, sixVolumes, triplesOf } from "./polyhedron.ts";

/** One constraint over a body's whole surface. */
export interface EnclosedVolume extends Hold {
  /** six times the target volume, m^3 */
  rest: number;
  /** m^3/Pa */
  alpha: number;
}

/**
 * @param X float64[3N] m, undeformed positions
 * @param triangles uint32[3T], closed, normals outward
 * @param asked hold of the scene; pressure: target volume in rest volumes
 */
export function enclosedVolume(
  X: Float64Array,
  triangles: Uint32Array,
  asked: Held & { pressure?: number },
  pace: Pace,
): EnclosedVolume {
  const { hold, alpha } = holdOf(asked, pace);
  return { ...hold, alpha, rest: (asked.pressure ?? 1) * sixVolumes(X, triplesOf(triangles), triangles[0]!) };
}

/** A phase and rows for bodies with an enclosed volume. */
export interface EnclosedRows {
  /**
   * Phases of one iteration.
   * @param pass sum of PASS_FIRST and PASS_LAST
   */
  phases: (pass: number) => Phase[];
  /** Address of each body's row. */
  rowOf: (number | undefined)[];
  /** @param surfaces address of the first SURFACE row */
  write: (memory: SharedArrayBuffer | ArrayBuffer, surfaces: number) => void;
}

/**
 * Allocates the rows; the result's `write` fills them later. One thread handles a body's whole surface, which no other
 * body shares.
 */
export function planEnclosedVolumes(bodies: readonly BodyTemplate[], allocator: Allocator): EnclosedRows {
  const keeping = bodies.flatMap((body, index) => (body.enclosed ? [{ body, index, volume: body.enclosed }] : []));
  const count = keeping.length;
  const address = allocator.take(count * L.ENCLOSED_BYTES);
  const rows = keeping.map((of, n) => ({
    ...of,
    row: address + n * L.ENCLOSED_BYTES,
    gradient: allocator.take(16 * of.body.streamedCount),
  }));
  const leftOut = leftOutOf(bodies);
  const runs = rows.flatMap(({ body, index }, n) => (leftOut(body) ? [{ body: index, first: n, end: n + 1 }] : []));
  const phase = { kind: L.KIND_ENCLOSED, data: address, count, chunk: 1, stage: L.STAGE_VOLUMES, runs };
  return {
    phases: (pass) => (count > 0 ? [{ ...phase, pass }] : []),
    rowOf: bodies.map((_, b) => rows.find(({ index }) => index === b)?.row),
    write: (memory, surfaces) =>
      rows.forEach(({ index, volume, row, gradient }) =>
        writeRow(memory, row, volume, surfaces + index * L.SURFACE_BYTES, gradient),
      ),
  };
}

/** @param row, surface, gradient addresses */
function writeRow(
  memory: SharedArrayBuffer | ArrayBuffer,
  row: number,
  volume: EnclosedVolume,
  surface: number,
  gradient: number,
): void {
  const view = new DataView(memory, row, L.ENCLOSED_BYTES);
  view.setInt32(L.ENCLOSED_SURFACE, surface, true);
  view.setInt32(L.ENCLOSED_GRADIENT, gradient, true);
  view.setFloat32(L.ENCLOSED_ALPHA, volume.alpha, true);
  view.setFloat32(L.ENCLOSED_STIFFNESS, volume.stiffness, true);
  view.setFloat32(L.ENCLOSED_LIMIT, volume.unilateral ? 0 : -Infinity, true);
  view.setFloat32(L.ENCLOSED_KEEP, volume.keeps ? 1 : 0, true);
  view.setFloat64(L.ENCLOSED_REST, volume.rest, true);
}

/** Volume enclosed by a surface of a room's particles. */
export interface ReferenceEnclosed extends Hold {
  /** The surface's particles are first .. first + count. */
  first: number;
  count: number;
  /** uint32[3T] particle numbers of the room, normals outward */
  triangles: Uint32Array;
  /** six times the target volume, m^3 */
  rest: number;
  /** m^3/Pa */
  alpha: number;
  lambda: number;
}

export function solveEnclosedVolumes(p: Particles, e: ReferenceEnclosed, h: number): void {
  const corners = Array.from({ length: e.count }, (_, i) => e.first + i);
  const triangles = triplesOf(e.triangles.map((c) => c - e.first));
  e.lambda = project(
    p,
    corners,
    polyhedron(
      corners.map((c) => vectorAt(p.x, c)),
      triangles,
      e.rest,
    ),
    e,
    e.alpha,
    e.lambda,
    [e.unilateral ? 0 : -Infinity, Infinity],
    h,
  );
}

/**
 * Elastic energy, J.
 * @param x float64[3N] m
 * @param triangles uint32[3T], normals outward
 */
export function enclosedEnergy(x: Float64Array, triangles: Uint32Array, e: EnclosedVolume): number {
  const C = (sixVolumes(x, triplesOf(triangles), 0) - e.rest) / 6;
  return e.unilateral && C > 0 ? 0 : stored(C, e.alpha);
}
