/**
 * Finite volumes (Physically Based Deformable Models, "Finite volume method"; Teran et al. 2003): the stress of an
 * element acts on its faces, f_A = A sigma n, and each face gives a third to each of its corners. With outward area
 * vectors A_k N_k of the undeformed faces that meet in corner j
 *
 *   f_j = -1/3 P sum_k A_k N_k
 *
 * On linear tetrahedra these equal the forces of finite elements up to rounding: the area vectors of a closed surface
 * add up to 0, and -A N/3V of the face opposite a corner is the gradient of its shape function.
 */
import type { TetElements } from "../../constraints/elements.ts";
import { tetrahedralMethod } from "./finiteElements.ts";

/** Corners of the faces, counterclockwise from outside if det(X0-X3, X1-X3, X2-X3) > 0. */
const FACES = [
  [0, 1, 2],
  [0, 3, 1],
  [1, 3, 2],
  [2, 3, 0],
] as const;

export const finiteVolumes = tetrahedralMethod(faceAreas);

/**
 * @param X float64[3N] m, placed
 * @returns float64[12n] m^2: a third of the area vectors around each corner
 */
export function faceAreas({ particles, volume }: TetElements, X: Float64Array): Float64Array {
  const weights = new Float64Array(12 * volume.length);
  for (let e = 0; e < volume.length; e++) {
    for (const face of FACES) {
      const [a, b, c] = face.map((corner) => 3 * particles[4 * e + corner]!) as [number, number, number];
      const u = [0, 1, 2].map((r) => X[b + r]! - X[a + r]!);
      const v = [0, 1, 2].map((r) => X[c + r]! - X[a + r]!);
      for (let r = 0; r < 3; r++) {
        const s = (r + 1) % 3;
        const t = (r + 2) % 3;
        const area = 0.5 * (u[s]! * v[t]! - u[t]! * v[s]!);
        for (const corner of face) weights[12 * e + 3 * corner + r]! += area / 3;
      }
    }
  }
  return weights;
}
