/**
 * Error of one solved element against one step of explicit FEM, dx_j = -h^2 w_j dE/dx_j: the limit in appendix A of
 * Bender et al. 2014. Corrections in that limit are far below the rounding of positions, so each corner in turn is put
 * at the origin, where float32 keeps all digits of its correction.
 */
import { CONSTRAINTS, type Elements } from "../../server/sim/constraints/kinds.ts";
import type { Vector } from "../../server/sim/reference/vector.ts";
import { DEFORMATIONS, deformed, inverseMasses, type Deform } from "./randomElements.ts";
import { makeKit } from "./kit.ts";

/**
 * @param elements disjoint, @param X float64[3N] their rest positions, m
 * @param mass of a particle, kg; particles differ by a factor of up to 11
 * @param gradient dE/dx of element i's corners, N
 * @returns largest error of a component relative to the length of its particle's correction
 */
export function explicitStepError(
  elements: Elements,
  X: Float64Array,
  mass: number,
  h: number,
  gradient: (x: Float64Array, i: number) => readonly Vector[],
  deform: Deform = DEFORMATIONS["strained by 20 %"]!,
): number {
  const corners = CONSTRAINTS[elements.kind].corners;
  const count = elements.particles.length / corners;
  const w = inverseMasses(corners * count, mass, 5);
  const strained = deformed(X, deform, 0.5, 9);
  let worst = 0;
  for (let c = 0; c < corners; c++) {
    const x = Float64Array.from(
      Float32Array.from(
        strained.map((value, k) => value - strained[3 * (corners * Math.floor(k / (3 * corners)) + c) + (k % 3)]!),
      ),
    );
    const kit = makeKit(elements, x, w, h);
    kit.iterate(true);
    const moved = kit.kernelPositions();
    for (let i = 0; i < count; i++) {
      const particle = corners * i + c;
      const fem = gradient(x, i)[c]!.map((g) => -h * h * Math.fround(w[particle]!) * g);
      const size = Math.sqrt(fem[0]! ** 2 + fem[1]! ** 2 + fem[2]! ** 2);
      for (let r = 0; r < 3; r++) worst = Math.max(worst, Math.abs(moved[3 * particle + r]! - fem[r]!) / size);
    }
  }
  return worst;
}
