/** Slots of grabs in a room's memory and their owners. A grab of several bodies has one slot for each. */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { SimLayout } from "../world/worldLayout.ts";

type Integers = { i32: Int32Array };

export function slotAddress(layout: SimLayout, slot: number): number {
  return layout.grabFirst + slot * L.POINT_BYTES;
}

/** Slots of a grab, ascending. Owners are stored as (member, grab + 1). */
export function slotsOf({ i32 }: Integers, layout: SimLayout, member: number, grab: number): number[] {
  const slots: number[] = [];
  for (let slot = 0, at = layout.grabOwners / 4; slot < layout.grabCount; slot++, at += 2)
    if (i32[at] === member && i32[at + 1] === grab + 1) slots.push(slot);
  return slots;
}

/** Slots of all grabs of a member. */
export function slotsOfMember({ i32 }: Integers, layout: SimLayout, member: number): number[] {
  return Array.from({ length: layout.grabCount }, (_, slot) => slot).filter(
    (slot) => i32[layout.grabOwners / 4 + 2 * slot] === member,
  );
}

/** Slots without an owner. */
export const freeSlots = (views: Integers, layout: SimLayout): number[] => slotsOf(views, layout, 0, -1);

/** Number of slots that members hold. */
export const heldSlots = ({ i32 }: Integers, layout: SimLayout): number =>
  Array.from({ length: layout.grabCount }, (_, slot) => slot).filter(
    (slot) => i32[layout.grabOwners / 4 + 2 * slot]! > 0,
  ).length;

/** Gives a slot to another owner. */
export function handOver({ i32 }: Integers, layout: SimLayout, slot: number, member: number, grab: number): void {
  i32.set([member, grab + 1], layout.grabOwners / 4 + 2 * slot);
}

export function freeSlot({ i32 }: Integers, layout: SimLayout, slot: number): void {
  i32[(slotAddress(layout, slot) + L.POINT_ACTIVE) / 4] = 0;
  i32.fill(0, layout.grabOwners / 4 + 2 * slot, layout.grabOwners / 4 + 2 * slot + 2);
}

/** Slots of each active grab, by its name; grabs in the order of their first slots. */
export function slotsByGrab({ i32 }: Integers, layout: SimLayout): Map<string, number[]> {
  const held = new Map<string, number[]>();
  for (let slot = 0, at = layout.grabOwners / 4; slot < layout.grabCount; slot++, at += 2) {
    if (i32[at + 1] === 0) continue;
    const name = `${i32[at]}:${i32[at + 1]}`;
    const slots = held.get(name);
    if (slots) slots.push(slot);
    else held.set(name, [slot]);
  }
  return held;
}
