/**
 * Finds the particles that a grab holds, and their weights.
 *
 * One grab may hold several bodies at once (`interaction.together` of a scene). It holds each at the same place
 * relative to the middle of its box, and pulls each equally far. The place is measured on undeformed shapes. Bodies of
 * the same mesh get the same particles and weights to the bit, so only their motion differs.
 */
import { counterpart, type RestSurface } from "../../../shared/geometry/surfacePoints.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Views } from "../world/views.ts";
import type { BodyLayout, SimLayout } from "../world/worldLayout.ts";
import type { WeightedPoint } from "../memory/bodies/pointSlots.ts";

/** Radius of a grab's neighborhood if the scene names none, in mean edges of the surface. */
const GRAB_EDGES = 2;
/** Tolerance in mean edges, above the float32 rounding of one mesh at two places. */
const ALIKE = 1e-3;

/** Particles of one body that a grab holds. */
export interface Hold {
  body: number;
  point: WeightedPoint;
  /** From the pointer to the goal of the point's average, m. */
  offset: [number, number, number];
}

type Pick = { body: number; triangle: number; u: number; v: number };

export function holdAlone(views: Views, layout: SimLayout, pick: Pick): Hold {
  const { point, center } = neighborhood(views, layout, layout.bodies[pick.body]!, pick);
  return { body: pick.body, point, offset: difference(averageOf(views, point), center) };
}

/** Finds the grabbed place on all bodies that one grab may hold. */
export function holdTogether(views: Views, layout: SimLayout, pick: Pick): Hold[] {
  const { initial, interaction, bodies } = layout;
  const picked = bodies[pick.body]!;
  const { point: own, center } = neighborhood(views, layout, picked, pick, initial);
  return interaction.together.map((number) => {
    const body = bodies[number]!;
    const on = 16 * (body.first - picked.first);
    const at = (): Pick =>
      counterpart(pick, restSurface(views, layout, picked), number, restSurface(views, layout, body));
    const point = areAlike(views, layout, picked, body)
      ? { ...own, addresses: own.addresses.map((address) => address + on) }
      : neighborhood(views, layout, body, at(), initial).point;
    return { body: number, point, offset: difference(averageOf(views, point, initial - layout.x), center) };
  });
}

/** True if both bodies have the same mesh at two places: a grab of one then fits the other. */
export function areAlike({ f32 }: Views, { initial }: SimLayout, a: BodyLayout, b: BodyLayout): boolean {
  if (a.count !== b.count || a.kind !== b.kind) return false;
  const [here, there] = [initial / 4 + 4 * a.first, initial / 4 + 4 * b.first];
  const most = ALIKE * a.meanEdge;
  for (let r = 0; r < 3; r++) {
    const shift = f32[there + r]! - f32[here + r]!;
    for (let k = r; k < 4 * a.count; k += 4)
      if (!(Math.abs(f32[there + k]! - f32[here + k]! - shift) <= most)) return false;
  }
  return true;
}

/** A body's surface where the scene places it. */
function restSurface({ f32, i32 }: Views, { initial, x }: SimLayout, body: BodyLayout): RestSurface {
  const { first, streamedCount, surface, kind } = body;
  const from = initial / 4 + 4 * first;
  const rest = Float32Array.from({ length: 3 * streamedCount }, (_, k) => f32[from + 4 * ((k / 3) | 0) + (k % 3)]!);
  if (kind === "points") return { rest, triangles: new Uint32Array(0) };
  const table = i32[(surface + L.SURFACE_TRIANGLES) / 4]! / 4;
  const corners = i32.subarray(table, table + 3 * i32[(surface + L.SURFACE_TRIANGLE_COUNT) / 4]!);
  return { rest, triangles: Uint32Array.from(corners, (address) => (address - x) / 16 - first) };
}

/**
 * Particles around a picked point, of a solid also inner ones, with normalized weights (1 - d^2/R^2)^2; at least the
 * triangle's corners, or the point. A neighborhood spreads the force better than three corners: a soft body is pulled
 * and not pierced, and its skin is not drawn off the inside.
 * @param places address of the positions to use: the current ones, or the scene's
 */
export function neighborhood(
  { f32, i32 }: Views,
  layout: SimLayout,
  body: BodyLayout,
  pick: Omit<Pick, "body">,
  places = layout.x,
): { point: WeightedPoint; center: number[] } {
  const there = (places - layout.x) / 4;
  const corners = cornersOf(i32, layout, body, pick.triangle);
  const bary = body.kind === "points" ? [1] : [1 - pick.u - pick.v, pick.u, pick.v];
  const center = [0, 1, 2].map((r) => corners.reduce((sum, a, k) => sum + bary[k]! * f32[there + a / 4 + r]!, 0));
  const radius = layout.interaction.grabRadius || GRAB_EDGES * body.meanEdge;
  const near: { address: number; weight: number }[] = [];
  for (let i = 0; i < body.count; i++) {
    const address = layout.x + 16 * (body.first + i);
    const d = [0, 1, 2].map((r) => f32[there + address / 4 + r]! - center[r]!);
    const q = 1 - (d[0]! * d[0]! + d[1]! * d[1]! + d[2]! * d[2]!) / (radius * radius);
    if (q > 0) near.push({ address, weight: q * q });
  }
  for (const [k, address] of corners.entries())
    if (!near.some((n) => n.address === address)) near.push({ address, weight: 0.01 + Math.max(bary[k]!, 0) });
  // nearest first, ties by address: the same choice on every machine
  near.sort((a, b) => b.weight - a.weight || a.address - b.address);
  near.length = Math.min(near.length, L.POINT_MAX_PARTICLES);
  const sum = near.reduce((s, n) => s + n.weight, 0);
  return { point: { addresses: near.map((n) => n.address), weights: near.map((n) => n.weight / sum) }, center };
}

/**
 * Position of a held point, m.
 * @param on offset in bytes from the current positions to the positions to use
 */
export function averageOf({ f32 }: Views, { addresses, weights }: WeightedPoint, on = 0): [number, number, number] {
  return [0, 1, 2].map((r) => addresses.reduce((s, a, i) => s + weights[i]! * f32[(a + on) / 4 + r]!, 0)) as [
    number,
    number,
    number,
  ];
}

const difference = (a: readonly number[], b: readonly number[]): [number, number, number] =>
  a.map((x, r) => x - b[r]!) as [number, number, number];

/** Addresses of a triangle's corners; for a body without triangles, of the point with that number. */
function cornersOf(i32: Int32Array, layout: SimLayout, body: BodyLayout, triangle: number): number[] {
  if (body.kind === "points") return [layout.x + 16 * (body.first + triangle)];
  const table = i32[(body.surface + L.SURFACE_TRIANGLES) / 4]! / 4 + 3 * triangle;
  return [i32[table]!, i32[table + 1]!, i32[table + 2]!];
}
