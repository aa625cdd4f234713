/**
 * Distances from the sharp edges of a solid at rest. The shader rounds the shading within a small width of them, as if
 * the edges were bevelled: a razor edge looks like cardboard.
 */

/** Width of a rounded edge: share of the body's smallest side, and of its shortest triangle height. */
const OF_SIDE = 0.07;
const OF_HEIGHT = 0.9;
/** Distance for triangles without a crease, in widths. */
const FAR = 1000;
/** Bodies with more triangles keep sharp edges: each triangle needs vertices of its own. */
const MOST_TRIANGLES = 30_000;

export interface Creases {
  /** float32[9*T] m: for each corner, distances from up to three lines along creases. */
  away: Float32Array;
  /** Width of the rounded edges, m. */
  bevel: number;
}

/**
 * @param rest float32[3*count] m
 * @param triangles uint32[3*T]
 * @param slots uint32[3*T]: faces on both sides of a crease have different slots (surfaceNormals.ts)
 * @returns undefined if there are no creases, or too many triangles
 */
export function creasesOf(rest: Float32Array, triangles: Uint32Array, slots: Uint32Array): Creases | undefined {
  if (triangles.length > 3 * MOST_TRIANGLES) return undefined;
  const edges = creaseEdges(triangles, slots);
  if (edges.size === 0) return undefined;
  const heights = Float64Array.from(triangles, (_, corner) => heightOf(rest, triangles, corner));
  const bevel = Math.min(OF_SIDE * smallestSide(rest), OF_HEIGHT * heights.reduce((a, b) => Math.min(a, b)));
  const away = new Float32Array(3 * triangles.length).fill(FAR * bevel);
  for (let t = 0; t < triangles.length; t += 3)
    linesAt(t, triangles, slots, edges).forEach(([a, b], line) => {
      for (let k = 0; k < 3; k++)
        away[3 * (t + k) + line] = lineDistance(rest, triangles[t + k]!, triangles[a]!, triangles[b]!);
    });
  return { away, bevel };
}

/** Two corners of a triangle: ends of a crease that its face touches. */
type Line = readonly [number, number];

/** Creases by slot of one of their ends. */
function creaseEdges(triangles: Uint32Array, slots: Uint32Array): Map<number, Line[]> {
  const halves = new Map<string, Line>();
  const bySlot = new Map<number, Line[]>();
  const add = (line: Line): void => {
    for (const corner of line) {
      const lines = bySlot.get(slots[corner]!);
      if (lines) lines.push(line);
      else bySlot.set(slots[corner]!, [line]);
    }
  };
  for (let corner = 0; corner < triangles.length; corner++) {
    const next = corner % 3 === 2 ? corner - 2 : corner + 1;
    const other = halves.get(`${triangles[next]!} ${triangles[corner]!}`);
    halves.set(`${triangles[corner]!} ${triangles[next]!}`, [corner, next]);
    if (!other || slots[other[1]] === slots[corner] || slots[other[0]] === slots[next]) continue;
    add([corner, next]);
    add(other);
  }
  return bySlot;
}

/** Up to three lines along creases of different directions that meet a triangle's corners. Its own edges come first. */
function linesAt(t: number, triangles: Uint32Array, slots: Uint32Array, edges: ReadonlyMap<number, Line[]>): Line[] {
  const own: Line[] = [];
  const others: Line[] = [];
  const ends = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
  for (let k = 0; k < 3; k++)
    for (const line of edges.get(slots[t + k]!) ?? []) {
      const inside = line.every((corner) => ends.includes(triangles[corner]!));
      const list = inside ? own : others;
      if (!list.some(([a, b]) => triangles[a] === triangles[line[0]] && triangles[b] === triangles[line[1]]))
        list.push(line);
    }
  return [...own, ...others].slice(0, 3);
}

const square = (x: number, y: number, z: number): number => x * x + y * y + z * z;

/** Distance of a particle from the line through two others, m. */
function lineDistance(rest: Float32Array, p: number, a: number, b: number): number {
  const [x, y, z] = [0, 1, 2].map((r) => rest[3 * p + r]! - rest[3 * a + r]!) as [number, number, number];
  const [u, v, w] = [0, 1, 2].map((r) => rest[3 * b + r]! - rest[3 * a + r]!) as [number, number, number];
  return Math.sqrt(square(y * w - z * v, z * u - x * w, x * v - y * u) / square(u, v, w));
}

/** Height of a triangle over the edge opposite a corner, m. */
function heightOf(rest: Float32Array, triangles: Uint32Array, corner: number): number {
  const t = corner - (corner % 3);
  return lineDistance(rest, triangles[corner]!, triangles[t + ((corner + 1) % 3)]!, triangles[t + ((corner + 2) % 3)]!);
}

/** Smallest side of the bounding box, m. */
function smallestSide(rest: Float32Array): number {
  const sides = [0, 1, 2].map((r) => {
    let [low, high] = [Infinity, -Infinity];
    for (let i = r; i < rest.length; i += 3) {
      low = Math.min(low, rest[i]!);
      high = Math.max(high, rest[i]!);
    }
    return high - low;
  });
  return Math.min(...sides);
}
