/**
 * Finite elements in float64, written for the report alone and sharing nothing with the solver: linear triangles and tetrahedra of Saint
 * Venant-Kirchhoff material, f = -V P D_m^-T with P = F S, S = C : eps (Bender et al. 2014, eqs 4-7, 9). What the solver calls a compliance
 * is here the stiffness tensor itself.
 */
type Triple = [number, number, number];

/** Plane-stress constants as a scene gives them, Pa. */
export interface SheetConstants {
  kWeft: number;
  kWarp: number;
  kShear: number;
  nuWeft: number;
  nuWarp: number;
}

/**
 * @param X float64[3N] m, flat sheet or disjoint triangles; weft is the x axis laid onto the triangle
 * @param triangles uint32[3n], @param thickness m
 * @returns (x, i) -> dE/dx of the three corners of triangle i, N
 */
export function sheetForces(X: Float64Array, triangles: Uint32Array, m: SheetConstants, thickness: number): (x: Float64Array, i: number) => Triple[] {
  const both = 1 - m.nuWeft * m.nuWarp, c00 = m.kWeft / both, c11 = m.kWarp / both, c01 = (m.kWeft * m.nuWarp) / both, c22 = m.kShear;
  const n = triangles.length / 3, shape = new Float64Array(6 * n), volume = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const [A, B, C] = [0, 1, 2].map((k) => at(X, triangles[3 * i + k]!)) as [Triple, Triple, Triple];
    const normal = cross(minus(B, A), minus(C, A)), twice = Math.hypot(...normal), unit = times(1 / twice, normal);
    const weft = minus([1, 0, 0], times(unit[0], unit)), length = Math.hypot(...weft), e1 = times(1 / length, weft), e2 = cross(unit, e1);
    // gradient of a corner's shape function: perpendicular to the opposite side, 1/height long
    [[B, C], [C, A], [A, B]].forEach(([from, to], k) => {
      const g = times(1 / twice, cross(unit, minus(to!, from!)));
      shape[6 * i + 2 * k] = dot(g, e1);
      shape[6 * i + 2 * k + 1] = dot(g, e2);
    });
    volume[i] = (twice / 2) * thickness;
  }
  return (x, i) => {
    const f1: Triple = [0, 0, 0], f2: Triple = [0, 0, 0];
    for (let k = 0; k < 3; k++) {
      const p = 3 * triangles[3 * i + k]!, g1 = shape[6 * i + 2 * k]!, g2 = shape[6 * i + 2 * k + 1]!;
      for (let r = 0; r < 3; r++) {
        f1[r]! += x[p + r]! * g1;
        f2[r]! += x[p + r]! * g2;
      }
    }
    const e11 = (dot(f1, f1) - 1) / 2, e22 = (dot(f2, f2) - 1) / 2, gamma = dot(f1, f2);
    const s11 = c00 * e11 + c01 * e22, s22 = c01 * e11 + c11 * e22, s12 = c22 * gamma, V = volume[i]!;
    const result: Triple[] = [];
    for (let k = 0; k < 3; k++) {
      const g1 = shape[6 * i + 2 * k]!, g2 = shape[6 * i + 2 * k + 1]!, a = V * (s11 * g1 + s12 * g2), b = V * (s12 * g1 + s22 * g2);
      result.push([a * f1[0] + b * f2[0], a * f1[1] + b * f2[1], a * f1[2] + b * f2[2]]);
    }
    return result;
  };
}

/**
 * @param X float64[3N] m, @param tets uint32[4n], @param k Pa, @param nu Poisson's ratio
 * @returns (x, i) -> dE/dx of the four corners of tetrahedron i, N
 */
export function solidForces(X: Float64Array, tets: Uint32Array, k: number, nu: number): (x: Float64Array, i: number) => Triple[] {
  const mu = k / 2 / (1 + nu), lambda = (k * nu) / (1 + nu) / (1 - 2 * nu);
  const shapes = Array.from({ length: tets.length / 4 }, (_, i) => {
    const p = [0, 1, 2, 3].map((c) => at(X, tets[4 * i + c]!)) as [Triple, Triple, Triple, Triple];
    // area vector of the face opposite to a corner over three volumes, pointing at the corner
    const gradients = p.map((corner, c) => {
      const [a, b, d] = p.filter((_, other) => other !== c) as [Triple, Triple, Triple], area = cross(minus(b, a), minus(d, a));
      return times(1 / dot(area, minus(corner, a)), area);
    });
    return { gradients, volume: Math.abs(dot(cross(minus(p[1], p[0]), minus(p[2], p[0])), minus(p[3], p[0]))) / 6 };
  });
  return (x, i) => {
    const { gradients, volume } = shapes[i]!, corners = [0, 1, 2, 3].map((c) => at(x, tets[4 * i + c]!));
    const F = [0, 1, 2].map((r) => [0, 1, 2].map((s) => corners.reduce((sum, corner, c) => sum + corner[r]! * gradients[c]![s]!, 0)));
    const eps = [0, 1, 2].map((r) => [0, 1, 2].map((s) => (F[0]![r]! * F[0]![s]! + F[1]![r]! * F[1]![s]! + F[2]![r]! * F[2]![s]! - (r === s ? 1 : 0)) / 2));
    const trace = eps[0]![0]! + eps[1]![1]! + eps[2]![2]!, S = eps.map((row, r) => row.map((e, s) => 2 * mu * e + (r === s ? lambda * trace : 0)));
    return gradients.map((g) => {
      const Sg = S.map((row) => volume * dot(row as Triple, g)) as Triple;
      return F.map((row) => dot(row as Triple, Sg)) as Triple;
    });
  };
}

const at = (a: Float64Array, i: number): Triple => [a[3 * i]!, a[3 * i + 1]!, a[3 * i + 2]!];
const minus = (a: Triple, b: Triple): Triple => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (s: number, a: Triple): Triple => [s * a[0], s * a[1], s * a[2]];
const dot = (a: Triple, b: Triple): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Triple, b: Triple): Triple => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
