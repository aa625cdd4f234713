/**
 * Body-centered cubic lattice, the background of the tetrahedralizer: two cubic grids, one at the other's cell centers.
 * Every vertex has 6 neighbors along the axes ("long" edges, one spacing) and 8 along the diagonals ("short" edges,
 * 0.866 spacings). All tetrahedra are congruent, with two opposite long edges and four short ones, 12 per cubic cell.
 * Source: Labelle and Shewchuk, Isosurface Stuffing (2007), section 3.
 *
 * Vertex coordinates are in half spacings: (X, Y, Z) all even (first grid) or all odd (second).
 */
import { MeshError } from "../mesh.ts";

export interface Lattice {
  /** Edge of the cubic cell = length of a long edge, m. */
  spacing: number;
  origin: [number, number, number];
  /** Cells along each axis. */
  cells: [number, number, number];
  /** Number of vertices of both grids. */
  vertices: number;
}

/** Empty cells around the surface, so that no tetrahedron that contains a part of it reaches the border. */
const MARGIN = 2;
/** Limit of lattice vertices of one mesh: 4 million take about 20 s of winding numbers. */
const MAX_LATTICE = 4_000_000;

/** Edge directions, in half spacings: 3 long, then 4 short; the other 7 neighbors are their opposites. */
export const EDGES: readonly (readonly [number, number, number])[] = [
  [2, 0, 0],
  [0, 2, 0],
  [0, 0, 2],
  [1, 1, 1],
  [1, 1, -1],
  [1, -1, 1],
  [1, -1, -1],
];
export const LONG_EDGES = 3;

/**
 * One of the 12 tetrahedra of a vertex of the even grid, positively oriented. Corners 0-1 and 2-3 are its long edges.
 */
export interface LatticeTet {
  /** Corner offsets from the even vertex, half spacings. */
  corners: readonly (readonly [number, number, number])[];
  /** For corners i, j: the corner where the edge starts (its direction is EDGES[direction]). */
  edges: readonly (readonly { start: number; direction: number }[])[];
}

function determinant(p: readonly (readonly number[])[]): number {
  const [a, b, c] = [0, 1, 2].map((i) => p[i]!.map((value, k) => value - p[3]![k]!)) as [number[], number[], number[]];
  return (
    a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) +
    a[1]! * (b[2]! * c[0]! - b[0]! * c[2]!) +
    a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!)
  );
}

function tetOf(corners: [number, number, number][]): LatticeTet {
  const positive = determinant(corners) > 0 ? corners : [corners[1]!, corners[0]!, corners[2]!, corners[3]!];
  const edges = positive.map((from, i) =>
    positive.map((to, j) => {
      if (i === j) return { start: i, direction: -1 };
      const along = EDGES.findIndex((edge) => edge.every((value, k) => value === to[k]! - from[k]!));
      return along >= 0
        ? { start: i, direction: along }
        : { start: j, direction: EDGES.findIndex((edge) => edge.every((value, k) => value === from[k]! - to[k]!)) };
    }),
  );
  return { corners: positive, edges };
}

/**
 * Around each of the three long edges that leave an even vertex: the four pairs of odd vertices that are neighbors of
 * each other.
 */
export const LATTICE_TETS: readonly LatticeTet[] = [0, 1, 2].flatMap((axis) => {
  const ring = [
    [1, 1],
    [1, -1],
    [-1, -1],
    [-1, 1],
  ].map(([s, t]) => {
    const corner: [number, number, number] = [0, 0, 0];
    corner[axis] = 1;
    corner[(axis + 1) % 3] = s!;
    corner[(axis + 2) % 3] = t!;
    return corner;
  });
  const end: [number, number, number] = [0, 0, 0];
  end[axis] = 2;
  return ring.map((corner, i) => tetOf([[0, 0, 0], end, corner, ring[(i + 1) % 4]!]));
});

/**
 * A lattice around a box, centered on it.
 * @param low,high corners of the box, m
 * @throws MeshError if the spacing gives more than MAX_LATTICE vertices
 */
export function latticeAround(low: readonly number[], high: readonly number[], spacing: number): Lattice {
  const cells = [0, 1, 2].map((k) => Math.ceil((high[k]! - low[k]!) / spacing) + 2 * MARGIN) as [
    number,
    number,
    number,
  ];
  const vertices = 2 * (cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1);
  if (!(vertices <= MAX_LATTICE)) {
    throw new MeshError({
      file: "tetrahedralize",
      field: "spacing",
      value: spacing,
      limit: `it gives ${vertices} lattice vertices, at most ${MAX_LATTICE} are allowed: use a larger spacing`,
    });
  }
  const origin = [0, 1, 2].map((k) => 0.5 * (low[k]! + high[k]!) - 0.5 * cells[k]! * spacing) as [
    number,
    number,
    number,
  ];
  return { spacing, origin, cells, vertices };
}

/** Number of the vertex (X, Y, Z). */
export function latticeVertex(lattice: Lattice, x: number, y: number, z: number): number {
  const { cells } = lattice;
  return 2 * (((z >> 1) * (cells[1] + 1) + (y >> 1)) * (cells[0] + 1) + (x >> 1)) + (x & 1);
}

/** Writes the (X, Y, Z) of a vertex to `out`. */
export function latticeCoordinates(lattice: Lattice, vertex: number, out: Int32Array): void {
  const parity = vertex & 1;
  const cell = vertex >> 1;
  const nx = lattice.cells[0] + 1;
  const ny = lattice.cells[1] + 1;
  out[0] = 2 * (cell % nx) + parity;
  out[1] = 2 * (Math.floor(cell / nx) % ny) + parity;
  out[2] = 2 * Math.floor(cell / (nx * ny)) + parity;
}

/**
 * True if (X, Y, Z) is at least `distance` half spacings from the lattice's border. At 1, the neighbors along EDGES
 * exist. At 2, all neighbors and the 12 tetrahedra of an even vertex exist. At 3, all neighbors of all tetrahedra
 * around the vertex exist, too.
 */
export function isInner(lattice: Lattice, c: ArrayLike<number>, distance: 1 | 2 | 3): boolean {
  const { cells } = lattice;
  return (
    c[0]! >= distance &&
    c[1]! >= distance &&
    c[2]! >= distance &&
    c[0]! <= 2 * cells[0] - distance &&
    c[1]! <= 2 * cells[1] - distance &&
    c[2]! <= 2 * cells[2] - distance
  );
}

/**
 * The lattice vertex nearest to a point inside the lattice. The regions with the same nearest vertex are truncated
 * octahedra; they share faces if their vertices share edges.
 */
export function nearestLatticeVertex(lattice: Lattice, x: number, y: number, z: number): number {
  const p = [x, y, z].map((value, k) => (2 * (value - lattice.origin[k]!)) / lattice.spacing);
  const even = p.map((value) => 2 * Math.round(value / 2));
  const odd = p.map((value) => 2 * Math.floor(value / 2) + 1);
  const square = (c: number[]): number => c.reduce((sum, value, k) => sum + (value - p[k]!) * (value - p[k]!), 0);
  const c = square(even) <= square(odd) ? even : odd;
  return latticeVertex(lattice, c[0]!, c[1]!, c[2]!);
}
