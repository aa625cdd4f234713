/**
 * Duplicates of a room: a new room of the same scene with the same gravity, wind, time scale and materials. The first
 * page of the new room applies these values and then resets it, so that it starts as if its scene file had them. Until
 * that page has loaded, the values are kept in the tab's session storage.
 */
import type { Tuning } from "../../shared/members/tuningLimits.ts";

/** Longest URL fragment, characters: mail programs and messengers cut longer links. */
const LONGEST_LINK = 1800;

/**
 * Returns a link that opens the scene with these values, in a new room of this name unless the room exists; undefined
 * if it would be too long.
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
 * Reads the values from such a link. They are only a request, which the server checks.
 * @param hash with its #
 * @returns undefined if the link has none
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
