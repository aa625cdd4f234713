/**
 * Rounded edges of a solid that is drawn by its simulation surface: a razor edge looks like cardboard. A face ends at a
 * small distance from its edges, and strips join it to these, which lie deeper. With normals that turn from the face's
 * to the mean of all faces at the edge, two strips look like a fillet, in the outline, too, and a pixel costs no more.
 * Where three faces meet, an edge has one more vertex, so that its normal turns to the third face only near the corner.
 *
 * Points of the drawn mesh are the particles, the ends of faces, and the vertices on edges. Its normals are those of
 * the smoothing groups (surfaceNormals.ts), and then those of the vertices on edges.
 */
import { normalizeAll, type SmoothingGroups, surfaceNormalsInto } from "./surfaceNormals.ts";

/** Radius of an edge: share of the body's smallest side, and of its shortest triangle height. */
const OF_SIDE = 0.09;
const OF_HEIGHT = 0.45;
/** Place of an edge between where it was, 0, and the mean of its faces' ends, 1: on the fillet of a cube. */
const DEEPER = 0.59;

/** Bodies with more triangles keep sharp edges: finding edges takes a key for each side of a triangle. */
const MOST_TRIANGLES = 30_000;

/** A vertex on an edge: at a particle, or on the way to another one. */
interface EdgeVertex {
  from: number;
  to: number;
  share: number;
  /** Smoothing groups of its faces at the first particle. */
  slots: readonly number[];
}

/** Two corners of a triangle with different smoothing groups on the other side of the line between them. */
type Half = readonly [number, number];

export class RoundedEdges {
  /** uint32[2*V]: point and normal of each vertex. A vertex has the index of its normal. */
  readonly pairs: Uint32Array;
  /** uint32[3*T] of vertices. */
  readonly triangles: Uint32Array;
  readonly pointCount: number;
  private readonly slots: number;
  /** For each end of a face the particles of the triangle in which it lies. */
  private readonly ends: Uint32Array;
  /** Weights of the second and third of these. */
  private readonly weights: Float32Array;
  /** Vertices on edges, with the points of their faces' ends. */
  private readonly vertices: readonly (EdgeVertex & { points: readonly number[] })[];

  /** @returns undefined if there are no edges, or too many triangles */
  static of(rest: Float32Array, triangles: Uint32Array, groups: SmoothingGroups): RoundedEdges | undefined {
    if (triangles.length > 3 * MOST_TRIANGLES) return undefined;
    const corners: number[][] = Array.from({ length: groups.count }, () => []);
    groups.slots.forEach((slot, corner) => corners[slot]!.push(corner));
    const slotsAt: number[][] = Array.from({ length: rest.length / 3 }, () => []);
    for (const [slot, [first]] of corners.entries()) slotsAt[triangles[first!]!]!.push(slot);
    if (slotsAt.every(({ length }) => length <= 1)) return undefined;
    return new RoundedEdges(rest, triangles, groups.slots, corners, slotsAt);
  }

  private constructor(
    rest: Float32Array,
    triangles: Uint32Array,
    slots: Uint32Array,
    corners: readonly number[][],
    slotsAt: readonly number[][],
  ) {
    this.slots = corners.length;
    const radius = Math.min(OF_SIDE * smallestSide(rest), OF_HEIGHT * shortestHeight(rest, triangles));
    const normals = new Float32Array(3 * this.slots);
    surfaceNormalsInto(normals, rest, triangles, slots);
    const [ends, weights]: [number[], number[]] = [[], []];
    const points = new Map<number, number>();
    for (const around of slotsAt.filter(({ length }) => length > 1))
      for (const slot of around) {
        const others = around
          .filter((other) => other !== slot)
          .map((other) => normals.subarray(3 * other, 3 * other + 3));
        const { t, inside } = endIn(rest, triangles, corners[slot]!, others, radius);
        points.set(slot, slotsAt.length + ends.length / 3);
        ends.push(...triangles.subarray(t, t + 3));
        weights.push(...inside);
      }
    this.ends = Uint32Array.from(ends);
    this.weights = Float32Array.from(weights);
    const { vertices, strips } = stripsOf(rest, triangles, slots, slotsAt, radius, this.slots);
    this.vertices = vertices.map((vertex) => ({ ...vertex, points: vertex.slots.map((slot) => points.get(slot)!) }));
    this.triangles = Uint32Array.from([...slots, ...strips]);
    const first = slotsAt.length + points.size;
    this.pointCount = first + vertices.length;
    this.pairs = Uint32Array.from([
      ...corners.flatMap(([corner], slot) => [points.get(slot) ?? triangles[corner!]!, slot]),
      ...vertices.flatMap((_, v) => [first + v, this.slots + v]),
    ]);
  }

  get normalCount(): number {
    return this.pairs.length / 2;
  }

  /**
   * Writes values at the ends of faces and at the vertices on edges.
   * @param out float32[parts*pointCount], out
   * @param values float32[parts*count] of the particles, in
   * @param parts numbers of a value
   */
  spreadInto(out: Float32Array, values: Float32Array, parts: 1 | 3): void {
    const { ends, weights } = this;
    out.set(values);
    let to = values.length;
    for (let e = 0, w = 0; e < ends.length; e += 3, w += 2)
      for (let r = 0; r < parts; r++, to++) {
        const first = values[parts * ends[e]! + r]!;
        const second = weights[w]! * (values[parts * ends[e + 1]! + r]! - first);
        out[to] = first + second + weights[w + 1]! * (values[parts * ends[e + 2]! + r]! - first);
      }
    for (const { from, to: other, share, points } of this.vertices)
      for (let r = 0; r < parts; r++, to++) {
        const first = values[parts * from + r]!;
        let sum = 0;
        for (let k = 0; k < points.length; k++) sum += out[parts * points[k]! + r]!;
        const place = first + share * (values[parts * other + r]! - first);
        out[to] = place + DEEPER * (sum / points.length - place);
      }
  }

  /** @param normals float32[3*normalCount]: those of smoothing groups in, those of vertices on edges out */
  meansInto(normals: Float32Array): void {
    const means = normals.subarray(3 * this.slots).fill(0);
    this.vertices.forEach(({ slots }, v) => {
      for (const slot of slots) for (let r = 0; r < 3; r++) means[3 * v + r]! += normals[3 * slot + r]!;
    });
    normalizeAll(means);
  }
}

/**
 * Vertices on edges, and the triangles between them and the faces.
 * @param radius of the edges, m
 * @param first index of the first vertex
 */
function stripsOf(
  rest: Float32Array,
  triangles: Uint32Array,
  slots: Uint32Array,
  slotsAt: readonly number[][],
  radius: number,
  first: number,
): { vertices: EdgeVertex[]; strips: number[] } {
  const vertices: EdgeVertex[] = [];
  const places = new Map<string, number>();
  const strips: number[] = [];
  const add = (name: string, vertex: EdgeVertex): number => {
    const known = places.get(name);
    if (known !== undefined) return known;
    places.set(name, first + vertices.length);
    return first + vertices.push(vertex) - 1;
  };
  /** Vertex at the first corner; where an edge ends inside of a face, it is the face's own. */
  const vertexAt = (corner: number): number => {
    const from = triangles[corner]!;
    const around = slotsAt[from]!;
    return around.length > 1 ? add(`${from}`, { from, to: from, share: 0, slots: around }) : slots[corner]!;
  };
  /** Vertex on the way from a corner of three faces to the next one; elsewhere the vertex at the first corner. */
  const vertexNear = (corner: number, next: number, beyond: number): number => {
    const [from, to] = [triangles[corner]!, triangles[next]!];
    if (slotsAt[from]!.length < 3 || slots[corner] === slots[beyond]) return vertexAt(corner);
    const share = Math.min(OF_HEIGHT, radius / Math.hypot(...step(rest, from, to)));
    return add(`${from} ${to}`, { from, to, share, slots: [slots[corner]!, slots[beyond]!] });
  };
  /** Joins the four vertices along an edge to the ends of a face. */
  const join = ([a, b, c, d]: readonly [number, number, number, number], from: number, to: number): void => {
    for (const triangle of [
      [a, b, from],
      [b, c, to],
      [b, to, from],
      [c, d, to],
    ])
      if (new Set(triangle).size === 3) strips.push(...triangle);
  };
  const halves = new Map<string, Half>();
  for (let corner = 0; corner < triangles.length; corner++) {
    const next = corner % 3 === 2 ? corner - 2 : corner + 1;
    const other = halves.get(`${triangles[next]!} ${triangles[corner]!}`);
    halves.set(`${triangles[corner]!} ${triangles[next]!}`, [corner, next]);
    if (!other || (slots[other[1]] === slots[corner] && slots[other[0]] === slots[next])) continue;
    const [a, b] = [vertexAt(corner), vertexNear(corner, next, other[1])];
    const [c, d] = [vertexNear(next, corner, other[0]), vertexAt(next)];
    join([a, b, c, d], slots[corner]!, slots[next]!);
    join([d, c, b, a], slots[other[0]]!, slots[other[1]]!);
  }
  return { vertices, strips };
}

type Point = [number, number, number];

/** More faces than these at one particle are taken as beyond edges that stand out. */
const MOST_HOLLOW = 4;

/**
 * Finds the triangle in which a face ends: away from the other faces' normals, or towards them at hollow edges.
 * @param corners of the face at one particle
 * @param others normals of the other faces there
 */
function endIn(
  rest: Float32Array,
  triangles: Uint32Array,
  corners: readonly number[],
  others: readonly Float32Array[],
  radius: number,
): { t: number; inside: [number, number] } {
  let least = Infinity;
  let best: ReturnType<typeof endIn> = { t: 0, inside: [0, 0] };
  const particle = triangles[corners[0]!]!;
  for (let hollow = 0; hollow < 1 << Math.min(MOST_HOLLOW, others.length); hollow++) {
    const point = [0, 1, 2].map((k) => {
      const way = others.reduce((sum, normal, at) => sum + ((hollow >> at) & 1 ? normal[k]! : -normal[k]!), 0);
      return rest[3 * particle + k]! + radius * way;
    }) as Point;
    for (const corner of corners) {
      const t = corner - (corner % 3);
      const [v, w] = weightsIn(rest, triangles, t, point);
      const outside = Math.max(0, -v) + Math.max(0, -w) + Math.max(0, v + w - 1);
      if (outside > least - 1e-6) continue;
      least = outside;
      const [inV, inW] = [Math.max(0, v), Math.max(0, w)];
      const whole = Math.max(1, inV + inW);
      best = { t, inside: [inV / whole, inW / whole] };
    }
  }
  return best;
}

const cornersOf = (triangles: Uint32Array, t: number): [number, number, number] => [
  triangles[t]!,
  triangles[t + 1]!,
  triangles[t + 2]!,
];
const dot = (a: Point, b: Point): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const step = (rest: Float32Array, from: number, to: number): Point =>
  [0, 1, 2].map((k) => rest[3 * to + k]! - rest[3 * from + k]!) as Point;

/** Weights of a triangle's second and third corner at the point of its plane nearest to a point. */
function weightsIn(rest: Float32Array, triangles: Uint32Array, t: number, point: Point): [number, number] {
  const [a, b, c] = cornersOf(triangles, t);
  const [u, v] = [step(rest, a, b), step(rest, a, c)];
  const q = point.map((part, k) => part - rest[3 * a + k]!) as Point;
  const [uu, uv, vv, uq, vq] = [dot(u, u), dot(u, v), dot(v, v), dot(u, q), dot(v, q)];
  const over = 1 / Math.max(1e-30, uu * vv - uv * uv);
  return [(vv * uq - uv * vq) * over, (uu * vq - uv * uq) * over];
}

/** Shortest height of all triangles, m. */
function shortestHeight(rest: Float32Array, triangles: Uint32Array): number {
  let shortest = Infinity;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = cornersOf(triangles, t);
    const [u, v, w] = [step(rest, a, b), step(rest, a, c), step(rest, b, c)];
    const area = Math.sqrt(Math.max(0, dot(u, u) * dot(v, v) - dot(u, v) ** 2));
    shortest = Math.min(shortest, area / Math.sqrt(Math.max(dot(u, u), dot(v, v), dot(w, w), 1e-30)));
  }
  return shortest;
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
