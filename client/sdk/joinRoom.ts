/** `joinRoom`: connects to a room and waits for its first frame. */
import { checkColor, checkNumber, checkText, parseAddress } from "./calls/checkArguments.ts";
import type { SocketConstructor } from "./connection/roomConnection.ts";
import { badArgument, closeError, PliantError } from "./errors.ts";
import { bearer, fetchTopology, isMissing, post, refusedOrigin, request } from "./connection/roomRequests.ts";
import { Room } from "./room.ts";
import { defaultTokens, KeptToken, type TokenStorage } from "./connection/keptTokens.ts";
import { CloseCode } from "../../shared/protocol/protocol.ts";

export interface JoinOptions {
  /** Name that other members see; cut to 24 characters. Default: the server makes one. */
  name?: string;
  /** `#rrggbb`, color of this member. Default: the server chooses one. */
  color?: string;
  /** A join token. Default: that of the address (`#token=`). */
  token?: string;
  /** Password of the room, if it has one. */
  password?: string;
  /**
   * Creates the room with this scene if it does not exist. Default: that of the address (`?scene=`); without one the
   * room must exist.
   */
  scene?: string;
  /** Subscribes to the event `contact` (bodies that begin to touch). Default: no, because it costs the server time. */
  contacts?: boolean;
  /**
   * Keeps the owner's token of a room that this call creates, and joins with it later. Default: session storage in
   * pages, memory elsewhere.
   */
  tokens?: TokenStorage;
  /**
   * If aborted while joining, the call fails with ABORTED and closes the room if it created it; if aborted later, the
   * member leaves.
   */
  signal?: AbortSignal;
  /** Time from the call to the first frame, ms; default 30,000. Allow more for scenes that take long to build. */
  timeoutMs?: number;
  /** WebSocket class, for runtimes without one of their own (Node 20: the class of `ws`). */
  WebSocket?: SocketConstructor;
}

/** Refusals that a retry of this page does not change. */
const FINAL: ReadonlySet<string> = new Set(["ORIGIN_REFUSED", "HOST_REFUSED"]);
/** Number of looks whether a room is empty, and the time between two of them, ms. */
const MOST_LOOKS = 10;
const LOOK_MS = 200;
/** Longest wait for the answer of a request that was given up, ms: as long as a scene may take to build. */
const LATE_MS = 120_000;
const MAX_NAME = 1000;
const MAX_TOKEN = 2048;
const MAX_PASSWORD = 128;
const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 3_600_000;

/**
 * Joins a room. Resolves when its first frame is decoded. From then on the room reconnects after a lost connection,
 * until `room.leave()`.
 *
 * @param url of the room's page: http(s)://host[:port]/r/<room>
 * @throws PliantError with a code of the table in README.md
 */
export async function joinRoom(url: string | URL, options: JoinOptions = {}): Promise<Room> {
  const { base, room, ...linked } = parseAddress(url);
  const asked = {
    name: checkText("name", options.name, MAX_NAME),
    color: checkColor(options.color),
    token: checkText("token", options.token ?? linked.token, MAX_TOKEN),
    password: checkText("password", options.password, MAX_PASSWORD),
    scene: checkText("scene", options.scene ?? linked.scene, MAX_NAME),
  };
  const { signal, contacts = false } = options;
  if (typeof contacts !== "boolean") badArgument("contacts", contacts, "a boolean");
  if (signal !== undefined && !(signal instanceof AbortSignal)) badArgument("signal", signal, "an AbortSignal");
  const timeoutMs = checkNumber("timeoutMs", options.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1, MAX_TIMEOUT_MS);
  const WebSocket = options.WebSocket ?? (globalThis.WebSocket as SocketConstructor | undefined);
  if (typeof WebSocket !== "function") throw new PliantError("NO_WEBSOCKET");
  const { tokens = defaultTokens } = options;
  if (typeof tokens?.get !== "function" || typeof tokens.set !== "function")
    badArgument("tokens", tokens, "an object with get and set");
  const keep = new KeptToken(`${base}/r/${room}`, tokens);
  const limited = new Limited(timeoutMs, signal);
  try {
    const opened = await openRoom({ base, room, ...asked, keep }, limited.signal);
    const joined = await firstFrame({ base, room, ...asked, ...opened, contacts, WebSocket, keep }, limited.signal);
    signal?.addEventListener("abort", () => joined.leave(), { once: true });
    return joined;
  } catch (error) {
    const reason = limited.reason();
    if (reason) throw reason;
    throw ((error as PliantError).code === "UNREACHABLE" && (await refusedOrigin(base))) || error;
  } finally {
    limited.end();
  }
}

/** Aborts an operation after a timeout, or when the caller's signal is aborted. */
class Limited {
  readonly #stop = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #caller: AbortSignal | undefined;
  readonly #abort = (): void => this.#stop.abort(new PliantError("ABORTED", { cause: this.#caller?.reason }));

  constructor(timeoutMs: number, caller: AbortSignal | undefined) {
    this.#caller = caller;
    this.#timer = setTimeout(
      () => this.#stop.abort(new PliantError("TIMEOUT", { field: "timeoutMs", limit: timeoutMs })),
      timeoutMs,
    );
    caller?.addEventListener("abort", this.#abort, { once: true });
    if (caller?.aborted) this.#abort();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Reason of the abort; undefined: not aborted. */
  reason(): PliantError | undefined {
    return this.signal.aborted ? (this.signal.reason as PliantError) : undefined;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#abort);
  }
}

interface Opened {
  /** Token to join with. */
  token: string | undefined;
  /** True if this call created the room. */
  created: boolean;
}

interface OpenOptions {
  base: string;
  room: string;
  scene: string | undefined;
  token: string | undefined;
  keep: KeptToken;
}

/**
 * Checks that the room exists; with `scene`, creates it if it does not. If aborted, it closes a room that it created.
 */
async function openRoom(options: OpenOptions, signal: AbortSignal): Promise<Opened> {
  const { base, room, scene, token, keep } = options;
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason as PliantError);
    signal.addEventListener("abort", () => reject(signal.reason as PliantError), { once: true });
  });
  await Promise.race([aborted, keep.removed]);
  // A request that is aborted may still have created the room, so its answer is awaited.
  const late = new AbortController();
  const opening =
    token === undefined ? openWithKept(options, late.signal) : open(base, room, scene, token, late.signal);
  try {
    const opened = await Promise.race([aborted, opening]);
    if (opened.created) await keep.set(opened.token);
    return opened;
  } catch (error) {
    // Without a scene the request creates nothing.
    if (signal.aborted && scene === undefined) late.abort();
    else if (signal.aborted) {
      const timer = setTimeout(() => late.abort(), LATE_MS);
      const closing = opening
        .finally(() => clearTimeout(timer))
        .then(async (opened) => {
          if (opened.created) await keep.set(opened.token);
          return closeRoom(base, room, opened);
        });
      keep.remove(closing);
    }
    throw error;
  }
}

/** Opens the room with the kept token, or without it if it is not valid any more. */
async function openWithKept({ base, room, scene, keep }: OpenOptions, late: AbortSignal): Promise<Opened> {
  const kept = await keep.get();
  try {
    return await open(base, room, scene, kept, late);
  } catch (error) {
    const { status } = error as PliantError;
    if (kept === undefined || (status !== 401 && status !== 403)) throw error;
    await keep.set(undefined);
    return open(base, room, scene, undefined, late);
  }
}

async function open(
  base: string,
  room: string,
  scene: string | undefined,
  token: string | undefined,
  signal: AbortSignal,
): Promise<Opened> {
  if (scene === undefined) {
    await request(`${base}/api/rooms/${room}`, { headers: bearer(token), signal });
    return { token, created: false };
  }
  const answer = (await (await post(`${base}/api/rooms`, { scene, room }, token, { signal })).json()) as {
    token?: string;
  };
  return { token: answer.token ?? token, created: answer.token !== undefined };
}

/** Closes a room that this call has created, unless others have entered it. @returns true: it is closed */
async function closeRoom(base: string, room: string, { token, created }: Opened): Promise<boolean> {
  if (!created) return false;
  const address = `${base}/api/rooms/${room}`;
  for (let look = 0; look < MOST_LOOKS; look++) {
    const { members } = (await (await request(address, { headers: bearer(token) })).json()) as { members: number };
    if (members === 0) {
      await request(address, { method: "DELETE", headers: bearer(token) });
      return true;
    }
    // The member of this call may still be leaving.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return false;
}

function firstFrame(
  {
    keep,
    created,
    ...asked
  }: Omit<ConstructorParameters<typeof Room>[0], "fetchTopology" | "whyRefused" | "onJoined" | "onTokenInvalid"> &
    Opened & { keep: KeptToken },
  signal: AbortSignal,
): Promise<Room> {
  const { base, room: name, token } = asked;
  return new Promise((resolve, reject) => {
    let settled = false;
    const settle = (error?: unknown): void => {
      if (settled) return;
      settled = true;
      signal.removeEventListener("abort", onAbort);
      if (error === undefined) return resolve(room);
      room.leave();
      if (created) keep.remove(closeRoom(base, name, { token, created }));
      reject(error);
    };
    const onAbort = (): void => settle(signal.reason);
    const room = new Room({
      ...asked,
      fetchTopology: (hash) => fetchTopology(base, hash),
      whyRefused: () => whyRefused(base, name),
      onJoined: settle,
      onTokenInvalid: () => void keep.set(undefined),
    });
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
  });
}

/** Asks for the socket by HTTP, which answers as the refused upgrade did. */
async function whyRefused(base: string, room: string): Promise<PliantError | undefined> {
  const address = `${base}/api/rooms/${room}`;
  for (const url of [`${address}/socket`, address]) {
    try {
      await request(url);
    } catch (error) {
      if (!(error instanceof PliantError)) throw error;
      if (FINAL.has(error.code)) return error;
      if (isMissing(error)) return closeError(CloseCode.roomGone, "no such room");
    }
  }
  return undefined;
}
