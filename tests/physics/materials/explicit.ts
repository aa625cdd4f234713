/**
 * Motion of a tetrahedral mesh by velocity Verlet in float64: a reference for rooms where no formula exists.
 *   v += h/2 a(x),  x += h v,  v += h/2 a(x),  a = g - M^-1 dE/dx
 * M are lumped masses, a quarter of each tetrahedron at each corner. Energies, forces and masses are those of
 * tests/statics; no code of the simulation is used. Stable for h < 2/omega of the finest element.
 */
import type { Density } from "../../statics/materials.ts";
import { elasticGradient, weights, type SolidMesh } from "../../statics/solidMesh.ts";

interface Floor {
  /** Height, m. */
  y: number;
  /**
   * Factor of the reversed y velocity when a particle below the floor is put back on it (Newton's impact law, particle
   * by particle). No friction.
   */
  restitution: number;
}

export interface Motion {
  /** float64[3N] m and m/s, inout */
  x: Float64Array;
  v: Float64Array;
}

export interface Explicit {
  mesh: SolidMesh;
  density: Density;
  /** kg/m^3 */
  rho: number;
  /** s */
  h: number;
  /** m/s^2 along y */
  gravity?: number;
  floor?: Floor;
}

/** float64[N] kg */
export const lumpedMass = (mesh: SolidMesh, rho: number): Float64Array =>
  weights(mesh, rho, [1, 1, 1]).filter((_, k) => k % 3 === 0);

/** @param after called after each step with its number, from 1; the motion ends when it returns true */
export function explicit(
  { mesh, density, rho, h, gravity = 0, floor }: Explicit,
  { x, v }: Motion,
  steps: number,
  after: (step: number) => boolean | void,
): void {
  const mass = lumpedMass(mesh, rho);
  let gradient = elasticGradient(mesh, density, x);
  const kick = (): void => {
    for (let k = 0; k < x.length; k++)
      v[k]! += (h / 2) * ((k % 3 === 1 ? gravity : 0) - gradient[k]! / mass[(k / 3) | 0]!);
  };
  for (let step = 1; step <= steps; step++) {
    kick();
    for (let k = 0; k < x.length; k++) x[k]! += h * v[k]!;
    if (floor)
      for (let k = 1; k < x.length; k += 3) {
        if (x[k]! >= floor.y) continue;
        x[k] = floor.y;
        if (v[k]! < 0) v[k]! *= -floor.restitution;
      }
    gradient = elasticGradient(mesh, density, x);
    kick();
    if (after(step)) return;
  }
}
