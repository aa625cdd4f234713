/**
 * Core meshes of analytic colliders: triangles inside of the shape, closed, normals outward, no duplicate vertex. The
 * shape itself keeps particles out (kernel/assembly/colliders/collide.ts). The core stops edges and faces between them,
 * and nothing may pass through it.
 *   box       exact: 8 vertices, 12 triangles
 *   sphere    icosphere of 1,280 triangles: sag (depth of a facet below the surface) less than 1 % of the radius;
 *             large ones lie deeper (smooth.ts)
 *   capsule, cylinder   inscribed: convex, so facets between points of the surface are inside; sag at most 1 % of the
 *             radius. Those thinner than the bodies' edges have coarser facets (Fineness): 25 needles under ten sheets
 *             had 75,200 triangles, and the broad phase took half of a tick
 *   funnel    a tube with walls, all of it inside the wall, everywhere within 1 % of the larger radius of its surface
 * A regular polygon of n corners on a circle sags by 1 - cos(pi/n) of the radius. A facet between two such polygons of
 * a ball sags by 1 - cos(pi/n) cos(step/2), with `step` the angle between them.
 */
import type { Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { icosphere } from "../../meshing/generators.ts";
import type { SurfaceMesh } from "../../meshing/mesh.ts";
import { rotationMatrix } from "../body/transform.ts";
import { revolve, type OutlinePoint } from "./revolved.ts";

/** The smallest features of the bodies that meet a core. */
export interface Fineness {
  /** Least mean edge, m; 0 without bodies. */
  edge: number;
  /** Least contact radius, m. A sag of a part GAP of it makes no difference. */
  gap: number;
}

/** Without bodies: facets follow from the shape alone. */
const FINEST: Fineness = { edge: 0, gap: 0 };
const GAP = 0.25;
/** Fewest corners of a circle. */
const LEAST_ROUND = 8;

type Of<T extends Collider["type"]> = Extract<Collider, { type: T }>;

/** Largest sag in radii. */
export const SAG = 0.01;
/** Corners of a circle: 1 - cos(pi/24) = 0.86 %. */
const ROUND = 24;
/** Corners of a ball's circle, with half as many steps from pole to pole: 1 - cos^2(pi/32) = 0.96 %. */
const BALL_ROUND = 32;
/**
 * Largest number of corners of a funnel's circles. A wall thinner than 1/13,000 of its radius would need more: its
 * facets leave it by up to 1/100,000 of the radius.
 */
const MOST_ROUND = 512;
/**
 * Largest number of bands between the ends. Bands are as long as the radius, so that boxes around slanted triangles
 * stay small.
 */
const MOST_BANDS = 32;

/** A box's corners are numbered by the signs of x, y and z (bits 0, 1 and 2). */
const BOX_TRIANGLES = [
  0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6,
];

export function boxCore(box: Of<"box">): SurfaceMesh {
  const R = rotationMatrix(box.rotate);
  const positions = new Float64Array(24);
  for (let corner = 0; corner < 8; corner++) {
    const local = box.halfExtents.map((half, r) => ((corner >> r) & 1 ? half : -half));
    for (let r = 0; r < 3; r++)
      positions[3 * corner + r] =
        box.center[r]! + R[3 * r]! * local[0]! + R[3 * r + 1]! * local[1]! + R[3 * r + 2]! * local[2]!;
  }
  return { positions, triangles: Uint32Array.from(BOX_TRIANGLES) };
}

/** @param inset extra depth of the core, m */
export function sphereCore(sphere: Of<"sphere">, inset = 0): SurfaceMesh {
  const { positions, triangles } = icosphere(sphere.radius - inset, 3);
  return { positions: positions.map((x, k) => x + sphere.center[k % 3]!), triangles };
}

/** Corners of a circle, at most `most`, and length of bands, m. */
function facetsOf(radius: number, most: number, { edge, gap }: Fineness): { round: number; band: number } {
  if (radius >= edge) return { round: most, band: radius };
  const sag = Math.min(1, Math.max(SAG, (GAP * gap) / radius));
  const round = 4 * Math.ceil(Math.PI / Math.asin(Math.sqrt(sag)) / 4);
  return { round: Math.max(LEAST_ROUND, Math.min(most, round)), band: Math.max(radius, edge / 2) };
}

/** @param inset extra depth of the core, m */
export function capsuleCore({ a, b, radius: whole }: Of<"capsule">, inset = 0, fineness = FINEST): SurfaceMesh {
  const length = distance(a, b);
  const { round, band } = facetsOf(whole, BALL_ROUND, fineness);
  const steps = round / 4;
  const radius = whole - inset;
  const cap = (from: number, height: number): OutlinePoint[] =>
    Array.from({ length: steps + 1 }, (_, k) => arcPoint(0, height, radius, from + (0.5 * Math.PI * k) / steps));
  const low = cap(-0.5 * Math.PI, 0);
  const high = cap(0, length);
  // the poles, exactly on the axis
  low[0] = [0, -radius];
  high[steps] = [0, length + radius];
  return revolve([...low, ...between(low[steps]!, high[0]!, band), ...high], a, b, round);
}

export function cylinderCore({ a, b, radius }: Of<"cylinder">, fineness = FINEST): SurfaceMesh {
  const length = distance(a, b);
  const { round, band } = facetsOf(radius, ROUND, fineness);
  const low: OutlinePoint = [radius, 0];
  const high: OutlinePoint = [radius, length];
  return revolve([[0, 0], low, ...between(low, high, band), high, [0, length]], a, b, round);
}

/**
 * The wall is all points within half its thickness of a slanted segment in the half plane, which is convex there.
 * Revolved in n steps, a ring has its full radius at its corners, and cos(pi/n) of it in the middle of its sides. With
 * rings widened by 1/sqrt(cos(pi/n)), radii are off by at most delta = R (1/sqrt(cos(pi/n)) - 1) either way. So an
 * outline that is delta inside of the wall stays inside of it all around.
 */
export function funnelCore({ a, b, radiusA, radiusB, thickness }: Of<"funnel">): SurfaceMesh {
  const length = distance(a, b);
  const half = 0.5 * thickness;
  const widest = Math.max(radiusA, radiusB) + half;
  const { turns, widen, delta } = roundness(widest, half);
  const inner = Math.max(half - delta, 0.5 * half);
  // rims: half circles with enough steps to sag by at most half of SAG, at least two; 16 are enough for a very thick
  // wall
  let steps = 2;
  while (steps < 16 && inner * (1 - Math.cos((0.5 * Math.PI) / steps)) > 0.5 * SAG * widest) steps++;
  const outward = Math.atan2(-(radiusB - radiusA), length);
  const rim = (radius: number, height: number, from: number): OutlinePoint[] =>
    Array.from({ length: steps + 1 }, (_, k) => arcPoint(radius, height, inner, from + (Math.PI * k) / steps));
  const top = rim(radiusB, length, outward);
  const bottom = rim(radiusA, 0, outward + Math.PI);
  const outline = [
    ...top,
    ...between(top[steps]!, bottom[0]!, widest),
    ...bottom,
    ...between(bottom[steps]!, top[0]!, widest),
  ];
  return revolve(
    outline.map(([radius, height]) => [radius * widen, height] as const),
    a,
    b,
    turns,
  );
}

/**
 * Corners of the circles of a wall: radii are off by at most SAG/4 of the largest one and an eighth of half the wall.
 */
function roundness(widest: number, half: number): { turns: number; widen: number; delta: number } {
  const most = 1 + Math.min(0.25 * SAG, (0.125 * half) / widest);
  const turns = Math.min(MOST_ROUND, Math.max(ROUND, Math.ceil(Math.PI / Math.acos(1 / (most * most)))));
  const widen = 1 / Math.sqrt(Math.cos(Math.PI / turns));
  return { turns, widen, delta: widest * (widen - 1) };
}

function arcPoint(radius: number, height: number, arc: number, angle: number): OutlinePoint {
  return [radius + arc * Math.cos(angle), height + arc * Math.sin(angle)];
}

/** Points that divide a straight side into bands of about `size`, without its ends. */
function between(from: OutlinePoint, to: OutlinePoint, size: number): OutlinePoint[] {
  const bands = Math.min(
    MOST_BANDS,
    Math.max(1, Math.round(Math.sqrt((to[0] - from[0]) ** 2 + (to[1] - from[1]) ** 2) / size)),
  );
  return Array.from({ length: bands - 1 }, (_, k) => {
    const s = (k + 1) / bands;
    return [from[0] + s * (to[0] - from[0]), from[1] + s * (to[1] - from[1])] as const;
  });
}

function distance(a: Vec3, b: Vec3): number {
  return Math.sqrt(a.reduce((sum, x, r) => sum + (x - b[r]!) ** 2, 0));
}
