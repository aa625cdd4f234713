/**
 * Data that both ends derive from the topology alone: the order in which a body's particles are coded, and each one's
 * neighbors (format.ts, section 5).
 *
 * The next particle is the one with the most decoded neighbors, newest first. So on a triangle mesh, nearly every
 * particle has two or three decoded neighbors and two parallelograms. Measured on the bench's 61 x 61 cloth during
 * development, bytes per particle and frame: this 0.525, oldest first 0.530, breadth first 0.542, the mesh file's own
 * raster order 0.543.
 */
import { COORDINATE_LIMIT, SnapshotError } from "./format.ts";

export interface SnapshotBody {
  /** Streamed particles. */
  readonly count: number;
  /** uint32[3*T], indices into this body's streamed particles. */
  readonly triangles: Uint32Array;
}

export const MAX_NEIGHBORS = 4;
export const MAX_GATES = 2;
/** Counts of visited neighbors saturate here. */
const MAX_DEGREE = 15;

/** Immutable; all code in a thread may share it. */
export interface SnapshotModel {
  /** Particles of all bodies. */
  readonly total: number;
  /** int32[bodies+1]: first particle of each body, and the end. A body's ranks have the same range. */
  readonly starts: Int32Array;
  /** int32[total]: particle coded at a rank. */
  readonly order: Int32Array;
  /** uint8[total], int32[4*total]: per rank, number of neighbors and their ranks, newest first. */
  readonly neighborCount: Uint8Array;
  readonly neighbors: Int32Array;
  /** uint8[total], int32[6*total]: per rank, number of triples a, b, c (predicting a + b - c) and their ranks. */
  readonly gateCount: Uint8Array;
  readonly gates: Int32Array;
}

/** Lists of numbers by index, in one array: the list of `i` is items[starts[i]] .. items[starts[i + 1] - 1]. */
interface Lists {
  starts: Int32Array;
  items: Int32Array;
}

/** For each particle, its triangles, ascending (each once, even if it repeats the particle). */
function trianglesOf(count: number, triangles: Uint32Array): Lists {
  const starts = new Int32Array(count + 1);
  const each = (visit: (particle: number, triangle: number) => void): void => {
    for (let t = 0; 3 * t < triangles.length; t++) {
      const [a, b, c] = [triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]];
      visit(a, t);
      if (b !== a) visit(b, t);
      if (c !== a && c !== b) visit(c, t);
    }
  };
  each((particle) => starts[particle + 1]++);
  for (let i = 0; i < count; i++) starts[i + 1] += starts[i];
  const next = starts.slice(0, count);
  const items = new Int32Array(starts[count]);
  each((particle, triangle) => {
    items[next[particle]++] = triangle;
  });
  return { starts, items };
}

/** For each particle, the other particles of its triangles, ascending. */
function neighborsOf(count: number, triangles: Uint32Array, fans: Lists): Lists {
  const starts = new Int32Array(count + 1);
  const items: number[] = [];
  for (let v = 0; v < count; v++) {
    const ring = new Set<number>();
    for (let f = fans.starts[v]; f < fans.starts[v + 1]; f++) {
      for (let k = 0; k < 3; k++) ring.add(triangles[3 * fans.items[f] + k]);
    }
    ring.delete(v);
    items.push(...Array.from(ring).sort((a, b) => a - b));
    starts[v + 1] = items.length;
  }
  return { starts, items: Int32Array.from(items) };
}

/** Traversal of section 5a. Returns particle by rank. */
function traverse(count: number, rings: Lists): Int32Array {
  const order = new Int32Array(count);
  const degree = new Uint8Array(count);
  const visited = new Uint8Array(count);
  const stacks: number[][] = Array.from({ length: MAX_DEGREE + 1 }, () => []);
  let length = 0;
  for (let seed = 0; seed < count; seed++) {
    if (visited[seed] !== 0) continue;
    stacks[0].push(seed);
    for (let level = 0; level >= 0; ) {
      const v = stacks[level].pop();
      if (v === undefined) {
        level--;
        continue;
      }
      // Entries become stale when a particle's degree rises.
      if (visited[v] !== 0 || degree[v] !== level) continue;
      visited[v] = 1;
      order[length++] = v;
      for (let r = rings.starts[v]; r < rings.starts[v + 1]; r++) {
        const u = rings.items[r];
        if (visited[u] !== 0 || degree[u] === MAX_DEGREE) continue;
        degree[u]++;
        stacks[degree[u]].push(u);
        if (degree[u] > level) level = degree[u];
      }
    }
  }
  return order;
}

/** Computes sections 5b and 5c for one body, written from rank `first` on. */
function link(
  model: SnapshotModel,
  first: number,
  triangles: Uint32Array,
  fans: Lists,
  rings: Lists,
  order: Int32Array,
): void {
  const count = order.length;
  const rank = new Int32Array(count);
  for (let i = 0; i < count; i++) rank[order[i]] = i;
  for (let i = 0; i < count; i++) {
    const v = order[i];
    const decoded = Array.from(rings.items.subarray(rings.starts[v], rings.starts[v + 1]), (u) => rank[u]).filter(
      (r) => r < i,
    );
    decoded.sort((a, b) => b - a);
    const kept = Math.min(MAX_NEIGHBORS, decoded.length);
    model.neighborCount[first + i] = kept;
    for (let k = 0; k < kept; k++) model.neighbors[MAX_NEIGHBORS * (first + i) + k] = first + decoded[k];
    let gates = 0;
    for (let f = fans.starts[v]; f < fans.starts[v + 1] && gates < MAX_GATES; f++) {
      const [a, b] = others(triangles, fans.items[f], v);
      if (a < 0 || rank[a] >= i || rank[b] >= i) continue;
      for (let g = fans.starts[a]; g < fans.starts[a + 1] && gates < MAX_GATES; g++) {
        const c = third(triangles, fans.items[g], a, b);
        if (c < 0 || c === v || rank[c] >= i) continue;
        const at = 3 * MAX_GATES * (first + i) + 3 * gates++;
        model.gates[at] = first + rank[a];
        model.gates[at + 1] = first + rank[b];
        model.gates[at + 2] = first + rank[c];
      }
    }
    model.gateCount[first + i] = gates;
  }
}

/** The two other corners of a triangle at v; -1 -1 if it has repeated corners. */
function others(triangles: Uint32Array, t: number, v: number): [number, number] {
  const corners = [triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]].filter((u) => u !== v);
  return corners.length === 2 && corners[0] !== corners[1] ? [corners[0], corners[1]] : [-1, -1];
}

/**
 * The corner of a triangle opposite the edge a b; -1 if the triangle does not have that edge or has repeated corners.
 */
function third(triangles: Uint32Array, t: number, a: number, b: number): number {
  const rest = [triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]].filter((u) => u !== a && u !== b);
  return rest.length === 1 && others(triangles, t, rest[0])[0] >= 0 ? rest[0] : -1;
}

/**
 * Builds the model of a topology. It takes about 10 ms for 10,000 particles; do it once per scene and thread.
 *
 * @param bodies in the order of the room's particles; a body without triangles is allowed (its particles are predicted
 * from each other in order)
 * @throws SnapshotError for an index outside its body or a triangle list whose length is not a multiple of 3
 */
export function createSnapshotModel(bodies: readonly SnapshotBody[]): SnapshotModel {
  const starts = new Int32Array(bodies.length + 1);
  bodies.forEach((body, i) => {
    check(body, i);
    starts[i + 1] = starts[i] + body.count;
  });
  const total = starts[bodies.length];
  const model: SnapshotModel = {
    total,
    starts,
    order: new Int32Array(total),
    neighborCount: new Uint8Array(total),
    neighbors: new Int32Array(MAX_NEIGHBORS * total),
    gateCount: new Uint8Array(total),
    gates: new Int32Array(3 * MAX_GATES * total),
  };
  bodies.forEach(({ count, triangles }, i) => {
    const fans = trianglesOf(count, triangles);
    const rings = neighborsOf(count, triangles, fans);
    const order = traverse(count, rings);
    link(model, starts[i], triangles, fans, rings, order);
    for (let k = 0; k < count; k++) model.order[starts[i] + k] = starts[i] + order[k];
  });
  return model;
}

function check({ count, triangles }: SnapshotBody, i: number): void {
  if (!Number.isInteger(count) || count < 0 || count > COORDINATE_LIMIT) {
    throw new SnapshotError(`bodies[${i}].count is ${count}, must be an integer from 0 to ${COORDINATE_LIMIT}`);
  }
  if (triangles.length % 3 !== 0)
    throw new SnapshotError(`bodies[${i}].triangles has ${triangles.length} indices, must be a multiple of 3`);
  for (let k = 0; k < triangles.length; k++) {
    if (triangles[k] >= count)
      throw new SnapshotError(
        `bodies[${i}].triangles[${k}] is ${triangles[k]}, must be below the body's count ${count}`,
      );
  }
}
