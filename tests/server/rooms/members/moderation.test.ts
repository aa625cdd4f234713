/** The name of an acting member in the audit log. */
import { expect, test } from "vitest";
import { actorOf } from "../../../../server/rooms/members/moderation.ts";
import type { Session } from "../../../../server/rooms/members/session.ts";

const session = (name: string, subject: string | null): Session => ({ member: 7, name, entry: { subject } }) as Session;

test("a member without a token is named by its number, so its name is no signature", () => {
  expect(actorOf(session("admin", null))).toBe("member 7 (admin)");
  expect(actorOf(session("admin", "ada"))).toBe("ada");
});
