/** Shape quality of tetrahedra: volume, dihedral angles, radius ratio. */
import type { TetMesh } from "../mesh.ts";
import { sixVolume } from "../importers/finishMesh.ts";

export interface TetQuality {
  tets: number;
  vertices: number;
  /** m^3, sum and smallest of one element (negative: inverted). */
  volume: number;
  minVolume: number;
  /** Smallest and largest angle between two faces of an element, degrees. */
  minDihedral: number;
  maxDihedral: number;
  /** 3 * inscribed radius / circumscribed radius: 1 for a regular element, 0 for a flat one; smallest and mean. */
  minRadiusRatio: number;
  meanRadiusRatio: number;
}

function faceNormal(x: Float64Array, a: number, b: number, c: number, out: Float64Array, at: number): void {
  const ux = x[3 * b]! - x[3 * a]!;
  const uy = x[3 * b + 1]! - x[3 * a + 1]!;
  const uz = x[3 * b + 2]! - x[3 * a + 2]!;
  const vx = x[3 * c]! - x[3 * a]!;
  const vy = x[3 * c + 1]! - x[3 * a + 1]!;
  const vz = x[3 * c + 2]! - x[3 * a + 2]!;
  out[at] = uy * vz - uz * vy;
  out[at + 1] = uz * vx - ux * vz;
  out[at + 2] = ux * vy - uy * vx;
}

function edgeLength(x: Float64Array, a: number, b: number): number {
  return Math.hypot(x[3 * a]! - x[3 * b]!, x[3 * a + 1]! - x[3 * b + 1]!, x[3 * a + 2]! - x[3 * b + 2]!);
}

/**
 * Measures every element.
 * Radius ratio: inscribed r = 3 V / A, circumscribed R = sqrt((p)(p - 2 l1 m1)(p - 2 l2 m2)(p - 2 l3 m3)) / (24 V) with
 * p the sum of the products l m of opposite edges (Crelle).
 */
export function tetQuality(mesh: TetMesh): TetQuality {
  const { positions: x, tets } = mesh;
  const count = tets.length / 4;
  const result: TetQuality = {
    tets: count,
    vertices: x.length / 3,
    volume: 0,
    minVolume: Infinity,
    minDihedral: 180,
    maxDihedral: 0,
    minRadiusRatio: Infinity,
    meanRadiusRatio: 0,
  };
  const normals = new Float64Array(12);
  for (let e = 0; e < count; e++) {
    const a = tets[4 * e]!;
    const b = tets[4 * e + 1]!;
    const c = tets[4 * e + 2]!;
    const d = tets[4 * e + 3]!;
    const volume = sixVolume(x, a, b, c, d) / 6;
    result.volume += volume;
    result.minVolume = Math.min(result.minVolume, volume);
    faceNormal(x, b, d, c, normals, 0);
    faceNormal(x, a, c, d, normals, 3);
    faceNormal(x, a, d, b, normals, 6);
    faceNormal(x, a, b, c, normals, 9);
    const length = [0, 3, 6, 9].map((i) => Math.hypot(normals[i]!, normals[i + 1]!, normals[i + 2]!));
    for (let i = 0; i < 4; i++) {
      for (let j = i + 1; j < 4; j++) {
        // The angle between faces is pi less the angle between their outward normals.
        const dot =
          normals[3 * i]! * normals[3 * j]! +
          normals[3 * i + 1]! * normals[3 * j + 1]! +
          normals[3 * i + 2]! * normals[3 * j + 2]!;
        const cosine = Math.max(-1, Math.min(1, -dot / (length[i]! * length[j]!)));
        const angle = (Math.acos(cosine) * 180) / Math.PI;
        result.minDihedral = Math.min(result.minDihedral, angle);
        result.maxDihedral = Math.max(result.maxDihedral, angle);
      }
    }
    const l = edgeLength(x, a, b) * edgeLength(x, c, d);
    const m = edgeLength(x, a, c) * edgeLength(x, b, d);
    const n = edgeLength(x, a, d) * edgeLength(x, b, c);
    const product = (l + m + n) * (l + m - n) * (l + n - m) * (m + n - l);
    const circumscribed = Math.sqrt(Math.max(0, product)) / (24 * Math.abs(volume));
    const inscribed = (3 * volume) / (0.5 * (length[0]! + length[1]! + length[2]! + length[3]!));
    const ratio = circumscribed > 0 ? (3 * inscribed) / circumscribed : 0;
    result.minRadiusRatio = Math.min(result.minRadiusRatio, ratio);
    result.meanRadiusRatio += ratio / count;
  }
  return result;
}
