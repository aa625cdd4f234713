/**
 * Static equilibrium by Newton's method in float64: grad E(x) = f over the free particles, with E the twins' energies.
 * The Hessian is assembled element by element from central differences of the elements' gradients and solved densely:
 * for meshes of up to about 500 unknowns.
 */
import { CONSTRAINTS, type Elements } from "../../../server/sim/constraints/kinds.ts";
import { solveLinear, type Vector } from "../../../server/sim/reference/vector.ts";

function gradientOf(x: Float64Array, e: Elements, i: number): readonly Vector[] {
  const { gradient } = CONSTRAINTS[e.kind].twin;
  if (!gradient) throw new Error(`statics: no energy of ${e.kind}`);
  return gradient(x, e as never, i);
}

/**
 * @param start float64[3N] first guess
 * @param fixed uint8[N]
 * @param force float64[3N] N, dead loads
 * @param size m, scale of the differences
 * @returns positions at which the residual force on every free particle is below 1e-8 of the largest load
 * @throws Error after 100 steps
 */
export function equilibrium(
  elements: readonly Elements[],
  start: Float64Array,
  fixed: Uint8Array,
  force: Float64Array,
  size: number,
): Float64Array {
  const N = start.length / 3;
  const place = new Int32Array(N).fill(-1);
  let n = 0;
  for (let i = 0; i < N; i++) if (!fixed[i]) place[i] = n++;
  const residual = (x: Float64Array): Float64Array => {
    const r = new Float64Array(3 * n);
    const put = (i: number, g: Vector): void => {
      if (place[i]! >= 0) for (let c = 0; c < 3; c++) r[3 * place[i]! + c]! += g[c]!;
    };
    for (let i = 0; i < N; i++) put(i, [-force[3 * i]!, -force[3 * i + 1]!, -force[3 * i + 2]!]);
    for (const e of elements) {
      const k = CONSTRAINTS[e.kind].corners;
      for (let i = 0; i < e.particles.length / k; i++)
        gradientOf(x, e, i).forEach((g, c) => put(e.particles[k * i + c]!, g));
    }
    return r;
  };
  const most = (r: Float64Array): number => r.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
  const norm = (r: Float64Array): number => Math.sqrt(r.reduce((s, v) => s + v * v, 0));
  let x = Float64Array.from(start);
  const enough = 1e-8 * most(force);
  for (let step = 0; step < 100; step++) {
    const r = residual(x);
    if (most(r) < enough) return x;
    const H = Array.from({ length: 3 * n }, () => new Array<number>(3 * n).fill(0));
    const d = 1e-6 * size;
    for (const e of elements) {
      const k = CONSTRAINTS[e.kind].corners;
      for (let i = 0; i < e.particles.length / k; i++) {
        const corners = [...e.particles.subarray(k * i, k * i + k)];
        for (const c of corners) {
          if (place[c]! < 0) continue;
          for (let a = 0; a < 3; a++) {
            const kept = x[3 * c + a]!;
            x[3 * c + a] = kept + d;
            const up = gradientOf(x, e, i);
            x[3 * c + a] = kept - d;
            const down = gradientOf(x, e, i);
            x[3 * c + a] = kept;
            corners.forEach((o, j) => {
              if (place[o]! >= 0)
                for (let b = 0; b < 3; b++)
                  H[3 * place[o]! + b]![3 * place[c]! + a]! += (up[j]![b]! - down[j]![b]!) / (2 * d);
            });
          }
        }
      }
    }
    const move = solveLinear(
      H,
      [...r].map((v) => -v),
    );
    let t = 1;
    let next = x;
    for (; t > 1e-4; t /= 2) {
      next = Float64Array.from(x);
      for (let i = 0; i < N; i++)
        if (place[i]! >= 0) for (let c = 0; c < 3; c++) next[3 * i + c]! += t * move[3 * place[i]! + c]!;
      if (norm(residual(next)) < norm(r)) break;
    }
    x = next;
  }
  throw new Error(`no equilibrium after 100 steps: residual ${most(residual(x))} N, limit: ${enough} N`);
}
