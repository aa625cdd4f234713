/** Who somebody is by their token, and what that makes of them in a room. */
import { atLeast, type Role } from "../../shared/roles.ts";

/** What a valid token says. */
export interface Identity {
  /** Name of the one room it is for, or `*`. */
  room: string;
  role: Role;
  /** Whose it is; not a secret. */
  subject: string;
  name: string | undefined;
  /** The incarnation of the room it is for; absent: whichever has that name. */
  roomId: string | undefined;
  /** Wall time; null: it does not end. */
  expiresAtMs: number | null;
}

/** A room as a token sees it: its name, and which of all rooms that have had this name. */
export interface RoomIdentity {
  name: string;
  id: string;
}

/** @returns the role that the token gives in this room; null when it is for another one */
export function roleIn(identity: Identity, room: RoomIdentity): Role | null {
  if (identity.room !== "*" && identity.room !== room.name) return null;
  if (identity.roomId !== undefined && identity.roomId !== room.id) return null;
  return identity.role;
}

/**
 * Does the token let its bearer make a room of this name? `undefined`: a name is made up, so it must be good for every
 * room.
 */
export function mayCreate(identity: Identity, name: string | undefined): boolean {
  return (
    atLeast(identity.role, "owner") &&
    identity.roomId === undefined &&
    (identity.room === "*" || identity.room === name)
  );
}
