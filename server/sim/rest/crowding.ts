/**
 * Reports bodies that the kernel holds for a tick because their contact does not fit into the room's lists
 * (kernel/assembly/contact/verify/heldGroups.ts). Members are told when this begins, and once it has been over for a
 * second.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Views } from "../world/views.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import type { SimEvent } from "../types.ts";

/** After a tick: adds `crowded` with all held bodies if another one is held, and `uncrowded` once none is. */
export function tellCrowding({ i32 }: Views, layout: SimLayout, tick: number, events: SimEvent[]): void {
  const front = i32[(L.HEADER + L.H_FRONT) / 4]!;
  if (front === 0) return;
  const holds = i32[(front + L.FRONT_HOLDS) / 4]!;
  const bodies: number[] = [];
  let begins = false;
  let ends = false;
  for (let body = 0; body < layout.bodyCount; body++) {
    const held = (holds + body * L.HOLD_BYTES + L.HOLD_TICKS) / 4;
    const told = (holds + body * L.HOLD_BYTES + L.HOLD_TOLD) / 4;
    if (i32[held]! > 0) {
      begins ||= i32[told] === 0;
      i32[told] = Math.ceil(layout.tickHz);
    } else if (i32[told]! > 0) {
      i32[told]!--;
      ends ||= i32[told] === 0;
    }
    i32[held] = 0;
    if (i32[told]! > 0) bodies.push(body);
  }
  if (begins) events.push({ type: "crowded", tick, bodies });
  else if (ends && bodies.length === 0) events.push({ type: "uncrowded", tick });
}
