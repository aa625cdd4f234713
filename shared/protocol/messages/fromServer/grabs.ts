/** `grabs`: cursors and grabs of members, when they change. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";
import type { Point, SurfacePoint } from "../../surfacePoint.ts";

export const number = 68;

export const describe = (): field.MessageDescription => ({
  fields: [
    ...field.integer("tick"),
    field.rows("members", [
      ...field.integer("member"),
      ...field.nullable([field.tuple("cursor", field.number("x y z"))]),
      field.rows("grabs", [
        ...field.integer("grab body triangle"),
        ...field.number("u v x y z"),
        ...field.optional(field.boolean("together")),
      ]),
    ]),
  ],
  meaning: "cursors and grabs of members, when they change",
});

/** A grab: a surface triangle's barycentric point, pulled towards `target`. */
export interface Grab extends SurfacePoint {
  grab: number;
  target: Point;
  /** It grabs the same place on all bodies that the scene allows to grab together; absent: only this body. */
  together?: true;
}

/** The cursor and grabs of a member. */
export interface MemberGrabs {
  member: number;
  cursor: Point | undefined;
  grabs: Grab[];
}

/** A member's pointer and grabs, for the other members. */
export interface GrabsOf {
  member: number;
  cursor: Point | null;
  grabs: ReadonlyMap<number, Grab>;
}

export function encode(tick: number, members: Iterable<GrabsOf>): Uint8Array {
  const rows = [...members].map(({ member, cursor, grabs }) => [
    member,
    cursor,
    [...grabs.values()].map(({ grab, body, triangle, u, v, target, together }) => [
      ...[grab, body, triangle, u, v, ...target],
      ...(together ? [true] : []),
    ]),
  ]);
  return value.encoder.encode([number, tick, rows]);
}

export const parse = ([tick, members]: value.Values): { type: "grabs"; tick: number; members: MemberGrabs[] } => ({
  type: "grabs",
  tick: value.number(tick, "tick"),
  members: value.list(members, "grabs").map(memberOf),
});

function memberOf(entry: unknown): MemberGrabs {
  const [member, cursor, grabs] = value.list(entry, "grabs");
  return {
    member: value.number(member, "member"),
    cursor: cursor == null ? undefined : value.point(value.list(cursor, "cursor"), 0, "cursor"),
    grabs: value.list(grabs ?? [], "grabs").map(grabOf),
  };
}

/** Reads a row: [grab, body, triangle, u, v, x, y, z, together?]. */
export function grabOf(entry: unknown): Grab {
  const fields = value.list(entry, "grabs");
  const [grab, body, triangle, u, v] = fields;
  return {
    grab: value.number(grab, "grab"),
    body: value.number(body, "body"),
    triangle: value.number(triangle, "triangle"),
    u: value.number(u, "u"),
    v: value.number(v, "v"),
    target: value.point(fields, 5, "target"),
    ...(fields[8] === true && { together: true as const }),
  };
}
