/** Drives: rows that move intersecting surfaces apart, from the directions of separationDirections.ts. */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { Views } from "../world/views.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import { dot, type Intersection } from "./intersection.ts";
import type { Ways } from "./separationDirections.ts";

/** Time in which intersecting bodies move apart by their size, s: slow enough for members to follow. */
const SECONDS_TO_CLEAR = 4;
/** Largest displacement in a tick, in edges: directions are computed once a tick. */
const EDGE_SHARE = 0.25;
/** Particles in a row. */
const ROW = 5;

/** A drive moves particles (room numbers), with weights, along a unit vector. */
export interface Drive {
  surfaces: [number, number];
  way: Vec3;
  weights: Map<number, number>;
  /** If set, only prevents motion against the direction. */
  stands?: boolean;
  /** Distance to move, m; default: the size of the smaller body. */
  size?: number;
}

/**
 * Mean of the intersections' weights: points of edges against points of triangles.
 * @param sign of each intersection
 */
function meanOf(intersections: readonly Intersection[], sign: (t: Intersection) => number): Map<number, number> {
  const weights = new Map<number, number>();
  for (const t of intersections) {
    const scale = sign(t) / intersections.length;
    const own = [1 - t.along, t.along, -t.shares[0], -t.shares[1], -t.shares[2]];
    t.particles.forEach((p, k) => weights.set(p, (weights.get(p) ?? 0) + scale * own[k]!));
  }
  return weights;
}

/**
 * Drives of a pair. With a common direction, its intersections move along it together, and none moves against its own
 * direction; otherwise each moves along its own.
 */
export function drivesOf(surfaces: [number, number], group: readonly Intersection[], { common, ways }: Ways): Drive[] {
  const each = (t: Intersection, i: number): Drive => ({ surfaces, way: ways[i]!, weights: meanOf([t], () => 1) });
  if (!common) return group.map(each).filter(({ way }) => dot(way, way) > 0);
  const weights = meanOf(group, (t) => (t.edgeOf === surfaces[0] ? 1 : -1));
  const standing = group.map((t, i): Drive => ({ ...each(t, i), stands: true }));
  return [{ surfaces, way: common, weights }, ...standing];
}

/** Distance that surfaces a and b move apart in a substep, m. */
function stride({ bodies, tickHz, substeps }: SimLayout, a: number, b: number, size = Infinity): number {
  const own = [a, b].filter((n) => n < bodies.length).map((n) => bodies[n]!);
  const perSecond = Math.min(
    (size < Infinity ? size : Math.min(...own.map((body) => body.size))) / SECONDS_TO_CLEAR,
    ...own.map((body) => EDGE_SHARE * body.meanEdge * tickHz),
  );
  return perSecond / (tickHz * substeps);
}

/** Writes the rows of drives for kernel/assembly/intersections/resolution.ts, as many as fit. */
export function writeDrives({ f32, i32 }: Views, layout: SimLayout, drives: readonly Drive[]): void {
  const first = i32[(L.HEADER + L.H_INTERSECTIONS) / 4]! / 4;
  const capacity = i32[(L.HEADER + L.H_INTERSECTION_CAPACITY) / 4]!;
  let count = 0;
  for (const {
    surfaces: [a, b],
    way,
    weights,
    stands,
    size,
  } of drives) {
    const entries = [...weights];
    const rows = Math.ceil(entries.length / ROW);
    if (count + rows > capacity) break;
    for (let n = 0; n < rows; n++) {
      const at = first + ((count + n) * L.INTERSECTION_BYTES) / 4;
      for (let k = 0; k < ROW; k++) {
        const [particle, weight] = entries[ROW * n + k] ?? [entries[0]![0], 0];
        i32[at + k] = layout.x + 16 * particle;
        f32[at + L.INTERSECTION_WEIGHT / 4 + k] = weight;
      }
      i32[at + L.INTERSECTION_SURFACES / 4] = (a << 16) | b;
      i32[at + L.INTERSECTION_ROWS / 4] = rows;
      f32[at + L.INTERSECTION_DRIVE / 4] = stands ? 0 : stride(layout, a, b, size);
      f32.set(way, at + L.INTERSECTION_NORMAL / 4);
    }
    count += rows;
  }
  i32[(L.HEADER + L.H_DRIVE_COUNT) / 4] = count;
}
