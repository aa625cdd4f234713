/**
 * A duplicate of a room is a new one of the same scene, which its first page brings to the same gravity, damping and
 * friction and then has start again: from there it goes as a scene does that says so itself. What it is to have waits
 * in the tab until that page is there.
 */
import type { Tuning, TuningChange } from "../../shared/protocol.ts";

const keyOf = (room: string): string => `pliant.duplicate.${room}`;

/** @throws DOMException where the browser keeps nothing */
export function keepTuning(room: string, tuning: Tuning): void {
  sessionStorage.setItem(keyOf(room), JSON.stringify(tuning));
}

/** What was kept for this room, once. */
export function takeTuning(room: string): Tuning | undefined {
  try {
    const kept = sessionStorage.getItem(keyOf(room));
    sessionStorage.removeItem(keyOf(room));
    return kept === null ? undefined : (JSON.parse(kept) as Tuning);
  } catch {
    return undefined;
  }
}

/** What has to be changed of `now` to have `wanted`. Both are of one scene. */
export function changesTo(wanted: Tuning, now: Tuning): TuningChange[] {
  const changes: TuningChange[] = wanted.bodies.flatMap(({ body, damping, friction }, n) => {
    const there = now.bodies[n]!;
    return damping === there.damping && friction === there.friction ? [] : [{ body, damping, friction }];
  });
  if (wanted.gravity.some((part, r) => part !== now.gravity[r])) changes.unshift({ gravity: wanted.gravity });
  return changes;
}
