/**
 * Extended position based dynamics in plain but fast JavaScript: float32 arrays, one Gauss-Seidel pass over the edges
 * in their order, no threads, no SIMD (Macklin, Mueller, Chentanez 2016). A typical hand-written cloth of a web page.
 */
import { hashOf, type Peer, type Problem, STEP_SECONDS, timed } from "./peer.ts";

const GRAVITY = -9.81;
/** m/N */
const COMPLIANCE = 1e-7;

export function plainJs({ positions, edges, pinned, mass }: Problem): Peer {
  const count = positions.length / 3;
  const x = Float32Array.from(positions);
  const xPrev = x.slice();
  const v = new Float32Array(3 * count);
  const w = new Float32Array(count).fill(count / mass);
  for (const vertex of pinned) w[vertex] = 0;
  const rest = Float32Array.from({ length: edges.length / 2 }, (_, e) => {
    const a = 3 * edges[2 * e]!;
    const b = 3 * edges[2 * e + 1]!;
    return Math.sqrt(
      (positions[a]! - positions[b]!) ** 2 +
        (positions[a + 1]! - positions[b + 1]!) ** 2 +
        (positions[a + 2]! - positions[b + 2]!) ** 2,
    );
  });
  const lambda = new Float32Array(rest.length);
  const alphaTilde = COMPLIANCE / STEP_SECONDS ** 2;

  const solve = (): void => {
    for (let e = 0; e < rest.length; e++) {
      const i = edges[2 * e]!;
      const j = edges[2 * e + 1]!;
      const sum = w[i]! + w[j]!;
      if (sum === 0) continue;
      const a = 3 * i;
      const b = 3 * j;
      const dx = x[a]! - x[b]!;
      const dy = x[a + 1]! - x[b + 1]!;
      const dz = x[a + 2]! - x[b + 2]!;
      const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
      if (length === 0) continue;
      const dLambda = -(length - rest[e]! + alphaTilde * lambda[e]!) / (sum + alphaTilde);
      lambda[e]! += dLambda;
      const si = (w[i]! * dLambda) / length;
      const sj = (w[j]! * dLambda) / length;
      x[a]! += si * dx;
      x[a + 1]! += si * dy;
      x[a + 2]! += si * dz;
      x[b]! -= sj * dx;
      x[b + 1]! -= sj * dy;
      x[b + 2]! -= sj * dz;
    }
  };

  const step = (iterations: number): void => {
    xPrev.set(x);
    lambda.fill(0);
    for (let i = 0; i < count; i++) {
      if (w[i] === 0) continue;
      v[3 * i + 1]! += GRAVITY * STEP_SECONDS;
      for (let k = 3 * i; k < 3 * i + 3; k++) x[k]! += STEP_SECONDS * v[k]!;
    }
    for (let iteration = 0; iteration < iterations; iteration++) solve();
    for (let k = 0; k < x.length; k++) v[k] = (x[k]! - xPrev[k]!) / STEP_SECONDS;
  };
  return { name: "plain JS", step: (iterations) => timed(() => step(iterations)), hash: () => hashOf(x) };
}
