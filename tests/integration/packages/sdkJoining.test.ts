/**
 * `joinRoom` and the owner's token: a join that fails opens nothing, and the creator of a room comes back as its owner.
 * Requests of a room resolve or reject with the server's answer. Refused origins are told with the variable's name.
 */
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import WebSocket from "ws";
import type { SocketConstructor } from "../../../client/sdk/connection/roomConnection.ts";
import type { PliantError } from "../../../client/sdk/errors.ts";
import { type JoinOptions, joinRoom } from "../../../client/sdk/joinRoom.ts";
import type { TokenStorage } from "../../../client/sdk/connection/keptTokens.ts";
import type { Room } from "../../../client/sdk/room.ts";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

const STRANGER = "https://stranger.example";
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ embedOrigins: [STRANGER] });
});
afterEach(() => vi.unstubAllGlobals());
afterAll(() => server.close());

let made = 0;
const fresh = (): string => `joining-${++made}`;
const join = (room: string, options: JoinOptions = {}): Promise<Room> =>
  joinRoom(`${server.url}/r/${room}`, { timeoutMs: 300_000, ...options });
const failure = async (work: () => unknown): Promise<PliantError> => {
  try {
    await work();
  } catch (error) {
    return error as PliantError;
  }
  throw new Error("it did not fail");
};
const until = (what: () => unknown): Promise<void> =>
  expect.poll(what, { timeout: 300_000, interval: 20 }).toBeTruthy() as unknown as Promise<void>;
const exists = (room: string): boolean => server.app.registry.has(room);

/** A socket that never opens. */
class Silent {
  binaryType = "";
  readyState = 0;
  url = "";
  onopen = null;
  onmessage = null;
  onclose = null;
  onerror = null;
  send(): void {}
  close(): void {}
}
const silent = Silent as unknown as SocketConstructor;

function storage(): TokenStorage & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    get: async (address) => kept.get(address),
    set: async (address, token) => void (token === undefined ? kept.delete(address) : kept.set(address, token)),
  };
}

describe("a join that fails", () => {
  test("by its timeout has opened nothing, and the retry is the owner", async () => {
    for (let turn = 0; turn < 3; turn++) {
      const room = fresh();
      const tokens = storage();
      const error = await failure(() => join(room, { scene: "cube", timeoutMs: 500, WebSocket: silent, tokens }));
      expect(error.code).toBe("TIMEOUT");
      const again = await join(room, { scene: "cube", tokens });
      expect([again.role, again.token]).toEqual(["owner", tokens.kept.get(`${server.url}/r/${room}`)]);
      again.leave();
    }
  });

  test("leaves no room behind", async () => {
    const room = fresh();
    const tokens = storage();
    await failure(() => join(room, { scene: "cube", timeoutMs: 2000, WebSocket: silent, tokens }));
    await until(() => !exists(room));
    await until(() => tokens.kept.size === 0);
  });

  test("because it was aborted while the room was being created leaves no room behind", async () => {
    const room = fresh();
    const stop = new AbortController();
    const real = fetch;
    const answered = vi.fn();
    vi.stubGlobal("fetch", async (...asked: Parameters<typeof fetch>) => {
      const answer = await real(...asked);
      if (asked[1]?.method === "POST") {
        // The room exists now, and the page does not know it yet.
        stop.abort();
        answered();
      }
      return answer;
    });
    const error = await failure(() => join(room, { scene: "cube", signal: stop.signal }));
    expect([error.code, answered.mock.calls.length]).toEqual(["ABORTED", 1]);
    await until(() => !exists(room));
    const again = await join(room, { scene: "cube" });
    expect(again.role).toBe("owner");
    again.leave();
  });

  test("before it began opens nothing", async () => {
    const room = fresh();
    expect((await failure(() => join(room, { scene: "cube", signal: AbortSignal.abort() }))).code).toBe("ABORTED");
    expect(exists(room)).toBe(false);
  });

  test("leaves a room that others have entered, and keeps its token", async () => {
    const room = fresh();
    const tokens = storage();
    const stop = new AbortController();
    const joining = failure(() => join(room, { scene: "cube", WebSocket: silent, tokens, signal: stop.signal }));
    await until(() => tokens.kept.size === 1);
    const other = await Bot.join(server.url, room);
    stop.abort();
    expect((await joining).code).toBe("ABORTED");
    const again = await join(room, { tokens });
    expect([again.role, exists(room), other.closed]).toEqual(["owner", true, null]);
    again.leave();
    await other.leave();
  });
});

test("a link with a scene, as the page has it, opens the room", async () => {
  const room = fresh();
  const joined = await join(`${room}?scene=cube#x`);
  expect([joined.scene, joined.role]).toEqual(["cube", "owner"]);
  joined.leave();
});

describe("the owner's token", () => {
  test("is kept by default: the creator comes back as the owner", async () => {
    const room = fresh();
    const first = await join(room, { scene: "cube" });
    expect([first.role, typeof first.token]).toEqual(["owner", "string"]);
    first.leave();
    const again = await join(room);
    expect([again.role, again.token]).toEqual(["owner", first.token]);
    again.leave();
  });

  test("of an earlier room of that name is forgotten", async () => {
    const room = fresh();
    const tokens = storage();
    (await join(room, { scene: "cube", tokens })).leave();
    await server.app.registry.remove(room);
    await createRoom(server.url, "cube", room);
    const guest = await join(room, { tokens });
    expect([guest.role, guest.token]).toEqual(["player", undefined]);
    await until(() => tokens.kept.size === 0);
    guest.leave();
  });

  test("of the caller is used, and not replaced", async () => {
    const room = fresh();
    const { token } = await createRoom(server.url, "cube", room);
    const tokens = storage();
    const owner = await join(room, { token: token!, tokens });
    expect([owner.role, owner.token, tokens.kept.size]).toEqual(["owner", token, 0]);
    owner.leave();
  });
});

describe("requests of a room", () => {
  test("spawn and remove resolve when done and reject with the reason, each its own", async () => {
    const room = await join(fresh(), { scene: "spare" });
    const [first, second] = room.spawnable as [number, number];
    await room.tune({ gravity: [0, 0, 0] }); // The first body stays in the place that the second asks for.
    const spawned = room.spawn(first, [0, 1, 0], { occupied: "lift" });
    const tooSoon = failure(() => room.spawn(second, [0, 3, 0]));
    await spawned;
    expect([room.spawnable.includes(first), (await tooSoon).code]).toEqual([false, "SPAWN_TOO_SOON"]);
    const there = room.positions(first);
    const spawnThere = (): Promise<void> => room.spawn(second, [there[0]!, there[1]! - 0.05, there[2]!]);
    let taken = await failure(spawnThere);
    // Not at once: a flood of requests ends the connection.
    while (taken.code === "SPAWN_TOO_SOON" || taken.code === "RATE_LIMITED") {
      await setTimeout(100);
      taken = await failure(spawnThere);
    }
    expect(taken).toMatchObject({ code: "PLACE_TAKEN", field: "position" });
    await room.remove(first);
    expect(room.spawnable.includes(first)).toBe(true);
    expect((await failure(() => room.remove(first))).code).toBe("INPUT_REJECTED");
    room.leave();
  });

  test("reset and tune resolve when done and reject with the reason", async () => {
    const room = await join(fresh(), { scene: "cube" });
    const resets: number[] = [];
    room.on("reset", ({ member }) => resets.push(member));
    const reset = room.reset();
    const again = failure(() => room.reset());
    await reset;
    expect([resets, (await again).code]).toEqual([[room.member], "RESET_TOO_SOON"]);
    const up = room.tune({ gravity: [0, 1, 0] });
    const far = failure(() => room.tune({ gravity: [0, 900, 0] }));
    await up;
    expect(room.tuning!.gravity).toEqual([0, 1, 0]);
    expect(await far).toMatchObject({ code: "OUT_OF_RANGE", field: "gravity", value: 900 });
    room.leave();
  });

  test("access and kick resolve when they hold and are stored, and reject with the reason", async () => {
    const name = fresh();
    const owner = await join(name, { scene: "cube" });
    const guest = await Bot.join(server.url, name);
    await owner.setAccess({ locked: true, password: "open sesame" });
    expect([owner.access, (await failure(() => join(name, { tokens: storage() }))).code]).toEqual([
      { locked: true, password: true, ownersOnly: false, chat: true, bans: 0 },
      "ROOM_LOCKED",
    ]);
    expect(await failure(() => owner.setAccess({ password: "short" }))).toMatchObject({
      code: "BAD_ARGUMENT",
      field: "password",
      value: "not shown",
    });
    await owner.kick(guest.welcome.member, { ban: 60 });
    expect((await guest.untilClosed()).code).toBe(4403);
    expect(await failure(() => owner.kick(guest.welcome.member))).toMatchObject({
      code: "OUT_OF_RANGE",
      field: "member",
    });
    await owner.setAccess({ locked: false, password: null, liftBans: true });
    expect(owner.access).toEqual({ locked: false, password: false, ownersOnly: false, chat: true, bans: 0 });
    owner.leave();
  });

  test("reject when the line is lost, and a caller that ignores them hears nothing", async () => {
    const opened: WebSocket[] = [];
    class Line extends WebSocket {
      constructor(url: string) {
        super(url);
        opened.push(this);
      }
    }
    const room = await join(fresh(), { scene: "cube", WebSocket: Line as unknown as SocketConstructor });
    opened[0]!.pause();
    const reset = failure(() => room.reset());
    void room.tune({ gravity: [0, 1, 0] });
    const ping = failure(() => room.ping());
    opened[0]!.terminate();
    expect([(await reset).code, (await ping).code]).toEqual(["OFFLINE", "OFFLINE"]);
    room.leave();
  });
});

test("once, off, events, ping and dispose", async () => {
  let ticks = 0;
  const count = (): void => void (ticks += 1);
  let name: string;
  {
    using room = await join((name = fresh()), { scene: "cube" });
    room.tune({ gravity: [0, 1, 0] });
    const { tick } = await room.once("frame");
    expect(tick).toBeGreaterThan(0);
    room.on("frame", count);
    const seen: number[] = [];
    for await (const frame of room.events("frame")) if (seen.push(frame.tick) === 3) break;
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(ticks).toBeGreaterThanOrEqual(3);
    room.off("frame", count);
    const before = ticks;
    await room.once("frame");
    expect(ticks).toBe(before);
    expect(await room.ping()).toBeGreaterThan(0);
    const waiting = failure(() => room.once("reset"));
    room.leave();
    expect((await waiting).code).toBe("LEFT");
    for await (const _ of room.events("frame")) throw new Error("a room that has ended has no events");
    expect((await failure(() => room.events("nothing" as "frame"))).code).toBe("BAD_ARGUMENT");
  }
  const left = await join(name);
  left[Symbol.dispose]();
  expect(left.state).toBe("ended");
});

describe("a page whose origin is not listed", () => {
  /** Fetches as a page of the origin. @param readable requests whose answers CORS lets it read */
  const page = (readable: (init?: RequestInit) => boolean): void => {
    const real = fetch;
    vi.stubGlobal("location", { origin: STRANGER });
    vi.stubGlobal("fetch", async (url: string, init?: RequestInit) => {
      const answer = await real(url, { ...init, headers: { ...(init?.headers as object), origin: STRANGER } });
      if (!readable(init)) throw new TypeError("Failed to fetch");
      return answer;
    });
  };
  class Foreign extends WebSocket {
    constructor(url: string) {
      super(url, { origin: STRANGER });
      this.on("error", () => {});
    }
  }

  test("in PLIANT_ORIGINS is told so when its socket is refused", async () => {
    page(() => true);
    const WebSocketOfPage = Foreign as unknown as SocketConstructor;
    const error = await failure(() => join(fresh(), { scene: "cube", WebSocket: WebSocketOfPage }));
    expect(error).toMatchObject({
      code: "ORIGIN_REFUSED",
      status: 403,
      value: STRANGER,
      limit: "PLIANT_ORIGINS: same",
    });
  });

  test("in PLIANT_EMBED_ORIGINS is told so when no answer is readable", async () => {
    page((init) => init?.mode === "no-cors");
    const error = await failure(() => join(fresh(), { scene: "cube" }));
    expect(error).toMatchObject({ code: "ORIGIN_REFUSED", value: STRANGER, limit: "PLIANT_EMBED_ORIGINS" });
  });

  test("of a server that does not answer at all is told that", async () => {
    page(() => false);
    expect((await failure(() => join(fresh(), { scene: "cube" }))).code).toBe("UNREACHABLE");
  });
});
