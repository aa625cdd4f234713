/**
 * Limits a grab's force so that it does not tear the body. A grab has its full force while no edge is stretched beyond
 * `ease`. It has no force from `ease` + half of the allowed stretch on, and falls linearly in between. The kernel
 * checks the edges at the held particles in every substep (points.ts), and all edges of the body once before every
 * tick. If a weight or another grab has already stretched the body when a grab begins, `ease` starts at that stretch,
 * but never above `grabMaxStretch`. So the body can still be held, and no grab stretches it by more than half as much
 * again.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Views } from "../world/views.ts";
import { slotsByGrab, slotAddress } from "./grabSlots.ts";
import type { Kernel } from "../world/kernelModule.ts";
import type { BodyLayout, SimLayout } from "../world/worldLayout.ts";
import type { GrabSettings, WeightedPoint } from "../memory/bodies/pointSlots.ts";
import { edgesAt } from "./restShapes.ts";

/** Share of the allowed stretch at which a grab's force begins to fall. Over the same share it falls to zero. */
const EASE = 0.5;
/**
 * Largest rise per tick of the share of its force that a grab has: if the share recovered at once, the force would
 * pulsate.
 */
const SHARE_RISE = 0.1;
/**
 * Largest shift of the held point by its force alone in a substep, in mean held edges, so that stretched edges can
 * respond before they tear. If substeps are long, the limit is the pointer's displacement in one.
 */
const SHIFT = 0.1;

/** Largest number of a body's elements checked in a tick: 0.2 ms. */
const MOST_ELEMENTS = 16_384;

type Stretches = Pick<Kernel, "worstStretch">;

function worstOf(kernel: Stretches, layout: SimLayout, { rest, first }: BodyLayout): number {
  if (!rest) return 1;
  const { elements, elementCount, corners, positions } = rest;
  const every = Math.ceil(elementCount / MOST_ELEMENTS);
  return kernel.worstStretch(elements, elementCount, corners, every, positions, layout.x + 16 * first);
}

/** Limits for a new grab that keep it from tearing the body. Rigid bodies need none. */
export function grabSettings(
  { f32 }: Views,
  layout: SimLayout,
  kernel: Stretches,
  bodyNumber: number,
  slot: number,
  { addresses }: WeightedPoint,
): GrabSettings {
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
        ? Math.max(SHIFT * mean, layout.interaction.grabSpeed / (layout.tickHz * layout.substeps))
        : Infinity,
  };
}

/**
 * Sets the share of its force that each grab has, from the stretch of the whole body. Called once before each tick. A
 * grab of several bodies gets the share of its most stretched body: it pulls all of them alike.
 */
export function easeGrabs(views: Views, layout: SimLayout, kernel: Stretches): void {
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
  for (const slots of slotsByGrab(views, layout).values()) {
    const points = slots.map((slot) => slotAddress(layout, slot) / 4);
    const wanted = Math.min(...points.map(leftBy));
    for (const at of points) f32[at + L.POINT_SHARE / 4] = Math.min(f32[at + L.POINT_SHARE / 4]! + SHARE_RISE, wanted);
  }
}
