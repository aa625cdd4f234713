/** Applies members' inputs, grabs and impulses, to the room's memory. */
import { PINS_PER_ROOM } from "../../../shared/members/pin.ts";
import { refuseGrab } from "../../../shared/members/inputRanges.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import { grabSettings } from "./grabLimits.ts";
import { freeSlot, freeSlots, handOver, heldSlots, slotAddress, slotsOf, slotsOfMember } from "./grabSlots.ts";
import { averageOf, holdAlone, holdTogether, neighborhood } from "./grabNeighborhood.ts";
import type { Kernel } from "../world/kernelModule.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import { verificationRate } from "../scene/substeps.ts";
import { mostPushSpeed } from "../tuning/motionLimits.ts";
import { moveTarget, writePoint } from "../memory/bodies/pointSlots.ts";
import type { Input, Refusal, SimEvent } from "../types.ts";
import type { Views } from "../world/views.ts";

/** Inputs about grabs and impulses. */
export type GrabInput = Exclude<Input, { type: "reset" | "spawn" | "remove" | "tune" | "dress" | "pin" | "unpin" }>;

/**
 * Applies one input. An invalid one changes nothing and returns an event.
 * @param isAbsent whether a body is inactive
 */
export function applyInput(
  views: Views,
  layout: SimLayout,
  kernel: Kernel,
  input: GrabInput,
  tick: number,
  isAbsent: (body: number) => boolean,
): SimEvent | undefined {
  const refusal = refuse(views, layout, input, isAbsent) ?? act(views, layout, kernel, input);
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

function act(views: Views, layout: SimLayout, kernel: Kernel, input: GrabInput): Refusal | undefined {
  switch (input.type) {
    case "grab":
      return grab(views, layout, kernel, input);
    case "impulse":
      return void push(views, layout, input);
    case "move":
      // a move may follow the release of its grab: not an error
      for (const slot of slotsOf(views, layout, input.member, input.grab)) aim(views, layout, slot, input.target);
      return undefined;
    case "release":
      for (const slot of slotsOf(views, layout, input.member, input.grab)) freeSlot(views, layout, slot);
      return undefined;
    case "releaseAll":
      for (const slot of slotsOfMember(views, layout, input.member)) freeSlot(views, layout, slot);
      return undefined;
  }
}

/** @returns the reason why the input cannot be applied, as far as its own values show it */
export function refuse(
  views: Views,
  layout: SimLayout,
  input: GrabInput,
  isAbsent: (body: number) => boolean,
): Refusal | undefined {
  if (input.type === "release" || input.type === "releaseAll") return undefined;
  const places = (body: number): number => {
    const { kind, count, surface } = layout.bodies[body]!;
    return kind === "points" ? count : views.i32[(surface + L.SURFACE_TRIANGLE_COUNT) / 4]!;
  };
  const { bodyCount: bodies, worldRadius: reach, origin } = layout;
  const refusal = refuseGrab(input, { bodies, places, together: layout.interaction.together, reach, origin });
  if (refusal) return refusal;
  if (input.type !== "move" && isAbsent(input.body))
    return { field: "body", value: input.body, limit: "a body in the scene: this one is absent" };
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

/** Number of slots that are kept for pins. */
const pinSlots = ({ interaction }: SimLayout): number => PINS_PER_ROOM * Math.max(1, interaction.together.length);

/** @param input of member 0: a pin. @returns the reason why it cannot be applied */
export function grab(
  views: Views,
  layout: SimLayout,
  kernel: Kernel,
  input: Extract<Input, { type: "grab" }>,
): Refusal | undefined {
  const holds = input.together ? holdTogether(views, layout, input) : [holdAlone(views, layout, input)];
  const own = slotsOf(views, layout, input.member, input.grab);
  const slots = [...own, ...freeSlots(views, layout)];
  const most = layout.grabCount - pinSlots(layout);
  const held = input.member > 0 ? heldSlots(views, layout) - own.length : 0;
  if (slots.length < holds.length || held + holds.length > most)
    return { field: "grab", value: input.grab, limit: `${most} grabs in a room` };
  for (const slot of own) freeSlot(views, layout, slot);
  holds.forEach(({ body, point, offset }, n) => {
    const slot = slots[n]!;
    // the grab holds the average of the neighborhood and begins where that is; its goal is the average's position once
    // the picked point has reached the pointer
    writePoint(views.f32, views.i32, slotAddress(layout, slot), point, {
      target: averageOf(views, point),
      grab: grabSettings(views, layout, kernel, body, slot, point),
      compliance: layout.interaction.grabCompliance * layout.massUnit,
      maxForce: layout.interaction.grabMaxForce / layout.massUnit,
      implicit: layout.bodies[body]!.implicit,
    });
    views.f32.set(offset, layout.grabOffsets / 4 + 3 * slot);
    aim(views, layout, slot, input.target);
    handOver(views, layout, slot, input.member, input.grab);
  });
  return undefined;
}

/** Sets the goal of a grab from the pointer's position: the held point moves there at most at grabSpeed. */
function aim(views: Views, layout: SimLayout, slot: number, target: readonly [number, number, number]): void {
  const goal = layout.grabGoals / 4 + 3 * slot;
  const offset = layout.grabOffsets / 4 + 3 * slot;
  for (let r = 0; r < 3; r++) views.f32[goal + r] = target[r]! + views.f32[offset + r]!;
}

/**
 * Sets each grab's target displacement per substep, once before each tick: towards its goal, at most at `grabSpeed`.
 * The speed is in simulated time: if a tick takes long, a grab does not pull harder.
 * Tried: grabs that slow down, to a quarter at least, while contact does more than half a tick's work (counted, so that
 * bits stay the same). Eight grabs on drape then take 25 ms a tick instead of 38, on the funnel's cloth 63 instead of
 * 88. If grabs are not the cost (tangled-hands) they crawl for nothing, and by wall time held bodies move slower than
 * in slow motion.
 */
export function moveGrabTargets(views: Views, layout: SimLayout): void {
  const most = layout.interaction.grabSpeed / layout.tickHz;
  for (let slot = 0; slot < layout.grabCount; slot++) {
    const at = slotAddress(layout, slot) / 4;
    if (views.i32[at + L.POINT_ACTIVE / 4])
      moveTarget(views, at, layout.grabGoals / 4 + 3 * slot, most, layout.substeps);
  }
}

/**
 * Applies an impulse J at a surface point: m_i Dv_i = b_i J. Particles there get at most mostPushSpeed from it. The
 * rest of J goes to the whole body: all its free particles get the same velocity, again at most mostPushSpeed. So the
 * momentum J arrives whole, less the share of pinned particles and of a body that would exceed mostPushSpeed.
 */
function push(views: Views, layout: SimLayout, input: Extract<Input, { type: "impulse" }>): void {
  const body = layout.bodies[input.body]!;
  const { point } = neighborhood(views, layout, body, input);
  const J = input.impulse.map((c) => c / layout.massUnit);
  const most = mostPushSpeed(body, 1 / verificationRate(layout));
  const inverse = point.addresses.map((address, i) => views.f32[address / 4 + 3]! * point.weights[i]!);
  const share = Math.min(1, most / (Math.max(...inverse) * length(J)));
  const add = (address: number, factor: number): void => {
    for (let r = 0; r < 3; r++) views.f32[(address + layout.v - layout.x) / 4 + r]! += factor * J[r]!;
  };
  point.addresses.forEach((address, i) => add(address, share * inverse[i]!));
  if (!(share < 1)) return;
  const free: number[] = [];
  let mass = 0;
  for (let p = body.first; p < body.first + body.count; p++) {
    const w = views.f32[layout.x / 4 + 4 * p + 3]!;
    if (w > 0) {
      free.push(layout.x + 16 * p);
      mass += 1 / w;
    }
  }
  const factor = Math.min((1 - share) / mass, most / length(J));
  for (const address of free) add(address, factor);
}
