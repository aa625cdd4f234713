/**
 * Saved scenes: entries of the gallery. The text of an entry is a stored scene (objectStore.ts), which the store keeps,
 * with its objects, as long as an entry or a room uses it.
 */
import { networksOf } from "../../../shared/networks.ts";

/** An entry of the gallery, without its picture. */
export interface SavedScene {
  /** Random; part of the entry's HTTP addresses. */
  id: string;
  title: string;
  /** Id of the stored scene with its text. */
  scene: string;
  /** Id of the scene, or of the saved scene, that it was made from. */
  origin: string;
  /** Network address of the visitor who saved it, as limits count it; null: an operator, without a share. */
  address: string | null;
  /** Size of its text in UTF-8. */
  bytes: number;
  /** ISO 8601, by the clock of the process that stored it. */
  createdAt: string;
  changedAt: string;
}

/** Changes of a new title: the title is part of the scene's text. */
export type Renamed = Pick<SavedScene, "title" | "scene" | "bytes" | "changedAt"> & SavedText;

interface SavedText {
  text: string;
  /** Ids of the objects in it. */
  objects: string[];
}

export interface SavedContent extends SavedText {
  /** PNG; null: none could be painted. */
  picture: Uint8Array | null;
}

export interface SavedLimits {
  count: number;
  countPerAddress: number;
}

/** missing: one of its objects does not exist (any more). full, share: a limit is reached. These store nothing. */
export type SavePut = "stored" | "missing" | "full" | "share";

/**
 * Returns the limit that keeps an address from another saved scene; null: none.
 * @param addresses of all saved scenes
 */
export function savedLimit(
  address: string | null,
  addresses: readonly (string | null)[],
  { count, countPerAddress }: SavedLimits,
): "full" | "share" | null {
  const isBeyondShare =
    address !== null &&
    networksOf(address).some(({ network, share }) => {
      const held = addresses.filter((other) => other !== null && networksOf(other).some((n) => n.network === network));
      return held.length >= share * countPerAddress;
    });
  if (isBeyondShare) return "share";
  return addresses.length >= count ? "full" : null;
}

/** Converts an entry's row of either database. */
export const savedOf = (row: Record<string, unknown>): SavedScene => ({
  id: String(row.id),
  title: String(row.title),
  scene: String(row.scene),
  origin: String(row.origin),
  address: row.address as string | null,
  bytes: Number(row.bytes),
  createdAt: String(row.created_at),
  changedAt: String(row.changed_at),
});
