/**
 * A member of a room without a browser, for tests and load tests: connects, decodes every frame with the shared codec,
 * grabs, pulls, and counts. Unlike `Room` of client/sdk it gives access to raw messages, lost connections and counts.
 */
import { encode } from "@msgpack/msgpack";
import WebSocket from "ws";
import { socketUrl } from "../client/sdk/connection/roomConnection.ts";
import { FrameDecoder, type FrameEvent } from "../client/sdk/mirror/frameDecoder.ts";
import { fetchTopology } from "../client/sdk/connection/roomRequests.ts";
import {
  type AccessState,
  type MemberGrabs,
  parseServerMessage,
  type Point,
  type ServerEvent,
  type RoomStats,
  type Welcome,
} from "../shared/protocol/fromServer.ts";
import { build, type GrabOptions, type SpawnOptions, type SurfacePoint } from "../shared/protocol/fromClient.ts";
import type { Pin } from "../shared/members/pin.ts";
import type { BodyLook, LookChange } from "../shared/scene/bodyLook.ts";
import type { Topology } from "../shared/topology.ts";

export type { Point, SurfacePoint };

export interface BotOptions {
  name?: string;
  color?: string;
  /** Token of a session to resume. */
  resume?: string;
  /** Join token, which determines the member's role. */
  joinToken?: string;
  /** Password of the room. */
  password?: string;
  /** Timeout of joining and of each `until`, ms. Default 300 s: on a busy machine a server starts within a minute. */
  timeoutMs?: number;
  /** Local address to connect from; default: chosen by the system. */
  from?: string;
  /** Number of frames kept in `recent`; default 0. */
  keepFrames?: number;
}

/** An HTTP answer that is not 2xx, with its body. */
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
 * Creates a room, or finds it.
 * @param as a token: a dedicated room requires an operator's.
 * @returns the room, with the owner's token if it was created now.
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

/** Deletes a room. @param token its owner's, from `createRoom`. @returns the HTTP status */
export async function deleteRoom(url: string, room: string, token = ""): Promise<number> {
  return (await fetch(`${url}/api/rooms/${room}`, { method: "DELETE", headers: { authorization: `Bearer ${token}` } }))
    .status;
}

export class Bot {
  readonly socket: WebSocket;
  welcome!: Welcome;
  topology!: Topology;
  /** Wire tick of `frame`; -1 before the first. */
  tick = -1;
  /** int32[3*particles] of the newest frame. */
  frame: Int32Array = new Int32Array(0);
  /** The last `keepFrames` frames by tick, oldest first. */
  readonly recent = new Map<number, Int32Array>();
  /** [member, name, color, connected, role] */
  members: [number, string, string, boolean, string][] = [];
  /** The room's access, as last received. */
  access: AccessState | null = null;
  readonly memberGrabs = new Map<number, MemberGrabs>();
  readonly notices: { code: string; text: string; details: Record<string, unknown> }[] = [];
  /** Messages of other members. */
  readonly heard: { member: number; kind: string; data: unknown }[] = [];
  /** Lines of the chat, first the last ones before this member came; null: none received yet. */
  lines: string[] | null = null;
  readonly reactions: { member: number; reaction: number }[] = [];
  stats: RoomStats | null = null;
  resets = 0;
  /** The room's tuning, with the tick and the member of the last change. */
  tuned: Extract<ServerEvent, { type: "tuned" }> | null = null;
  /** The spawnable bodies that are not in the room, with the tick and the member of the last change. */
  spawnable: { tick: number; bodies: number[]; member: number } = { tick: -1, bodies: [], member: 0 };
  /** Looks that members gave bodies, with the member of each body's last change. */
  readonly looks = new Map<number, { look: BodyLook; member: number }>();
  /** Pins of the room, with the member of the last change. */
  pins: { member: number; pins: ReadonlyMap<number, Pin> } = { member: 0, pins: new Map() };
  readonly counts = { keyframes: 0, deltas: 0, emptyDeltas: 0, bytes: 0, frameBytes: 0, messages: 0, pongs: 0 };
  readonly #timeoutMs: number;
  readonly #keepFrames: number;
  #decoder: FrameDecoder | null = null;
  #waiting: { done: () => boolean; resolve: () => void }[] = [];
  #early: FrameEvent[] = [];
  #closed: { code: number; reason: string } | null = null;
  #fault: Error | null = null;

  private constructor(url: string, room: string, options: BotOptions) {
    this.#timeoutMs = options.timeoutMs ?? 300_000;
    this.#keepFrames = options.keepFrames ?? 0;
    this.socket = new WebSocket(socketUrl(url, room), {
      perMessageDeflate: false,
      // One message per event-loop turn: a caller that awaits one continues before the next is handled.
      allowSynchronousEvents: false,
      ...(options.from !== undefined && { localAddress: options.from }),
    });
    this.socket.on("open", () => {
      const { name, color, resume, joinToken: token, password } = options;
      this.socket.send(
        build.hello({
          ...(name ? { name } : {}),
          ...(color ? { color } : {}),
          ...(resume ? { resume } : {}),
          ...(token ? { token } : {}),
          ...(password ? { password } : {}),
        }),
      );
    });
    this.socket.on("message", (data: Buffer) => this.#receive(data));
    this.socket.on("error", (error) => this.#fail(error));
    this.socket.on("close", (code, reason) => {
      this.#closed = { code, reason: reason.toString() };
      this.#wake();
    });
  }

  /** Connects without waiting for an answer. */
  static connect(url: string, room: string, options: BotOptions = {}): Bot {
    return new Bot(url, room, options);
  }

  /** Joins a room. Resolves when the first frame is decoded. */
  static async join(url: string, room: string, options: BotOptions = {}): Promise<Bot> {
    const bot = new Bot(url, room, options);
    await bot.until(() => bot.welcome !== undefined, "welcome");
    bot.#useTopology(await fetchTopology(url, bot.welcome.topology));
    await bot.until(() => bot.tick >= 0, "first frame");
    return bot;
  }

  /** Close code and reason of the socket; null while it is open. */
  get closed(): { code: number; reason: string } | null {
    return this.#closed;
  }

  /** Position of a streamed particle in the newest frame, m. */
  position(body: number, particle: number): Point {
    const { first, quantum } = this.topology.bodies[body]!;
    const at = 3 * (first + particle);
    return [this.frame[at]! * quantum, this.frame[at + 1]! * quantum, this.frame[at + 2]! * quantum];
  }

  /** Particles at the corners of a surface triangle; of a cloud of points, the point with this index. */
  corners(body: number, triangle: number): Point {
    const bytes = this.topology.bodies[body]!.triangles;
    if (bytes.length === 0) return [triangle, triangle, triangle];
    const indices = new Uint32Array(bytes.slice(12 * triangle, 12 * triangle + 12).buffer);
    return [indices[0]!, indices[1]!, indices[2]!];
  }

  /** Position of a surface point in the newest frame, m. */
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

  grab(grab: number, at: SurfacePoint, target: Point, how?: GrabOptions): void {
    this.socket.send(build.grab(grab, at, target, how));
  }

  move(grab: number, target: Point): void {
    this.socket.send(build.move(grab, target));
  }

  release(grab: number): void {
    this.socket.send(build.release(grab));
  }

  impulse(at: SurfacePoint, impulse: Point): void {
    this.socket.send(build.impulse(at, impulse));
  }

  reset(): void {
    this.socket.send(build.reset());
  }

  spawn(body: number, position: Point, options?: SpawnOptions): void {
    this.socket.send(build.spawn(body, position, options));
  }

  remove(body: number): void {
    this.socket.send(build.remove(body));
  }

  dress(body: number, change: LookChange): void {
    this.socket.send(build.dress(body, change));
  }

  pin(grab: number): void {
    this.socket.send(build.pin(grab));
  }

  /** @param pin null: all */
  unpin(pin: number | null): void {
    this.socket.send(build.unpin(pin));
  }

  tune(change: Parameters<typeof build.tune>[0]): void {
    this.socket.send(build.tune(change));
  }

  undo(): void {
    this.socket.send(build.undo());
  }

  kick(member: number, ban?: number): void {
    this.socket.send(build.kick(member, ban));
  }

  setAccess(change: Parameters<typeof build.access>[0]): void {
    this.socket.send(build.access(change));
  }

  cursor(at: Point | null): void {
    this.socket.send(build.cursor(at ?? undefined));
  }

  ping(): void {
    this.socket.send(build.ping(performance.now()));
  }

  /** Sends any message, well-formed or not. */
  send(message: unknown[]): void {
    this.socket.send(encode(message));
  }

  /** Stops reading from the network, like a stalled client. */
  pauseReading(): void {
    this.socket.pause();
  }

  resumeReading(): void {
    this.socket.resume();
  }

  /** Leaves with the closing handshake. */
  async leave(): Promise<void> {
    this.socket.close(1000);
    await this.untilClosed();
  }

  /** Cuts the connection, as if the network had failed. */
  drop(): void {
    this.socket.terminate();
  }

  /**
   * Resolves when `done` returns true; checked after every message.
   * @throws Error naming `what` after the timeout, or if the socket closes first
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
    this.#decoder = new FrameDecoder(topology);
    this.frame = new Int32Array(3 * topology.particles);
    const early = this.#early;
    this.#early = [];
    for (const event of early) this.#frame(event);
  }

  #receive(data: Buffer): void {
    this.counts.bytes += data.byteLength;
    this.counts.messages += 1;
    try {
      const event = parseServerMessage(new Uint8Array(data).buffer);
      if (event) this.#take(event, data.byteLength);
    } catch (error) {
      this.#fail(error as Error);
    }
    this.#wake();
  }

  #take(event: ServerEvent, bytes: number): void {
    switch (event.type) {
      case "welcome":
        this.welcome = event.welcome;
        break;
      case "keyframe":
      case "delta":
        this.counts.frameBytes += bytes;
        // Frames cannot be decoded before the topology has arrived, and the chain needs all of them.
        if (this.#decoder) this.#frame(event);
        else this.#early.push(event);
        break;
      case "message":
        this.heard.push(event);
        break;
      case "said":
        this.lines = [...(this.lines ?? []), ...event.lines.map(({ name, text }) => `${name}: ${text}`)];
        break;
      case "reactions":
        this.reactions.push(...event.reactions.map(([member, reaction]) => ({ member, reaction })));
        break;
      case "members":
        this.members = event.members.map(({ member, name, color, connected, role }) => [
          member,
          name,
          color,
          connected,
          role,
        ]);
        break;
      case "grabs":
        for (const grabs of event.members) this.memberGrabs.set(grabs.member, grabs);
        break;
      case "pong":
        this.counts.pongs += 1;
        break;
      case "stats":
        this.stats = event.stats;
        break;
      case "notice":
        this.notices.push({ ...event, details: event.details as Record<string, unknown> });
        break;
      case "reset":
        this.resets += 1;
        break;
      case "tuned":
        this.tuned = event;
        break;
      case "access":
        this.access = event.access;
        break;
      case "looks":
        for (const [body, look, member] of event.looks) this.looks.set(body, { look, member });
        break;
      case "pins":
        this.pins = { member: event.member, pins: new Map(event.pins) };
        break;
      case "spawnable":
        this.spawnable = { tick: event.tick, bodies: event.bodies, member: event.member };
        break;
    }
  }

  #frame(event: FrameEvent): void {
    const next = new Int32Array(this.frame.length);
    if (!this.#decoder!.decodeInto(event, { tick: this.tick, ints: this.frame }, next))
      throw new Error(`delta ${event.tick} came before any keyframe`);
    if (event.type === "keyframe") this.counts.keyframes += 1;
    else {
      this.counts.deltas += 1;
      if (next.every((value, i) => value === this.frame[i])) this.counts.emptyDeltas += 1;
    }
    this.frame = next;
    this.tick = event.tick;
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
