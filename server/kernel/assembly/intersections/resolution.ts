/**
 * Drives tangled surfaces apart, in every iteration. At the start of the tick the host gives a direction n and the
 * points where edges and triangles intersect (server/sim/intersections). In this substep one side moves by exactly d
 * along n relative to the other:
 *   C = n . sum_k b_k (x_k - xPrev_k) - d = 0,  dL = -C / sum_k w_k b_k^2,  x_k += w_k b_k dL n
 * It is a constraint on velocity: bodies follow as a whole, however stiff or heavy they are, and elastic energy stored
 * in the intersection is released no faster than d/h. Pushes are equal and opposite at the same points, so momentum is
 * conserved. If two surfaces are separated as wholes, one constraint moves the mean of all points, in as many rows as
 * needed. Else each point has one, of which an iteration corrects SHARE.
 * Tried: equal shifts of x and xPrev (no velocity, but elasticity takes them back, and the center moves only by the
 * shifted particles' share of the mass); a full constraint for every point (fights the elasticity between points and
 * blows up).
 */
import * as L from "../layout/layout";
import { dotXyz } from "../math/lanes";
import { enterStage } from "../scheduler/clock";

const SHARE: f32 = 0.25;

export function driveApart(): void {
  if (!load<i32>(L.HEADER, L.H_DRIVE_COUNT)) return;
  const before = enterStage(L.STAGE_INTERSECTIONS);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const intersections = <usize>load<u32>(L.HEADER, L.H_INTERSECTIONS);
  const end = intersections + <usize>load<i32>(L.HEADER, L.H_DRIVE_COUNT) * L.INTERSECTION_BYTES;
  for (let row = intersections; row < end; ) {
    const rows = load<i32>(row, L.INTERSECTION_ROWS);
    const next = row + <usize>rows * L.INTERSECTION_BYTES;
    const normal = f32x4(
      load<f32>(row, L.INTERSECTION_NORMAL),
      load<f32>(row, L.INTERSECTION_NORMAL + 4),
      load<f32>(row, L.INTERSECTION_NORMAL + 8),
      0,
    );
    let gone = f32x4.splat(0);
    let own = gone;
    let W: f32 = 0;
    for (let at = row; at < next; at += L.INTERSECTION_BYTES) {
      for (let k: usize = 0; k < 20; k += 4) {
        const x = <usize>load<u32>(at + k);
        const b = load<f32>(at + k, L.INTERSECTION_WEIGHT);
        const by = f32x4.mul(f32x4.splat(b), f32x4.sub(v128.load(x), v128.load(x + toPrev)));
        const w = load<f32>(x, 12);
        gone = f32x4.add(gone, by);
        if (w > 0) own = f32x4.add(own, by);
        W += w * b * b;
      }
    }
    if (W > 0) {
      const drive = load<f32>(row, L.INTERSECTION_DRIVE);
      let missing = drive - dotXyz(gone, normal);
      // without a target distance it is only kept from going deeper
      if (drive === 0) missing = max<f32>(0, missing);
      // surfaces that already separate, for instance by a collider, must not pull the other side along
      if (missing < 0) missing = min<f32>(0, max<f32>(missing, drive - dotXyz(own, normal)));
      const by = f32x4.mul(normal, f32x4.splat((rows > 1 ? missing : SHARE * missing) / W));
      for (let at = row; at < next; at += L.INTERSECTION_BYTES) {
        for (let k: usize = 0; k < 20; k += 4) {
          const x = <usize>load<u32>(at + k);
          v128.store(
            x,
            f32x4.add(
              v128.load(x),
              f32x4.mul(by, f32x4.splat(load<f32>(x, 12) * load<f32>(at + k, L.INTERSECTION_WEIGHT))),
            ),
          );
        }
      }
    }
    row = next;
  }
  enterStage(before);
}
