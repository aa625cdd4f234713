/**
 * A member of a room without a browser: connects, decodes every frame with the shared codec, grabs, pulls, and counts.
 * Tests and load tests use it; it is also the shortest complete client to read beside PROTOCOL.md.
 */
import { decode, encode } from "@msgpack/msgpack";
import WebSocket from "ws";
import { ClientMessage, PROTOCOL_VERSION, ServerMessage } from "../shared/protocol.ts";
import { createSnapshotModel, decodeDelta, decodeKeyframe, type SnapshotModel } from "../shared/snapshot/index.ts";
import type { Topology } from "../shared/topology.ts";

export type Point = [number, number, number];

export interface SurfacePoint {
  body: number;
  triangle: number;
  u: number;
  v: number;
}

export interface BotOptions {
  name?: string;
  color?: string;
  /** Token of a session to resume. */
  resume?: string;
  /** Join token: what the member is. */
  joinToken?: string;
  /** Of the room. */
  password?: string;
  /** Default 10 s, for joining and for every `until`. */
  timeoutMs?: number;
  /** Address of this machine that it comes from; default: as the system chooses. */
  from?: string;
  /** How many frames `recent` keeps; default none. */
  keepFrames?: number;
}

export interface Hand {
  cursor: Point | null;
  /** [grab, body, triangle, u, v, x, y, z] */
  grabs: number[][];
}

/** Body of an HTTP answer that is not 2xx. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(status: number, body: Record<string, unknown>) {
    super(`HTTP ${status}: ${JSON.stringify(body)}`);
    this.name = "HttpFailure";
    this.status = status;
    this.body = body;
  }
}

/**
 * Opens a room, or finds it.
 * @param as a token: a dedicated room takes an admin's.
 * @returns with the owner's token if it was opened now.
 * @throws HttpFailure
 */
export async function createRoom(
  url: string,
  scene: string,
  room?: string,
  pool?: "shared" | "dedicated",
  as?: string,
): Promise<{ room: string; topology: string; token?: string }> {
  const answer = await fetch(`${url}/api/rooms`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(as !== undefined && { authorization: `Bearer ${as}` }) },
    body: JSON.stringify({ scene, room, pool }),
  });
  const body = (await answer.json()) as Record<string, unknown>;
  if (!answer.ok) throw new HttpFailure(answer.status, body);
  return body as unknown as { room: string; topology: string; token?: string };
}

/** Ends a room. @param token its owner's, from `createRoom`. @returns the status */
export async function deleteRoom(url: string, room: string, token = ""): Promise<number> {
  return (await fetch(`${url}/api/rooms/${room}`, { method: "DELETE", headers: { authorization: `Bearer ${token}` } }))
    .status;
}

export class Bot {
  readonly socket: WebSocket;
  welcome!: {
    session: string;
    token: string;
    member: number;
    tickHz: number;
    sendHz: number;
    topology: string;
    room: string;
    scene: string;
    limits: Record<string, number>;
    role: string;
  };
  topology!: Topology;
  /** Wire tick of `frame`, -1 before the first. */
  tick = -1;
  /** int32[3*particles] of the newest frame. */
  frame: Int32Array = new Int32Array(0);
  /** The last frames by their tick, oldest first, if asked for. */
  readonly recent = new Map<number, Int32Array>();
  /** [member, name, color, connected, role] */
  members: [number, string, string, boolean, string][] = [];
  /** The room's access, as the server said last. */
  access: { locked: boolean; password: boolean; ownersOnly: boolean; bans: number } | null = null;
  readonly hands = new Map<number, Hand>();
  readonly notices: { code: string; text: string; details: Record<string, unknown> }[] = [];
  stats: Record<string, unknown> | null = null;
  resets = 0;
  /** Bodies that wait, since when, and by whose hand. */
  waiting: { tick: number; bodies: number[]; member: number } = { tick: -1, bodies: [], member: 0 };
  readonly counts = { keyframes: 0, deltas: 0, emptyDeltas: 0, bytes: 0, frameBytes: 0, messages: 0, pongs: 0 };
  readonly #timeoutMs: number;
  readonly #keepFrames: number;
  #model: SnapshotModel | null = null;
  #waiting: { done: () => boolean; resolve: () => void }[] = [];
  #early: unknown[][] = [];
  #closed: { code: number; reason: string } | null = null;
  #fault: Error | null = null;

  private constructor(url: string, room: string, options: BotOptions) {
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#keepFrames = options.keepFrames ?? 0;
    this.socket = new WebSocket(`${url.replace(/^http/, "ws")}/api/rooms/${encodeURIComponent(room)}/socket`, {
      perMessageDeflate: false,
      ...(options.from !== undefined && { localAddress: options.from }),
    });
    this.socket.on("open", () => {
      const { name, color, resume, joinToken: token, password } = options;
      this.send([
        ClientMessage.hello,
        PROTOCOL_VERSION,
        {
          ...(name ? { name } : {}),
          ...(color ? { color } : {}),
          ...(resume ? { resume } : {}),
          ...(token ? { token } : {}),
          ...(password ? { password } : {}),
        },
      ]);
    });
    this.socket.on("message", (data: Buffer) => this.#receive(data));
    this.socket.on("error", (error) => this.#fail(error));
    this.socket.on("close", (code, reason) => {
      this.#closed = { code, reason: reason.toString() };
      this.#wake();
    });
  }

  /** Connects without waiting for anything. */
  static connect(url: string, room: string, options: BotOptions = {}): Bot {
    return new Bot(url, room, options);
  }

  /** Joins a room and resolves with the first frame decoded. */
  static async join(url: string, room: string, options: BotOptions = {}): Promise<Bot> {
    const bot = new Bot(url, room, options);
    await bot.until(() => bot.welcome !== undefined, "welcome");
    const answer = await fetch(`${url}/api/topologies/${bot.welcome.topology}`);
    if (!answer.ok) throw new HttpFailure(answer.status, (await answer.json()) as Record<string, unknown>);
    bot.#useTopology(decode(new Uint8Array(await answer.arrayBuffer())) as Topology);
    await bot.until(() => bot.tick >= 0, "first frame");
    return bot;
  }

  /** How the socket was closed; null while it is open. */
  get closed(): { code: number; reason: string } | null {
    return this.#closed;
  }

  /** Position of a streamed particle in the newest frame, m. */
  position(body: number, particle: number): Point {
    const { first, quantum } = this.topology.bodies[body]!;
    const at = 3 * (first + particle);
    return [this.frame[at]! * quantum, this.frame[at + 1]! * quantum, this.frame[at + 2]! * quantum];
  }

  /** Corners of a surface triangle, as particles of its body. */
  corners(body: number, triangle: number): Point {
    const bytes = this.topology.bodies[body]!.triangles;
    const indices = new Uint32Array(bytes.slice(12 * triangle, 12 * triangle + 12).buffer);
    return [indices[0]!, indices[1]!, indices[2]!];
  }

  /** Where a surface point is in the newest frame, m. */
  surfacePosition({ body, triangle, u, v }: SurfacePoint): Point {
    const [a, b, c] = this.corners(body, triangle).map((particle) => this.position(body, particle)) as [
      Point,
      Point,
      Point,
    ];
    return [0, 1, 2].map((k) => (1 - u - v) * a[k]! + u * b[k]! + v * c[k]!) as Point;
  }

  /** Mean position of a body's streamed particles, m. */
  center(body: number): Point {
    const { count } = this.topology.bodies[body]!;
    const sum: Point = [0, 0, 0];
    for (let particle = 0; particle < count; particle++)
      this.position(body, particle).forEach((value, k) => (sum[k]! += value / count));
    return sum;
  }

  grab(grab: number, { body, triangle, u, v }: SurfacePoint, target: Point): void {
    this.send([ClientMessage.grab, grab, body, triangle, u, v, ...target]);
  }

  move(grab: number, target: Point): void {
    this.send([ClientMessage.move, grab, ...target]);
  }

  release(grab: number): void {
    this.send([ClientMessage.release, grab]);
  }

  impulse({ body, triangle, u, v }: SurfacePoint, impulse: Point): void {
    this.send([ClientMessage.impulse, body, triangle, u, v, ...impulse]);
  }

  reset(): void {
    this.send([ClientMessage.reset]);
  }

  spawn(body: number, position: Point, options?: { heading?: [number, number]; occupied?: "refuse" | "lift" }): void {
    this.send([ClientMessage.spawn, body, ...position, ...(options ? [options] : [])]);
  }

  remove(body: number): void {
    this.send([ClientMessage.remove, body]);
  }

  kick(member: number, ban?: number): void {
    this.send([ClientMessage.kick, member, ...(ban === undefined ? [] : [{ ban }])]);
  }

  setAccess(change: { locked?: boolean; ownersOnly?: boolean; password?: string | null; liftBans?: boolean }): void {
    this.send([ClientMessage.access, change]);
  }

  cursor(at: Point | null): void {
    this.send(at ? [ClientMessage.cursor, ...at] : [ClientMessage.cursor, null]);
  }

  ping(): void {
    this.send([ClientMessage.ping, performance.now()]);
  }

  send(message: unknown[]): void {
    this.socket.send(encode(message));
  }

  /** Stops taking bytes from the network, like a stalled client. */
  pauseReading(): void {
    this.socket.pause();
  }

  resumeReading(): void {
    this.socket.resume();
  }

  /** Leaves in order. */
  async leave(): Promise<void> {
    this.socket.close(1000);
    await this.untilClosed();
  }

  /** Loses the line, as if the network had gone. */
  drop(): void {
    this.socket.terminate();
  }

  /**
   * Resolves when `done` holds, which is asked after every message.
   * @throws Error naming `what` after the timeout, or when the socket closes before
   */
  async until(done: () => boolean, what: string, timeoutMs = this.#timeoutMs): Promise<void> {
    if (done()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${what}: not within ${timeoutMs} ms`)), timeoutMs);
      const finish = (): void => {
        clearTimeout(timer);
        if (done()) resolve();
        else
          reject(this.#fault ?? new Error(`${what}: socket closed with ${this.#closed?.code} ${this.#closed?.reason}`));
      };
      this.#waiting.push({ done: () => done() || this.#closed !== null || this.#fault !== null, resolve: finish });
    });
  }

  /** Resolves after `count` further frames. */
  frames(count: number, timeoutMs?: number): Promise<void> {
    const goal = this.counts.keyframes + this.counts.deltas + count;
    return this.until(() => this.counts.keyframes + this.counts.deltas >= goal, `${count} frames`, timeoutMs);
  }

  async untilClosed(timeoutMs?: number): Promise<{ code: number; reason: string }> {
    await this.until(() => this.#closed !== null, "close", timeoutMs);
    return this.#closed!;
  }

  #useTopology(topology: Topology): void {
    this.topology = topology;
    this.#model = createSnapshotModel(
      topology.bodies.map(({ count, triangles }) => ({ count, triangles: new Uint32Array(triangles.slice().buffer) })),
    );
    this.frame = new Int32Array(3 * topology.particles);
    const early = this.#early;
    this.#early = [];
    for (const message of early) this.#frame(message);
  }

  #receive(data: Buffer): void {
    this.counts.bytes += data.byteLength;
    this.counts.messages += 1;
    const message = decode(data) as unknown[];
    try {
      switch (message[0]) {
        case ServerMessage.welcome:
          this.welcome = message[1] as Bot["welcome"];
          break;
        case ServerMessage.keyframe:
        case ServerMessage.delta:
          this.counts.frameBytes += data.byteLength;
          // Until the topology is here nothing can be decoded, and the chain must not lose a link.
          if (this.#model) this.#frame(message);
          else this.#early.push(message);
          break;
        case ServerMessage.members:
          this.members = message[1] as Bot["members"];
          break;
        case ServerMessage.hands:
          for (const [member, cursor, grabs] of message[2] as [number, Point | null, number[][]][])
            this.hands.set(member, { cursor, grabs });
          break;
        case ServerMessage.pong:
          this.counts.pongs += 1;
          break;
        case ServerMessage.stats:
          this.stats = message[1] as Record<string, unknown>;
          break;
        case ServerMessage.notice:
          this.notices.push({
            code: String(message[1]),
            text: String(message[2]),
            details: message[3] as Record<string, unknown>,
          });
          break;
        case ServerMessage.reset:
          this.resets += 1;
          break;
        case ServerMessage.access:
          this.access = message[1] as Bot["access"];
          break;
        case ServerMessage.waiting:
          this.waiting = { tick: message[1] as number, bodies: message[2] as number[], member: message[3] as number };
          break;
      }
    } catch (error) {
      this.#fail(error as Error);
    }
    this.#wake();
  }

  #frame(message: unknown[]): void {
    const next = new Int32Array(this.frame.length);
    if (message[0] === ServerMessage.keyframe) {
      decodeKeyframe(this.#model!, message[2] as Uint8Array, next);
      this.counts.keyframes += 1;
    } else {
      if (message[2] !== this.tick)
        throw new Error(`delta ${message[1]} stands on tick ${message[2]}, but the newest frame is ${this.tick}`);
      decodeDelta(this.#model!, this.frame, message[3] as Uint8Array, next);
      this.counts.deltas += 1;
      if (next.every((value, i) => value === this.frame[i])) this.counts.emptyDeltas += 1;
    }
    this.frame = next;
    this.tick = message[1] as number;
    if (this.#keepFrames === 0) return;
    this.recent.set(this.tick, next);
    if (this.recent.size > this.#keepFrames) this.recent.delete(this.recent.keys().next().value!);
  }

  #fail(error: Error): void {
    this.#fault ??= error;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ done }) => !done());
    for (const entry of waiting) if (!this.#waiting.includes(entry)) entry.resolve();
  }
}
