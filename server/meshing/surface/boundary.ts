/**
 * The surface of a tetrahedral mesh: finds the boundary faces, checks that they close, and finds the surface's
 * topology.
 */
import type { TetMesh } from "../mesh.ts";

/** Corners of the outward face opposite to each corner of a positively oriented element. */
const FACES = [
  [1, 3, 2],
  [0, 2, 3],
  [0, 3, 1],
  [0, 1, 2],
] as const;

/** Faces and the elements that they join. */
export interface FaceJoin {
  /** uint32[3*B]: boundary faces, counter-clockwise seen from outside. */
  boundary: Uint32Array;
  /** int32[4*N]: at 4 e + i the neighbor across the face opposite to corner i of element e, or -1. */
  neighbors: Int32Array;
  /** Number of faces that more than two elements share, or two elements on the same side: 0 in a valid mesh. */
  faulty: number;
}

/**
 * Finds the faces that elements share.
 * @param tets uint32[4*N], positively oriented
 */
export function joinFaces(tets: Uint32Array): FaceJoin {
  const total = tets.length;
  // Sorting the faces by their sorted corners places the two sides of a face next to each other, without hashing three
  // numbers.
  const low = new Uint32Array(total);
  const middle = new Uint32Array(total);
  const high = new Uint32Array(total);
  const even = new Uint8Array(total);
  for (let f = 0; f < total; f++) {
    const e = f & ~3;
    const face = FACES[f & 3]!;
    let a = tets[e + face[0]]!;
    let b = tets[e + face[1]]!;
    let c = tets[e + face[2]]!;
    let swaps = 0;
    if (a > b) [a, b, swaps] = [b, a, swaps + 1];
    if (b > c) [b, c, swaps] = [c, b, swaps + 1];
    if (a > b) [a, b, swaps] = [b, a, swaps + 1];
    low[f] = a;
    middle[f] = b;
    high[f] = c;
    even[f] = swaps & 1 ? 0 : 1;
  }
  const order = Uint32Array.from({ length: total }, (_, f) => f).sort(
    (p, q) => low[p]! - low[q]! || middle[p]! - middle[q]! || high[p]! - high[q]! || p - q,
  );
  const same = (p: number, q: number): boolean => low[p] === low[q] && middle[p] === middle[q] && high[p] === high[q];
  const neighbors = new Int32Array(total).fill(-1);
  let faulty = 0;
  for (let i = 0; i < total; ) {
    let end = i + 1;
    while (end < total && same(order[i]!, order[end]!)) end++;
    if (end - i === 2) {
      const p = order[i]!;
      const q = order[i + 1]!;
      neighbors[p] = q >> 2;
      neighbors[q] = p >> 2;
      if (even[p] === even[q]) faulty++;
    } else if (end - i > 2) {
      faulty++;
      for (let k = i; k < end; k++) neighbors[order[k]!] = order[k === i ? i + 1 : i]! >> 2;
    }
    i = end;
  }
  const boundary: number[] = [];
  for (let f = 0; f < total; f++) {
    if (neighbors[f]! >= 0) continue;
    for (const corner of FACES[f & 3]!) boundary.push(tets[(f & ~3) + corner]!);
  }
  return { boundary: Uint32Array.from(boundary), neighbors, faulty };
}

/**
 * Surface triangles of a tetrahedral mesh, in the order of its elements.
 * @returns uint32[3*B], counter-clockwise seen from outside; indices into the mesh's vertices
 */
export function boundarySurface(mesh: TetMesh): Uint32Array {
  return joinFaces(mesh.tets).boundary;
}

/** Topology of a surface. */
export interface SurfaceTopology {
  vertices: number;
  edges: number;
  triangles: number;
  /** Edges of one triangle only. */
  openEdges: number;
  /** Edges of more than two triangles, or of two triangles that traverse them in the same direction. */
  crossedEdges: number;
  /** V - E + F: 2 - 2 genus, summed over the pieces of a closed surface. */
  euler: number;
  /** Vertices where the surface is not a disc: ends of crossed edges, and vertices where several triangle fans meet. */
  pinched: number[];
}

/**
 * Counts vertices, edges and faces, and finds where a surface is not a manifold.
 * @param triangles uint32[3*T]
 */
export function surfaceTopology(triangles: Uint32Array): SurfaceTopology {
  const total = triangles.length;
  // Half-edge h belongs to triangle h / 3 and runs from its corner h % 3 to the next.
  const from = (h: number): number => triangles[h]!;
  const to = (h: number): number => triangles[h % 3 === 2 ? h - 2 : h + 1]!;
  const byEdge = new Map<string, number[]>();
  for (let h = 0; h < total; h++) {
    const a = from(h);
    const b = to(h);
    const key = a < b ? `${a},${b}` : `${b},${a}`;
    const list = byEdge.get(key);
    if (list) list.push(h);
    else byEdge.set(key, [h]);
  }
  // Union-find over corners: the corners of one vertex that meet at an edge belong to the same fan. The smaller corner
  // number is the root.
  const fan = Uint32Array.from({ length: total }, (_, h) => h);
  const root = (h: number): number => {
    while (fan[h] !== h) h = fan[h] = fan[fan[h]!]!;
    return h;
  };
  const cornerAt = (h: number, vertex: number): number => (from(h) === vertex ? h : h % 3 === 2 ? h - 2 : h + 1);
  let openEdges = 0;
  let crossedEdges = 0;
  const pinched = new Set<number>();
  for (const list of byEdge.values()) {
    const [p, q] = [list[0]!, list[1]];
    if (q === undefined) openEdges++;
    else if (list.length > 2 || from(p) === from(q)) {
      crossedEdges++;
      pinched.add(from(p)).add(to(p));
    } else {
      for (const vertex of [from(p), to(p)]) {
        const a = root(cornerAt(p, vertex));
        const b = root(cornerAt(q, vertex));
        fan[Math.max(a, b)] = Math.min(a, b);
      }
    }
  }
  const fanOf = new Map<number, number>();
  for (let h = 0; h < total; h++) {
    const vertex = from(h);
    const known = fanOf.get(vertex);
    if (known === undefined) fanOf.set(vertex, root(h));
    else if (known !== root(h)) pinched.add(vertex);
  }
  return {
    vertices: fanOf.size,
    edges: byEdge.size,
    triangles: total / 3,
    openEdges,
    crossedEdges,
    euler: fanOf.size - byEdge.size + total / 3,
    pinched: [...pinched].sort((a, b) => a - b),
  };
}
