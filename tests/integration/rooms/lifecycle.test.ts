/** Rooms and sessions over time: create, find, resume, leave, pause, close. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Bot, createRoom, deleteRoom, type HttpFailure } from "../../../load-tests/bot.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { sleep, startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
beforeAll(async () => {
  // Long enough that a member who joins or returns at once is in time, on a busy machine, too.
  server = await startTestServer({ resumeSeconds: 4, emptyRoomSeconds: 3 });
});
afterAll(() => server.close());

const failure = async (work: Promise<unknown>): Promise<HttpFailure> =>
  work.then(
    () => expect.fail("it was accepted"),
    (error: unknown) => error as HttpFailure,
  );
const rooms = async (): Promise<string[]> =>
  ((await (await fetch(`${server.url}/api/rooms`)).json()) as { rooms: { room: string }[] }).rooms.map(
    ({ room }) => room,
  );
const tick = async (room: string): Promise<number> =>
  ((await (await fetch(`${server.url}/api/rooms/${room}`)).json()) as { tick: number }).tick;

describe("sessions", () => {
  test("a lost connection is resumed with the same member, name and color, and its grabs end", async () => {
    await createRoom(server.url, "cube", "resume");
    const ann = await Bot.join(server.url, "resume", { name: "Ann", color: "#123456" });
    const ben = await Bot.join(server.url, "resume");
    ann.grab(1, { body: 0, triangle: 0, u: 0.3, v: 0.3 }, [1, 0, 0]);
    await ben.until(() => ben.memberGrabs.get(ann.welcome.member)?.grabs.length === 1, "Ann's grab");
    ann.drop();
    await ben.until(
      () => ben.members.some(([member, , , connected]) => member === ann.welcome.member && !connected),
      "Ann's loss",
    );
    await ben.until(() => ben.memberGrabs.get(ann.welcome.member)?.grabs.length === 0, "the end of her grabs");
    const back = await Bot.join(server.url, "resume", { resume: ann.welcome.token });
    expect(back.welcome.member).toBe(ann.welcome.member);
    expect(back.welcome.session).toBe(ann.welcome.session);
    await ben.until(
      () =>
        ben.members.some(
          ([member, name, color, connected]) =>
            member === ann.welcome.member && name === "Ann" && color === "#123456" && connected,
        ),
      "Ann's return",
    );
    await Promise.all([back.leave(), ben.leave()]);
  });

  test("a second socket with the token takes the session over", async () => {
    await createRoom(server.url, "cube", "takeover");
    const old = await Bot.join(server.url, "takeover", { name: "Ann" });
    const next = await Bot.join(server.url, "takeover", { resume: old.welcome.token, name: "Anna" });
    expect(await old.untilClosed()).toEqual({ code: CloseCode.normal, reason: "resumed on another socket" });
    expect(next.welcome.member).toBe(old.welcome.member);
    await next.until(() => next.members.length === 1 && next.members[0]![1] === "Anna", "the new name");
    await next.frames(5);
    expect(next.closed).toBeNull();
    await next.leave();
  });

  test("a member who leaves may rejoin at once with its session, but the session ends soon after", async () => {
    await createRoom(server.url, "cube", "leave");
    const stays = await Bot.join(server.url, "leave");
    const ann = await Bot.join(server.url, "leave", { name: "Ann" });
    await ann.leave();
    const again = await Bot.join(server.url, "leave", { name: "Anna", resume: ann.welcome.token });
    expect(again.welcome.member).toBe(ann.welcome.member);
    await again.leave();
    await stays.until(() => stays.members.length === 1, "Ann's end");
    await stays.leave();
  });

  test("an old or foreign token makes a new session", async () => {
    await createRoom(server.url, "cube", "stranger");
    const stays = await Bot.join(server.url, "stranger");
    const ann = await Bot.join(server.url, "stranger");
    ann.drop();
    await stays.until(() => stays.members.length === 1, "the end of Ann's session");
    const late = await Bot.join(server.url, "stranger", { resume: ann.welcome.token });
    expect(late.welcome.member).not.toBe(ann.welcome.member);
    expect(late.welcome.token).not.toBe(ann.welcome.token);
    await Promise.all([stays.leave(), late.leave()]);
  });
});

describe("rooms", () => {
  test("creating is idempotent for a name and a scene: two requests at once create one room", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => createRoom(server.url, "cube", "same")));
    // Only the creator becomes the owner.
    expect(answers.filter(({ token }) => token !== undefined)).toHaveLength(1);
    expect(new Set(answers.map(({ token: _, ...room }) => JSON.stringify(Object.entries(room).sort()))).size).toBe(1);
    expect((await rooms()).filter((room) => room === "same")).toHaveLength(1);
    expect(await failure(createRoom(server.url, "sheet", "same"))).toMatchObject({
      status: 409,
      body: { code: "ROOM_EXISTS" },
    });
  });

  test("an empty room pauses, ticks while a member is in it, and closes after a time", async () => {
    await createRoom(server.url, "cube", "alone");
    await sleep(200);
    expect(await tick("alone")).toBe(0);
    const bot = await Bot.join(server.url, "alone");
    await bot.frames(5);
    expect(await tick("alone")).toBeGreaterThanOrEqual(10);
    await bot.leave();
    await vi.waitUntil(async () => !(await rooms()).includes("alone"), { timeout: 300_000, interval: 50 });
    expect((await Bot.connect(server.url, "alone").untilClosed()).code).toBe(CloseCode.roomGone);
  });

  test("deleting a room closes its sockets", async () => {
    const { token } = await createRoom(server.url, "cube", "deleted");
    const bot = await Bot.join(server.url, "deleted");
    expect(await deleteRoom(server.url, "deleted", token)).toBe(204);
    expect(await bot.untilClosed()).toEqual({ code: CloseCode.roomGone, reason: "the room was deleted" });
    expect(await deleteRoom(server.url, "deleted", token)).toBe(404);
  });

  test("the number of rooms is limited", async () => {
    const small = await startTestServer({ maxRooms: 4 });
    for (let room = 0; room < 4; room++) await createRoom(small.url, "cube");
    expect(await failure(createRoom(small.url, "cube"))).toMatchObject({
      status: 503,
      body: { code: "ROOM_LIMIT", limit: 4 },
    });
    await small.close();
  });

  test("ticks, with those skipped by a busy machine, follow the wall clock", async () => {
    // A server of its own: the metric counts the skipped ticks of all rooms.
    const own = await startTestServer();
    await createRoom(own.url, "cube", "clock");
    const bot = await Bot.join(own.url, "clock");
    const { tickHz } = bot.welcome;
    const room = own.app.registry.get("clock");
    const before = { tick: room.tick, skipped: await own.metric("pliant_ticks_skipped_total"), ms: performance.now() };
    await sleep(4000);
    const error = async (): Promise<number> => {
      const skipped = (await own.metric("pliant_ticks_skipped_total")) - before.skipped;
      return Math.abs(room.tick - before.tick + skipped - ((performance.now() - before.ms) / 1000) * tickHz);
    };
    // At either end two ticks late at most, one in progress and one early. Only a pause of this process that has just
    // ended is not counted yet; a later reading counts it.
    await vi.waitUntil(async () => (await error()) < 2 * 4, { timeout: 300_000, interval: 100 });
    await bot.leave();
    await own.close();
  });
});
