/** Inputs of members: grab handles and impulses, written into the room's memory. */
import * as L from "../kernel/assembly/layout/layout.ts";
import { handSettings } from "./grabLimits.ts";
import type { Kernel } from "./kernelModule.ts";
import type { BodyLayout, SimLayout } from "./layout.ts";
import { writePoint, type WeightedPoint } from "./memory/points.ts";
import type { Input, SimEvent, SurfaceName } from "./types.ts";

export interface Views {
  f32: Float32Array;
  i32: Int32Array;
}

/** What an input asked for that cannot be: field, value, limit. */
export interface Refusal {
  field: string;
  value: number;
  limit: string;
  /** What takes the place. */
  by?: SurfaceName;
}

/** Neighborhood of a grab where the scene names none: this many mean edges of the surface. */
const GRAB_EDGES = 2;

/** What hands do. */
export type HandInput = Exclude<Input, { type: "reset" | "spawn" | "remove" | "tune" }>;

/** Applies one input. Bad ones change nothing and come back as an event. @param waits whether a body is not there */
export function applyInput(
  views: Views,
  layout: SimLayout,
  kernel: Kernel,
  input: HandInput,
  tick: number,
  waits: (body: number) => boolean,
): SimEvent | undefined {
  const refusal = refuse(views, layout, input, waits) ?? act(views, layout, kernel, input);
  return (
    refusal && {
      type: "inputRejected",
      tick,
      member: input.member,
      ...refusal,
      ...(input.type === "grab" && { grab: input.grab }),
    }
  );
}

function act(views: Views, layout: SimLayout, kernel: Kernel, input: HandInput): Refusal | undefined {
  switch (input.type) {
    case "grab":
      return grab(views, layout, kernel, input);
    case "impulse":
      return void push(views, layout, input);
    case "move": {
      const slot = findSlot(views, layout, input.member, input.grab);
      if (slot >= 0) aim(views, layout, slot, input.target);
      return undefined; // a move of a grab that was released meanwhile is no error
    }
    case "release": {
      const slot = findSlot(views, layout, input.member, input.grab);
      if (slot >= 0) freeSlot(views, layout, slot);
      return undefined;
    }
    case "releaseAll":
      for (let slot = 0; slot < layout.grabCount; slot++)
        if (views.i32[layout.grabOwners / 4 + 2 * slot] === input.member) freeSlot(views, layout, slot);
      return undefined;
  }
}

function refuse(
  views: Views,
  layout: SimLayout,
  input: HandInput,
  waits: (body: number) => boolean,
): Refusal | undefined {
  if (input.type === "grab" || input.type === "impulse") {
    const body = layout.bodies[input.body];
    if (!body) return { field: "body", value: input.body, limit: `0 to ${layout.bodyCount - 1}` };
    if (waits(input.body)) return { field: "body", value: input.body, limit: "a body that is there: this one waits" };
    const places = body.kind === "points" ? body.count : views.i32[(body.surface + L.SURFACE_TRIANGLE_COUNT) / 4]!;
    if (!Number.isInteger(input.triangle) || input.triangle < 0 || input.triangle >= places)
      return { field: "triangle", value: input.triangle, limit: `0 to ${places - 1}` };
    const { u, v } = input;
    // a pick on a triangle's edge may be out by rounding
    if (!(u >= -1e-3 && v >= -1e-3 && u + v <= 1.001))
      return {
        field: u >= -1e-3 && u <= 1.001 ? "v" : "u",
        value: u >= -1e-3 && u <= 1.001 ? v : u,
        limit: "barycentric: u >= 0, v >= 0, u + v <= 1",
      };
  }
  if (input.type === "grab" || input.type === "move") {
    const d = length(input.target.map((c, r) => c + layout.origin[r]!));
    if (!(d <= layout.worldRadius))
      return { field: "target", value: d, limit: `within ${layout.worldRadius} m of the origin` };
  }
  if (input.type === "impulse") {
    const size = length(input.impulse);
    const most = layout.interaction.maxImpulse;
    if (!(size <= most * (1 + 1e-6))) return { field: "impulse", value: size, limit: `at most ${most} N s` };
  }
  return undefined;
}

function length(a: readonly number[]): number {
  return Math.sqrt(a[0]! * a[0]! + a[1]! * a[1]! + a[2]! * a[2]!);
}

function grab(
  views: Views,
  layout: SimLayout,
  kernel: Kernel,
  input: Extract<Input, { type: "grab" }>,
): Refusal | undefined {
  let slot = findSlot(views, layout, input.member, input.grab);
  if (slot < 0) slot = findSlot(views, layout, 0, 0);
  if (slot < 0) return { field: "grab", value: input.grab, limit: `${layout.grabCount} grabs in a room` };
  const { point, center, average } = neighborhood(views, layout, layout.bodies[input.body]!, input);
  const at = slotAddress(layout, slot);
  const owners = layout.grabOwners / 4 + 2 * slot;
  // the handle holds the neighborhood's average, and takes hold where that is; its goal is where that goes when the
  // picked point goes to the hand
  const offset = [0, 1, 2].map((r) => average[r]! - center[r]!) as [number, number, number];
  writePoint(views.f32, views.i32, at, point, {
    target: average as [number, number, number],
    hand: handSettings(views, layout, kernel, input.body, slot, point),
    compliance: layout.interaction.grabCompliance * layout.massUnit,
    maxForce: layout.interaction.grabMaxForce / layout.massUnit,
    implicit: layout.bodies[input.body]!.implicit,
  });
  views.f32.set(offset, layout.grabOffsets / 4 + 3 * slot);
  aim(views, layout, slot, input.target);
  views.i32[owners] = input.member;
  views.i32[owners + 1] = input.grab + 1;
  return undefined;
}

/** Says where the hand is: what it holds goes there at the hand's speed. */
function aim(views: Views, layout: SimLayout, slot: number, hand: readonly [number, number, number]): void {
  const goal = layout.grabGoals / 4 + 3 * slot;
  const offset = layout.grabOffsets / 4 + 3 * slot;
  for (let r = 0; r < 3; r++) views.f32[goal + r] = hand[r]! + views.f32[offset + r]!;
}

/**
 * Once before each tick: how far every hand's target moves in each of its substeps, towards its goal and no faster than
 * `handSpeed`. Simulated time is what counts: where a tick takes long, a hand does not pull the harder for it. Tried
 * and lost: hands that slow down, to a quarter at least, while contact does more than half a tick's work (counted, so
 * that the bits stay). Eight hands on drape then take 25 ms a tick instead of 38, on the funnel's cloth 63 instead of
 * 88, but where it is not hands that cost (tangled-hands) they crawl for nothing, and by the wall what is held goes
 * slower than in slow motion.
 */
export function moveHands({ f32, i32 }: Views, layout: SimLayout): void {
  const most = layout.interaction.handSpeed / layout.tickHz;
  for (let slot = 0; slot < layout.grabCount; slot++) {
    const at = slotAddress(layout, slot) / 4;
    if (!i32[at + L.POINT_ACTIVE / 4]) continue;
    const goal = layout.grabGoals / 4 + 3 * slot;
    const way = [0, 1, 2].map((r) => f32[goal + r]! - f32[at + L.POINT_TARGET / 4 + r]!);
    const share = Math.min(1, most / length(way));
    // an implicit body's step is stable however far the target leaps: it has no substeps to share that out to
    if (i32[at + L.POINT_ACTIVE / 4] === L.POINT_IMPLICIT)
      way.forEach((d, r) => (f32[at + L.POINT_TARGET / 4 + r]! += d === 0 ? 0 : d * share));
    else way.forEach((d, r) => (f32[at + L.POINT_STEP / 4 + r] = d === 0 ? 0 : d * (share / layout.substeps)));
  }
}

function slotAddress(layout: SimLayout, slot: number): number {
  return layout.grabFirst + slot * L.POINT_BYTES;
}

/** The slot of a member's grab; member 0 (nobody) finds a free one. Owners are stored as (member, grab + 1). */
function findSlot(views: Views, layout: SimLayout, member: number, grabNumber: number): number {
  for (let slot = 0; slot < layout.grabCount; slot++) {
    const at = layout.grabOwners / 4 + 2 * slot;
    const stored = views.i32[at + 1]!;
    if (member === 0 ? stored === 0 : stored === grabNumber + 1 && views.i32[at] === member) return slot;
  }
  return -1;
}

export function freeSlot(views: Views, layout: SimLayout, slot: number): void {
  views.i32[(slotAddress(layout, slot) + L.POINT_ACTIVE) / 4] = 0;
  views.i32.fill(0, layout.grabOwners / 4 + 2 * slot, layout.grabOwners / 4 + 2 * slot + 2);
}

/**
 * Particles around a picked point, of a solid also those inside, with weights (1 - d^2/R^2)^2, normalized; at least the
 * triangle's corners, or the point. Holding a neighborhood instead of three corners spreads the force, so that a soft
 * body is pulled and not pierced, and its skin not drawn off what is beneath.
 */
export function neighborhood(
  views: Views,
  layout: SimLayout,
  body: BodyLayout,
  pick: { triangle: number; u: number; v: number },
): { point: WeightedPoint; center: number[]; average: number[] } {
  const { f32 } = views;
  const corners = cornersOf(views, layout, body, pick.triangle);
  const bary = body.kind === "points" ? [1] : [1 - pick.u - pick.v, pick.u, pick.v];
  const center = [0, 1, 2].map((r) => corners.reduce((sum, a, k) => sum + bary[k]! * f32[a / 4 + r]!, 0));
  const radius = layout.interaction.grabRadius || GRAB_EDGES * body.meanEdge;
  const near: { address: number; weight: number }[] = [];
  for (let i = 0; i < body.count; i++) {
    const address = layout.x + 16 * (body.first + i);
    const d = [0, 1, 2].map((r) => f32[address / 4 + r]! - center[r]!);
    const q = 1 - (d[0]! * d[0]! + d[1]! * d[1]! + d[2]! * d[2]!) / (radius * radius);
    if (q > 0) near.push({ address, weight: q * q });
  }
  for (const [k, address] of corners.entries())
    if (!near.some((n) => n.address === address)) near.push({ address, weight: 0.01 + Math.max(bary[k]!, 0) });
  // nearest first, address as the tie-break: the same choice everywhere
  near.sort((a, b) => b.weight - a.weight || a.address - b.address);
  near.length = Math.min(near.length, L.POINT_MAX_PARTICLES);
  const sum = near.reduce((s, n) => s + n.weight, 0);
  const weights = near.map((n) => n.weight / sum);
  const average = [0, 1, 2].map((r) => near.reduce((s, n, i) => s + weights[i]! * f32[n.address / 4 + r]!, 0));
  return { point: { addresses: near.map((n) => n.address), weights }, center, average };
}

/** Addresses of a triangle's corners; of a body without triangles, of the point of that number. */
function cornersOf({ i32 }: Views, layout: SimLayout, body: BodyLayout, triangle: number): number[] {
  if (body.kind === "points") return [layout.x + 16 * (body.first + triangle)];
  const table = i32[(body.surface + L.SURFACE_TRIANGLES) / 4]! / 4 + 3 * triangle;
  return [i32[table]!, i32[table + 1]!, i32[table + 2]!];
}

/** Dv_i = w_i b_i J: the momentum J = sum m_i Dv_i arrives whole (less what pinned particles take). */
function push(views: Views, layout: SimLayout, input: Extract<Input, { type: "impulse" }>): void {
  const { point } = neighborhood(views, layout, layout.bodies[input.body]!, input);
  const toV = layout.v - layout.x;
  point.addresses.forEach((address, i) => {
    const w = views.f32[address / 4 + 3]! * point.weights[i]!;
    for (let r = 0; r < 3; r++) views.f32[(address + toV) / 4 + r]! += w * (input.impulse[r]! / layout.massUnit);
  });
}
