/**
 * A linear elastic solid described by its surface alone (Physically Based Deformable Models, "Boundary element
 * method"): with Kelvin's U and T (boundaryIntegrals.ts), for every corner x of the surface,
 *
 *   c(x) u(x) + int T(x, y) u(y) dS = int U(x, y) t(y) dS        (Somigliana's identity)
 *
 * with displacement u and traction t linear on triangles. c and the integral with x's own hat follow from a rigid
 * motion, which has no traction: the blocks of a row of T sum up to 0. On the fixed surface u is known and t is
 * unknown; elsewhere t is known and u is unknown. At the border of the fixed part both kinds of tractions meet: they
 * are unknown on triangles whose corners are all fixed, and known on the others. Inside, u follows from the same
 * identity with c = 1.
 */
import { BoundaryIntegrals, type Isotropic } from "./boundaryIntegrals.ts";
import { solveDense } from "./denseSolve.ts";

export interface BoundaryMesh {
  /** float64[3N] m; the first S of them are the surface's corners */
  positions: Float64Array;
  /** uint32[3T], counterclockwise from outside */
  triangles: Uint32Array;
  /** uint8[S] */
  fixed: Uint8Array;
}

/** Displacement, m, of the fixed surface, and traction, Pa, on the free surface: float64[3S], float64[9T]. */
export interface BoundaryLoad {
  displacement: Float64Array;
  traction: Float64Array;
}

export class BoundarySolid {
  private readonly mesh: BoundaryMesh;
  private readonly count: number;
  /** float64[3N * 3S] of T by hats, and float64[3N * 9T] of U by the hats of every triangle. */
  private readonly H: Float64Array;
  private readonly G: Float64Array;
  /** uint8[3T]: 1 if the traction at this corner of a triangle is unknown. */
  private readonly held: Uint8Array;
  private readonly scale: number;

  constructor(mesh: BoundaryMesh, material: Isotropic) {
    this.mesh = mesh;
    this.count = mesh.fixed.length;
    const particles = mesh.positions.length / 3;
    const faces = mesh.triangles.length / 3;
    this.H = new Float64Array(9 * particles * this.count);
    this.G = new Float64Array(27 * particles * faces);
    this.scale = material.shearModulus;
    this.held = this.findHeld();
    this.integrate(new BoundaryIntegrals(material));
  }

  /** Marks corners of triangles that are fixed as a whole, and fixed corners without such a triangle. */
  private findHeld(): Uint8Array {
    const { triangles, fixed } = this.mesh;
    const faces = triangles.length / 3;
    const whole = Uint8Array.from({ length: faces }, (_, t) =>
      [0, 1, 2].every((c) => fixed[triangles[3 * t + c]!]) ? 1 : 0,
    );
    const known = new Uint8Array(this.count);
    triangles.forEach((corner, k) => (known[corner]! |= whole[Math.floor(k / 3)]!));
    return Uint8Array.from({ length: 3 * faces }, (_, k) => {
      const corner = triangles[k]!;
      return fixed[corner] && (whole[Math.floor(k / 3)] || !known[corner]) ? 1 : 0;
    });
  }

  private integrate(integrals: BoundaryIntegrals): void {
    const { positions, triangles } = this.mesh;
    const columns = 3 * this.count;
    const wide = 3 * triangles.length;
    for (let p = 0; 3 * p < positions.length; p++) {
      const x = positions.subarray(3 * p, 3 * p + 3);
      for (let t = 0; 3 * t < triangles.length; t++) {
        const corners = [triangles[3 * t]!, triangles[3 * t + 1]!, triangles[3 * t + 2]!];
        integrals.over(positions, corners, x, corners.indexOf(p));
        for (let h = 0; h < 3; h++)
          for (let k = 0; k < 9; k++) {
            const row = 3 * p + Math.floor(k / 3);
            this.G[wide * row + 3 * (3 * t + h) + (k % 3)] = integrals.U[9 * h + k]!;
            if (corners[h] !== p) this.H[columns * row + 3 * corners[h]! + (k % 3)]! += integrals.T[9 * h + k]!;
          }
      }
      if (p < this.count) this.closeRow(p);
    }
  }

  /** Sets the block of x itself: a rigid motion has no traction. */
  private closeRow(p: number): void {
    for (let k = 0; k < 9; k++) {
      const at = 3 * this.count * (3 * p + Math.floor(k / 3)) + (k % 3);
      let sum = 0;
      for (let q = 0; q < this.count; q++) if (q !== p) sum += this.H[at + 3 * q]!;
      this.H[at + 3 * p] = -sum;
    }
  }

  /**
   * @returns displacements of all particles for each load, float64[3N] m
   * @throws RangeError if the surface has no area or no fixed part
   */
  solve(loads: readonly BoundaryLoad[]): Float64Array[] {
    const n = 3 * this.count;
    const m = loads.length;
    const { matrix, sides } = this.equations(loads);
    if (!solveDense(matrix, sides, n, m))
      throw new RangeError(
        "surface: its equations have no solution, limit: triangles with an area, and some of them fixed",
      );
    return loads.map((load, l) =>
      this.everywhere(
        load,
        Float64Array.from({ length: n }, (_, i) => sides[m * i + l]!),
      ),
    );
  }

  /**
   * Builds the equations. Unknowns are displacements of free corners, and tractions of fixed ones over the shear
   * modulus.
   */
  private equations(loads: readonly BoundaryLoad[]): { matrix: Float64Array; sides: Float64Array } {
    const n = 3 * this.count;
    const m = loads.length;
    const { fixed, triangles } = this.mesh;
    const wide = 3 * triangles.length;
    const matrix = new Float64Array(n * n);
    const sides = new Float64Array(n * m);
    const places = loads.map(
      ({ displacement, traction }) =>
        [
          nonZeros(displacement).filter((j) => fixed[Math.floor(j / 3)]),
          nonZeros(traction).filter((k) => !this.held[Math.floor(k / 3)]),
        ] as const,
    );
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) if (!fixed[Math.floor(j / 3)]) matrix[n * i + j] = this.H[n * i + j]!;
      for (let k = 0; k < wide; k++) {
        const corner = Math.floor(k / 3);
        if (this.held[corner]) matrix[n * i + 3 * triangles[corner]! + (k % 3)]! -= this.scale * this.G[wide * i + k]!;
      }
      loads.forEach(({ displacement, traction }, l) => {
        let side = 0;
        for (const j of places[l]![0]) side -= this.H[n * i + j]! * displacement[j]!;
        for (const k of places[l]![1]) side += this.G[wide * i + k]! * traction[k]!;
        sides[m * i + l] = side;
      });
    }
    return { matrix, sides };
  }

  private everywhere(load: BoundaryLoad, solved: Float64Array): Float64Array {
    const { positions, fixed, triangles } = this.mesh;
    const n = 3 * this.count;
    const wide = 3 * triangles.length;
    const u = new Float64Array(positions.length);
    for (let i = 0; i < n; i++) u[i] = fixed[Math.floor(i / 3)] ? load.displacement[i]! : solved[i]!;
    const t = Float64Array.from({ length: wide }, (_, k) => {
      const corner = Math.floor(k / 3);
      return this.held[corner] ? this.scale * solved[3 * triangles[corner]! + (k % 3)]! : load.traction[k]!;
    });
    const places = nonZeros(t);
    for (let i = n; i < u.length; i++) {
      let sum = 0;
      for (const k of places) sum += this.G[wide * i + k]! * t[k]!;
      for (let j = 0; j < n; j++) sum -= this.H[n * i + j]! * u[j]!;
      u[i] = sum;
    }
    return u;
  }
}

/** Indices of the entries that are not 0. */
const nonZeros = (values: Float64Array): number[] => Array.from(values.keys()).filter((k) => values[k] !== 0);
