/**
 * Procedural meshes: box of tetrahedra, rectangle of triangles, icosphere. All are centered on the origin and exact up
 * to rounding.
 */
import { MAX_ELEMENTS, MeshError } from "./mesh.ts";
import type { SurfaceMesh, TetMesh } from "./mesh.ts";

function checkSize(file: string, field: string, value: number): void {
  if (!(value > 0 && Number.isFinite(value)))
    throw new MeshError({ file, field, value, limit: "a finite number above 0 is needed" });
}

function checkCells(file: string, cells: readonly number[], perCell: number): void {
  let total = perCell;
  cells.forEach((count, k) => {
    if (!Number.isInteger(count) || count < 1)
      throw new MeshError({ file, field: `cells[${k}]`, value: count, limit: "an integer of at least 1 is needed" });
    total *= count;
  });
  if (total > MAX_ELEMENTS)
    throw new MeshError({ file, field: "element count", value: total, limit: `at most ${MAX_ELEMENTS} are allowed` });
}

/**
 * Five tetrahedra of a cube of even parity; bit 0 of a corner is x, bit 1 is y, bit 2 is z. The central one spans the
 * corners 1 2 4 7. Cubes of odd parity are mirrored in x, so that the diagonals of shared faces match.
 */
const CUBE_TETS = [
  [1, 2, 4, 7],
  [1, 2, 0, 4],
  [1, 7, 3, 2],
  [1, 4, 5, 7],
  [2, 7, 6, 4],
] as const;

/**
 * A box of `cells` cubes with five tetrahedra each, alternating so that neighbors share faces. Vertices run x fastest,
 * then y, then z.
 * @param size m along x, y, z
 * @throws MeshError on invalid sizes or counts
 */
export function boxTets(size: readonly [number, number, number], cells: readonly [number, number, number]): TetMesh {
  size.forEach((value, k) => checkSize("box", `size[${k}]`, value));
  checkCells("box", cells, 5);
  const [nx, ny, nz] = cells;
  const positions = new Float64Array(3 * (nx + 1) * (ny + 1) * (nz + 1));
  const vertex = (i: number, j: number, k: number): number => (k * (ny + 1) + j) * (nx + 1) + i;
  for (let k = 0; k <= nz; k++) {
    for (let j = 0; j <= ny; j++) {
      for (let i = 0; i <= nx; i++) {
        positions.set(
          [(i / nx - 0.5) * size[0], (j / ny - 0.5) * size[1], (k / nz - 0.5) * size[2]],
          3 * vertex(i, j, k),
        );
      }
    }
  }
  const tets = new Uint32Array(20 * nx * ny * nz);
  let at = 0;
  for (let k = 0; k < nz; k++) {
    for (let j = 0; j < ny; j++) {
      for (let i = 0; i < nx; i++) {
        const odd = (i + j + k) & 1;
        for (const tet of CUBE_TETS) {
          const corners = tet.map((corner) =>
            vertex(i + ((corner ^ odd) & 1), j + ((corner >> 1) & 1), k + (corner >> 2)),
          );
          // The table has negative volumes. Mirroring a cube makes its elements positive; in other cubes, two corners
          // are swapped.
          if (!odd) corners.unshift(...corners.splice(1, 1));
          tets.set(corners, at);
          at += 4;
        }
      }
    }
  }
  return { positions, tets };
}

/**
 * uint32[8n] vertices of the cubes of `boxTets`, x fastest; corner c of a cube has x from bit 0, y from bit 1, z from
 * bit 2.
 */
export function boxCells([nx, ny, nz]: readonly [number, number, number]): Uint32Array {
  const cells: number[] = [];
  for (let k = 0; k < nz; k++) {
    for (let j = 0; j < ny; j++) {
      for (let i = 0; i < nx; i++)
        for (let c = 0; c < 8; c++)
          cells.push(((k + (c >> 2)) * (ny + 1) + j + ((c >> 1) & 1)) * (nx + 1) + i + (c & 1));
    }
  }
  return Uint32Array.from(cells);
}

/**
 * A rectangle in the x-z plane, normal up, of `cells` quads with alternating diagonals. Vertices run x fastest, then z.
 * @param size m along x and z
 * @throws MeshError on invalid sizes or counts
 */
export function gridCloth(size: readonly [number, number], cells: readonly [number, number]): SurfaceMesh {
  size.forEach((value, k) => checkSize("grid", `size[${k}]`, value));
  checkCells("grid", cells, 2);
  const [nx, nz] = cells;
  const positions = new Float64Array(3 * (nx + 1) * (nz + 1));
  for (let k = 0; k <= nz; k++) {
    for (let i = 0; i <= nx; i++)
      positions.set([(i / nx - 0.5) * size[0], 0, (k / nz - 0.5) * size[1]], 3 * (k * (nx + 1) + i));
  }
  const triangles = new Uint32Array(6 * nx * nz);
  let at = 0;
  for (let k = 0; k < nz; k++) {
    for (let i = 0; i < nx; i++) {
      const a = k * (nx + 1) + i;
      const b = a + 1;
      const c = a + nx + 1;
      const d = c + 1;
      //  a---b --> x     even: diagonal a-d, odd: diagonal b-c
      //  |   |
      //  c---d           z points from a to c
      triangles.set((i + k) & 1 ? [a, c, b, b, c, d] : [a, c, d, a, d, b], at);
      at += 6;
    }
  }
  return { positions, triangles };
}

/** More levels would give more than 5 million triangles. */
const MAX_SUBDIVISIONS = 9;

/**
 * A sphere: an icosahedron whose triangles are split in four `subdivisions` times, with all vertices moved onto the
 * sphere: 20 * 4^n triangles.
 * @param radius m
 * @throws MeshError on an invalid radius or count
 */
export function icosphere(radius: number, subdivisions = 3): SurfaceMesh {
  checkSize("ball", "radius", radius);
  if (!Number.isInteger(subdivisions) || subdivisions < 0 || subdivisions > MAX_SUBDIVISIONS) {
    throw new MeshError({
      file: "ball",
      field: "subdivisions",
      value: subdivisions,
      limit: `an integer from 0 to ${MAX_SUBDIVISIONS} is needed`,
    });
  }
  const g = (1 + Math.sqrt(5)) / 2;
  const points: number[] = [];
  const add = (x: number, y: number, z: number): number => {
    const scale = 1 / Math.sqrt(x * x + y * y + z * z);
    points.push(x * scale, y * scale, z * scale);
    return points.length / 3 - 1;
  };
  for (const [x, y, z] of [
    [-1, g, 0],
    [1, g, 0],
    [-1, -g, 0],
    [1, -g, 0],
    [0, -1, g],
    [0, 1, g],
    [0, -1, -g],
    [0, 1, -g],
    [g, 0, -1],
    [g, 0, 1],
    [-g, 0, -1],
    [-g, 0, 1],
  ] as const)
    add(x, y, z);
  let triangles = [
    0, 11, 5, 0, 5, 1, 0, 1, 7, 0, 7, 10, 0, 10, 11, 1, 5, 9, 5, 11, 4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3, 9, 4, 3, 4, 2,
    3, 2, 6, 3, 6, 8, 3, 8, 9, 4, 9, 5, 2, 4, 11, 6, 2, 10, 8, 6, 7, 9, 8, 1,
  ];
  for (let level = 0; level < subdivisions; level++) {
    const middles = new Map<number, number>();
    const count = points.length / 3;
    const middle = (a: number, b: number): number => {
      const key = a < b ? a * count + b : b * count + a;
      let m = middles.get(key);
      if (m === undefined) {
        m = add(
          points[3 * a]! + points[3 * b]!,
          points[3 * a + 1]! + points[3 * b + 1]!,
          points[3 * a + 2]! + points[3 * b + 2]!,
        );
        middles.set(key, m);
      }
      return m;
    };
    const finer: number[] = [];
    for (let t = 0; t < triangles.length; t += 3) {
      const a = triangles[t]!;
      const b = triangles[t + 1]!;
      const c = triangles[t + 2]!;
      const ab = middle(a, b);
      const bc = middle(b, c);
      const ca = middle(c, a);
      finer.push(a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca);
    }
    triangles = finer;
  }
  return { positions: Float64Array.from(points, (value) => value * radius), triangles: Uint32Array.from(triangles) };
}
