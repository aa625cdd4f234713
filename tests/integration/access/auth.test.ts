/** Access and permissions: roles, kick and ban, lock, passwords, over real sockets. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Bot, type BotOptions, createRoom } from "../../../load-tests/bot.ts";
import { CloseCode, PASSWORD_LENGTH } from "../../../shared/protocol/protocol.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { stopClockOfLimits } from "./stoppedClock.ts";
import { postJson } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ adminToken: ADMIN });
});
afterAll(() => server.close());

let made = 0;
/** A room, its owner inside, and functions to enter it. */
async function ownedRoom(): Promise<{
  room: string;
  token: string;
  owner: Bot;
  enter: (options?: BotOptions) => Promise<Bot>;
  refused: (options?: BotOptions) => Promise<number>;
}> {
  const { room, token } = await createRoom(server.url, "spare", `owned-${++made}`);
  const enter = (options: BotOptions = {}): Promise<Bot> => Bot.join(server.url, room, options);
  const refused = async (options: BotOptions = {}): Promise<number> =>
    (await Bot.connect(server.url, room, options).untilClosed()).code;
  return { room, token: token!, owner: await enter({ name: "owner", joinToken: token }), enter, refused };
}

const post = (path: string, body: unknown, token?: string): Promise<Response> =>
  postJson(server.url + path, body, token);
const issue = async (room: string, role: string, by: string, more: object = {}): Promise<string> =>
  ((await (await post("/api/tokens", { room, role, ...more }, by)).json()) as { token: string }).token;
const notice = async (bot: Bot, code: string): Promise<Record<string, unknown>> => {
  await bot.until(() => bot.notices.some((one) => one.code === code), `notice ${code}`);
  return bot.notices.find((one) => one.code === code)!.details;
};

describe("roles", () => {
  test("a spectator sees every frame, and each of its grabs is refused", async () => {
    const { room, token, owner, enter } = await ownedRoom();
    const spectator = await enter({ joinToken: await issue(room, "spectator", token) });
    expect(spectator.welcome.role).toBe("spectator");
    const acts: [string, () => void][] = [
      ["grab", () => spectator.grab(1, { body: 0, triangle: 0, u: 0.3, v: 0.3 }, [0, 1, 0])],
      ["impulse", () => spectator.impulse({ body: 0, triangle: 0, u: 0.3, v: 0.3 }, [0, 1, 0])],
      ["reset", () => spectator.reset()],
      ["spawn", () => spectator.spawn(1, [0, 1, 0])],
      ["remove", () => spectator.remove(1)],
      ["kick", () => spectator.kick(owner.welcome.member)],
      ["access", () => spectator.setAccess({ locked: true })],
    ];
    for (const [field, act] of acts) {
      spectator.notices.length = 0;
      act();
      expect(await notice(spectator, "NOT_ALLOWED")).toMatchObject({ field, value: "spectator" });
    }
    await spectator.frames(5);
    expect(owner.resets).toBe(0);
    expect(owner.closed).toBeNull();
    expect(owner.access).toMatchObject({ locked: false });
    expect(owner.memberGrabs.get(spectator.welcome.member)?.grabs ?? []).toEqual([]);
    // A spectator may show its cursor.
    spectator.cursor([0, 1, 0]);
    await owner.until(() => owner.memberGrabs.get(spectator.welcome.member)?.cursor != null, "the spectator's pointer");
    await spectator.leave();
    await owner.leave();
  });

  test("a player may reset and spawn, but neither kick nor change the access; members know each other's roles", async () => {
    const { owner, enter } = await ownedRoom();
    const player = await enter({ name: "player" });
    player.reset();
    await owner.until(() => owner.resets === 1, "the reset");
    player.kick(owner.welcome.member);
    expect(await notice(player, "NOT_ALLOWED")).toMatchObject({
      field: "kick",
      value: "player",
      limit: "owner or above",
    });
    await owner.until(() => owner.members.length === 2, "the list");
    expect(owner.members.map(([, name, , , role]) => [name, role])).toEqual([
      ["owner", "owner"],
      ["player", "player"],
    ]);
    await player.leave();
    await owner.leave();
  });

  test("owners may reserve reset and spawn for themselves", async () => {
    const { owner, enter } = await ownedRoom();
    const player = await enter();
    owner.setAccess({ ownersOnly: true });
    await player.until(() => player.access?.ownersOnly === true, "the access");
    player.reset();
    expect(await notice(player, "NOT_ALLOWED")).toMatchObject({ field: "reset", limit: "owner or above" });
    owner.reset();
    await player.until(() => player.resets === 1, "the owner's reset");
    await player.leave();
    await owner.leave();
  });

  test("in open mode an invalid token is reported as invalid, and has no other effect", async () => {
    const { owner, enter } = await ownedRoom();
    const { token: elsewhere } = await createRoom(server.url, "cube", "elsewhere");
    for (const joinToken of ["nonsense", elsewhere!]) {
      const player = await enter({ joinToken });
      expect(player.welcome.role).toBe("player");
      expect(player.notices[0]?.code).toBe("TOKEN_INVALID");
      await player.leave();
    }
    await owner.leave();
  });

  test("the owner's token of a room is invalid for a later room of that name", async () => {
    const { room, token, owner } = await ownedRoom();
    await owner.leave();
    await server.app.registry.remove(room);
    await createRoom(server.url, "cube", room);
    const former = await Bot.join(server.url, room, { joinToken: token });
    expect(former.welcome.role).toBe("player");
    await former.leave();
  });

  test("the end of a token closes its socket", async () => {
    const { room, token, owner, enter } = await ownedRoom();
    const guest = await enter({ joinToken: await issue(room, "spectator", token, { hours: 2 / 3600 }) });
    expect(await guest.untilClosed()).toEqual({ code: CloseCode.tokenNeeded, reason: "the token has expired" });
    await owner.leave();
  });
});

describe("kick and ban", () => {
  test("a kicked member is out, its grabs and its session end; it may come back as a new member", async () => {
    const { owner, enter } = await ownedRoom();
    const player = await enter({ name: "mallory" });
    player.grab(1, { body: 0, triangle: 0, u: 0.3, v: 0.3 }, [0, 1, 0]);
    await owner.until(() => owner.memberGrabs.get(player.welcome.member)?.grabs.length === 1, "the grab");
    owner.kick(player.welcome.member);
    expect(await player.untilClosed()).toEqual({ code: CloseCode.kicked, reason: "kicked by an owner" });
    await owner.until(() => owner.members.length === 1, "the list without it");
    const back = await enter({ name: "mallory", resume: player.welcome.token });
    expect(back.welcome.session).not.toBe(player.welcome.session);
    await back.leave();
    await owner.leave();
  });

  test("a banned member cannot return from its address or with its session; present members stay, and tokens are checked by subject", async () => {
    const { room, token, owner, enter, refused } = await ownedRoom();
    const player = await enter();
    const other = await enter({ name: "other" });
    owner.kick(player.welcome.member, 60);
    expect((await player.untilClosed()).code).toBe(CloseCode.kicked);
    expect(await refused()).toBe(CloseCode.kicked);
    expect(await refused({ resume: player.welcome.token })).toBe(CloseCode.kicked);
    // The same address, but admitted before the ban.
    other.drop();
    const resumed = await enter({ resume: other.welcome.token });
    expect(resumed.welcome.session).toBe(other.welcome.session);
    const invited = await enter({ joinToken: await issue(room, "player", token) });
    expect(invited.welcome.role).toBe("player");
    owner.setAccess({ liftBans: true });
    await owner.until(() => owner.access?.bans === 0, "no bans");
    await (await enter()).leave();
    await Promise.all([resumed, invited, owner].map((bot) => bot.leave()));
  });

  test("a ban of a token's subject holds for every token of that subject", async () => {
    const { room, token, owner, enter, refused } = await ownedRoom();
    const guest = await enter({ joinToken: await issue(room, "player", token, { subject: "mallory" }) });
    owner.kick(guest.welcome.member, 60);
    await guest.untilClosed();
    expect(await refused({ joinToken: await issue(room, "player", token, { subject: "mallory" }) })).toBe(
      CloseCode.kicked,
    );
    await owner.leave();
  });

  test("a ban ends", async () => {
    const { owner, enter, refused } = await ownedRoom();
    const player = await enter();
    owner.kick(player.welcome.member, 60);
    await player.untilClosed();
    expect(await refused()).toBe(CloseCode.kicked);
    // The server is in this process: a minute later.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    onTestFinished(() => void vi.useRealTimers());
    await (await enter()).leave();
    await owner.leave();
  });

  test("members of equal role, and absent members, cannot be kicked", async () => {
    const { room, token, owner, enter } = await ownedRoom();
    const second = await enter({ joinToken: await issue(room, "owner", token) });
    second.kick(owner.welcome.member);
    expect(await notice(second, "NOT_ALLOWED")).toMatchObject({ field: "kick", value: "owner", limit: "below owner" });
    second.kick(9999);
    expect(await notice(second, "OUT_OF_RANGE")).toMatchObject({ field: "member", value: 9999 });
    second.notices.length = 0;
    second.kick(owner.welcome.member, -1);
    expect(await notice(second, "OUT_OF_RANGE")).toMatchObject({ field: "ban", value: -1 });
    expect(owner.closed).toBeNull();
    await second.leave();
    await owner.leave();
  });
});

describe("access to a room", () => {
  test("a locked room admits only its owner and earlier members", async () => {
    const { token, owner, enter, refused } = await ownedRoom();
    const player = await enter();
    owner.setAccess({ locked: true });
    await player.until(() => player.access?.locked === true, "the lock");
    expect(await refused()).toBe(CloseCode.locked);
    player.drop();
    const resumed = await enter({ resume: player.welcome.token });
    const again = await enter({ joinToken: token });
    expect(again.welcome.role).toBe("owner");
    owner.setAccess({ locked: false });
    await resumed.until(() => resumed.access?.locked === false, "the lock open");
    await Promise.all([await enter(), resumed, again, owner].map((bot) => bot.leave()));
  });

  test("a password: missing, wrong, right, and removed", async () => {
    const { room, token, owner, enter, refused } = await ownedRoom();
    owner.setAccess({ password: "open sesame" });
    await owner.until(() => owner.access?.password === true, "the password");
    expect(await refused()).toBe(CloseCode.passwordNeeded);
    expect(await refused({ password: "open barley" })).toBe(CloseCode.passwordNeeded);
    const guest = await enter({ password: "open sesame" });
    expect(guest.welcome.role).toBe("player");
    // A token for the room replaces the password.
    await (await enter({ joinToken: await issue(room, "spectator", token) })).leave();
    // HTTP does not reveal the room's state either.
    expect((await fetch(`${server.url}/api/rooms/${room}/positions`)).status).toBe(401);
    expect(
      (await fetch(`${server.url}/api/rooms/${room}/positions`, { headers: { authorization: `Bearer ${token}` } }))
        .status,
    ).toBe(200);
    owner.setAccess({ password: null });
    await owner.until(() => owner.access?.password === false, "no password");
    await (await enter()).leave();
    await guest.leave();
    await owner.leave();
  });

  test("a password that is too short is refused, and the error does not repeat it", async () => {
    const { owner } = await ownedRoom();
    owner.setAccess({ password: "five5" });
    expect(await notice(owner, "OUT_OF_RANGE")).toEqual({
      field: "password",
      value: 5,
      limit: `${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters`,
    });
    expect(owner.access?.password).toBe(false);
    await owner.leave();
  });

  test("after 40 password guesses from one address even the right one has to wait", async () => {
    const guesses = await startTestServer();
    const { token } = await createRoom(guesses.url, "cube", "guarded");
    const owner = await Bot.join(guesses.url, "guarded", { joinToken: token });
    owner.setAccess({ password: "open sesame" });
    await owner.until(() => owner.access?.password === true, "the password");
    const clock = stopClockOfLimits();
    const patient = { timeoutMs: 300_000 };
    const guessing = Array.from(
      { length: 45 },
      async (_, i) =>
        (await Bot.connect(guesses.url, "guarded", { password: `guess ${i}`, ...patient }).untilClosed()).code,
    );
    // Attempts beyond the limit are refused at once, while earlier guesses are still being checked.
    await Promise.any(
      guessing.map((guess) =>
        guess.then((code) =>
          code === CloseCode.tooManyAttempts ? code : Promise.reject(new Error("the guess was checked")),
        ),
      ),
    );
    expect(
      (await Bot.connect(guesses.url, "guarded", { password: "open sesame", ...patient }).untilClosed()).code,
    ).toBe(CloseCode.tooManyAttempts);
    const codes = await Promise.all(guessing);
    // A guess that finds the queue of scrypt full counts, too.
    const checked = codes.filter((code) => code === CloseCode.passwordNeeded).length;
    expect(checked).toBeLessThanOrEqual(40);
    expect(codes.filter((code) => code === CloseCode.tooManyAttempts).length).toBe(45 - checked);
    // Ten a minute.
    clock.advance(6001);
    const guess = { password: "open sesame", ...patient };
    await (await Bot.join(guesses.url, "guarded", guess)).leave();
    clock.restore();
    // The owner's token needs no password.
    await (await Bot.join(guesses.url, "guarded", { joinToken: token })).leave();
    await guesses.close();
  });

  test("messages during the password check are handled afterwards, in order", async () => {
    const { owner, room } = await ownedRoom();
    owner.setAccess({ password: "open sesame" });
    await owner.until(() => owner.access?.password === true, "the password");
    const eager = Bot.connect(server.url, room, { password: "open sesame", name: "eager" });
    eager.socket.once("open", () => {
      eager.ping();
      eager.reset();
    });
    await owner.until(() => owner.resets === 1, "the early reset");
    await eager.until(() => eager.counts.pongs === 1, "the early pong");
    await eager.leave();
    await owner.leave();
  });
});
