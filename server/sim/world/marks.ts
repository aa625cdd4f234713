/** MARK bits of particles (kernel/assembly/state/marks.ts). */
import * as L from "../../kernel/assembly/layout/layout.ts";

/** @returns uint16 of every particle; empty if the room has no contact and so no marks */
export function marksIn(i32: Int32Array): Uint16Array {
  const at = i32[(L.HEADER + L.H_MARKS) / 4]!;
  return new Uint16Array(i32.buffer, at, at && i32[(L.HEADER + L.H_PARTICLES) / 4]!);
}
