/**
 * Plans BALL rows for bodies of kind ball. Each ball's list has room for every triangle and every surface particle of
 * the other bodies and of mesh colliders, so it never overflows.
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../../body/template.ts";
import type { Allocator } from "../memoryMap.ts";

export interface PlannedBalls {
  rows: number;
  /** Address of the boxes of runs. */
  runs: number;
  count: number;
  /** @param shapeRows address of the SHAPE row of every shape-matched body, by body number */
  write: (i32: Int32Array, shapeRows: ReadonlyMap<number, number>) => void;
}

/**
 * @param fixed triangles and particles of mesh colliders
 * @param colliders number of mesh colliders
 */
export function planBalls(
  bodies: readonly BodyTemplate[],
  fixed: number,
  colliders: number,
  allocator: Allocator,
): PlannedBalls {
  const balls = bodies.flatMap((body, index) => (body.kind === "ball" ? [index] : []));
  const others = bodies.reduce(
    (sum, body) => sum + (body.kind === "ball" ? 0 : body.triangles.length / 3 + body.streamedCount),
    fixed,
  );
  const rows = allocator.take(balls.length * L.BALL_BYTES);
  const lists = balls.map(() => allocator.take(4 * others));
  // the last run of particles and of triangles of each surface may be short
  const most = Math.floor(others / L.BALL_RUN) + 2 * (bodies.length + colliders);
  const runs = balls.length > 0 ? allocator.take(most * L.BALL_BOX_BYTES) : 0;
  return {
    rows,
    runs,
    count: balls.length,
    write: (i32, shapeRows) =>
      balls.forEach((body, n) => {
        const [shape, row] = [shapeRows.get(body)!, rows + n * L.BALL_BYTES];
        i32.set([shape, body, lists[n]!], row / 4);
        i32[(shape + L.SHAPE_BALL) / 4] = row;
      }),
  };
}
