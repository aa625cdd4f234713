/** Seats of a room: no address takes them all, and a seat of a disconnected member can be reused. */
import { describe, expect, test } from "vitest";
import type { Entry } from "../../../../server/auth/auth.ts";
import type { Connection, Hello } from "../../../../server/rooms/members/connection.ts";
import { Members } from "../../../../server/rooms/members/members.ts";
import type { Session } from "../../../../server/rooms/members/session.ts";

const connection = {} as Connection;
const hello: Hello = { type: "hello", version: 2 };
const entry = (address: string, subject: string | null = null): Entry => ({
  role: "player",
  subject,
  name: undefined,
  expiresAtMs: null,
  address,
});

function room(maxMembers: number, perAddress: number): { members: Members; enter: (entry: Entry) => Session | string } {
  const members = new Members({ maxMembers, perAddress, resumeSeconds: 30, onChanged: () => {}, onRelease: () => {} });
  const enter = (who: Entry): Session | string => {
    try {
      const session = members.reserve(hello, who);
      members.arrive(session, connection);
      return session;
    } catch (error) {
      return (error as Error).message;
    }
  };
  return { members, enter };
}

const seated = (outcomes: (Session | string)[]): number =>
  outcomes.filter((outcome) => typeof outcome !== "string").length;

describe("seats of a room", () => {
  test("one address gets three quarters, the next one three quarters of the rest; members with tokens are not counted", () => {
    const { enter } = room(64, 60);
    expect(seated(Array.from({ length: 70 }, () => enter(entry("a"))))).toBe(48);
    expect(enter(entry("a"))).toBe("room full for this address: 48 members");
    expect(seated(Array.from({ length: 70 }, () => enter(entry("b"))))).toBe(12);
    expect(seated([enter(entry("a", "ada")), enter(entry("a", "eve"))])).toBe(2);
    expect(seated(Array.from({ length: 9 }, (_, i) => enter(entry(`c${i}`))))).toBe(2);
    expect(enter(entry("d"))).toBe("room full: 64 members");
  });

  test("the limit of one address also holds if more seats are free", () => {
    const { enter } = room(64, 5);
    expect(seated(Array.from({ length: 9 }, () => enter(entry("a"))))).toBe(5);
  });

  test("with a limit of all seats no address is counted", () => {
    const { enter } = room(6, 6);
    expect(seated(Array.from({ length: 9 }, () => enter(entry("a"))))).toBe(6);
  });

  test("a disconnected member's seat is reused: for a crowded address one of its own, in a full room any", () => {
    const { members, enter } = room(8, 7);
    const first = enter(entry("a")) as Session;
    for (let i = 1; i < 6; i++) enter(entry("a"));
    const other = enter(entry("b")) as Session;
    members.lost(other, connection, 1006);
    members.lost(first, connection, 1006);
    expect(seated([enter(entry("a"))])).toBe(1);
    expect([members.sessions.has(first.member), members.sessions.has(other.member)]).toEqual([false, true]);
    expect(seated([enter(entry("c")), enter(entry("d"))])).toBe(2);
    expect(members.sessions.has(other.member)).toBe(false);
  });

  test("visitors that come and go take each other's seats, not those of members that a takeover disconnected", () => {
    const { members, enter } = room(16, 12);
    const kept = [entry("a"), entry("a"), entry("b"), entry("c", "a token's")].map((who) => enter(who) as Session);
    for (const session of kept) members.lost(session, connection, 1012);
    // From many addresses, and from many networks of one provider.
    const crowd = (i: number): string => (i % 3 === 0 ? `2001:db8:${i.toString(16)}:0::/64` : `flood ${i % 3}`);
    for (let i = 0; i < 300; i++) {
      const session = enter(entry(crowd(i)));
      if (typeof session !== "string") members.lost(session, connection, 1006);
    }
    expect(members.sessions.size).toBe(16);
    expect(kept.filter(({ member }) => !members.sessions.has(member))).toEqual([]);
  });
});
