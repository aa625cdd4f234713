/** What a member of a room may be. Each role may do what the ones before it may. */
export const ROLES = ["spectator", "player", "owner", "admin"] as const;

/**
 * `spectator` watches; `player` has hands; `owner` decides who is in its room and how; `admin` owns every room of the
 * server.
 */
export type Role = (typeof ROLES)[number];

export function isRole(value: unknown): value is Role {
  return (ROLES as readonly unknown[]).includes(value);
}

/** Does the role reach at least this one? */
export function atLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/** Does the role stand above the other? Whoever kicks somebody has to. */
export function above(role: Role, other: Role): boolean {
  return ROLES.indexOf(role) > ROLES.indexOf(other);
}
