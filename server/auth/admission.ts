/**
 * Decides who may enter a room. Sockets (auth.ts) and HTTP (routes/guards/requestAuth.ts) both use it. Pure function.
 *
 *     owner, admin                                                   admitted
 *     `tokens` mode, and no token for the room                       refused, without details of the room
 *     banned: a token's subject, a session, a newcomer's address     refused
 *     locked                                                         only earlier members are admitted
 *     a token for the room                                           admitted
 *     a password is set                                              refused until it is given
 */
import { atLeast, type Role } from "../../shared/members/roles.ts";
import type { RoomAccess } from "./roomAccess.ts";

/** `open`: every visitor is a player. `tokens`: entering needs a token. */
export type AuthMode = "open" | "tokens";

export interface Newcomer {
  /** Role and subject from the token or from the earlier session; null: unknown. */
  known: { role: Role; subject: string | null } | null;
  /** True if the caller is or was a member of this room and its session still exists. */
  wasIn: boolean;
  /** Fingerprint of the session that it presents. */
  session?: string;
  /** Address of the visitor, as `addressKey` gives it. */
  address: string;
}

export type Denial = { why: "banned"; seconds: number } | { why: "locked" } | { why: "token" } | { why: "password" };

/** @returns the reason for refusing; null: admitted */
export function denialOf(
  mode: AuthMode,
  access: RoomAccess,
  { known, wasIn, session, address }: Newcomer,
  nowMs: number,
): Denial | null {
  if (known && atLeast(known.role, "owner")) return null;
  if (known === null && mode === "tokens") return { why: "token" };
  const ban = access.banOf(
    { address: known === null ? address : undefined, subject: known?.subject ?? undefined, session },
    nowMs,
  );
  if (ban) return { why: "banned", seconds: Math.ceil((ban.untilMs - nowMs) / 1000) };
  if (access.locked && !wasIn) return { why: "locked" };
  if (known) return null;
  return access.hasPassword ? { why: "password" } : null;
}
