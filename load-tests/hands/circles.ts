/**
 * Motion of the grabs in the part `hands`: each grab moves its point in a horizontal circle of 0.3 m at 1 Hz, the first
 * at its original height, the last 0.6 m above. It depends on simulated time only, so that a run can be repeated.
 */
import type { Vec3 } from "../../shared/scene/scene.ts";
import type { CreatedWorld } from "../../server/sim/world/createWorld.ts";
import type { Input } from "../../server/sim/types.ts";
import type { SimWorld } from "../../server/sim/world.ts";

/** m, Hz, m, s. */
const RADIUS = 0.3;
const FREQUENCY = 1;
const HEIGHT = 0.6;
const RISE_SECONDS = 1;
/** 1 / golden ratio: multiples of this fraction of a turn are spread evenly. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** A point of a body's surface. */
export interface Place {
  body: number;
  triangle: number;
  u: number;
  v: number;
}

/** A body's surface: uint32[3T] corners, and the position of a particle, m. A body of points has no corners. */
export interface HeldSurface {
  body: number;
  /** Number of points of a body of points; otherwise 0. */
  points?: number;
  triangles: Uint32Array;
  at: (particle: number) => Vec3;
}

/** Displacement of a target since the grab began, m. @param hand 0 to count - 1 @param seconds since the grab began */
export function offsetOf(hand: number, count: number, seconds: number): Vec3 {
  const phase = (2 * Math.PI * hand) / count;
  const angle = phase + 2 * Math.PI * FREQUENCY * seconds;
  const height = count > 1 ? (HEIGHT * hand) / (count - 1) : 0;
  const rise = Math.min(1, seconds / RISE_SECONDS);
  return [RADIUS * (Math.cos(angle) - Math.cos(phase)), height * rise, RADIUS * (Math.sin(angle) - Math.sin(phase))];
}

/**
 * Spreads points over all surfaces by area. Point n is where the fraction (n + 1/2) / golden ratio (modulo 1) of the
 * total area is, in the order of the triangles. Without surfaces, all points of the clouds have the same weight.
 */
export function spread(surfaces: readonly HeldSurface[], count: number): Place[] {
  const areas = surfaces.map(({ triangles, at }) =>
    Float64Array.from({ length: triangles.length / 3 }, (_, t) => areaOf(triangles, t, at)),
  );
  const total = areas.reduce((sum, list) => sum + sumOf(list), 0);
  const weights = total > 0 ? areas : surfaces.map(({ points = 0 }) => new Float64Array(points).fill(1));
  const whole = weights.reduce((sum, list) => sum + sumOf(list), 0);
  const inside = total > 0 ? 1 / 3 : 0;
  return Array.from({ length: count }, (_, hand) => {
    let left = whole * (((hand + 0.5) * GOLDEN) % 1);
    for (const [s, list] of weights.entries()) {
      for (let t = 0; t < list.length; t++) {
        left -= list[t]!;
        if (left < 0) return { body: surfaces[s]!.body, triangle: t, u: inside, v: inside };
      }
    }
    throw new RangeError(`surface: ${total} m^2, limit: > 0`);
  });
}

const sumOf = (list: Float64Array): number => list.reduce((sum, value) => sum + value, 0);

function areaOf(triangles: Uint32Array, t: number, at: HeldSurface["at"]): number {
  const [a, b, c] = [0, 1, 2].map((k) => at(triangles[3 * t + k]!)) as [Vec3, Vec3, Vec3];
  const e = [b[0] - a[0], b[1] - a[1], b[2] - a[2]] as const;
  const f = [c[0] - a[0], c[1] - a[1], c[2] - a[2]] as const;
  return 0.5 * Math.hypot(e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]);
}

/** Current position of a place, m. */
export function positionOf({ triangles, at }: HeldSurface, { triangle, u, v }: Place): Vec3 {
  if (triangles.length === 0) return at(triangle);
  const corners = [0, 1, 2].map((k) => at(triangles[3 * triangle + k]!));
  return [0, 1, 2].map((r) => (1 - u - v) * corners[0]![r]! + u * corners[1]![r]! + v * corners[2]![r]!) as Vec3;
}

/** The surfaces of the bodies that are in the room. */
export function surfacesOf(
  { bodies, layout }: Pick<CreatedWorld, "bodies" | "layout">,
  world: SimWorld,
): HeldSurface[] {
  const absent = world.absent();
  return bodies
    .map(({ triangles }, body) => ({
      body,
      points: layout.bodies[body]!.kind === "points" ? layout.bodies[body]!.count : 0,
      triangles,
      at: (particle: number): Vec3 => world.position(body, particle),
    }))
    .filter(({ body }) => !absent[body]);
}

/**
 * Returns the inputs of each tick, from the tick of the grabs on; call it once before every tick, in order. Each grab
 * belongs to a member of its own.
 */
export function circles(created: CreatedWorld, world: SimWorld, count: number): () => Input[] {
  const surfaces = surfacesOf(created, world);
  const places = spread(surfaces, count);
  const starts = places.map((place) => positionOf(surfaces.find(({ body }) => body === place.body)!, place));
  let tick = 0;
  return () => {
    const seconds = tick / created.layout.tickHz;
    const first = tick++ === 0;
    return places.map((place, hand): Input => {
      const offset = offsetOf(hand, count, seconds);
      const target = starts[hand]!.map((c, r) => c + offset[r]!) as Vec3;
      const by = { member: hand + 1, grab: 0, target };
      return first ? { type: "grab", ...place, ...by } : { type: "move", ...by };
    });
  };
}
