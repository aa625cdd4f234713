/** Moving colliders that bodies keep off their paths (kernel/assembly/contact/solve/movers.ts), for pages. */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { MoverRow } from "../../../shared/protocol/fromServer.ts";

/** Displacements are rounded to this, m. */
const RESOLUTION = 1e-4;

/** Returns the displacements, m, of all moving colliders that are off their paths. @param i32 the world's memory */
export function yieldingMovers(i32: Int32Array): MoverRow[] {
  const movers: MoverRow[] = [];
  for (let n = 0; n < i32[(L.HEADER + L.H_MOTION_COUNT) / 4]!; n++) {
    const at = i32[(L.HEADER + L.H_MOTIONS) / 4]! + n * L.MOTION_BYTES + L.MOTION_YIELD;
    const [x, y, z] = Array.from(
      new Float64Array(i32.buffer, at, 3),
      (part) => RESOLUTION * Math.round(part / RESOLUTION) + 0,
    );
    if (x !== 0 || y !== 0 || z !== 0) movers.push([n, x!, y!, z!]);
  }
  return movers;
}
