/** Converts rows of both stores: rooms and quarantined rows. */
import type { Listing, Quarantined, PieceKind, QuarantinedPiece } from "./store.ts";

/**
 * @param row a room; its columns have the same names in both stores
 * @param secondsLeft time until its lease expires; 0 or less: expired, or no lease
 */
export function listingOf(row: Record<string, unknown>, secondsLeft: number): Listing {
  const owned = secondsLeft > 0;
  return {
    name: String(row.name),
    scene: String(row.scene),
    pool: row.pool as Listing["pool"],
    createdAt: String(row.created_at),
    settings: JSON.parse(String(row.settings)) as Record<string, unknown>,
    owner: owned ? { process: String(row.process), url: String(row.url), epoch: Number(row.epoch), secondsLeft } : null,
    expired: owned ? null : (row.process as string | null),
    members: owned ? Number(row.members) : 0,
    quarantined: row.parked === null ? null : (JSON.parse(String(row.parked)) as Quarantined),
    attempts: Number(row.attempts),
  };
}

export const quarantinedPieceOf = (row: Record<string, unknown>): QuarantinedPiece => ({
  id: Number(row.id),
  what: row.what as PieceKind,
  tick: Number(row.tick),
  after: row.after_tick === null ? null : Number(row.after_tick),
  reason: String(row.reason),
  at: String(row.at),
  bytes: Number(row.bytes),
});
