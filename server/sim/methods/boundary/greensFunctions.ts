/**
 * Green's functions of an elastic solid with fixed corners, from its surface (James and Pai 1999). They are the
 * displacements of corners and inner particles by unit forces at each free corner, and by accelerations along the axes.
 */
import { BoundarySolid, type BoundaryLoad, type BoundaryMesh } from "./boundarySolid.ts";
import { solveDense } from "./denseSolve.ts";
import type { Constants } from "../method.ts";

export interface Hooke {
  /** Young's modulus, Pa. */
  youngsModulus: number;
  poissonsRatio: number;
  /** Density, kg/m^3. */
  density: number;
}

/**
 * Computes G, K, N and the displacements by accelerations: of corners, and of inner particles with corners in place.
 * @param free corners that are not fixed
 * @throws RangeError if the surface has no area
 */
export function greensFunctions(
  mesh: BoundaryMesh,
  free: Uint32Array,
  { youngsModulus, poissonsRatio: nu, density }: Hooke,
): Constants {
  const mu = (0.5 * youngsModulus) / (1 + nu);
  const pull = [0, 1, 2].map(
    (axis) => new Acceleration(mesh, axis, density, { mu, lambda: (2 * mu * nu) / (1 - 2 * nu) }),
  );
  const solid = new BoundarySolid(mesh, { shearModulus: mu, poissonsRatio: nu });
  const columns = solid.solve([...unitForces(mesh, free), ...pull.map(({ load }) => load)]);
  pull.forEach((own, r) => columns[3 * free.length + r]!.forEach((_, i, u) => (u[i]! += own.at(i))));
  const n = 3 * free.length;
  const rows = Array.from(free).flatMap((p) => [3 * p, 3 * p + 1, 3 * p + 2]);
  const green = new Float64Array(n * n);
  // Betti: G is symmetric
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) green[n * i + j] = 0.5 * (columns[j]![rows[i]!]! + columns[i]![rows[j]!]!);
  const stiffness = new Float64Array(n * n);
  for (let i = 0; i < n; i++) stiffness[n * i + i] = 1;
  if (!solveDense(green.slice(), stiffness, n, n))
    throw new RangeError("surface: a force does not move it, limit: every force must move it");
  const pulled = Float64Array.from({ length: 3 * n }, (_, k) => columns[n + (k % 3)]![rows[Math.floor(k / 3)]!]!);
  return { rest: mesh.positions, free, green, stiffness, pulled, ...planInside(mesh, columns, stiffness, pulled) };
}

/** N, and displacements inside by accelerations while the corners stay in place: float64[3I * 3F] and [3I * 3]. */
function planInside(
  mesh: BoundaryMesh,
  columns: readonly Float64Array[],
  stiffness: Float64Array,
  pulled: Float64Array,
): { inside: Float64Array; pulledInside: Float64Array } {
  const n = columns.length - 3;
  const first = 3 * mesh.fixed.length;
  const count = mesh.positions.length - first;
  const inside = new Float64Array(count * n);
  const pulledInside = new Float64Array(3 * count);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < n; k++) {
      const moved = columns[k]![first + i]!;
      for (let j = 0; j < n; j++) inside[n * i + j]! += moved * stiffness[n * k + j]!;
    }
    for (let r = 0; r < 3; r++) {
      let sum = columns[n + r]![first + i]!;
      for (let j = 0; j < n; j++) sum -= inside[n * i + j]! * pulled[3 * j + r]!;
      pulledInside[3 * i + r] = sum;
    }
  }
  return { inside, pulledInside };
}

/** Unit forces along x, y and z at each free corner: tractions with the shape of its hat function and integral 1. */
function unitForces({ positions, triangles, fixed }: BoundaryMesh, free: Uint32Array): BoundaryLoad[] {
  const share = new Float64Array(fixed.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const { area } = faceOf(positions, triangles, t);
    for (let k = 0; k < 3; k++) share[triangles[t + k]!]! += area / 3;
  }
  const displacement = new Float64Array(3 * fixed.length);
  return Array.from(free).flatMap((p) =>
    [0, 1, 2].map((axis) => {
      const traction = new Float64Array(3 * triangles.length);
      triangles.forEach((corner, k) => {
        if (corner === p) traction[3 * k + axis] = 1 / share[p]!;
      });
      return { displacement, traction };
    }),
  );
}

/** Unit normal and area, m^2, of the triangle at index `t` of the list. */
function faceOf(x: Float64Array, triangles: Uint32Array, t: number): { normal: number[]; area: number } {
  const [a, b, c] = [3 * triangles[t]!, 3 * triangles[t + 1]!, 3 * triangles[t + 2]!];
  const u = [x[b]! - x[a]!, x[b + 1]! - x[a + 1]!, x[b + 2]! - x[a + 2]!] as const;
  const v = [x[c]! - x[a]!, x[c + 1]! - x[a + 1]!, x[c + 2]! - x[a + 2]!] as const;
  const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]] as const;
  const twice = Math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  return { normal: n.map((value) => value / twice), area: 0.5 * twice };
}

/**
 * A unit acceleration along an axis. A particular solution for it is the displacement -rho |y|^2 e / (2 (lambda + 4
 * mu)), y from the first corner; its stress is 2 c (lambda (y . e) + mu (e y^T + y e^T)). The load on the surface
 * cancels both.
 */
class Acceleration {
  readonly load: BoundaryLoad;
  private readonly x: Float64Array;
  private readonly axis: number;
  private readonly c: number;

  constructor({ positions, triangles, fixed }: BoundaryMesh, axis: number, density: number, { lambda, mu }: Lame) {
    this.x = positions;
    this.axis = axis;
    this.c = -density / (2 * (lambda + 4 * mu));
    const traction = new Float64Array(3 * triangles.length);
    for (let t = 0; t < triangles.length; t += 3) {
      const { normal: n } = faceOf(positions, triangles, t);
      for (let k = t; k < t + 3; k++) {
        const y = [0, 1, 2].map((r) => this.from(3 * triangles[k]! + r));
        const along = y[0]! * n[0]! + y[1]! * n[1]! + y[2]! * n[2]!;
        for (let r = 0; r < 3; r++)
          traction[3 * k + r] =
            -2 * this.c * (lambda * y[axis]! * n[r]! + mu * ((r === axis ? along : 0) + y[r]! * n[axis]!));
      }
    }
    this.load = { displacement: Float64Array.from({ length: 3 * fixed.length }, (_, i) => -this.at(i)), traction };
  }

  private from(i: number): number {
    return this.x[i]! - this.x[i % 3]!;
  }

  /** Coordinate i of all particles' displacements, m. */
  at(i: number): number {
    if (i % 3 !== this.axis) return 0;
    const [a, b, c] = [this.from(i - this.axis), this.from(i - this.axis + 1), this.from(i - this.axis + 2)];
    return this.c * (a * a + b * b + c * c);
  }
}

interface Lame {
  lambda: number;
  mu: number;
}
