/**
 * Makes a surface usable as cloth: about the allowed number of particles, evenly spaced, without needle-shaped
 * triangles. Long edges are halved (in all of their triangles, so the mesh stays conforming), large meshes are
 * simplified (simplify.ts), and short edges are removed.
 */
import { finishSurface } from "../importers/finishMesh.ts";
import type { SurfaceMesh } from "../mesh.ts";
import { simplifySurface } from "./simplify.ts";

/** Edges longer than this, relative to the target length, are halved; the halves are at least 0.7 long. */
const LONG = 1.4;
/**
 * Vertices nearer than this, relative to the target edge, are merged. Tried and rejected: 0.2 gives more even meshes,
 * but leaves edges of three triangles.
 */
const MERGED = 0.01;
/**
 * Triangles below this area over longest edge squared are dropped; an equilateral one has 0.433. Not 1e-3: a dropped
 * triangle is a hole, so only triangles without a rest shape are dropped.
 */
const FLAT = 1e-8;
/** Ratio below which a triangle's long edge is flipped. */
const CAP = 1e-2;
/** Maximum number of halving rounds; each can quarter triangles. */
const ROUNDS = 12;

const next = (h: number): number => (h % 3 === 2 ? h - 2 : h + 1);

export function areaOf({ positions: x, triangles }: SurfaceMesh): number {
  let area = 0;
  for (let t = 0; t < triangles.length; t += 3) area += triangleArea(x, triangles, t);
  return area;
}

function triangleArea(x: Float64Array, triangles: ArrayLike<number>, t: number): number {
  const [a, b, c] = [3 * triangles[t]!, 3 * triangles[t + 1]!, 3 * triangles[t + 2]!];
  const u = [0, 1, 2].map((k) => x[b + k]! - x[a + k]!) as [number, number, number];
  const v = [0, 1, 2].map((k) => x[c + k]! - x[a + k]!) as [number, number, number];
  return 0.5 * Math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
}

/**
 * Edge length of an even mesh of `particles` on this area, two equilateral triangles per particle: A = N (sqrt 3 / 2)
 * h^2.
 */
function evenEdge(area: number, particles: number): number {
  return Math.sqrt((2 * area) / (Math.sqrt(3) * particles));
}

/**
 * @param particles maximum number of vertices
 * @returns the sheet; it has more vertices if meshoptimizer cannot collapse further
 */
export async function evenSheet(surface: SurfaceMesh, particles: number): Promise<SurfaceMesh> {
  const edge = evenEdge(areaOf(surface), particles);
  const count = (sheet: SurfaceMesh): number => sheet.positions.length / 3;
  let coarse = clean(surface, MERGED * edge);
  for (let target = 2 * particles; count(coarse) > particles && target > 8; target *= 0.8)
    coarse = clean(withoutCaps(await simplifySurface(coarse, Math.floor(target), Infinity)), MERGED * edge);
  // Flat regions now have few large triangles: they get the remaining particles.
  for (let long = LONG * edge; ; long *= 1.15) {
    const sheet = halved(coarse, long, 4 * particles);
    if (count(sheet) <= Math.max(particles, count(coarse))) return sheet;
  }
}

/**
 * Flips the long edge of needle-shaped triangles, which simplification creates along rows of vertices. Dropping them
 * would make holes.
 */
function withoutCaps({ positions: x, triangles }: SurfaceMesh): SurfaceMesh {
  const out = triangles.slice();
  const vertices = x.length / 3;
  const starts = new Map<number, number>();
  const key = (a: number, b: number): number => a * vertices + b;
  out.forEach((v, h) => starts.set(key(v, out[next(h)]!), h));
  const length2 = (a: number, b: number): number =>
    [0, 1, 2].reduce((sum, k) => sum + (x[3 * a + k]! - x[3 * b + k]!) ** 2, 0);
  for (let t = 0; t < out.length; t += 3) {
    const sides = [0, 1, 2].map((k) => length2(out[t + k]!, out[next(t + k)]!));
    const longest = Math.max(...sides);
    if (triangleArea(x, out, t) > CAP * longest) continue;
    const h = t + sides.indexOf(longest);
    const [a, b, c] = [out[h]!, out[next(h)]!, out[next(next(h))]!];
    const g = starts.get(key(b, a));
    if (g === undefined) continue;
    const d = out[next(next(g))]!;
    if (d === c || starts.has(key(c, d)) || starts.has(key(d, c))) continue;
    // a b c and b a d become a d c and d b c.
    for (const [p, q] of [
      [a, b],
      [b, a],
    ] as const)
      starts.delete(key(p, q));
    const u = g - (g % 3);
    out.set([a, d, c], t);
    out.set([d, b, c], u);
    for (let k = 0; k < 3; k++) {
      starts.set(key(out[t + k]!, out[next(t + k)]!), t + k);
      starts.set(key(out[u + k]!, out[next(u + k)]!), u + k);
    }
  }
  return { positions: x, triangles: out };
}

/** Merges vertices that are nearly at one position, and drops needle-shaped triangles. */
function clean({ positions, triangles }: SurfaceMesh, short: number): SurfaceMesh {
  const parent = Uint32Array.from({ length: positions.length / 3 }, (_, v) => v);
  const root = (v: number): number => {
    while (parent[v] !== v) v = parent[v] = parent[parent[v]!]!;
    return v;
  };
  const length2 = (a: number, b: number): number =>
    [0, 1, 2].reduce((sum, k) => sum + (positions[3 * a + k]! - positions[3 * b + k]!) ** 2, 0);
  for (let h = 0; h < triangles.length; h++) {
    // Use the distance of the roots, so that chains of short edges do not merge.
    const [a, b] = [root(triangles[h]!), root(triangles[next(h)]!)];
    if (a !== b && length2(a, b) < short * short) parent[Math.max(a, b)] = Math.min(a, b);
  }
  const elements: number[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    const corners = [0, 1, 2].map((k) => root(triangles[t + k]!)) as [number, number, number];
    const [a, b, c] = corners;
    const longest2 = Math.max(length2(a, b), length2(b, c), length2(c, a));
    if (a !== b && b !== c && c !== a && triangleArea(positions, corners, 0) > FLAT * longest2)
      elements.push(...corners);
  }
  if (elements.length === 0) return { positions, triangles };
  const kept = finishSurface({ file: "sheet", positions, elements });
  return { positions: kept.positions, triangles: kept.triangles };
}

/** Halves edges longer than `long` until none is left, or the sheet has `limit` vertices. */
function halved(surface: SurfaceMesh, long: number, limit: number): SurfaceMesh {
  let { triangles } = surface;
  const positions = [...surface.positions];
  for (let round = 0; round < ROUNDS; round++) {
    const middles = new Map<string, number>();
    for (let h = 0; h < triangles.length; h++) {
      const [a, b] = [triangles[h]!, triangles[next(h)]!];
      const length = Math.hypot(...[0, 1, 2].map((k) => positions[3 * a + k]! - positions[3 * b + k]!));
      const key = a < b ? `${a} ${b}` : `${b} ${a}`;
      if (length <= long || middles.has(key)) continue;
      if (positions.length / 3 >= limit) break;
      middles.set(key, positions.length / 3);
      for (let k = 0; k < 3; k++) positions.push(0.5 * (positions[3 * a + k]! + positions[3 * b + k]!));
    }
    if (middles.size === 0) break;
    triangles = split(triangles, middles, positions);
  }
  return { positions: Float64Array.from(positions), triangles };
}

/** Splits triangles at the midpoints of their halved edges: into two, three or four. */
function split(triangles: Uint32Array, middles: ReadonlyMap<string, number>, x: readonly number[]): Uint32Array {
  const out: number[] = [];
  const distance2 = (p: number, q: number): number =>
    [0, 1, 2].reduce((sum, k) => sum + (x[3 * p + k]! - x[3 * q + k]!) ** 2, 0);
  for (let t = 0; t < triangles.length; t += 3) {
    const corner = [...triangles.subarray(t, t + 3)];
    const middle = corner.map((a, k) => {
      const b = corner[(k + 1) % 3]!;
      return middles.get(a < b ? `${a} ${b}` : `${b} ${a}`);
    });
    const count = middle.filter((m) => m !== undefined).length;
    // Rotate the triangle: with one halved edge it comes first; with two, the unhalved edge comes last.
    const turn = count === 1 ? middle.findIndex((m) => m !== undefined) : (middle.indexOf(undefined) + 1) % 3;
    const [a, b, c] = [0, 1, 2].map((k) => corner[(k + turn) % 3]!) as [number, number, number];
    const [p, q, r] = [0, 1, 2].map((k) => middle[(k + turn) % 3]);
    if (count === 0) out.push(a, b, c);
    else if (count === 1) out.push(a, p!, c, p!, b, c);
    else if (count === 3) out.push(a, p!, r!, p!, b, q!, r!, q!, c, p!, q!, r!);
    // Use the shorter diagonal of the remaining quadrilateral.
    else if (distance2(a, q!) <= distance2(p!, c)) out.push(p!, b, q!, a, p!, q!, a, q!, c);
    else out.push(p!, b, q!, a, p!, c, p!, q!, c);
  }
  return Uint32Array.from(out);
}
