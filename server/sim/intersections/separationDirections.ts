/**
 * Chooses the separation directions for the intersections of two surfaces (or of one with itself). In this order:
 *   overlap   two closed bodies: the direction that reduces their common volume fastest, the sum of the area vectors of
 *             the parts inside the other
 *   parted    one of them is separated into parts by the other (sides.ts): its edges leave the triangles toward the
 *             right side. If that holds for both, the smaller request is chosen: the smaller wrong part, and edges that
 *             agree
 *   contour   neither is: shortens the intersection contour (contour.ts)
 * If the edges agree, all intersections of two different surfaces use the common direction, so that bodies move apart
 * as a whole. It is kept for a second at a time: computed in every tick, it turned back and forth once a cloth had slid
 * over a box's corner.
 */
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { SOLID } from "../memory/contact/surfaceRows.ts";
import { shortening } from "./contour.ts";
import { findSides } from "./sides.ts";
import type { IntersectingSurface } from "./surface.ts";
import { cross, dot, length, minus, plus, times, unit, type Intersection } from "./intersection.ts";

/** Edges agree on a direction if the mean of their unit vectors is at least this long. */
const AGREE = 0.5;
/** Lower bound of the agreement by which a role's wrong share is divided. */
const LEAST_AGREEMENT = 0.05;

export interface Ways {
  /** Unit vectors for the edge of each intersection, in their order; zeros: no motion. */
  ways: Vec3[];
  /** Room numbers of particles on a wrong side. */
  wrong: number[];
  /** Direction of the lower surface, if all intersections share one. */
  common?: Vec3;
}

interface Role {
  surface: IntersectingSurface;
  flags: Uint8Array;
  ways: Vec3[];
  wrong: number[];
  share: number;
  common: Vec3;
  agreement: number;
}

/**
 * @param intersections all between these two surfaces, in both roles
 * @param at position of a particle of the room, m
 * @param kept common direction of an earlier tick
 */
export function findWays(
  intersections: readonly Intersection[],
  surfaces: ReadonlyMap<number, IntersectingSurface>,
  at: (particle: number) => Vec3,
  kept?: Vec3,
): Ways {
  const numbers = [...new Set(intersections.map((t) => t.edgeOf))];
  const itself = intersections[0]!.edgeOf === intersections[0]!.triangleOf;
  const roles = numbers.map((n) => roleOf(intersections, n, surfaces, itself));
  const wrong = roles.flatMap((role) => role.wrong);
  const asks = (role: Role): number => role.share / Math.max(LEAST_AGREEMENT, role.agreement);
  const lower = Math.min(intersections[0]!.edgeOf, intersections[0]!.triangleOf);
  const shared = (way: Vec3): Ways => ({
    ways: intersections.map((t) => (t.edgeOf === lower ? way : times(-1, way))),
    wrong,
    common: way,
  });
  if (kept) return shared(kept);
  const solids = itself
    ? []
    : [intersections[0]!.edgeOf, intersections[0]!.triangleOf].filter((n) => surfaces.get(n)!.solid !== SOLID.cloth);
  if (solids.length === 2) {
    const apart = roles.map((role, r) => ({ sign: numbers[r] === lower ? -1 : 1, ...areaWithin(role, at) }));
    const out = apart.reduce((sum, { sign, vector }) => plus(sum, times(sign, vector)), [0, 0, 0] as Vec3);
    if (length(out) > AGREE * 0.5 * apart.reduce((sum, { area }) => sum + area, 0)) return shared(unit(out));
  }
  const best = roles.filter((role) => role.share > 0).sort((a, b) => asks(a) - asks(b))[0];
  if (best && (itself || best.agreement < AGREE)) return { ways: best.ways, wrong };
  if (best) return shared(times(numbers[roles.indexOf(best)] === lower ? 1 : -1, best.common));
  const shorter = intersections.map((t) =>
    t.crosses ? shortening(t, surfaces.get(t.edgeOf)!, at) : touching(t, surfaces),
  );
  const sum = shorter.reduce((sum, G, i) => plus(sum, times(intersections[i]!.edgeOf === lower ? 1 : -1, G)), [
    0, 0, 0,
  ] as Vec3);
  const all = shorter.reduce((sum, G) => sum + length(G), 0);
  return !itself && all > 0 && length(sum) >= AGREE * all ? shared(unit(sum)) : { ways: shorter.map(unit), wrong };
}

/** Directions for the edges of one surface. */
function roleOf(
  intersections: readonly Intersection[],
  n: number,
  surfaces: ReadonlyMap<number, IntersectingSurface>,
  itself: boolean,
): Role {
  const own = intersections.filter((t) => t.edgeOf === n);
  const surface = surfaces.get(n)!;
  const closed = !itself && surfaces.get(own[0]!.triangleOf)!.solid !== SOLID.cloth;
  const { wrong, share } = findSides(surface, own, closed);
  const ways = intersections.map((t): Vec3 => {
    if (t.edgeOf !== n) return [0, 0, 0];
    const [a, b] = t.particles.map((p) => wrong[p - surface.first]);
    if (!t.crosses) return touching(t, surfaces);
    if (a === b) return [0, 0, 0];
    // toward the end of the edge that is on the right side
    return times(t.heights[a ? 1 : 0] > t.heights[a ? 0 : 1] ? 1 : -1, t.normal);
  });
  const driven = ways.filter((w) => dot(w, w) > 0);
  const sum = driven.reduce(plus, [0, 0, 0] as Vec3);
  return {
    surface,
    flags: wrong,
    ways,
    wrong: Array.from(wrong.keys())
      .filter((i) => wrong[i])
      .map((i) => surface.first + i),
    share,
    common: unit(sum),
    agreement: driven.length ? length(sum) / driven.length : 0,
  };
}

/** Twice the area of a surface on its wrong side, m^2: as a vector, and as a number. */
function areaWithin(
  { surface: { first, triangles }, flags }: Role,
  at: (particle: number) => Vec3,
): { vector: Vec3; area: number } {
  let vector: Vec3 = [0, 0, 0];
  let area = 0;
  for (let i = 0; i < triangles.length; i += 3) {
    const [a, b, c] = [triangles[i]!, triangles[i + 1]!, triangles[i + 2]!] as const;
    const share = (flags[a]! + flags[b]! + flags[c]!) / 3;
    if (!share) continue;
    const own = times(share, cross(minus(at(first + b), at(first + a)), minus(at(first + c), at(first + a))));
    vector = plus(vector, own);
    area += length(own);
  }
  return { vector, area };
}

/**
 * Direction of an edge that only touches: out of a closed surface; off an open one, to the side on which the edge is.
 */
function touching(t: Intersection, surfaces: ReadonlyMap<number, IntersectingSurface>): Vec3 {
  const outward = t.edgeOf !== t.triangleOf && surfaces.get(t.triangleOf)!.solid !== SOLID.cloth;
  return outward || t.heights[0] + t.heights[1] >= 0 ? t.normal : times(-1, t.normal);
}
