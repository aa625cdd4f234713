/** Identity that a token proves, and the role that it gives in a room. */
import { atLeast, isRole, type Role } from "../../shared/members/roles.ts";

/** Claims of a valid token. */
export interface Identity {
  /** Name of its one room, or `*` for all rooms. */
  room: string;
  role: Role;
  /** Identifier of the bearer; not a secret. */
  subject: string;
  name: string | undefined;
  /** Incarnation of the room that it is bound to; absent: any room of that name. */
  roomId: string | undefined;
  /** Expiry, wall time in ms; null: never. */
  expiresAtMs: number | null;
}

/** Whether a value from another process has the form of an identity. */
export function isIdentity(value: unknown): value is Identity {
  const { room, role, subject, name, roomId, expiresAtMs } = { ...(value as Partial<Identity> | null) };
  const isText = (field: unknown): boolean => field === undefined || typeof field === "string";
  const ends = expiresAtMs === null || Number.isFinite(expiresAtMs);
  return (
    typeof room === "string" && typeof subject === "string" && isRole(role) && [name, roomId].every(isText) && ends
  );
}

/** A room as tokens identify it: its name, and its incarnation among all rooms that have had this name. */
export interface RoomIdentity {
  name: string;
  id: string;
}

/** @returns the role that the token gives in this room; null if it is for another room */
export function roleIn(identity: Identity, room: RoomIdentity): Role | null {
  if (identity.room !== "*" && identity.room !== room.name) return null;
  if (identity.roomId !== undefined && identity.roomId !== room.id) return null;
  return identity.role;
}

/**
 * Whether the token allows creating a room of this name. `undefined`: the name will be generated, so the token must be
 * for all rooms.
 */
export function mayCreate(identity: Identity, name: string | undefined): boolean {
  return (
    atLeast(identity.role, "owner") &&
    identity.roomId === undefined &&
    (identity.room === "*" || identity.room === name)
  );
}
