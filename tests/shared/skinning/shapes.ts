/** Surfaces for the skinning tests. */
import { boundarySurface } from "../../../server/meshing/surface/boundary.ts";
import { loadPackageMesh } from "../../../server/meshing/importers/packageMesh.ts";
import { tetrahedralize } from "../../../server/meshing/tetrahedra/tetrahedralize.ts";

export interface Mesh {
  positions: Float64Array;
  triangles: Uint32Array;
}

/** Flat square of n x n quads in the x-z plane, facing +y, from -1 to 1, lifted to height(x, z). */
export function sheet(n: number, height: (x: number, z: number) => number = () => 0): Mesh {
  const at = (i: number): number => (2 * i) / n - 1;
  const positions = Array.from({ length: (n + 1) ** 2 }, (_, v) => [at(v % (n + 1)), 0, at(Math.floor(v / (n + 1)))]);
  for (const p of positions) p[1] = height(p[0], p[2]);
  const triangles: number[] = [];
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const [a, b, c, d] = [j * (n + 1) + i, j * (n + 1) + i + 1, (j + 1) * (n + 1) + i + 1, (j + 1) * (n + 1) + i];
      triangles.push(a, d, c, a, c, b);
    }
  }
  return { positions: Float64Array.from(positions.flat()), triangles: Uint32Array.from(triangles) };
}

/** Octahedron with every face cut into n x n, pushed out to radius 1. */
export function ball(n: number): Mesh {
  const positions: number[] = [];
  const index = new Map<string, number>();
  const vertex = (x: number, y: number, z: number): number => {
    const key = `${x} ${y} ${z}`;
    const known = index.get(key);
    if (known !== undefined) return known;
    const r = Math.sqrt(x * x + y * y + z * z);
    positions.push(x / r, y / r, z / r);
    index.set(key, index.size);
    return index.size - 1;
  };
  const triangles: number[] = [];
  for (const sx of [1, -1]) {
    for (const sy of [1, -1]) {
      for (const sz of [1, -1]) {
        const at = (i: number, j: number): number => vertex(sx * i, sy * j, sz * (n - i - j));
        const face = (a: number, b: number, c: number): void =>
          void (sx * sy * sz > 0 ? triangles.push(a, b, c) : triangles.push(a, c, b));
        for (let i = 0; i < n; i++) {
          for (let j = 0; i + j < n; j++) {
            face(at(i, j), at(i + 1, j), at(i, j + 1));
            if (i + j + 1 < n) face(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
          }
        }
      }
    }
  }
  return { positions: Float64Array.from(positions), triangles: Uint32Array.from(triangles) };
}

/** The bunny (9.7 high) and the surface of tetrahedra made from it, spaced by this part of its height. */
export async function bunny(spacing: number): Promise<{ detail: Mesh; surface: Mesh; height: number }> {
  const detail = await loadPackageMesh("bunny");
  const heights = Array.from({ length: detail.positions.length / 3 }, (_, i) => detail.positions[3 * i + 1]);
  const height = Math.max(...heights) - Math.min(...heights);
  const { mesh } = tetrahedralize(detail, { spacing: spacing * height });
  const boundary = boundarySurface(mesh);
  const used = [...new Set(boundary)].sort((a, b) => a - b);
  const local = new Map(used.map((p, i) => [p, i]));
  return {
    detail: { positions: Float64Array.from(detail.positions), triangles: Uint32Array.from(detail.triangles) },
    surface: {
      positions: Float64Array.from(used.flatMap((p) => [...mesh.positions.subarray(3 * p, 3 * p + 3)])),
      triangles: Uint32Array.from(boundary, (p) => local.get(p)!),
    },
    height,
  };
}

/** x -> R x + t for every point, R the rotation by `angle` about the axis (2, 3, 6) / 7. */
export function moved(points: ArrayLike<number>, angle: number, t: readonly number[]): Float64Array {
  const [kx, ky, kz] = [2 / 7, 3 / 7, 6 / 7];
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const out = new Float64Array(points.length);
  for (let i = 0; i < points.length; i += 3) {
    const [x, y, z] = [points[i], points[i + 1], points[i + 2]];
    const dot = (kx * x + ky * y + kz * z) * (1 - c);
    out[i] = x * c + (ky * z - kz * y) * s + kx * dot + t[0];
    out[i + 1] = y * c + (kz * x - kx * z) * s + ky * dot + t[1];
    out[i + 2] = z * c + (kx * y - ky * x) * s + kz * dot + t[2];
  }
  return out;
}

/** Largest distance between points of the same number. */
export function worstDistance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let worst = 0;
  for (let i = 0; i < a.length; i += 3)
    worst = Math.max(worst, Math.hypot(a[i] - b[i], a[i + 1] - b[i + 1], a[i + 2] - b[i + 2]));
  return worst;
}
