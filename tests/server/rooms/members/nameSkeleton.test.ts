/** Members whose names look the same are told apart. */
import { describe, expect, test } from "vitest";
import type { Connection, Hello } from "../../../../server/rooms/members/connection.ts";
import { Members } from "../../../../server/rooms/members/members.ts";
import { distinctName, skeletonsOf } from "../../../../server/rooms/members/nameSkeleton.ts";
import { Limits } from "../../../../shared/protocol/protocol.ts";

const socket = { close: () => {} } as unknown as Connection;
const entry = { role: "player" as const, subject: null, name: undefined, expiresAtMs: null, address: "192.0.2.1" };
const hello = (name: string, resume?: string): Hello => ({ type: "hello", version: 2, name, resume });

test.each([
  ["Cyrillic letters", "Ada", "\u0410d\u0430"],
  ["Greek letters", "Otto", "\u039Ftt\u03BF"],
  ["digits", "Ollie", "0llie"],
  ["l, I, 1 and |", "Bill", "BiI|"],
  ["m and rn", "Emma", "Ernrna"],
  ["case", "ada", "ADA"],
  ["case of letters that look like others", "witness", "WITNESS"],
  ["case of Greek letters", "\u0397\u03BB\u03AF\u03B1\u03C2", "\u0397\u039B\u038A\u0391\u03A3"],
  ["case of Cyrillic letters", "\u043D\u0438\u043D\u0430", "\u041D\u0418\u041D\u0410"],
  ["spaces", "Ada L", "AdaL"],
])("%s make no difference", (_title, name, double) => {
  expect(distinctName(double, 7, new Set(skeletonsOf(name)))).toBe(`${double} #7`);
});

test("other letters and accents do", () => {
  const names = ["Ada", "Adam", "Adá", "Eda", "guest 1", "guest 11", "guest 10", "\u674E", "\u6728"];
  names.forEach((name, i) => {
    const others = names.filter((_, k) => k !== i);
    expect(distinctName(name, 7, new Set(others.flatMap(skeletonsOf)))).toBe(name);
  });
});

test("a mark fits into the length of a name, and no mark can be chosen in advance", () => {
  const long = "x".repeat(Limits.nameLength);
  const marked = distinctName(long, 12, new Set(skeletonsOf(long)));
  expect(marked).toBe(`${"x".repeat(Limits.nameLength - 4)} #12`);
  const taken = new Set(["Ada", "Ada #7", "\u0410da #7.2"].flatMap(skeletonsOf));
  expect(distinctName("Ada", 7, taken)).toBe("Ada #7.3");
});

test("a name that ends with another member's mark gets its own mark", () => {
  expect(["Ada #1", "Ada#1", "Ada # 1.2", "#1"].map((name) => distinctName(name, 7, new Set()))).toEqual([
    "Ada #1 #7",
    "Ada#1 #7",
    "Ada # 1.2 #7",
    "#1 #7",
  ]);
  expect(distinctName("Ada #7", 7, new Set())).toBe("Ada #7");
  expect(distinctName("C#", 7, new Set())).toBe("C#");
});

describe("members of a room", () => {
  const enter = (members: Members, name: string): { member: number; name: string; token: string } => {
    const session = members.reserve(hello(name), entry);
    members.arrive(session, socket);
    return session;
  };
  const room = (): Members =>
    new Members({ maxMembers: 9, perAddress: 9, resumeSeconds: 30, onChanged: () => {}, onRelease: () => {} });

  test("the later one of two has its number behind its name, until the first has left", () => {
    const members = room();
    const first = enter(members, "Ada");
    const second = enter(members, "\u0410da\u3164");
    expect([first.name, second.name]).toEqual(["Ada", "\u0410da #2"]);
    members.resume(socket, hello("\u0410da", second.token), entry);
    expect(second.name).toBe("\u0410da #2");
    members.kick(members.sessions.get(1)!, 4403, "");
    members.resume(socket, hello("\u0410da", second.token), entry);
    expect(second.name).toBe("\u0410da");
  });

  test("a member keeps its name when it resumes with it, and a generated name has no double either", () => {
    const members = room();
    const first = enter(members, "guest 2");
    members.resume(socket, hello("guest 2", first.token), entry);
    expect(first.name).toBe("guest 2");
    expect(enter(members, "").name).toBe("guest 2 #2");
  });
});
