/**
 * Welds the vertices of a surface. Vertices at one position become one: seams of texture and normals are not cuts.
 * Then edges collapse that the file's rounding made of a point, such as those around the pole of a sphere, where a
 * program computed the sine of pi. Then open borders are joined that differ by no more than the file's rounding: parts
 * that were rounded apart, each in its own coordinates, no longer meet exactly.
 *
 *   |p - q| <= precision / 4                    of an edge, if another edge of its triangle is 1000 times longer
 *   |p - q| <= precision(p) + precision(q)      at both ends of two border edges
 *   precision(p) <= an eighth of the shortest edge at p: no edge collapses, and no two vertices of a border meet
 *
 * Layers are not joined: two border edges whose triangles lie on each other belong to different sheets.
 */
import { yieldPoint } from "../../../shared/yieldPoint.ts";
import { next, numberEdges, VertexSets } from "./edges.ts";
import { floatPrecision } from "../importers/filePrecision.ts";
import { boundsOf, percent, placeOf } from "../meshNotes.ts";
import type { MeshNote } from "../meshNotes.ts";
import { weldPlaces } from "./weldPlaces.ts";

/**
 * An edge shorter than this part of the file's precision is one point. It is less than 1, because two different numbers
 * on a grid are at least its step apart; floating point numbers near 0 may be nearer than the largest ones round.
 */
const ONE_POINT = 0.25;
/** Length of an edge over another one of its triangle, below which it may be a point. */
const NEEDLE = 1e-3;
/** Bits of the numbers from which programs compute positions: float64, less four for the errors of some operations. */
const COMPUTED_BITS = 48;

export interface WeldedSurface {
  /** uint32[V]: new number of each vertex, in the order of the first vertices. */
  places: Uint32Array;
  /** First vertex of each new one. */
  first: number[];
  /** Number of border vertices that were joined to another position, one of them, and the widest gap. */
  joined: number;
  joinedAt: number;
  gap: number;
}

/** Part of the shortest edge at a vertex that its precision may reach. */
const OF_EDGE = 0.125;
/** Cosine of the angle between two triangles at their edges above which they are layers; 15 degrees. */
const LAYERS = 0.966;
/** Comparisons for each border edge, on average; a soup of triangles has more, and stays as it is from there on. */
const MOST_COMPARED = 256;

type Positions = Float32Array | Float64Array;

/**
 * @param triangles uint32[3m]
 * @param precision of each vertex, in the unit of the positions
 */
export function weldSurface(
  positions: Positions,
  triangles: Uint32Array,
  precision: (vertex: number) => number,
): WeldedSurface {
  const computed = floatPrecision(positions, COMPUTED_BITS);
  const rounding = (vertex: number): number => Math.max(precision(vertex), computed);
  const { places, first } = collapsePoints(positions, triangles, weldPlaces(positions), rounding);
  const corners = triangles.map((v) => places[v]!);
  const borders = borderEdges(corners);
  const result = { places, first, joined: 0, joinedAt: -1, gap: 0 };
  if (borders.length < 2) return result;
  const reach = reachOf(positions, corners, first, borders, (place) => rounding(first[place]!));
  const sets = joinBorders(positions, corners, first, borders, reach);
  const numbers = new Uint32Array(first.length);
  const kept: number[] = [];
  for (let place = 0; place < first.length; place++) {
    const root = sets.root(place);
    if (root === place) {
      numbers[place] = kept.push(first[place]!) - 1;
      continue;
    }
    numbers[place] = numbers[root]!;
    result.joined++;
    if (result.joinedAt < 0) result.joinedAt = first[place]!;
    result.gap = Math.max(result.gap, distance(positions, first[place]!, first[root]!));
  }
  return { ...result, places: places.map((place) => numbers[place]!), first: kept };
}

/** Gives the ends of edges that are points one number. */
function collapsePoints(
  x: Positions,
  triangles: Uint32Array,
  welded: { places: Uint32Array; first: number[] },
  precision: (vertex: number) => number,
): { places: Uint32Array; first: number[] } {
  const { places, first } = welded;
  const sets = new VertexSets(first.length);
  let found = false;
  for (let t = 0; t < triangles.length; t += 3) {
    const lengths = [t, t + 1, t + 2].map((h) => distance(x, triangles[h]!, triangles[next(h)]!));
    const longest = Math.max(...lengths);
    lengths.forEach((length, k) => {
      const [a, b] = [triangles[t + k]!, triangles[next(t + k)]!];
      const limit = ONE_POINT * Math.min(precision(a), precision(b));
      if (length > 0 && length <= limit && length <= NEEDLE * longest)
        found = sets.join(places[a]!, places[b]!) || found;
    });
  }
  if (!found) return welded;
  const numbers = new Uint32Array(first.length);
  const kept: number[] = [];
  for (let place = 0; place < first.length; place++) {
    const root = sets.root(place);
    numbers[place] = root === place ? kept.push(first[place]!) - 1 : numbers[root]!;
  }
  return { places: places.map((place) => numbers[place]!), first: kept };
}

/** Note about joined borders. */
export function weldNotes(positions: Positions, { joined, joinedAt, gap }: WeldedSurface): MeshNote[] {
  if (joined === 0) return [];
  const at = placeOf(positions, joinedAt);
  const part = (gap / boundsOf(positions).size).toExponential(0);
  const text = `${joined} vertices of open borders were joined over gaps of up to ${part} of the size, as wide as the file's rounding; one is at ${percent(at)}.`;
  return [{ code: "BORDERS_JOINED", text, at }];
}

function distance(x: Positions, a: number, b: number): number {
  return Math.hypot(x[3 * a]! - x[3 * b]!, x[3 * a + 1]! - x[3 * b + 1]!, x[3 * a + 2]! - x[3 * b + 2]!);
}

/** Half-edges of edges with one triangle. Triangles with two equal corners do not count. */
function borderEdges(corners: Uint32Array): number[] {
  const { edgeOf, first } = numberEdges(corners);
  const triangles = new Uint8Array(first.length);
  const only = new Int32Array(first.length).fill(-1);
  for (let h = 0; h < corners.length; h++) {
    const t = h - (h % 3);
    const [a, b, c] = [corners[t]!, corners[t + 1]!, corners[t + 2]!];
    if (a === b || b === c || c === a) continue;
    const edge = edgeOf[h]!;
    triangles[edge] = Math.min(2, triangles[edge]! + 1);
    only[edge] = h;
  }
  return [...only].filter((h, edge) => h >= 0 && triangles[edge] === 1);
}

/** Distance within which each border position may be joined; 0 elsewhere. */
function reachOf(
  x: Positions,
  corners: Uint32Array,
  first: readonly number[],
  borders: readonly number[],
  precision: (place: number) => number,
): Float64Array {
  const shortest = new Float64Array(first.length).fill(Infinity);
  for (let h = 0; h < corners.length; h++) {
    const [a, b] = [corners[h]!, corners[next(h)]!];
    if (a === b) continue;
    const length = distance(x, first[a]!, first[b]!);
    for (const place of [a, b]) shortest[place] = Math.min(shortest[place]!, length);
  }
  const reach = new Float64Array(first.length);
  for (const h of borders)
    for (const place of [corners[h]!, corners[next(h)]!])
      reach[place] = Math.min(precision(place), OF_EDGE * shortest[place]!);
  return reach;
}

function joinBorders(
  x: Positions,
  corners: Uint32Array,
  first: readonly number[],
  borders: readonly number[],
  reach: Float64Array,
): VertexSets {
  const sets = new VertexSets(first.length);
  const cell = 2 * reach.reduce((most, r) => Math.max(most, r), 0);
  if (!(cell > 0)) return sets;
  const near = (a: number, b: number): boolean => a === b || distance(x, first[a]!, first[b]!) <= reach[a]! + reach[b]!;
  const edgesAt = new Map<number, number[]>();
  for (const h of borders)
    for (const place of [corners[h]!, corners[next(h)]!]) {
      const list = edgesAt.get(place);
      if (list) list.push(h);
      else edgesAt.set(place, [h]);
    }
  const grid = new Grid(cell, [...edgesAt.keys()], (place, k) => x[3 * first[place]! + k]!);
  let left = MOST_COMPARED * borders.length;
  for (const h of borders) {
    yieldPoint();
    const [a, b] = [corners[h]!, corners[next(h)]!];
    for (const c of grid.around(a)) {
      if (--left < 0) return sets;
      if (!near(a, c)) continue;
      for (const g of edgesAt.get(c)!) {
        if (--left < 0) return sets;
        if (g <= h) continue;
        const d = corners[g] === c ? corners[next(g)]! : corners[g]!;
        if (c === b || d === a || !near(b, d) || areLayers(x, corners, first, g, h)) continue;
        sets.join(a, c);
        sets.join(b, d);
      }
    }
  }
  return sets;
}

/** Whether the triangles of two border edges lie on each other. */
function areLayers(x: Positions, corners: Uint32Array, first: readonly number[], g: number, h: number): boolean {
  const inward = [g, h].map((e) => {
    const [a, b, c] = [e, next(e), next(next(e))].map((corner) => 3 * first[corners[corner]!]!) as [
      number,
      number,
      number,
    ];
    const along = [0, 1, 2].map((k) => x[b + k]! - x[a + k]!);
    const aside = [0, 1, 2].map((k) => x[c + k]! - x[a + k]!);
    const dot = (p: number[], q: number[]): number => p.reduce((sum, value, k) => sum + value * q[k]!, 0);
    const share = dot(aside, along) / dot(along, along);
    const across = aside.map((value, k) => value - share * along[k]!);
    const length = Math.sqrt(dot(across, across));
    return across.map((value) => value / length);
  }) as [number[], number[]];
  return inward[0].reduce((sum, value, k) => sum + value * inward[1][k]!, 0) > LAYERS;
}

/** Places by cells of a grid. */
class Grid {
  readonly #cells = new Map<string, number[]>();
  readonly #cellOf: (place: number, k: number) => number;

  /** @param cell its size; places up to so far apart are in neighboring cells */
  constructor(cell: number, places: readonly number[], at: (place: number, k: number) => number) {
    this.#cellOf = (place, k) => Math.floor(at(place, k) / cell);
    for (const place of places) {
      const key = [0, 1, 2].map((k) => this.#cellOf(place, k)).join(" ");
      const list = this.#cells.get(key);
      if (list) list.push(place);
      else this.#cells.set(key, [place]);
    }
  }

  /** Places in the cells around a place, itself among them. */
  *around(place: number): Generator<number, void, undefined> {
    const cell = [0, 1, 2].map((k) => this.#cellOf(place, k));
    for (let n = 0; n < 27; n++) {
      const key = cell.map((c, k) => c + (Math.floor(n / 3 ** k) % 3) - 1).join(" ");
      yield* this.#cells.get(key) ?? [];
    }
  }
}
