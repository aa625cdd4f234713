/** A membership of a room: its current state, and the calls that act in it. */
import { depthOf, isKind, KIND_FORM } from "../../shared/applicationData.ts";
import {
  CloseCode,
  Limits,
  type RoomStats,
  type Tuning,
  type TuningChange,
  type Welcome,
} from "../../shared/protocol/protocol.ts";
import { atLeast, type Role } from "../../shared/roles.ts";
import { BODY_FIELDS } from "../../shared/tuning.ts";
import type { Topology } from "../../shared/topology.ts";
import { checkInteger, checkNumber, checkVector } from "./arguments.ts";
import type { RoomBody } from "./bodies.ts";
import { Connection, type ConnectionStatus, type SocketConstructor } from "./connection.ts";
import { badArgument, closeError, PliantError } from "./errors.ts";
import { EVENT_NAMES, Listeners, type RoomEventName, type RoomEvents, type RoomState } from "./events.ts";
import { Grab, type GrabHost } from "./grab.ts";
import { type HeldChanges, HeldPoints } from "./heldPoints.ts";
import type { AccessState, Member, Point, ServerEvent } from "../../shared/protocol/fromServer.ts";
import { build, type GrabOptions, type SpawnOptions, type SurfacePoint } from "../../shared/protocol/fromClient.ts";
import { RoomFrames } from "./roomFrames.ts";
import { closestSurfacePoint, placesOf, surfacePoint } from "../../shared/surface.ts";
import { checkTuning } from "./tuning.ts";

/** Moves of all grabs together stay below the server's inputs a second, which grabs and releases share. */
const MOVES_PER_SECOND = 48;
/** Least time between two moves of one grab, ms: the server's send interval. */
const MOVE_INTERVAL_MS = 33;
/** Grab ids wrap around long before two live grabs could share one. */
const GRAB_IDS = 60_000;
/** Tolerance of u and v, because a pick on an edge may miss it by rounding; the server allows the same. */
const BARYCENTRIC_SLACK = 1e-3;

/** A body by its index or name, or an element of `bodies`. */
export type BodyReference = number | string | RoomBody;
/** A place in the room (m), for the nearest point of the surface; or a point of the surface itself. */
export type PointReference = Point | Omit<SurfacePoint, "body">;

export interface RoomOptions {
  /** http(s)://host[:port] */
  base: string;
  room: string;
  name: string | undefined;
  color: string | undefined;
  token: string | undefined;
  password: string | undefined;
  contacts: boolean;
  WebSocket: SocketConstructor;
  fetchTopology: (hash: string) => Promise<Topology>;
  roomExists: () => Promise<boolean>;
  /** Called when the first frame is decoded, or with the error that prevents it. */
  onJoined: (error?: PliantError) => void;
}

export class Room {
  readonly name: string;
  readonly #options: RoomOptions;
  readonly #connection: Connection;
  readonly #listeners = new Listeners();
  readonly #hands = new Map<number, Grab>();
  /** Grabs of all members. */
  readonly #held = new HeldPoints();
  #state: RoomState | undefined;
  #welcome: Welcome | undefined;
  #frames: RoomFrames | undefined;
  /** Hash of the topology of `#frames`, or of the one that is loading. */
  #topologyHash: string | undefined;
  /** A topology is loading: `#frames` are undefined or those of the scene before. */
  #loading = false;
  #members: readonly Member[] = [];
  #waiting: readonly number[] = [];
  #access: AccessState | undefined;
  #tuning: Tuning | undefined;
  #stats: RoomStats | undefined;
  #grabs = 0;

  /** Used by `joinRoom` only. */
  constructor(options: RoomOptions) {
    const { base, room, name, color, token, password, contacts, WebSocket } = options;
    this.#options = options;
    this.name = room;
    this.#connection = new Connection({
      url: `${base.replace(/^http/, "ws")}/api/rooms/${room}/socket`,
      WebSocket,
      profile: () => ({ name, color }),
      contacts,
      credentials: () => ({ ...(token !== undefined && { token }), ...(password !== undefined && { password }) }),
      roomExists: options.roomExists,
      onEvent: (event) => this.#receive(event),
      onStatus: (status) => this.#lineIs(status),
    });
  }

  /** Scheme and host of the server. */
  get server(): string {
    return this.#options.base;
  }

  get state(): RoomState["state"] {
    return this.#state?.state ?? "reconnecting";
  }

  /** Number of this member, as in `members` and in the event `hands`. */
  get member(): number {
    return this.#welcome!.member;
  }

  get role(): Role {
    return this.#welcome!.role;
  }

  get scene(): string {
    return this.#welcome!.scene;
  }

  /** Simulation ticks per second of simulated time. */
  get tickHz(): number {
    return this.#welcome!.tickHz;
  }

  get topology(): Topology {
    return this.#frames!.topology;
  }

  get bodies(): readonly RoomBody[] {
    return this.#frames!.bodies;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /** Indices of the spawnable bodies that are not in the room; do not draw them. */
  get waiting(): readonly number[] {
    return this.#waiting;
  }

  get access(): AccessState | undefined {
    return this.#access;
  }

  /** Current gravity, wind, time scale and body parameters. */
  get tuning(): Tuning | undefined {
    return this.#tuning;
  }

  get stats(): RoomStats | undefined {
    return this.#stats;
  }

  /** Tick of the newest frame; -1 before the first. */
  get tick(): number {
    return this.#frames!.tick ?? -1;
  }

  /** Live grabs of this member. */
  get hands(): readonly Grab[] {
    return [...this.#hands.values()];
  }

  /**
   * @returns a function that removes the listener
   * @throws PliantError BAD_ARGUMENT
   */
  on<Name extends RoomEventName>(name: Name, listener: (event: RoomEvents[Name]) => void): () => void {
    if (!EVENT_NAMES.includes(name)) return badArgument("event", name, `one of ${EVENT_NAMES.join(", ")}`);
    if (typeof listener !== "function") return badArgument("listener", listener, "a function");
    return this.#listeners.add(name, listener);
  }

  /**
   * float32[3*count], positions of a body's particles in the newest frame, m, relative to the room's origin. Live: the
   * next frame is written into the same array.
   * @throws PliantError BAD_ARGUMENT
   */
  positions(body: BodyReference): Float32Array {
    const { first, count } = this.#body(body);
    return this.#frames!.positions.subarray(3 * first, 3 * (first + count));
  }

  /** int32[3*count], the same in grid steps of the body, exactly as the server has it. Valid until the next frame. */
  quantized(body: BodyReference): Int32Array {
    const { first, count } = this.#body(body);
    return this.#frames!.ints.subarray(3 * first, 3 * (first + count));
  }

  /**
   * Grabs a point of a body's surface. The body is pulled once the grab moves. `together`: grabs the same place of all
   * bodies in `topology.interaction.together`.
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED, GRAB_LIMIT, BODY_WAITS
   */
  grab(body: BodyReference, point: PointReference, { together = false }: GrabOptions = {}): Grab {
    const at = this.#surfacePoint(body, point);
    const all = this.topology.interaction.together ?? [];
    if (together && !all.includes(at.body))
      badArgument(
        "together",
        together,
        `with a body that can be grabbed together with others: ${all.map((index) => this.bodies[index]!.name).join(", ") || "this scene has none"}`,
      );
    this.#mayAct();
    const most = this.#limit("grabsPerMember", Limits.grabsPerMember);
    if (this.#hands.size >= most)
      throw new PliantError("GRAB_LIMIT", { field: "hands", value: this.#hands.size + 1, limit: most });
    if (this.#waiting.includes(at.body)) throw new PliantError("BODY_WAITS", { field: "body", value: at.body });
    const target: Point = [0, 0, 0];
    const { triangles } = this.bodies[at.body]!;
    surfacePoint(target, { positions: this.positions(at.body), triangles }, at.triangle, at.u, at.v);
    this.#grabs = (this.#grabs % GRAB_IDS) + 1;
    const host: GrabHost = {
      send: (bytes) => this.#connection.send(bytes),
      checkTarget: (field, to) => this.#place(field, to),
      intervalMs: () => Math.max(MOVE_INTERVAL_MS, (1000 * this.#hands.size) / MOVES_PER_SECOND),
      released: ({ id }) => void this.#hands.delete(id),
    };
    const hand = new Grab(this.#grabs, at, target, host, { together });
    this.#hands.set(hand.id, hand);
    return hand;
  }

  /**
   * Pushes a surface point once.
   * @param impulse N s; the server shortens it to the scene's limit
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  push(body: BodyReference, point: PointReference, impulse: Point): void {
    const at = this.#surfacePoint(body, point);
    const strength = checkVector("impulse", impulse);
    this.#mayAct();
    this.#connection.send(build.impulse(at, strength));
  }

  /**
   * Puts a spawnable body into the room, the middle of its underside at `position` (m). The server answers with the
   * event `waiting`, or with a notice that names the reason.
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  spawn(body: BodyReference, position: Point, { heading, occupied }: SpawnOptions = {}): void {
    const { index } = this.#spawnable(body);
    const place = this.#place("position", position);
    if (occupied !== undefined && occupied !== "refuse" && occupied !== "lift")
      badArgument("occupied", occupied, "refuse or lift");
    if (heading !== undefined) {
      if (!Array.isArray(heading) || heading.length !== 2) badArgument("heading", heading, "two numbers x, z");
      const [x, , z] = checkVector("heading", [heading[0], 0, heading[1]]);
      if (x === 0 && z === 0) badArgument("heading", heading, "a direction, longer than 0");
    }
    this.#mayAct();
    this.#connection.send(build.spawn(index, place, { ...(heading && { heading }), ...(occupied && { occupied }) }));
  }

  /** Takes a spawnable body out. @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED */
  remove(body: BodyReference): void {
    const { index } = this.#spawnable(body);
    this.#mayAct();
    this.#connection.send(build.remove(index));
  }

  /** Restarts the scene for everyone. @throws PliantError OFFLINE, LEFT, NOT_ALLOWED */
  reset(): void {
    this.#mayAct();
    this.#connection.send(build.reset());
  }

  /**
   * Changes gravity, wind, the time scale or a body's material, for everyone. The server answers with the event
   * `tuned`, or with a notice that names the reason. `asScene` undoes all such changes.
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  tune({ body, ...asked }: Omit<TuningChange, "body"> & { body?: BodyReference }): void {
    const change: TuningChange = checkTuning(asked);
    if (body !== undefined) change.body = this.#body(body).index;
    else if ([...BODY_FIELDS, "pins" as const].some((field) => asked[field] !== undefined))
      badArgument("body", body, "a body, because the change is about damping, friction or material");
    this.#mayAct("owner");
    this.#connection.send(build.tune(change));
  }

  /**
   * Shows this member's cursor to the other members; undefined hides it.
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT
   */
  point(at: Point | undefined): void {
    const place = at === undefined ? undefined : this.#place("at", at);
    this.#mustBeOpen();
    this.#connection.send(build.cursor(place));
  }

  /**
   * Sends a message to the other members. The room passes it on to the members that are connected now and stores
   * nothing. Members with a slow connection may miss it. Above the rate limit it is refused with the notice
   * RATE_LIMITED.
   * @param type name of the message, chosen by the application
   * @param data JSON data, or a Uint8Array
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  send(type: string, data: unknown = null): void {
    if (!isKind(type)) badArgument("type", type, KIND_FORM);
    this.#checkData(data);
    const message = build.message(type, data);
    const most = this.#limit("messageBytes", Limits.messageBytes);
    const bytes = message.byteLength - build.message(type, null).byteLength + 1;
    if (bytes > most) badArgument("data", `${bytes} bytes`, `at most ${most} bytes of msgpack`);
    this.#mayAct();
    this.#connection.send(message);
  }

  /** Leaves the room and releases all grabs. May be called twice. */
  leave(): void {
    if (this.#state?.state !== "ended") this.#connection.close();
  }

  #limit(name: string, otherwise: number): number {
    return this.#welcome?.limits[name] ?? otherwise;
  }

  #mustBeOpen(): void {
    if (this.state === "ended") throw new PliantError("LEFT");
    if (!this.#connection.isOpen) throw new PliantError("OFFLINE");
  }

  #mayAct(least: Role = "player"): void {
    this.#mustBeOpen();
    if (!atLeast(this.role, least))
      throw new PliantError("NOT_ALLOWED", { field: "role", value: this.role, limit: least });
  }

  #body(body: BodyReference): RoomBody {
    const { bodies } = this;
    if (typeof body === "string") {
      const names = bodies.map(({ name }) => name);
      return bodies[names.indexOf(body)] ?? badArgument("body", body, `one of ${names.join(", ")}`);
    }
    return bodies[checkInteger("body", typeof body === "object" ? body?.index : body, bodies.length - 1)]!;
  }

  #spawnable(body: BodyReference): RoomBody {
    const found = this.#body(body);
    const names = this.bodies.filter(({ spawnable }) => spawnable).map(({ name }) => name);
    return found.spawnable
      ? found
      : badArgument("body", found.name, `a spawnable body: ${names.join(", ") || "this scene has none"}`);
  }

  #surfacePoint(body: BodyReference, point: PointReference): SurfacePoint {
    const found = this.#body(body);
    const { index, triangles } = found;
    if (typeof point === "object" && point !== null && "triangle" in point) {
      const triangle = checkInteger("triangle", point.triangle, placesOf({ positions: found.rest, triangles }) - 1);
      const u = checkNumber("u", point.u, -BARYCENTRIC_SLACK, 1 + BARYCENTRIC_SLACK);
      return { body: index, triangle, u, v: checkNumber("v", point.v, -BARYCENTRIC_SLACK, 1 - u + BARYCENTRIC_SLACK) };
    }
    return closestSurfacePoint(index, this.positions(index), triangles, checkVector("point", point));
  }

  #checkData(data: unknown): void {
    const most = this.#limit("messageDepth", Limits.messageDepth);
    try {
      if (depthOf(data, most) <= most) return;
    } catch (error) {
      badArgument("data", (error as Error).message, "nil, booleans, finite numbers, strings, bytes, lists and maps");
    }
    badArgument("data", "deeper", `at most ${most} nested lists and maps`);
  }

  /** Checks a place: at most `reach` from the world's origin. */
  #place(field: string, value: unknown): Point {
    const place = checkVector(field, value);
    const reach = this.#limit("reach", Infinity);
    const { origin } = this.topology;
    const far = Math.hypot(...place.map((part, r) => part + origin[r]!));
    return far <= reach ? place : badArgument(field, place, `at most ${reach} m from the world's origin`);
  }

  #receive(event: ServerEvent): void {
    switch (event.type) {
      case "welcome":
        return this.#welcomed(event.welcome);
      case "keyframe":
      case "delta":
        if (!this.#frames?.receive(event)) return;
        this.#options.onJoined();
        return this.#listeners.tell("frame", { tick: event.tick });
      case "members":
        this.#members = event.members;
        this.#listeners.tell("members", event);
        return this.#tellHeld(
          this.#held.membersAre(event.members.map(({ member }) => member)),
          this.#frames?.tick ?? -1,
        );
      case "hands":
        this.#listeners.tell("hands", event);
        return this.#tellHeld(this.#held.handsAre(event.hands), event.tick);
      case "notice":
        return this.#listeners.tell("notice", event);
      case "message":
        return this.#listeners.tell("message", { member: event.member, type: event.kind, data: event.data });
      case "contacts":
        for (const bodies of event.pairs) this.#listeners.tell("contact", { tick: event.tick, bodies });
        return;
      case "reset":
        this.#endHands();
        return this.#listeners.tell("reset", event);
      case "waiting":
        return this.#waitingAre(event);
      case "access":
        this.#access = event.access;
        return this.#listeners.tell("access", event.access);
      case "tuned":
        this.#tuning = event.tuning;
        return this.#listeners.tell("tuned", event);
      case "stats":
        this.#stats = event.stats;
        return this.#listeners.tell("stats", event.stats);
      case "pong":
    }
  }

  /** False before a member's first frame: changes that come earlier are the initial state and fire no events. */
  get #hasFrame(): boolean {
    return !this.#loading && this.#frames?.tick !== undefined;
  }

  #tellHeld({ grabbed, released }: HeldChanges, tick: number): void {
    if (!this.#hasFrame) return;
    for (const point of released) this.#listeners.tell("released", { ...point, tick });
    for (const point of grabbed) this.#listeners.tell("grabbed", { ...point, tick });
  }

  #waitingAre(event: Extract<ServerEvent, { type: "waiting" }>): void {
    const { tick, bodies, member } = event;
    const before = this.#waiting;
    this.#waiting = bodies;
    this.#endHands(({ at }) => bodies.includes(at.body));
    this.#listeners.tell("waiting", event);
    if (!this.#hasFrame) return;
    for (const body of before) if (!bodies.includes(body)) this.#listeners.tell("spawned", { tick, body, member });
    for (const body of bodies) if (!before.includes(body)) this.#listeners.tell("removed", { tick, body, member });
  }

  #welcomed(welcome: Welcome): void {
    this.#welcome = welcome;
    this.#frames?.lineLost();
    const hash = welcome.topology;
    if (this.#topologyHash === hash) return;
    const before = this.#frames;
    this.#topologyHash = hash;
    this.#loading = true;
    this.#options.fetchTopology(hash).then(
      (topology) => {
        if (this.#topologyHash !== hash || this.state === "ended") return;
        this.#loading = false;
        this.#frames = new RoomFrames(topology, () => this.#connection.send(build.needKeyframe()));
        if (before) this.#listeners.tell("scene", { scene: welcome.scene });
      },
      (error: unknown) => {
        if (this.#topologyHash !== hash) return;
        // The next welcome loads again; a pending `joinRoom` gets the error.
        this.#topologyHash = undefined;
        this.#options.onJoined(error instanceof PliantError ? error : new PliantError("BAD_ANSWER", { cause: error }));
      },
    );
  }

  #lineIs(status: ConnectionStatus): void {
    if (status.state === "connecting") return;
    if (status.state !== "open") this.#endHands();
    if (status.state === "ended") {
      const error = closeError(status.code, status.reason);
      this.#state = { state: "ended", error };
      this.#options.onJoined(error);
    } else if (status.state === "reconnecting") {
      const { attempt, retryInMs, code } = status;
      this.#state = { state: "reconnecting", attempt, retryInMs };
      // A close code of the server before the first welcome is a refusal, and not a lost connection.
      if (!this.#welcome && code >= 4000 && code !== CloseCode.heartbeatLost)
        this.#options.onJoined(closeError(code, ""));
    } else this.#state = { state: "open" };
    this.#listeners.tell("state", this.#state);
  }

  #endHands(which: (hand: Grab) => boolean = () => true): void {
    for (const hand of this.hands) if (which(hand)) hand.end();
  }
}
