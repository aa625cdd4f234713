/**
 * Rigidity of a flat sheet's bending stencils by direction. The rim of the sheet is bent to every curvature, the
 * vertices between settle, and the middle is measured.
 */
import type { BendElements } from "../../../server/sim/constraints/elements.ts";
import type { SurfaceMesh } from "../../../server/meshing/mesh.ts";
import { gridCloth } from "../../../server/meshing/generators.ts";
import { solveLinear } from "../../../server/sim/reference/vector.ts";
import { randomStream } from "../../parity/kit.ts";

/** E(k) = k^T C k / 2 per m^2 with k = (k_xx, k_zz, 2 k_xz), N m. */
export type Rigidity = number[][];

/**
 * @param mesh in the plane y = 0, 2 m x 2 m about the origin
 * @returns nominal: with the vertices on the quadratic surface; settled: with settled vertices
 */
export function rigidity(
  { positions: X, triangles }: SurfaceMesh,
  { particles, K, alpha }: BendElements,
): { nominal: Rigidity; settled: Rigidity } {
  const n = alpha.length;
  const count = X.length / 3;
  const x = (v: number): number => X[3 * v]!;
  const z = (v: number): number => X[3 * v + 2]!;
  const surfaces = [
    (v: number): number => x(v) ** 2 / 2,
    (v: number): number => z(v) ** 2 / 2,
    (v: number): number => (x(v) * z(v)) / 2,
  ];
  const place = new Int32Array(count).fill(-1);
  let unknowns = 0;
  for (let v = 0; v < count; v++) if (Math.max(Math.abs(x(v)), Math.abs(z(v))) < 0.8) place[v] = unknowns++;
  // a weight that falls smoothly from 1 to 0, so that the place at which a stencil is counted matters little
  const fall = (t: number): number => Math.max(0, 1 - (t / 0.65) ** 2) ** 2;
  const weight = (a: number, b: number): number => fall(Math.abs(a)) * fall(Math.abs(b));
  let area = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = triangles.subarray(t, t + 3) as unknown as [number, number, number];
    area +=
      (Math.abs((x(b) - x(a)) * (z(c) - z(a)) - (z(b) - z(a)) * (x(c) - x(a))) / 2) *
      weight((x(a) + x(b) + x(c)) / 3, (z(a) + z(b) + z(c)) / 3);
  }
  const curvature = (y: Float64Array, s: number): number =>
    [0, 1, 2, 3].reduce((sum, i) => sum + K[4 * s + i]! * y[particles[4 * s + i]!]!, 0);
  const energies = (fields: Float64Array[]): Rigidity => {
    const C = [0, 1, 2].map(() => [0, 0, 0]);
    for (let s = 0; s < n; s++) {
      const parts = [0, 1, 2, 3].map((i) => Math.abs(K[4 * s + i]!));
      const all = parts.reduce((sum, k) => sum + k, 0);
      const mean = (of: (v: number) => number): number =>
        parts.reduce((sum, k, i) => sum + (k / all) * of(particles[4 * s + i]!), 0);
      const share = weight(mean(x), mean(z)) / (alpha[s]! * area);
      const bent = fields.map((y) => curvature(y, s));
      for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) C[i]![j]! += share * bent[i]! * bent[j]!;
    }
    return C;
  };
  const fields = surfaces.map((surface) => Float64Array.from({ length: count }, (_, v) => surface(v)));
  const nominal = energies(fields);
  const A = Array.from({ length: unknowns }, () => new Array<number>(unknowns).fill(0));
  const right = fields.map(() => new Array<number>(unknowns).fill(0));
  for (let s = 0; s < n; s++) {
    const bent = fields.map((y) => curvature(y, s));
    for (let i = 0; i < 4; i++) {
      const p = place[particles[4 * s + i]!]!;
      if (p < 0) continue;
      bent.forEach((value, f) => (right[f]![p]! -= (K[4 * s + i]! * value) / alpha[s]!));
      for (let j = 0; j < 4; j++) {
        const q = place[particles[4 * s + j]!]!;
        if (q >= 0) A[p]![q]! += (K[4 * s + i]! * K[4 * s + j]!) / alpha[s]!;
      }
    }
  }
  fields.forEach((y, f) => {
    const moved = solveLinear(A, right[f]!);
    place.forEach((p, v) => (y[v]! += p < 0 ? 0 : moved[p]!));
  });
  return { nominal, settled: energies(fields) };
}

/** Rigidity of a cylinder bent along this direction. */
export function cylinder(C: Rigidity, degrees: number): number {
  const c = Math.cos((degrees * Math.PI) / 180);
  const s = Math.sin((degrees * Math.PI) / 180);
  const k = [c * c, s * s, 2 * c * s];
  return k.reduce((sum, a, i) => sum + k.reduce((inner, b, j) => inner + C[i]![j]! * a * b, 0), 0);
}

/** Rigidity of a strip cut along this direction: it is free to curve across and to twist. */
export function freeStrip(C: Rigidity, degrees: number): number {
  const c = Math.cos((degrees * Math.PI) / 180);
  const s = Math.sin((degrees * Math.PI) / 180);
  const m = [c * c, s * s, c * s];
  // moment m on a free sheet: of the curvatures C^-1 m, m^T C^-1 m lies along the strip
  return 1 / solveLinear(C, m).reduce((sum, k, i) => sum + k * m[i]!, 0);
}

const DIRECTIONS = [0, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150, 165];
/** Minimum and maximum over all directions. */
export const range = (C: Rigidity, of: (C: Rigidity, degrees: number) => number): [number, number] => {
  const values = DIRECTIONS.map((degrees) => of(C, degrees));
  return [Math.min(...values), Math.max(...values)];
};

/**
 * 2 m x 2 m of cells with alternating or parallel diagonals; inner vertices are displaced at random by up to `moved`
 * half cells.
 */
export function sheet(
  cells: [number, number],
  diagonals: "alternating" | "one way" = "alternating",
  moved = 0,
): SurfaceMesh {
  const { positions, triangles } = gridCloth([2, 2], cells);
  const [nx, nz] = cells;
  const random = randomStream(5);
  for (let k = 0; k < nz; k++) {
    for (let i = 0; i < nx; i++) {
      const a = k * (nx + 1) + i;
      const b = a + 1;
      const c = a + nx + 1;
      const d = c + 1;
      if (diagonals === "one way") triangles.set([a, c, d, a, d, b], 6 * (k * nx + i));
      if (i > 0 && k > 0) [0, 2].forEach((r) => (positions[3 * a + r]! += (moved * random()) / cells[r / 2]!));
    }
  }
  return { positions, triangles };
}

/** Flips edges of a mesh until all are Delaunay (Lawson 1977). */
export function delaunay({ positions: X, triangles }: SurfaceMesh): SurfaceMesh {
  const T = Uint32Array.from(triangles);
  const opposite = (p: number, a: number, b: number): number => {
    const ux = X[3 * a]! - X[3 * p]!;
    const uz = X[3 * a + 2]! - X[3 * p + 2]!;
    const vx = X[3 * b]! - X[3 * p]!;
    const vz = X[3 * b + 2]! - X[3 * p + 2]!;
    return (ux * vx + uz * vz) / Math.abs(ux * vz - uz * vx);
  };
  for (let flips = 1; flips > 0; ) {
    flips = 0;
    const seen = new Map<string, [number, number]>();
    const changed = new Set<number>();
    for (let t = 0; t < T.length; t += 3) {
      for (let k = 0; k < 3; k++) {
        const a = T[t + k]!;
        const b = T[t + ((k + 1) % 3)]!;
        const c = T[t + ((k + 2) % 3)]!;
        const key = `${Math.min(a, b)},${Math.max(a, b)}`;
        const other = seen.get(key);
        seen.set(key, [t, c]);
        if (!other || changed.has(t) || changed.has(other[0]) || opposite(c, a, b) + opposite(other[1], a, b) > -1e-9)
          continue;
        T.set([c, a, other[1]], t);
        T.set([other[1], b, c], other[0]);
        changed.add(t).add(other[0]);
        flips++;
      }
    }
  }
  return { positions: X, triangles: T };
}

/** Rows of equilateral triangles, slightly more than 2 m x 2 m. */
export function equilateral(n: number): SurfaceMesh {
  const d = 2 / n;
  const rise = (d * Math.sqrt(3)) / 2;
  const rows = Math.ceil(2 / rise);
  const positions: number[] = [];
  const triangles: number[] = [];
  for (let k = 0; k <= rows; k++)
    for (let i = 0; i <= n + 1; i++) positions.push(-1 + (i - (k % 2 ? 0 : 0.5)) * d, 0, (k - rows / 2) * rise);
  for (let k = 0; k < rows; k++) {
    for (let i = 0; i <= n; i++) {
      const a = k * (n + 2) + i;
      const b = a + 1;
      const c = a + n + 2;
      const e = c + 1;
      triangles.push(...(k % 2 ? [a, c, e, a, e, b] : [a, c, b, b, c, e]));
    }
  }
  return { positions: Float64Array.from(positions), triangles: Uint32Array.from(triangles) };
}
