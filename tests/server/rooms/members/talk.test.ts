/** Reactions and chat of a room: collected, bounded, and forgotten. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Metrics } from "../../../../server/metrics/metrics.ts";
import type { Connection } from "../../../../server/rooms/members/connection.ts";
import { Session } from "../../../../server/rooms/members/session.ts";
import { LINES_KEPT, Talk } from "../../../../server/rooms/members/talk.ts";
import { BURST, PER_SECOND, ROOM_PER_SECOND } from "../../../../server/rooms/members/talkRates.ts";
import { parseServerMessage, type ServerEvent } from "../../../../shared/protocol/fromServer.ts";
import { Limits } from "../../../../shared/protocol/protocol.ts";

let sent: ServerEvent[];
let notices: Extract<ServerEvent, { type: "notice" }>[];
let talk: Talk;

const read = (bytes: Uint8Array): ServerEvent => parseServerMessage(Uint8Array.from(bytes).buffer)!;
const receives = (bytes: Uint8Array): void => void sent.push(read(bytes));
const connection = {
  send: (bytes: Uint8Array) => notices.push(read(bytes) as (typeof notices)[0]),
} as unknown as Connection;

function member(number: number, address = "a"): Session {
  const entry = { role: "player", subject: null, name: undefined, expiresAtMs: null, address } as const;
  const session = new Session(number, `member ${number}`, "#d55e00", entry);
  session.connection = connection;
  return session;
}

const say = (session: Session, text: string): void => talk.handle(session, { type: "say", text });
const react = (session: Session, reaction: number): void => talk.handle(session, { type: "react", reaction });

/** Texts of the lines that a newcomer gets. */
function kept(): string[] {
  notices = [];
  talk.greet(connection);
  const [greeting] = notices as unknown as Extract<ServerEvent, { type: "said" }>[];
  return greeting!.lines.map(({ text }) => text);
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  sent = [];
  notices = [];
  const metrics = { inputs: { inc: () => {} }, reject: () => {} } as unknown as Metrics;
  talk = new Talk({ certain: receives, relay: receives }, metrics);
});
afterEach(() => void vi.useRealTimers());

test("reactions within 0.1 s share a message, with the last one of each member", () => {
  const [ann, ben] = [member(1), member(2)];
  react(ann, 0);
  react(ben, 3);
  react(ann, 5);
  expect(sent).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(sent).toEqual([
    {
      type: "reactions",
      reactions: [
        [1, 5],
        [2, 3],
      ],
    },
  ]);
  vi.advanceTimersByTime(1000);
  expect(sent.length).toBe(1);
});

test("a line has its author's name and color, in the form of names", () => {
  say(member(7), " ﬁne\u202E\u0000  and\nz̷̷̷̷̷̷ ");
  vi.advanceTimersByTime(100);
  expect(sent).toEqual([
    { type: "said", lines: [{ member: 7, name: "member 7", color: "#d55e00", text: "fine and z̷̷̷" }] },
  ]);
});

test("an empty line, a long one and an unknown reaction are refused with field, value and limit", () => {
  const ann = member(1);
  const asks: [() => void, unknown[]][] = [
    [() => say(ann, "\u200B \u2800"), ["text", 0]],
    [() => say(ann, "x".repeat(Limits.lineLength + 1)), ["text", Limits.lineLength + 1]],
    // The compatibility form of one character is 18 characters long.
    [() => say(ann, "ﷺ".repeat(Limits.lineLength / 10)), ["text", 360]],
    [() => react(ann, 6), ["reaction", 6]],
  ];
  for (const [ask, refused] of asks) {
    ask();
    const { code, details } = notices.at(-1)!;
    const { field, value, limit } = details as Record<string, unknown>;
    expect([code, field, value]).toEqual(["OUT_OF_RANGE", ...refused]);
    expect(limit).toMatch(/^\d to \d+/);
  }
  say(ann, "🧵".repeat(Limits.lineLength));
  vi.advanceTimersByTime(100);
  expect(sent.length).toBe(1);
});

test("a member sends at most its burst, then its rate; another member still has its own", () => {
  const [ann, ben] = [member(1), member(2)];
  for (let n = 0; n < 20; n++) {
    react(ann, 0);
    say(ann, "again");
  }
  say(ben, "mine");
  vi.advanceTimersByTime(100);
  const [, said] = sent as Extract<ServerEvent, { type: "said" }>[];
  expect(said!.lines.map(({ member: author }) => author)).toEqual([...new Array(BURST.say).fill(1), 2]);
  expect(notices.length).toBe(20 - BURST.say + 20 - BURST.react);
  expect(notices.every(({ code }) => code === "RATE_LIMITED")).toBe(true);
  vi.advanceTimersByTime(1000 / PER_SECOND.say);
  notices = [];
  say(ann, "later");
  expect(notices).toEqual([]);
});

test("a room passes on its rate, however many its members are", () => {
  for (let n = 1; n <= 500; n++) {
    react(member(n), 1);
    say(member(n), "all");
  }
  vi.advanceTimersByTime(100);
  const [reacted, said] = sent as [Extract<ServerEvent, { type: "reactions" }>, Extract<ServerEvent, { type: "said" }>];
  expect(reacted.reactions.length).toBe(ROOM_PER_SECOND.react);
  expect(said.lines.length).toBe(ROOM_PER_SECOND.say);
});

/** Authors of all lines sent, in order. */
const authors = (): number[] =>
  sent.flatMap((event) => (event.type === "said" ? event.lines.map(({ member: author }) => author) : []));

test("forty members of one address that use up the room's rate keep no line from others, nor from one another", () => {
  const pupils = Array.from({ length: 40 }, (_, k) => member(1 + k, "school"));
  const [shy, guest] = [member(98, "school"), member(99, "home")];
  const linesOf = (author: number): number => authors().filter((of) => of === author).length;
  for (let tenth = 0; tenth < 600; tenth++) {
    // The order of a busy moment is not in favor of any member.
    for (let k = 0; k < 40; k++) say(pupils[(k + 7 * tenth) % 40]!, "again");
    // By then every pupil has been heard once.
    if (tenth >= 80 && tenth % 80 === 20) say(shy, "may I?");
    if (tenth % 20 === 10) say(guest, "hello");
    vi.advanceTimersByTime(100);
    if (tenth % 20 === 11) expect(linesOf(99), "lines of the guest").toBe(Math.ceil(tenth / 20));
    if (tenth % 80 === 79) expect(linesOf(98), "lines of the shy pupil").toBe((tenth - 79) / 80);
  }
  const counts = pupils.map((_, k) => linesOf(1 + k));
  expect(Math.min(...counts)).toBeGreaterThan(0.8 * Math.max(...counts));
  expect(authors().length).toBeLessThanOrEqual(61 * ROOM_PER_SECOND.say);
  expect(authors().length).toBeGreaterThan(59 * ROOM_PER_SECOND.say);
});

test("reactions of other addresses pass, even if one address uses up the room's rate", () => {
  const pupils = Array.from({ length: 100 }, (_, k) => member(1 + k, "school"));
  const guest = member(999, "home");
  for (let tenth = 0; tenth < 100; tenth++) {
    for (const pupil of pupils) react(pupil, 1);
    if (tenth % 10 === 5) react(guest, 2);
    vi.advanceTimersByTime(100);
  }
  const reactions = sent.flatMap((event) => (event.type === "reactions" ? event.reactions : []));
  expect(reactions.filter(([author]) => author === 999).length).toBe(10);
  expect(reactions.length).toBeLessThanOrEqual(11 * ROOM_PER_SECOND.react);
});

test("a line that finds no place is refused, and the next message has the kept ones", () => {
  for (let n = 1; n <= 3 * ROOM_PER_SECOND.say; n++) say(member(n), "all");
  vi.advanceTimersByTime(100);
  // It passes on a second's lines at once, and two seconds' lines may wait.
  expect(notices.length).toBe(ROOM_PER_SECOND.say);
  expect(notices[0]!.details).toEqual({ field: "say", limit: "10 per second for the room" });
  for (let n = 101; n <= 105; n++) say(member(n), "later");
  vi.advanceTimersByTime(1700);
  expect(authors().slice(-6)).toEqual([20, 101, 102, 103, 104, 105]);
});

test("newcomers get the last lines; a kick takes its member's lines, a closed chat all", () => {
  expect(kept()).toEqual([]);
  for (let n = 0; n < LINES_KEPT + 5; n++) {
    say(member(1 + (n % 2)), `line ${n}`);
    vi.advanceTimersByTime(200);
  }
  expect(kept().length).toBe(LINES_KEPT);
  expect(kept()[0]).toBe("line 5");
  say(member(2), "not sent yet");
  talk.forget(2);
  vi.advanceTimersByTime(200);
  expect(kept()).toEqual(Array.from({ length: LINES_KEPT / 2 }, (_, k) => `line ${6 + 2 * k}`));
  talk.forget();
  expect(kept()).toEqual([]);
});
