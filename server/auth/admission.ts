/**
 * Who is let into a room: the one place that knows, asked by sockets (auth.ts) and by HTTP (routes/requestAuth.ts)
 * alike. Pure.
 *
 *     owner, admin                                                   in
 *     `tokens` mode, and no token for the room                       out, and learns nothing of the room
 *     banned: a token's subject, a session, a newcomer's address     out
 *     locked                                                         in who was in before, nobody else
 *     a token for the room                                           in
 *     a password is set                                              out, until it is given
 */
import { atLeast, type Role } from "../../shared/roles.ts";
import type { RoomAccess } from "./roomAccess.ts";

/** `open`: whoever has the address is a player. `tokens`: nobody enters without a token. */
export type AuthMode = "open" | "tokens";

export interface Newcomer {
  /** By its token, or as what it was let in before; null: nobody knows it. */
  known: { role: Role; subject: string | null } | null;
  /** It was let in before, and is still expected or there. */
  wasIn: boolean;
  /** Fingerprint of the session that it brings. */
  session?: string;
  /** `addressKey` of where it comes from. */
  address: string;
}

export type Denial = { why: "banned"; seconds: number } | { why: "locked" } | { why: "token" } | { why: "password" };

/** @returns why it stays out; null: it comes in */
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
