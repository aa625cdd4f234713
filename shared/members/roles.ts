/** Roles of members. Each role has all rights of the roles before it. */
export const ROLES = ["spectator", "player", "owner", "admin"] as const;

/**
 * `spectator` watches; `player` grabs; `owner` decides who may enter its room and its settings; `admin` owns every room
 * of the server.
 */
export type Role = (typeof ROLES)[number];

export function isRole(value: unknown): value is Role {
  return (ROLES as readonly unknown[]).includes(value);
}

/** Whether the role is at least the other one. */
export function atLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/** Whether the role is above the other one, which kicking requires. */
export function above(role: Role, other: Role): boolean {
  return ROLES.indexOf(role) > ROLES.indexOf(other);
}
