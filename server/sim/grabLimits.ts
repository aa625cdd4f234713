/**
 * What keeps a hand from tearing what it holds. A hand has all of its force while no edge is stretched beyond `ease`,
 * none from `ease` + half of what the scene allows on, and a straight line in between. Which edges: those that it holds
 * in every substep (kernel, points.ts), all of the body's once before every tick. A body that is stretched already when
 * somebody takes hold, by a weight or another hand, has its `ease` there, but never beyond `grabMaxStretch`: so it can
 * be held, and nobody stretches it by more than half as much again.
 */
import * as L from "../kernel/assembly/layout/layout.ts";
import type { Views } from "./grabs.ts";
import { hands, slotAddress } from "./grabSlots.ts";
import type { Kernel } from "./kernelModule.ts";
import type { BodyLayout, SimLayout } from "./layout.ts";
import type { HandSettings, WeightedPoint } from "./memory/points.ts";
import { edgesAt } from "./restShapes.ts";

/** Of the stretch that is allowed: where a hand begins to ease off, and over how much more. */
const EASE = 0.5;
/**
 * Most that the share of force that a body leaves its hands rises from tick to tick: what falls at once and came back
 * at once would throb.
 */
const SHARE_RISE = 0.1;
/**
 * Of the mean of the edges that a hand holds: the furthest that its force alone moves the point in a substep, so that
 * what is stretched can answer before it is torn. Where substeps are long, as far as the hand goes in one.
 */
const SHIFT = 0.1;

/** Of a body that are looked at in a tick: 0.2 ms. */
const MOST_ELEMENTS = 16_384;

type Stretches = Pick<Kernel, "worstStretch">;

function worstOf(kernel: Stretches, layout: SimLayout, { rest, first }: BodyLayout): number {
  if (!rest) return 1;
  const { elements, elementCount, corners, positions } = rest;
  const every = Math.ceil(elementCount / MOST_ELEMENTS);
  return kernel.worstStretch(elements, elementCount, corners, every, positions, layout.x + 16 * first);
}

/** What of the body a hand that takes hold must not tear. Of a rigid one nothing. */
export function handSettings(
  { f32 }: Views,
  layout: SimLayout,
  kernel: Stretches,
  bodyNumber: number,
  slot: number,
  { addresses }: WeightedPoint,
): HandSettings {
  const body = layout.bodies[bodyNumber]!;
  const particles = addresses.map((address) => (address - layout.x) / 16 - body.first);
  const addressOf = (particle: number): number => layout.x + 16 * (body.first + particle);
  const edges = edgesAt(f32.buffer, body, particles).map(({ a, b, rest }) => ({
    a: addressOf(a),
    b: addressOf(b),
    rest,
  }));
  const { grabMaxStretch: most } = layout.interaction;
  const part = EASE * (most - 1);
  const easeStretch = Math.min(most, Math.max(1 + part, worstOf(kernel, layout, body)));
  const mean = edges.reduce((sum, { rest }) => sum + rest, 0) / edges.length;
  return {
    body: bodyNumber,
    room: layout.grabEdges + slot * L.POINT_MAX_EDGES * L.EDGE_BYTES,
    edges,
    easeStretch,
    maxStretch: easeStretch + part,
    maxShift:
      edges.length > 0
        ? Math.max(SHIFT * mean, layout.interaction.handSpeed / (layout.tickHz * layout.substeps))
        : Infinity,
  };
}

/**
 * Once before each tick: what their bodies as wholes leave hands of their force. A hand on several bodies has what the
 * most stretched of them leaves it: it pulls all of them alike.
 */
export function easeHands(views: Views, layout: SimLayout, kernel: Stretches): void {
  const { f32, i32 } = views;
  const worst = new Map<number, number>();
  const leftBy = (at: number): number => {
    const body = i32[at + L.POINT_BODY / 4]!;
    const stretch = worst.get(body) ?? worstOf(kernel, layout, layout.bodies[body]!);
    worst.set(body, stretch);
    const ease = f32[at + L.POINT_EASE_STRETCH / 4]!;
    const none = f32[at + L.POINT_MAX_STRETCH / 4]!;
    return Math.max(0, Math.min(1, (none - stretch) / (none - ease)));
  };
  for (const slots of hands(views, layout).values()) {
    const points = slots.map((slot) => slotAddress(layout, slot) / 4);
    const wanted = Math.min(...points.map(leftBy));
    for (const at of points) f32[at + L.POINT_SHARE / 4] = Math.min(f32[at + L.POINT_SHARE / 4]! + SHARE_RISE, wanted);
  }
}
