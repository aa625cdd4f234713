/**
 * What colliders gave rigid bodies in a substep. They meet in the phase that makes velocities rigid
 * (kernel/assembly/rigid/rigid.ts), which leaves its pushes in the SHAPE rows.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";

/**
 * After KIND_RIGID, for every particle of a rigid body that a collider has pushed: the velocity (m/s) that it has from
 * that,
 *   dv = (push + twist x (x - c))/(h (1 + h d)), without the part that only moves.
 * @param rows how many SHAPE rows the phase has; x address of the room's positions; h s; give particle number and dv
 */
export function colliderPushes(
  buffer: ArrayBufferLike,
  rows: number,
  x: number,
  h: number,
  give: (particle: number, dv: readonly [number, number, number]) => void,
): void {
  const f32 = new Float32Array(buffer);
  const i32 = new Int32Array(buffer);
  const f64 = new Float64Array(buffer);
  const header = (field: number): number => i32[(L.HEADER + field) / 4]!;
  for (let n = 0, row = header(L.H_SHAPES); n < rows; n++, row += L.SHAPE_BYTES) {
    const i = (field: number): number => i32[(row + field) / 4]!;
    const d = (field: number, r: number): number => f64[(row + field) / 8 + r]!;
    // in free flight the phase has nothing to do, and the row tells of an earlier substep
    if (i(L.SHAPE_LINEAR) || i32[(i(L.SHAPE_BODY) + L.BODY_FREE) / 4]) continue;
    const [p, t] = (
      [
        [L.SHAPE_PUSH, L.SHAPE_PUSH_STILL],
        [L.SHAPE_TWIST, L.SHAPE_TWIST_STILL],
      ] as const
    ).map(([all, still]) => [0, 1, 2].map((r) => (d(all, r) - d(still, r)) / h)) as [number[], number[]];
    if ([...p, ...t].every((v) => v === 0)) continue;
    const c = [0, 1, 2].map((r) => d(L.SHAPE_CENTER, r) + d(L.SHAPE_PUSH, r));
    const first = (i(L.SHAPE_FIRST) - x) / 16;
    for (let k = first; k < first + i(L.SHAPE_COUNT); k++) {
      const at = x / 4 + 4 * k;
      const toV = (header(L.H_V) - x) / 4;
      if (f32[at + 3] === 0) continue;
      const a = [0, 1, 2].map((r) => f32[at + r]! - c[r]!) as [number, number, number];
      const damped = 1 / (1 + h * f32[at + toV + 3]!);
      give(k, [
        damped * (p[0]! + t[1]! * a[2] - t[2]! * a[1]),
        damped * (p[1]! + t[2]! * a[0] - t[0]! * a[2]),
        damped * (p[2]! + t[0]! * a[1] - t[1]! * a[0]),
      ]);
    }
  }
}
