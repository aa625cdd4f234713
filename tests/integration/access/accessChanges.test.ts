/**
 * Every order of access changes against visitors who try the socket and HTTP meanwhile. The test holds scrypt, so a
 * password that is being set stays in that state until the test lets it finish.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import type { PasswordQueueFull as QueueFull } from "../../../server/auth/password.ts";
import type { build } from "../../../shared/protocol/fromClient.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import type { TestServer } from "../testServer.ts";

type Access = Parameters<typeof build.access>[0];
type Derive = (password: string, ...rest: unknown[]) => void;

const gate = vi.hoisted(() => ({ closed: false, failing: false, held: [] as (() => void)[] }));
vi.mock("node:crypto", async (importActual) => {
  const actual = await importActual<Record<string, unknown>>();
  const scrypt: Derive = (password, ...rest) => {
    const done = rest.at(-1) as (error: Error | null, hash?: Buffer) => void;
    // Fillers of the queue cost no time.
    const go = (): void =>
      password === "a filler"
        ? done(null, Buffer.alloc(32))
        : gate.failing
          ? done(new Error("out of memory"))
          : (actual.scrypt as Derive)(password, ...rest);
    if (gate.closed) gate.held.push(go);
    else go();
  };
  return { ...actual, scrypt };
});

const openGate = (): void => {
  gate.closed = false;
  for (const go of gate.held.splice(0)) go();
};

let server: TestServer;
let hashPassword: (password: string, address: string) => Promise<unknown>;
let PasswordQueueFull: new () => QueueFull;
beforeAll(async () => {
  // Other files of this process have loaded the server with the real scrypt.
  vi.resetModules();
  ({ hashPassword, PasswordQueueFull } = await import("../../../server/auth/password.ts"));
  const { startTestServer } = await import("../testServer.ts");
  server = await startTestServer();
});
afterEach(() => {
  openGate();
  gate.failing = false;
});
afterAll(async () => {
  await server.close();
  vi.resetModules();
});

let made = 0;
interface Guarded {
  room: string;
  owner: Bot;
  /** Sends the changes one after another; resolves when the server has read all of them. */
  send: (...changes: Access[]) => Promise<void>;
  /** Sends the changes and waits until the last one is announced. */
  set: (...changes: Access[]) => Promise<void>;
}

async function guardedRoom(): Promise<Guarded> {
  const { room, token } = await createRoom(server.url, "cube", `guarded-${++made}`);
  const owner = await Bot.join(server.url, room, { name: "owner", joinToken: token });
  const send = async (...changes: Access[]): Promise<void> => {
    for (const change of changes) owner.setAccess(change);
    const before = owner.counts.pongs;
    owner.ping();
    await owner.until(() => owner.counts.pongs > before, "the pong after the changes");
  };
  const set = async (...changes: Access[]): Promise<void> => {
    const { locked = false, password = null } = Object.assign({}, ...changes) as Access;
    await send(...changes);
    await owner.until(
      () => owner.access?.locked === locked && owner.access.password === (password !== null),
      "the access",
    );
  };
  return { room, owner, send, set };
}

/** Close code of a socket, or 0 if it was admitted. */
async function enter(room: string, password?: string): Promise<number> {
  const bot = Bot.connect(server.url, room, { ...(password !== undefined && { password }) });
  const admitted = bot.until(() => bot.welcome !== undefined, "welcome").then(() => 0);
  const code = await Promise.any([admitted, bot.untilClosed().then(({ code: refusal }) => refusal)]);
  if (code !== 0) return code;
  await bot.leave();
  return 0;
}
const read = async (room: string): Promise<number> => (await fetch(`${server.url}/api/rooms/${room}/positions`)).status;

const OLD = "old password";
const NEW = "new password";
const OPEN = [0, 200];
const LOCKED = [CloseCode.locked, 423];
const ASKED = [CloseCode.passwordNeeded, 401];

interface Order {
  title: string;
  before: Access;
  changes: Access[];
  during: readonly number[];
  after: readonly number[];
  /** The password at the end. */
  password?: string;
}
const ORDERS: Order[] = [
  {
    title: "unlock and set a password in one message",
    before: { locked: true },
    changes: [{ locked: false, password: NEW }],
    during: LOCKED,
    after: ASKED,
    password: NEW,
  },
  {
    title: "set a password, then unlock",
    before: { locked: true },
    changes: [{ password: NEW }, { locked: false }],
    during: LOCKED,
    after: ASKED,
    password: NEW,
  },
  {
    title: "unlock with a password, then lock again",
    before: { locked: true },
    changes: [{ locked: false, password: NEW }, { locked: true }],
    during: LOCKED,
    after: LOCKED,
  },
  {
    title: "unlock with a password, lock, unlock",
    before: { locked: true },
    changes: [{ locked: false, password: NEW }, { locked: true }, { locked: false }],
    during: LOCKED,
    after: ASKED,
    password: NEW,
  },
  {
    title: "set a password, then lock: the lock holds at once",
    before: {},
    changes: [{ password: NEW }, { locked: true }],
    during: LOCKED,
    after: LOCKED,
  },
  {
    title: "replace a password: the old one holds until then",
    before: { password: OLD },
    changes: [{ password: NEW }],
    during: ASKED,
    after: ASKED,
    password: NEW,
  },
  {
    title: "unlock with a password, then remove the password",
    before: { locked: true },
    changes: [{ locked: false, password: NEW }, { password: null }],
    during: LOCKED,
    after: OPEN,
  },
  {
    title: "lock with a password: both hold together",
    before: { password: OLD },
    changes: [{ locked: true, password: NEW }],
    during: ASKED,
    after: LOCKED,
  },
  {
    title: "remove a password and lock",
    before: { password: OLD },
    changes: [{ locked: true, password: null }],
    during: LOCKED,
    after: LOCKED,
  },
];

describe("a room is never more open than before or after a change", () => {
  test.each(ORDERS)("$title", async ({ before, changes, during, after, password }) => {
    const { room, owner, send, set } = await guardedRoom();
    await set(before);
    gate.closed = true;
    await send(...changes);
    expect([await enter(room), await read(room)]).toEqual(during);
    // Visitors who try all the time, from before the change takes effect until after it.
    const seen = new Set<number>();
    let trying = true;
    const tries = [enter, read].map(async (attempt) => {
      while (trying) seen.add(await attempt(room));
    });
    const stored = (): unknown => server.app.registry.get(room).access.toSettings();
    const former = stored();
    openGate();
    const hashes = changes.some((change) => typeof change.password === "string");
    if (hashes) await expect.poll(stored, { timeout: 300_000 }).not.toEqual(former);
    expect([await enter(room), await read(room)]).toEqual(after);
    trying = false;
    await Promise.all(tries);
    expect([...seen].filter((code) => !during.includes(code) && !after.includes(code))).toEqual([]);
    if (password !== undefined) {
      expect(await enter(room, password)).toBe(0);
      expect(await enter(room, OLD)).toBe(CloseCode.passwordNeeded);
    }
    await owner.leave();
  });

  test("a visitor whose old password is still being checked when it is replaced is refused", async () => {
    const { room, owner, send, set } = await guardedRoom();
    await set({ password: OLD });
    const stored = (): string => JSON.stringify(server.app.registry.get(room).access.toSettings());
    const old = stored();
    gate.closed = true;
    const late = enter(room, OLD);
    await expect.poll(() => gate.held.length, { timeout: 300_000 }).toBe(1);
    await send({ password: NEW });
    await expect.poll(() => gate.held.length, { timeout: 300_000 }).toBe(2);
    const [check, hash] = gate.held.splice(0);
    hash!();
    await expect.poll(stored, { timeout: 300_000 }).not.toBe(old);
    check!();
    expect(await late).toBe(CloseCode.passwordNeeded);
    openGate();
    await owner.leave();
  });

  test("bans are lifted with the password, and a ban after the request stays", async () => {
    const { room, owner, send } = await guardedRoom();
    const { access } = server.app.registry.get(room);
    const untilMs = Date.now() + 600_000;
    await access.ban({ address: "127.0.0.1", untilMs, name: "mallory" }, Date.now());
    gate.closed = true;
    await send({ password: NEW, liftBans: true });
    expect([await enter(room), await read(room)]).toEqual([CloseCode.kicked, 403]);
    await access.ban({ address: "192.0.2.1", untilMs, name: "trudy" }, Date.now());
    openGate();
    await owner.until(() => owner.access?.password === true, "the password");
    expect(access.bans(Date.now()).map(({ name }) => name)).toEqual(["trudy"]);
    expect([await enter(room), await read(room)]).toEqual(ASKED);
    await owner.leave();
  });
});

describe("nothing changes and the owner is told", () => {
  const refusal = async (owner: Bot, count: number): Promise<unknown[]> => {
    await owner.until(() => owner.notices.length === count, "the refusals");
    return owner.notices.map(({ code, details }) => [code, details.field, details.limit]);
  };

  test("if the queue of scrypt is full", async () => {
    const { room, owner, send, set } = await guardedRoom();
    await set({ locked: true });
    gate.closed = true;
    const fillers: Promise<unknown>[] = [];
    const outcomes: unknown[] = [];
    // Two run, 64 wait.
    for (let i = 0; i < 66; i++)
      fillers.push(hashPassword("a filler", `192.0.2.${i}`).catch((error: unknown) => outcomes.push(error)));
    await send({ locked: false, password: NEW, ownersOnly: true });
    expect(await refusal(owner, 1)).toEqual([
      ["RATE_LIMITED", "password", `${new PasswordQueueFull().message}: nothing was changed`],
    ]);
    expect([await enter(room), await read(room)]).toEqual(LOCKED);
    expect(owner.access).toMatchObject({ locked: true, password: false, ownersOnly: false });
    openGate();
    await Promise.all(fillers);
    expect(outcomes).toEqual([]);
    // Afterwards the same request succeeds.
    await set({ locked: false, password: NEW });
    expect([await enter(room), await read(room)]).toEqual(ASKED);
    await owner.leave();
  });

  test("if scrypt fails, also for the requests behind it", async () => {
    const { room, owner, send, set } = await guardedRoom();
    await set({ locked: true });
    gate.closed = true;
    gate.failing = true;
    await send({ password: NEW }, { locked: false });
    openGate();
    const limit = "the password could not be hashed: nothing was changed";
    expect(await refusal(owner, 2)).toEqual([
      ["RATE_LIMITED", "password", limit],
      ["RATE_LIMITED", "password", limit],
    ]);
    expect([await enter(room), await read(room)]).toEqual(LOCKED);
    await owner.leave();
  });

  test("a second password while the first is being hashed is refused with its whole request", async () => {
    const { room, owner, send, set } = await guardedRoom();
    await set({ locked: true });
    gate.closed = true;
    await send({ password: NEW }, { locked: false, password: OLD });
    expect(await refusal(owner, 1)).toEqual([["RATE_LIMITED", "password", "one at a time"]]);
    openGate();
    await owner.until(() => owner.access?.password === true, "the password");
    expect(await enter(room)).toBe(CloseCode.locked);
    await owner.leave();
  });
});
