/** Momentum of bodies, and a block in free flight that spins, vibrates and travels. */
import { momentumOf, type Momentum } from "../../../server/sim/reference/momentum.ts";
import { norm, subtract } from "../../../server/sim/reference/vector.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { softBox } from "../../support/bodies.ts";

/** @param from first of the bodies; end the one after the last */
export function momentum(lab: Laboratory, from = 0, end = lab.created.bodies.length): Momentum {
  const bodies = lab.created.layout.bodies.slice(from, end);
  const { first } = bodies[0]!;
  const count = bodies.reduce((sum, body) => sum + body.count, 0);
  const all = (of: (body: number) => Float64Array): Float64Array =>
    Float64Array.from(bodies.flatMap((_, n) => [...of(from + n)]));
  const w = Float64Array.from({ length: count }, (_, i) => lab.x[4 * (first + i) + 3]!);
  return momentumOf(w, all(lab.positions), all(lab.velocities), 0, count);
}

export interface Flight {
  /** Pa */
  k: number;
  substeps: number;
  iterations: number;
  /** m/s */
  velocity: readonly [number, number, number];
  /** rad/s */
  spin: number;
}

export const FLIGHTS: readonly Flight[] = [
  { k: 1e5, substeps: 20, iterations: 1, velocity: [0, 0, 0], spin: 3 },
  { k: 1e5, substeps: 20, iterations: 1, velocity: [0.5, 0.1, 0], spin: 3 },
  { k: 1e6, substeps: 20, iterations: 1, velocity: [0.05, 0.1, 0], spin: 3 },
  { k: 1e4, substeps: 20, iterations: 1, velocity: [0.05, 0.1, 0], spin: 1 },
  { k: 1e5, substeps: 8, iterations: 2, velocity: [0.05, 0.1, 0], spin: 3 },
  { k: 1e5, substeps: 3, iterations: 5, velocity: [0.05, 0.1, 0], spin: 8 },
];

/**
 * Relative drift since the beginning. Linear: relative to the larger of the linear momentum and mass times the speed of
 * the spinning surface.
 */
export interface Drift {
  seconds: number;
  linear: number;
  angular: number;
  /** angular momentum relative to its initial value, as proof that the body spins */
  spin: number;
}

/**
 * @param watch called after each part.
 * @returns the drift after each part of the flight.
 * @throws Error if the room held the body
 */
export async function fly(
  { k, substeps, iterations, velocity, spin }: Flight,
  seconds: number,
  parts: number,
  watch: (lab: Laboratory, part: number) => void = () => {},
): Promise<Drift[]> {
  const lab = await laboratory({
    substeps,
    iterations,
    worldRadius: 1000,
    bodies: [
      softBox("b", [0.3, 0.2, 0.1], [4, 3, 2], { material: { density: 500, youngsModulus: k, poissonsRatio: 0.35 } }),
    ],
  });
  lab.put(
    0,
    (x) => [x[0] + 0.01 * Math.sin(7 * x[1]), x[1], x[2] + 0.01 * Math.cos(5 * x[0])],
    (x) => [velocity[0] - spin * x[1], velocity[1] + spin * x[0], velocity[2]],
  );
  const before = momentum(lab);
  const scale = Math.max(norm(before.linear), before.mass * spin * 0.1);
  return Array.from({ length: parts }, (_, part) => {
    const events = lab.run(Math.round((seconds / parts) * 60));
    if (events.length > 0) throw new Error(`the body was held: ${JSON.stringify(events)}`);
    const now = momentum(lab);
    watch(lab, part);
    return {
      seconds: ((part + 1) * seconds) / parts,
      linear: norm(subtract(now.linear, before.linear)) / scale,
      angular: norm(subtract(now.angular, before.angular)) / norm(before.angular),
      spin: norm(now.angular) / norm(before.angular),
    };
  });
}
