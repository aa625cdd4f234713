/** `members`: all members, on every change. */
import { isRole, type Role } from "../../../members/roles.ts";
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 67;

export const describe = (): field.MessageDescription => ({
  fields: [
    field.rows("members", [
      ...field.integer("member"),
      ...field.string("name color"),
      ...field.boolean("connected"),
      ...field.string("role"),
    ]),
  ],
  meaning: "all members, on every change; changes within 50 ms share a list",
});

export interface Member {
  member: number;
  name: string;
  color: string;
  connected: boolean;
  role: Role;
}

export const encode = (members: Iterable<Member>): Uint8Array =>
  value.encoder.encode([number, [...members].map((m) => [m.member, m.name, m.color, m.connected, m.role])]);

export const parse = ([members]: value.Values): { type: "members"; members: Member[] } => ({
  type: "members",
  members: value.list(members, "members").map(memberOf),
});

function memberOf(entry: unknown): Member {
  const [member, name, color, connected, role] = value.list(entry, "members");
  return {
    member: value.number(member, "member"),
    name: String(name),
    color: value.safeColor(color),
    connected: Boolean(connected),
    role: isRole(role) ? role : "player",
  };
}
