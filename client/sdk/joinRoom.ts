/** `joinRoom`: connects to a room and waits for its first frame. */
import { checkColor, checkNumber, checkText, parseAddress } from "./arguments.ts";
import type { SocketConstructor } from "./connection.ts";
import { badArgument, PliantError } from "./errors.ts";
import { fetchTopology, request } from "./http.ts";
import { Room } from "./room.ts";

export interface JoinOptions {
  /** Name that other members see; cut to 24 characters. Default: the server makes one. */
  name?: string;
  /** `#rrggbb`, color of this member. Default: the server chooses one. */
  color?: string;
  /** A join token. Default: that of the address (`#token=`). */
  token?: string;
  /** Password of the room, if it has one. */
  password?: string;
  /** Creates the room with this scene if it does not exist. Default: the room must exist. */
  scene?: string;
  /** Subscribes to the event `contact` (bodies that begin to touch). Default: no, because it costs the server time. */
  contacts?: boolean;
  /** If aborted while joining, the call fails with ABORTED; if aborted later, the member leaves. */
  signal?: AbortSignal;
  /** Time from the call to the first frame, ms; default 30,000. Allow more for scenes that take long to build. */
  timeoutMs?: number;
  /** WebSocket class, for runtimes without one of their own (Node 20: the class of `ws`). */
  WebSocket?: SocketConstructor;
}

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
  const { base, room, token: linked } = parseAddress(url);
  const asked = {
    name: checkText("name", options.name, MAX_NAME),
    color: checkColor(options.color),
    token: checkText("token", options.token ?? linked, MAX_TOKEN),
    password: checkText("password", options.password, MAX_PASSWORD),
    scene: checkText("scene", options.scene, MAX_NAME),
  };
  const { signal, contacts = false } = options;
  if (typeof contacts !== "boolean") badArgument("contacts", contacts, "a boolean");
  if (signal !== undefined && !(signal instanceof AbortSignal)) badArgument("signal", signal, "an AbortSignal");
  const timeoutMs = checkNumber("timeoutMs", options.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1, MAX_TIMEOUT_MS);
  const WebSocket = options.WebSocket ?? (globalThis.WebSocket as SocketConstructor | undefined);
  if (typeof WebSocket !== "function") throw new PliantError("NO_WEBSOCKET");
  const limited = new Limited(timeoutMs, signal);
  try {
    const token = await openRoom(base, room, asked, limited.signal);
    const joined = await firstFrame({ base, room, ...asked, token, contacts, WebSocket }, limited.signal);
    signal?.addEventListener("abort", () => joined.leave(), { once: true });
    return joined;
  } catch (error) {
    throw limited.reason() ?? error;
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

/**
 * Checks that the room exists; with `scene`, creates it if it does not.
 * @returns the token to join with
 */
async function openRoom(
  base: string,
  room: string,
  { scene, token }: { scene: string | undefined; token: string | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  if (scene === undefined) {
    await request(`${base}/api/rooms/${room}`, { headers, signal });
    return token;
  }
  const answer = await request(`${base}/api/rooms`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ scene, room }),
    signal,
  });
  return token ?? ((await answer.json()) as { token?: string }).token;
}

function firstFrame(
  asked: Omit<ConstructorParameters<typeof Room>[0], "fetchTopology" | "roomExists" | "onJoined">,
  signal: AbortSignal,
): Promise<Room> {
  const { base, room: name } = asked;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let settled = false;
    const settle = (error?: unknown): void => {
      if (settled) return;
      settled = true;
      signal.removeEventListener("abort", onAbort);
      if (error === undefined) return resolve(room);
      room.leave();
      reject(error);
    };
    const onAbort = (): void => settle(signal.reason);
    signal.addEventListener("abort", onAbort);
    const room = new Room({
      ...asked,
      fetchTopology: (hash) => fetchTopology(base, hash),
      roomExists: () => roomExists(base, name),
      onJoined: settle,
    });
  });
}

async function roomExists(base: string, room: string): Promise<boolean> {
  try {
    await request(`${base}/api/rooms/${room}`);
    return true;
  } catch (error) {
    return !(error instanceof PliantError && error.status === 404);
  }
}
