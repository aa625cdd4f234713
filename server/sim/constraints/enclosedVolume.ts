/**
 * The volume inside a body's whole closed surface, one constraint over all of its particles (Mueller et al. 2007,
 * section 4.3; Rodero Gomez, section 4.2; kernel/assembly/constraints/enclosedVolume.ts).
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../body/template.ts";
import { leftOutOf } from "../body/template.ts";
import type { Allocator } from "../memory/memoryMap.ts";
import type { Phase } from "../memory/substepProgram.ts";
import type { Pace } from "./constraint.ts";
import { holdOf, stored, type EnclosedVolume, type Held } from "./geometric.ts";
import { sixVolumes, triplesOf } from "./polyhedron.ts";

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
  /** Address of each row, with six times its target volume, m^3. */
  rows: { body: number; row: number; rest: number }[];
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
    rows: rows.map(({ index, row, volume }) => ({ body: index, row, rest: volume.rest })),
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

/**
 * Elastic energy, J.
 * @param x float64[3N] m
 * @param triangles uint32[3T], normals outward
 */
export function enclosedEnergy(x: Float64Array, triangles: Uint32Array, e: EnclosedVolume): number {
  const C = (sixVolumes(x, triplesOf(triangles), 0) - e.rest) / 6;
  return e.unilateral && C > 0 ? 0 : stored(C, e.alpha);
}
