/**
 * Effective stiffness of a position based constraint: one constraint under a weight in float64, and a strip of cloth
 * that hangs by its end, in a room.
 */
import { distanceElements, solveDistance } from "../../../../server/sim/constraints/distance.ts";
import type { Pace } from "../../../../server/sim/constraints/constraint.ts";
import type { GeometricStiffness } from "../../../../shared/scene/sceneMaterials.ts";
import { makeParticles, predict, updateVelocity } from "../../../../server/sim/reference/particles.ts";
import { laboratory, type Laboratory } from "../../../physics/laboratory.ts";

export const GRAVITY = 9.81;
export const TICK = 1 / 60;

/**
 * Compliance at which one particle of inverse mass w on a fixed one rests at the same place as with stiffness k a tick:
 * alpha = w T^2 (1 - k)/k.
 */
export const equalCompliance = (k: number, w: number): number => (w * TICK * TICK * (1 - k)) / k;

/** Sag of a weight of 1 kg on a distance of 1 m from a fixed particle, beyond that length, once it rests, m. */
export function sag(asked: GeometricStiffness, pace: Pace): number {
  const p = makeParticles(2);
  const e = distanceElements(Float64Array.of(0, 0, 0, 0, -1, 0), Uint32Array.of(0, 1), asked, pace);
  const h = TICK / pace.substeps;
  const L = new Float64Array(1);
  p.x[4] = -1;
  p.w[1] = 1;
  p.acceleration[4] = -GRAVITY;
  p.damping[1] = 20;
  for (let substep = 0; substep < 600 * pace.substeps; substep++) {
    predict(p, h);
    L[0] = 0;
    for (let n = 0; n < pace.iterations; n++) solveDistance(p, e, 0, L, h);
    updateVelocity(p, h);
  }
  return -1 - p.x[4]!;
}

/** Relative elongation of a strip of 1 m, pinned at its upper end, at rest under its own weight. */
export async function stretchOfStrip(
  distance: GeometricStiffness,
  pace: Pace,
  cells: number,
  watch: (lab: Laboratory) => void = () => {},
): Promise<number> {
  const width = 2 / cells;
  const lab = await laboratory({
    ...pace,
    gravity: [0, 0, -GRAVITY],
    damping: 5,
    bodies: [
      {
        name: "strip",
        kind: "cloth",
        mesh: { type: "grid", size: [width, 1], cells: [2, cells] },
        pins: [{ select: { box: { min: [-1, -1, 0.499], max: [1, 1, 1] } } }],
        material: { model: "pbd", density: 300, thickness: 0.001, distance },
      },
    ],
  });
  lab.run(240);
  watch(lab);
  const x = lab.positions();
  let low = Infinity;
  for (let i = 2; i < x.length; i += 3) low = Math.min(low, x[i]!);
  return 0.5 - low - 1;
}
