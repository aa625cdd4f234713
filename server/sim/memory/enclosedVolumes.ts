/** Rows of the volumes that whole surfaces enclose (kernel/assembly/constraints/enclosedVolume.ts). */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { EnclosedVolume } from "../constraints/enclosedVolume.ts";
import type { Allocator } from "./map.ts";
import type { WaitingRun } from "./program.ts";

export interface EnclosedRows {
  /** Of the first row. */
  address: number;
  count: number;
  /** Rows of bodies that may wait. */
  runs: WaitingRun[];
  /** By body: address of its row. */
  rowOf: (number | undefined)[];
}

/**
 * Takes memory for the bodies that keep their whole volume now.
 * @returns also what writes it later, from the address of the first SURFACE row
 */
export function planEnclosedVolumes(
  bodies: readonly BodyTemplate[],
  allocator: Allocator,
): EnclosedRows & { write: (memory: SharedArrayBuffer | ArrayBuffer, surfaces: number) => void } {
  const keeping = bodies.flatMap((body, index) =>
    body.enclosed ? [{ index, particles: body.streamedCount, volume: body.enclosed }] : [],
  );
  const address = allocator.take(keeping.length * L.ENCLOSED_BYTES);
  const gradients = keeping.map(({ particles }) => allocator.take(16 * particles));
  return {
    address,
    count: keeping.length,
    runs: keeping.flatMap(({ index }, n) => (bodies[index]!.waits ? [{ body: index, first: n, end: n + 1 }] : [])),
    rowOf: bodies.map((_, b) => {
      const n = keeping.findIndex(({ index }) => index === b);
      return n < 0 ? undefined : address + n * L.ENCLOSED_BYTES;
    }),
    write: (memory, surfaces) =>
      keeping.forEach(({ index, volume }, n) =>
        writeEnclosedVolumes(
          memory,
          address + n * L.ENCLOSED_BYTES,
          volume,
          surfaces + index * L.SURFACE_BYTES,
          gradients[n]!,
        ),
      ),
  };
}

/** @param row, surface, gradient addresses */
function writeEnclosedVolumes(
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
