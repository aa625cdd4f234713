/**
 * A duplicate of a room is a new one of the same scene, which its first page brings to the same gravity, wind, pace and
 * materials and then has start again: from there it goes as a scene does that says so itself. What it is to have waits
 * in the tab until that page is there.
 */
import type { Tuning, TuningChange } from "../../shared/protocol/protocol.ts";
import { BODY_FIELDS, sameGravity, sameWind } from "../../shared/tuning.ts";

/** What has to be changed of `now` to have `wanted`. Both are of one scene. */
export function changesTo(wanted: Tuning, now: Tuning): TuningChange[] {
  const changes: TuningChange[] = wanted.bodies.flatMap((body, n) => {
    const there = now.bodies[n];
    if (!there) return [];
    const fields = [...BODY_FIELDS, "pins" as const].filter((field) => body[field] !== there[field]);
    return fields.length === 0
      ? []
      : [{ body: body.body, ...Object.fromEntries(fields.map((field) => [field, body[field]])) }];
  });
  const room: TuningChange = {};
  if (!sameGravity(wanted, now)) room.gravity = wanted.gravity;
  if (!sameWind(wanted.wind, now.wind)) room.wind = wanted.wind;
  if (wanted.timeScale !== now.timeScale) room.timeScale = wanted.timeScale;
  return Object.keys(room).length > 0 ? [room, ...changes] : changes;
}

/** Longest part of a link behind its #, characters: what mail programs and messengers leave whole. */
const LONGEST_LINK = 1800;

/**
 * A link that opens the scene with these values, in a room of this name unless it is there; undefined: it is too long.
 */
export function linkTo(origin: string, room: string, scene: string, tuning: Tuning): string | undefined {
  const bytes = new TextEncoder().encode(JSON.stringify(tuning));
  const code = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
  return code.length > LONGEST_LINK
    ? undefined
    : `${origin}/r/${encodeURIComponent(room)}?scene=${encodeURIComponent(scene)}#as=${code}`;
}

/**
 * What such a link says: no more than a wish, which the server judges; undefined: nothing. @param hash from its # on
 */
export function tuningOfLink(hash: string): Tuning | undefined {
  const code = new URLSearchParams(hash.slice(1)).get("as");
  try {
    const tuning = code && (JSON.parse(atob(code.replaceAll("-", "+").replaceAll("_", "/"))) as Tuning);
    return tuning && Array.isArray(tuning.bodies) && Array.isArray(tuning.gravity) && tuning.wind ? tuning : undefined;
  } catch {
    return undefined;
  }
}
