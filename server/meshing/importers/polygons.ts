/**
 * Splits polygons into triangles that use every corner, so that neighbors stay joined along their edges. A fan from the
 * corner of smallest coordinates is used where it covers the polygon exactly, else ears are clipped (G. Meisters 1975,
 * Polygons have ears) with exact predicates (J. Shewchuk 1997). A polygon in space is projected along its normal (M.
 * Newell; I. Sutherland, R. Sproull, R. Schumacker 1974). The triangles depend on the places of the corners, not on the
 * first one or the direction of the list: both sides of a wall become the same triangles, which count once.
 *
 * Not the npm package earcut: it leaves out corners on straight edges, where the neighbor's triangles then hang loose.
 */
import { orient2d } from "robust-predicates";
import { yieldPoint } from "../../../shared/yieldPoint.ts";
import { percent, placeOf } from "../meshNotes.ts";
import type { MeshNote } from "../meshNotes.ts";

/** Polygons as runs of corners. */
export interface Polygons {
  /** Vertex of each corner. */
  vertexOf: number[];
  /** First corner of each polygon. */
  starts: number[];
}

export interface Triangulation {
  /** Three corners for each triangle: indices into `vertexOf`. */
  corners: number[];
  /** Polygon of each triangle. */
  polygonOf: number[];
  /** Polygons without area, which are left out, and polygons that cross themselves. */
  flat: number[];
  crossed: number[];
}

/** Area over squared perimeter, below which a polygon has none. A regular one has at least 0.048. */
const FLAT = 1e-12;

/** Three corners of a polygon, as places in its list. */
type Corners = [number, number, number];

/** Splits polygons with numbers of vertices that exist; others become fans, and the caller refuses them. */
export function triangulate(positions: ArrayLike<number>, { vertexOf, starts }: Polygons): Triangulation {
  const out: Triangulation = { corners: [], polygonOf: [], flat: [], crossed: [] };
  for (let p = 0; p < starts.length; p++) {
    yieldPoint();
    const first = starts[p]!;
    const count = (starts[p + 1] ?? vertexOf.length) - first;
    const add = (triangle: Corners): void => {
      for (const corner of triangle) out.corners.push(first + corner);
      out.polygonOf.push(p);
    };
    if (count === 3) {
      add([0, 1, 2]);
      continue;
    }
    const kept = distinct(positions, vertexOf, first, count);
    const reversed = kept !== undefined && order(positions, vertexOf, first, kept);
    const flat = kept && kept.length > 3 ? projected(positions, vertexOf, first, kept) : undefined;
    if (!kept) for (let c = 2; c < count; c++) add([0, c - 1, c]);
    else if (kept.length === 3) add((reversed ? kept.toReversed() : kept) as Corners);
    else if (!flat) out.flat.push(p);
    else {
      const { triangles, crossed } = split(flat);
      if (reversed) triangles.reverse();
      for (const [a, b, c] of triangles) add((reversed ? [a, c, b] : [a, b, c]).map((k) => kept[k]!) as Corners);
      if (crossed) out.crossed.push(p);
    }
  }
  return out;
}

/**
 * Corners without those at the place of the corner before, and of a list that runs round several times only the first
 * round; undefined if a vertex is missing or not finite.
 */
function distinct(x: ArrayLike<number>, vertexOf: number[], first: number, count: number): number[] | undefined {
  const same = (c: number, d: number): boolean =>
    [0, 1, 2].every((k) => x[3 * vertexOf[first + c]! + k] === x[3 * vertexOf[first + d]! + k]);
  for (let c = 0; c < count; c++)
    for (let k = 0; k < 3; k++) if (!Number.isFinite(x[3 * vertexOf[first + c]! + k])) return undefined;
  const kept: number[] = [];
  for (let c = 0; c < count; c++) if (kept.length === 0 || !same(c, kept.at(-1)!)) kept.push(c);
  while (kept.length > 1 && same(kept[0]!, kept.at(-1)!)) kept.pop();
  for (let round = 3; 2 * round <= kept.length; round++)
    if (kept.length % round === 0 && kept.every((c, i) => same(c, kept[i % round]!))) return kept.slice(0, round);
  return kept;
}

/**
 * Orders corners in place: from the one of smallest coordinates towards the smaller of the two beside it.
 * @returns whether they now run against the file's direction
 */
function order(x: ArrayLike<number>, vertexOf: number[], first: number, kept: number[]): boolean {
  const before = (c: number, d: number): boolean => {
    const [p, q] = [3 * vertexOf[first + c]!, 3 * vertexOf[first + d]!];
    for (let k = 0; k < 3; k++) if (x[p + k] !== x[q + k]) return x[p + k]! < x[q + k]!;
    return false;
  };
  let least = 0;
  for (let c = 1; c < kept.length; c++) if (before(kept[c]!, kept[least]!)) least = c;
  kept.push(...kept.splice(0, least));
  const reversed = kept.length > 2 && before(kept.at(-1)!, kept[1]!);
  if (reversed) kept.push(...kept.splice(1).reverse());
  return reversed;
}

/** A polygon in a plane, counter-clockwise. */
interface Flat {
  x: Float64Array;
  y: Float64Array;
}

/** Projects along the largest component of the normal; undefined if the polygon has no area. */
function projected(x: ArrayLike<number>, vertexOf: number[], first: number, kept: number[]): Flat | undefined {
  const at = (c: number, k: number): number => x[3 * vertexOf[first + kept[c % kept.length]!]! + k]!;
  const normal = [0, 0, 0];
  let perimeter = 0;
  for (let c = 0; c < kept.length; c++) {
    const [a, b] = [0, 1].map((step) => [0, 1, 2].map((k) => at(c + step, k) - at(0, k))) as [number[], number[]];
    for (let k = 0; k < 3; k++) {
      const [l, m] = [(k + 1) % 3, (k + 2) % 3];
      normal[k]! += a[l]! * b[m]! - a[m]! * b[l]!;
    }
    perimeter += Math.hypot(...a.map((value, k) => value - b[k]!));
  }
  const along = [0, 1, 2].reduce((a, b) => (Math.abs(normal[b]!) > Math.abs(normal[a]!) ? b : a));
  if (!(Math.hypot(...normal) > 2 * FLAT * perimeter * perimeter)) return undefined;
  const [l, m] = normal[along]! > 0 ? [(along + 1) % 3, (along + 2) % 3] : [(along + 2) % 3, (along + 1) % 3];
  return { x: Float64Array.from(kept, (_, c) => at(c, l)), y: Float64Array.from(kept, (_, c) => at(c, m)) };
}

/** Positive if c lies to the left of the line from a to b. */
const turn = ({ x, y }: Flat, a: number, b: number, c: number): number =>
  -orient2d(x[a]!, y[a]!, x[b]!, y[b]!, x[c]!, y[c]!);

function split(flat: Flat): { triangles: Corners[]; crossed: boolean } {
  const count = flat.x.length;
  const fan = Array.from({ length: count - 2 }, (_, t): Corners => [0, t + 1, t + 2]);
  // All corners to the left of the first edge: the fan turns by less than half a turn, so it does not overlap.
  if (fan.every(([a, b, c]) => turn(flat, a, b, c) > 0 && turn(flat, 0, 1, c) > 0))
    return { triangles: fan, crossed: false };
  const { triangles, stuck } = clipEars(flat);
  return { triangles, crossed: stuck || crosses(flat) };
}

/** Clips ears. In a polygon that crosses itself there may be none: then any convex corner is clipped. */
function clipEars(flat: Flat): { triangles: Corners[]; stuck: boolean } {
  const count = flat.x.length;
  const next = Array.from({ length: count }, (_, c) => (c + 1) % count);
  const before = Array.from({ length: count }, (_, c) => (c + count - 1) % count);
  const convex = next.map((after, c) => turn(flat, before[c]!, c, after) > 0);
  const triangles: Corners[] = [];
  let stuck = false;
  let at = 0;
  for (let left = count; left > 2; left--) {
    let tip = at;
    let seen = 0;
    // Ears whose border touches no other corner come first: they leave no corner on an edge.
    // Once there was none, the polygon crosses itself, and no ear is looked for any more.
    const ear = (): boolean => convex[tip]! && !stuck && isEar(flat, before, next, convex, tip, seen < left);
    while (seen < 2 * left && !ear()) {
      yieldPoint();
      tip = next[tip]!;
      seen++;
    }
    if (seen === 2 * left) {
      stuck = true;
      for (seen = 0; seen < left && !convex[tip]!; seen++) tip = next[tip]!;
    }
    const [a, c] = [before[tip]!, next[tip]!];
    if (turn(flat, a, tip, c) > 0) triangles.push([a, tip, c]);
    next[a] = c;
    before[c] = a;
    for (const corner of [a, c]) convex[corner] = turn(flat, before[corner]!, corner, next[corner]!) > 0;
    // Skipping a corner spreads the ears around the polygon.
    at = next[c]!;
  }
  return { triangles, stuck };
}

/** Whether the triangle at a corner contains no other corner. @param closed counts its border as inside */
function isEar(flat: Flat, before: number[], next: number[], convex: boolean[], tip: number, closed: boolean): boolean {
  const { x, y } = flat;
  const [a, c] = [before[tip]!, next[tip]!];
  const at = (p: number, q: number): boolean => x[p] === x[q] && y[p] === y[q];
  const least = closed ? 0 : Number.MIN_VALUE;
  for (let p = next[c]!; p !== a; p = next[p]!) {
    // If a convex corner is inside, a reflex one is, too. Corners may coincide where a polygon touches itself.
    if (convex[p]! || at(p, a) || at(p, tip) || at(p, c)) continue;
    if (turn(flat, a, tip, p) >= least && turn(flat, tip, c, p) >= least && turn(flat, c, a, p) >= least) return false;
  }
  return true;
}

/** Whether two edges cross. Edges are compared in the order of x, so that distant ones are not. */
function crosses(flat: Flat): boolean {
  const { x } = flat;
  const count = x.length;
  const end = (e: number): number => (e + 1) % count;
  const low = (e: number): number => Math.min(x[e]!, x[end(e)]!);
  const order = Array.from({ length: count }, (_, e) => e).sort((d, e) => low(d) - low(e));
  const opposite = (a: number, b: number, c: number, d: number): boolean =>
    Math.sign(turn(flat, a, b, c)) * Math.sign(turn(flat, a, b, d)) < 0;
  for (let i = 0; i < count; i++) {
    const d = order[i]!;
    const right = Math.max(x[d]!, x[end(d)]!);
    for (let j = i + 1; j < count && low(order[j]!) <= right; j++) {
      const e = order[j]!;
      if (opposite(d, end(d), e, end(e)) && opposite(e, end(e), d, end(d))) return true;
    }
  }
  return false;
}

/**
 * Notes about polygons that have no area or cross themselves.
 * @param name of a polygon in the file, such as its line
 */
export function polygonNotes(
  positions: ArrayLike<number>,
  { vertexOf, starts }: Polygons,
  { flat, crossed }: Triangulation,
  name: (polygon: number) => string,
): MeshNote[] {
  const note = (code: MeshNote["code"], found: number[], text: string): MeshNote[] => {
    if (found.length === 0) return [];
    const at = placeOf(positions, vertexOf[starts[found[0]!]!]!);
    return [{ code, at, text: `${found.length} ${text} the first is ${name(found[0]!)}, at ${percent(at)}.` }];
  };
  return [
    ...note("POLYGONS_FLAT", flat, "faces of four corners or more enclose no area and are left out;"),
    ...note("POLYGONS_CROSSED", crossed, "faces cross themselves, so that their triangles may overlap;"),
  ];
}
