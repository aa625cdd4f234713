/**
 * Bending stencils over the interior edges of a sheet (Bender et al. 2014, section 4.3 and figure 3; Bergou et al.
 * 2006).
 *
 * The factor: the papers' E_b = 1/2 3/(A0+A1) |K x|^2 over all edges is three times the energy of a plate. |K x| is the
 * edge's length times its dihedral angle. Bend a grid of squares a x a to a cylinder of curvature kappa across its
 * columns. Each square then has one such edge, with angle kappa a between triangles of a^2/2: an energy of 3/2 kappa^2
 * per square meter, while a plate of unit rigidity has 1/2. Equilateral triangles give the same. So E_b = B/(2 (A0+A1))
 * |K x|^2 with the flexural rigidity B, and a strip hangs like the elastica (tests/physics).
 *
 * The form is not isotropic. The same grid is half again as stiff when bent along its diagonals. If vertices between
 * the rows may yield, it has 0.85 B along the sides and 1.35 B at 45 degrees. sheetBending.ts gives a flat sheet B in
 * all directions; the unchanged hinges here are for sheets that are curved at rest and for bodies of the paper's form.
 */
import type { BendElements } from "./bend.ts";

/**
 * @param X float64[3N] m, undeformed positions
 * @param triangles uint32[3n]
 * @param rigidity B, N m
 */
export function bendElements(X: Float64Array, triangles: Uint32Array, rigidity: number): BendElements {
  const opposite = new Map<string, { ends: [number, number]; corners: number[] }>();
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; k++) {
      const a = triangles[t + k]!;
      const b = triangles[t + ((k + 1) % 3)]!;
      const corner = triangles[t + ((k + 2) % 3)]!;
      const key = a < b ? `${a},${b}` : `${b},${a}`;
      const edge = opposite.get(key) ?? { ends: [a, b] as [number, number], corners: [] };
      edge.corners.push(corner);
      opposite.set(key, edge);
    }
  }
  const particles: number[] = [];
  const K: number[] = [];
  const alpha: number[] = [];
  const rest: number[] = [];
  for (const { ends, corners } of opposite.values()) {
    if (corners.length !== 2) continue; // a border, or three sheets sewn together: no isometric stencil
    const stencil = [ends[0], ends[1], corners[0]!, corners[1]!];
    const x = stencil.map((p) => [X[3 * p]!, X[3 * p + 1]!, X[3 * p + 2]!]);
    const { k, areas } = stencilVector(x);
    particles.push(...stencil);
    K.push(...k);
    alpha.push((areas[0] + areas[1]) / rigidity);
    const Kx = [0, 1, 2].map((r) => k.reduce((sum, ki, i) => sum + ki * (x[i]![r]! - x[0]![r]!), 0));
    const length = norm(Kx);
    const size = Math.max(...k.map(Math.abs)) * norm([0, 1, 2].map((r) => x[1]![r]! - x[0]![r]!));
    // for a flat sheet, K x is rounding: relative to the stencil, far below any visible curvature
    rest.push(length < 1e-9 * size ? 0 : length);
  }
  return {
    kind: "bend",
    particles: Uint32Array.from(particles),
    K: Float64Array.from(K),
    alpha: Float64Array.from(alpha),
    rest: Float64Array.from(rest),
  };
}

/** K = (c01 + c04, c02 + c03, -c01 - c02, -c03 - c04) and the two areas of a stencil x0 x1 | x2 x3. */
function stencilVector(x: readonly (readonly number[])[]): {
  k: [number, number, number, number];
  areas: [number, number];
} {
  const [x0, x1, x2, x3] = x as [number[], number[], number[], number[]];
  // c_jk between edges e0 = x0x1, e1 = x1x2, e2 = x2x0, e3 = x0x3, e4 = x3x1: cotangents at the ends of the common edge
  const c02 = cotangent(x0, x1, x2);
  const c01 = cotangent(x1, x0, x2);
  const c03 = cotangent(x0, x1, x3);
  const c04 = cotangent(x1, x0, x3);
  return { k: [c01 + c04, c02 + c03, -c01 - c02, -c03 - c04], areas: [area(x0, x1, x2), area(x0, x1, x3)] };
}

function cotangent(apex: readonly number[], a: readonly number[], b: readonly number[]): number {
  const u = [0, 1, 2].map((r) => a[r]! - apex[r]!);
  const v = [0, 1, 2].map((r) => b[r]! - apex[r]!);
  return (u[0]! * v[0]! + u[1]! * v[1]! + u[2]! * v[2]!) / (2 * area(apex, a, b));
}

function area(a: readonly number[], b: readonly number[], c: readonly number[]): number {
  const u = [0, 1, 2].map((r) => b[r]! - a[r]!);
  const v = [0, 1, 2].map((r) => c[r]! - a[r]!);
  return 0.5 * norm([u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!]);
}

/** Length of a vector. Math.hypot is not used: its rounding depends on the engine. */
function norm(a: readonly number[]): number {
  return Math.sqrt(a[0]! * a[0]! + a[1]! * a[1]! + a[2]! * a[2]!);
}
