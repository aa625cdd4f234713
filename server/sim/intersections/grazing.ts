/**
 * Surfaces that touch exactly at the start. The search counts a touch as an intersection, and contact needs a first
 * gap. So closed bodies become a little thinner: each surface particle moves inwards along the surface's normal, from
 * where elasticity and contact return it. Two open sheets move apart as wholes. Deeper intersections stay, for
 * watch.ts.
 */
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { cross, dot, length, minus, plus, times, unit, type Intersection } from "./intersection.ts";
import { enclosedVolume, type IntersectingSurface } from "./surface.ts";

/** Distance that a surface moves: in its contact thicknesses, but at least this part of its size. */
const SHARE = { ofRadius: 0.01, ofSize: 1e-5 } as const;
/** Largest depth of a touch, in parts of that distance: rounding of the positions. */
const ROUNDING = 0.1;

export interface GrazingBody {
  surface: IntersectingSurface;
  /** Distance that it may move, m. */
  play: number;
}

/** @param radius contact thickness, m; size of the body, m */
export const playOf = (radius: number, size: number): number => Math.max(SHARE.ofRadius * radius, SHARE.ofSize * size);

/** Positions of particles, which `move` changes. */
export interface Places {
  at: (particle: number) => Vec3;
  /** Moves a particle unless it is fixed. */
  move: (particle: number, by: Vec3) => void;
}

/** Whether all intersections of two surfaces are touches. @param bodies undefined: a collider, which stays */
export function grazes(
  group: readonly Intersection[],
  bodies: readonly (GrazingBody | undefined)[],
  at: Places["at"],
): boolean {
  const least = Math.min(...bodies.map((body) => body?.play ?? Infinity));
  return least < Infinity && group.every((t) => depthOf(t, at) <= ROUNDING * least);
}

/** Distance by which an edge or a triangle has to move at most, so that they only touch, m. */
function depthOf({ particles, heights, shares }: Intersection, at: Places["at"]): number {
  const [c, d, e] = particles.slice(2).map(at) as [Vec3, Vec3, Vec3];
  const area = length(cross(minus(d, c), minus(e, c)));
  const sides = [minus(e, d), minus(c, e), minus(d, c)].map(length);
  const toSides = shares.map((share, k) => (sides[k]! > 0 ? (share * area) / sides[k]! : 0));
  return Math.min(...heights.map(Math.abs), ...toSides);
}

/** Moves the surfaces of all pairs apart. Each body moves once. */
export function partGrazing(pairs: readonly (readonly (GrazingBody | undefined)[])[], places: Places): void {
  const closed = new Map<GrazingBody, boolean>();
  for (const body of pairs.flat()) if (body) closed.set(body, isClosed(body.surface, places.at));
  const sheets = new Set<GrazingBody>();
  for (const pair of pairs) {
    const bodies = pair.filter((body) => body !== undefined);
    if (!bodies.some((body) => closed.get(body))) sheets.add(bodies.at(-1)!);
  }
  for (const [body, isBody] of closed) if (isBody) thin(body, places);
  for (const sheet of sheets) shift(sheet, places);
}

function isClosed(surface: IntersectingSurface, at: Places["at"]): boolean {
  if ([...surface.beside().values()].some((corners) => corners.length !== 2)) return false;
  const rows = new Float32Array(4 * surface.count);
  for (let i = 0; i < surface.count; i++) rows.set(at(surface.first + i), 4 * i);
  return enclosedVolume({ ...surface, first: 0 }, rows, 0) > 0;
}

/** Sums of the triangles' normals around each particle of the surface, weighted by area. */
function normalsOf({ first, count, triangles }: IntersectingSurface, at: Places["at"]): Vec3[] {
  const normals = Array.from({ length: count }, (): Vec3 => [0, 0, 0]);
  for (let t = 0; t < triangles.length; t += 3) {
    const corners = triangles.subarray(t, t + 3);
    const [a, b, c] = Array.from(corners, (p) => at(first + p)) as [Vec3, Vec3, Vec3];
    const normal = cross(minus(b, a), minus(c, a));
    for (const p of corners) normals[p] = plus(normals[p]!, normal);
  }
  return normals;
}

function thin({ surface, play }: GrazingBody, places: Places): void {
  normalsOf(surface, places.at).forEach((normal, p) => places.move(surface.first + p, times(-play, unit(normal))));
}

/** Moves a sheet along its mean normal. */
function shift({ surface, play }: GrazingBody, places: Places): void {
  const normals = normalsOf(surface, places.at);
  const whole = unit(normals.reduce(plus, [0, 0, 0]));
  const upward: Vec3 = dot(whole, [0, 1, 0]) < 0 ? times(-1, whole) : whole;
  for (let p = 0; p < surface.count; p++) places.move(surface.first + p, times(play, upward));
}
