/** Surfaces as in real files: intact ones, and every kind of defective one, each of size about 1. */
import { icosphere } from "../../../../server/meshing/generators.ts";
import type { SurfaceMesh } from "../../../../server/meshing/mesh.ts";

const surfaceOf = (positions: number[][], triangles: number[][]): SurfaceMesh => ({
  positions: Float64Array.from(positions.flat()),
  triangles: Uint32Array.from(triangles.flat()),
});

export function moved(surface: SurfaceMesh, scale: number, [x, y, z]: readonly [number, number, number]): SurfaceMesh {
  const offset = [x, y, z];
  return { ...surface, positions: surface.positions.map((p, i) => scale * p + offset[i % 3]!) };
}

export function together(...surfaces: SurfaceMesh[]): SurfaceMesh {
  let first = 0;
  const triangles = surfaces.flatMap((surface) => {
    const corners = [...surface.triangles].map((v) => v + first);
    first += surface.positions.length / 3;
    return corners;
  });
  return {
    positions: Float64Array.from(surfaces.flatMap(({ positions }) => [...positions])),
    triangles: Uint32Array.from(triangles),
  };
}

export function flipped(surface: SurfaceMesh, which: (t: number) => boolean = () => true): SurfaceMesh {
  const triangles = surface.triangles.slice();
  for (let t = 0; t < triangles.length / 3; t++) if (which(t)) triangles.subarray(3 * t, 3 * t + 3).reverse();
  return { ...surface, triangles };
}

export const without = (surface: SurfaceMesh, which: (t: number) => boolean): SurfaceMesh => ({
  ...surface,
  triangles: surface.triangles.filter((_, i) => !which(Math.floor(i / 3))),
});

/** A sphere with bumps, like a scanned body; 20 * 4^n triangles. */
export function bumpySphere(subdivisions: number): SurfaceMesh {
  const { positions, triangles } = icosphere(0.5, subdivisions);
  const out = positions.slice();
  for (let v = 0; v < out.length; v += 3) {
    const [x, y, z] = [out[v]!, out[v + 1]!, out[v + 2]!];
    const r = 1 + 0.15 * Math.sin(9 * x) * Math.cos(8 * y) + 0.05 * Math.sin(31 * z + 3 * x);
    for (let k = 0; k < 3; k++) out[v + k]! *= r;
  }
  return { positions: out, triangles };
}

/** A grid of (n + 1)^2 vertices, placed by a function of u and v in 0 .. 1. */
export function patch(n: number, at: (u: number, v: number) => [number, number, number]): SurfaceMesh {
  const positions: number[][] = [];
  const triangles: number[][] = [];
  for (let j = 0; j <= n; j++) for (let i = 0; i <= n; i++) positions.push(at(i / n, j / n));
  for (let j = 0; j < n; j++)
    for (let i = 0; i < n; i++) {
      const a = j * (n + 1) + i;
      triangles.push([a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]);
    }
  return surfaceOf(positions, triangles);
}

export const sheet = (n: number): SurfaceMesh => patch(n, (u, v) => [u - 0.5, 0.05 * Math.sin(6 * u), v - 0.5]);

export const box = (
  sx: number,
  sy: number,
  sz: number,
  at: readonly [number, number, number] = [0, 0, 0],
): SurfaceMesh => {
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [
    at[0] + sx * ((i & 1) - 0.5),
    at[1] + sy * (((i >> 1) & 1) - 0.5),
    at[2] + sz * ((i >> 2) - 0.5),
  ]);
  return surfaceOf(corners, [
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
  ]);
};

/** A closed tube around a path. */
export function tube(n: number, radius: number, path: (t: number) => [number, number, number]): SurfaceMesh {
  const around = 12;
  const positions: number[][] = [];
  const triangles: number[][] = [];
  for (let i = 0; i <= n; i++) {
    const p = path(i / n);
    const q = path(i / n + 1e-4);
    const along = q.map((c, k) => c - p[k]!);
    const length = Math.hypot(...along);
    const d = along.map((c) => c / length);
    const e = Math.abs(d[1]!) < 0.9 ? [0, 1, 0] : [1, 0, 0];
    const cross = (a: number[], b: number[]): number[] =>
      [0, 1, 2].map((k) => a[(k + 1) % 3]! * b[(k + 2) % 3]! - a[(k + 2) % 3]! * b[(k + 1) % 3]!);
    const u0 = cross(e, d);
    const u = u0.map((c) => c / Math.hypot(...u0));
    const w = cross(d, u);
    for (let a = 0; a < around; a++) {
      const angle = (2 * Math.PI * a) / around;
      positions.push(p.map((c, k) => c + radius * (Math.cos(angle) * u[k]! + Math.sin(angle) * w[k]!)));
    }
  }
  for (let i = 0; i < n; i++)
    for (let a = 0; a < around; a++) {
      const [p, q] = [i * around + a, i * around + ((a + 1) % around)];
      triangles.push([p, q, q + around], [p, q + around, p + around]);
    }
  for (let a = 1; a + 1 < around; a++) {
    triangles.push([0, a + 1, a]);
    const last = n * around;
    triangles.push([last, last + a, last + a + 1]);
  }
  return surfaceOf(positions, triangles);
}

/** A body with six thin limbs, each a closed surface of its own that enters the body. */
export const spider = (radius: number): SurfaceMesh =>
  together(
    moved(bumpySphere(3), 0.4, [0, 0, 0]),
    ...[0, 1, 2, 3, 4, 5].map((i) => {
      const angle = (Math.PI * i) / 3;
      return tube(16, radius, (t) => [
        Math.cos(angle) * (0.1 + 0.4 * t),
        0.25 * t * (1 - 1.6 * t),
        Math.sin(angle) * (0.1 + 0.4 * t),
      ]);
    }),
  );

/** A one-sided strip. */
export const moebius = (n: number): SurfaceMesh => {
  const positions: number[][] = [];
  const triangles: number[][] = [];
  for (let i = 0; i < n; i++)
    for (const s of [-0.15, 0, 0.15]) {
      const angle = (2 * Math.PI * i) / n;
      const r = 0.4 + s * Math.cos(angle / 2);
      positions.push([r * Math.cos(angle), s * Math.sin(angle / 2), r * Math.sin(angle)]);
    }
  for (let i = 0; i < n; i++)
    for (const k of [0, 1]) {
      const a = 3 * i + k;
      // Where the strip closes, its two borders swap.
      const [b, c] = i + 1 < n ? [a + 3, a + 4] : [2 - k, 1 - k];
      triangles.push([a, a + 1, c], [a, c, b]);
    }
  return surfaceOf(positions, triangles);
};
