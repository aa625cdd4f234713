/**
 * Impulses of colliders on rigid bodies in a substep. Bodies that rest on colliders have rows among the contacts
 * (kernel/assembly/rigid/rigidGround.ts). Falling bodies meet colliders in the phase that makes velocities rigid
 * (kernel/assembly/rigid/rigid.ts). That phase leaves its pushes in the SHAPE rows.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";

type Give = (particle: number, dv: readonly [number, number, number]) => void;

/**
 * After KIND_RIGID, for every particle of a rigid body that a collider has pushed: its velocity from that push (m/s),
 *   dv = (push + twist x (x - c))/(h (1 + h d)), without the part that only moves.
 * @param rows number of SHAPE rows of the phase
 * @param x address of the room's positions
 * @param h s
 * @param give called with particle number and dv
 */
export function colliderPushes(buffer: ArrayBufferLike, rows: number, x: number, h: number, give: Give): void {
  const i32 = new Int32Array(buffer);
  const f64 = new Float64Array(buffer);
  const header = (field: number): number => i32[(L.HEADER + field) / 4]!;
  for (let n = 0, row = header(L.H_SHAPES); n < rows; n++, row += L.SHAPE_BYTES) {
    const i = (field: number): number => i32[(row + field) / 4]!;
    const d = (field: number, r: number): number => f64[(row + field) / 8 + r]!;
    // in free flight the phase does nothing, and the row is from an earlier substep
    if (i(L.SHAPE_LINEAR) || i32[(i(L.SHAPE_BODY) + L.BODY_FREE) / 4]) continue;
    const [p, t] = (
      [
        [L.SHAPE_PUSH, L.SHAPE_PUSH_STILL],
        [L.SHAPE_TWIST, L.SHAPE_TWIST_STILL],
      ] as const
    ).map(([all, still]) => [0, 1, 2].map((r) => (d(all, r) - d(still, r)) / h)) as [number[], number[]];
    if ([...p, ...t].every((v) => v === 0)) continue;
    giveAll(buffer, row, x, p, t, h, give);
  }
}

/**
 * After KIND_CONTACTS, for every particle of a rigid body that rests on a collider: the velocity from that collider in
 * this iteration, m/s (kernel/assembly/rigid/rigidGround.ts). Parameters as above.
 */
export function colliderSupports(buffer: ArrayBufferLike, x: number, h: number, give: Give): void {
  const i32 = new Int32Array(buffer);
  const f64 = new Float64Array(buffer);
  const rows = i32[(L.HEADER + L.H_RIGID_CONTACTS) / 4]!;
  const count = rows ? i32[(L.HEADER + L.H_RIGID_CONTACT_COUNT) / 4]! : 0;
  const given = new Map<number, { p: number[]; t: number[] }>();
  for (let n = 0, contact = rows; n < count; n++, contact += L.RIGID_CONTACT_BYTES) {
    if (i32[(contact + L.RIGID_CONTACT_COLLIDER) / 4] === 0) continue;
    const shape = i32[(contact + L.RIGID_CONTACT_FIRST) / 4]!;
    const at = (from: number, field: number, r = 0): number => f64[(from + field) / 8 + r]!;
    const pushed = at(contact, L.RIGID_CONTACT_PUSHED);
    const F = [0, 1, 2].map(
      (r) => (pushed * at(contact, L.RIGID_CONTACT_NORMAL, r) + at(contact, L.RIGID_CONTACT_DRAG, r)) / h,
    ) as [number, number, number];
    const a = [0, 1, 2].map((r) => at(contact, L.RIGID_CONTACT_ARM, r)) as [number, number, number];
    const M = [a[1] * F[2] - a[2] * F[1], a[2] * F[0] - a[0] * F[2], a[0] * F[1] - a[1] * F[0]] as const;
    const I = (k: number): number => at(shape, L.SHAPE_INVERSE_INERTIA, k);
    const spin = [
      I(0) * M[0] + I(3) * M[1] + I(4) * M[2],
      I(3) * M[0] + I(1) * M[1] + I(5) * M[2],
      I(4) * M[0] + I(5) * M[1] + I(2) * M[2],
    ];
    const sum = given.get(shape) ?? { p: [0, 0, 0], t: [0, 0, 0] };
    for (let r = 0; r < 3; r++) {
      sum.p[r]! += at(shape, L.SHAPE_INVERSE_MASS) * F[r]!;
      sum.t[r]! += spin[r]!;
    }
    given.set(shape, sum);
  }
  for (const [shape, { p, t }] of given) giveAll(buffer, shape, x, p, t, 0, give);
}

/** Calls `give` with the velocity p + t x (x - c), damped for a time of h, for every particle of a SHAPE row's body. */
function giveAll(
  buffer: ArrayBufferLike,
  row: number,
  x: number,
  p: readonly number[],
  t: readonly number[],
  h: number,
  give: Give,
): void {
  const f32 = new Float32Array(buffer);
  const i32 = new Int32Array(buffer);
  const f64 = new Float64Array(buffer);
  const d = (field: number, r: number): number => f64[(row + field) / 8 + r]!;
  const c = [0, 1, 2].map((r) => d(L.SHAPE_CENTER, r) + d(L.SHAPE_PUSH, r));
  const first = (i32[(row + L.SHAPE_FIRST) / 4]! - x) / 16;
  const toV = (i32[(L.HEADER + L.H_V) / 4]! - x) / 4;
  for (let k = first; k < first + i32[(row + L.SHAPE_COUNT) / 4]!; k++) {
    const at = x / 4 + 4 * k;
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
