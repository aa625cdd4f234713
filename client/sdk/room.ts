/** A membership of a room: its current state, and the calls that act in it. */
/// <reference lib="esnext.disposable" preserve="true" />
import type { Pin } from "../../shared/members/pin.ts";
import type { BodyLook, LookChange } from "../../shared/scene/bodyLook.ts";
import { depthOf, isKind, KIND_FORM } from "../../shared/members/applicationData.ts";
import { CloseCode, Limits, PASSWORD_LENGTH } from "../../shared/protocol/protocol.ts";
import { BARYCENTRIC_SLACK } from "../../shared/members/inputRanges.ts";
import { atLeast, type Role } from "../../shared/members/roles.ts";
import { BODY_FIELDS, type Tuning, type TuningChange } from "../../shared/members/tuningLimits.ts";
import type { Topology } from "../../shared/topology.ts";
import { checkInteger, checkNumber, checkVector } from "./calls/checkArguments.ts";
import { bodiesOf, type RoomBody } from "./mirror/roomBodies.ts";
import { Connection, type ConnectionStatus, type SocketConstructor, socketUrl } from "./connection/roomConnection.ts";
import { badArgument, closeError, PliantError, UNKNOWN } from "./errors.ts";
import { EVENT_NAMES, type RoomEventName, type RoomEvents, type RoomState } from "./events.ts";
import { Answers } from "./calls/answers.ts";
import { type Grab, OwnGrabs } from "./calls/ownGrabs.ts";
import type { AccessState, Member, Point, RoomStats } from "../../shared/protocol/fromServer.ts";
import {
  type AccessChange,
  build,
  type GrabOptions,
  type SpawnOptions,
  type SurfacePoint,
} from "../../shared/protocol/fromClient.ts";
import { REACTIONS } from "../../shared/members/reactions.ts";
import { RoomMirror } from "./mirror/roomMirror.ts";
import { closestSurfacePoint, placesOf, surfacePoint } from "../../shared/geometry/surfacePoints.ts";
import { checkTuning } from "./calls/checkTuning.ts";

/** A body by its index or name, or an element of `bodies`. */
export type BodyReference = number | string | RoomBody;
/** A place in the room (m), for the nearest point of the surface; or a point of the surface itself. */
export type PointReference = Point | Omit<SurfacePoint, "body">;

/** Events that wait for the caller of `events`. */
const MOST_WAITING = 1000;
const MOST_MEMBER = 2 ** 31;
const LEAST_BAN_SECONDS = 0.001;
const MOST_BAN_SECONDS = 31 * 86_400;

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
  /** Reason why the socket cannot be opened, as HTTP tells it; undefined: none, try again. */
  whyRefused: () => Promise<PliantError | undefined>;
  /** The server does not accept the token and admitted the member without it. */
  onTokenInvalid: () => void;
  /** Called when the first frame is decoded, or with the error that prevents it. */
  onJoined: (error?: PliantError) => void;
}

export class Room {
  readonly name: string;
  readonly #options: RoomOptions;
  readonly #connection: Connection;
  readonly #mirror: RoomMirror;
  readonly #answers = new Answers();
  readonly #grabs = new OwnGrabs(
    (bytes) => this.#connection.send(bytes),
    (field, to) => this.#place(field, to),
  );
  #token: string | undefined;
  #bodies: readonly RoomBody[] = [];
  #state: RoomState | undefined;

  /** Used by `joinRoom` only. */
  constructor(options: RoomOptions) {
    const { base, room, name, color, token, password, contacts, WebSocket } = options;
    this.#options = options;
    this.#token = token;
    this.name = room;
    this.#mirror = this.#mirrored(options);
    this.#connection = new Connection({
      url: socketUrl(base, room),
      WebSocket,
      profile: () => ({ name, color }),
      contacts,
      credentials: () => ({ token, password }),
      whyRefused: options.whyRefused,
      onEvent: (event, receivedMs) => this.#mirror.receive(event, receivedMs),
      onStatus: (status) => this.#lineIs(status),
    });
  }

  /** Scheme and host of the server. */
  get server(): string {
    return this.#options.base;
  }

  /** Join token of this member: the owner's, if this call or an earlier one created the room. Keep it secret. */
  get token(): string | undefined {
    return this.#token;
  }

  get state(): RoomState["state"] {
    return this.#state?.state ?? "reconnecting";
  }

  /** Number of this member, as in `members` and in the event `grabs`. */
  get member(): number {
    return this.#mirror.welcome!.member;
  }

  get role(): Role {
    return this.#mirror.welcome!.role;
  }

  get scene(): string {
    return this.#mirror.welcome!.scene;
  }

  /** Simulation ticks per second of simulated time. */
  get tickHz(): number {
    return this.#mirror.welcome!.tickHz;
  }

  get topology(): Topology {
    return this.#mirror.frames!.topology;
  }

  get bodies(): readonly RoomBody[] {
    return this.#bodies;
  }

  get members(): readonly Member[] {
    return this.#mirror.members;
  }

  /** Indices of the bodies that can be spawned: they are not in the room, do not draw them. */
  get spawnable(): readonly number[] {
    return this.#mirror.spawnable;
  }

  /** Looks that members gave bodies, by index of the body. */
  get looks(): Readonly<Record<number, BodyLook>> {
    return this.#mirror.looks;
  }

  /** Pins of the room, by number. */
  get pins(): Readonly<Record<number, Pin>> {
    return this.#mirror.pins;
  }

  get access(): AccessState | undefined {
    return this.#mirror.access;
  }

  /** Current gravity, wind, time scale and body parameters. */
  get tuning(): Tuning | undefined {
    return this.#mirror.tuning;
  }

  get stats(): RoomStats | undefined {
    return this.#mirror.stats;
  }

  /** Tick of the newest frame; -1 before the first. */
  get tick(): number {
    return this.#mirror.frames!.tick ?? -1;
  }

  /** Live grabs of this member. */
  get grabs(): readonly Grab[] {
    return [...this.#grabs.live];
  }

  /**
   * @returns a function that removes the listener
   * @throws PliantError BAD_ARGUMENT
   */
  on<Name extends RoomEventName>(name: Name, listener: (event: RoomEvents[Name]) => void): () => void {
    if (!EVENT_NAMES.includes(name)) return badArgument("event", name, `one of ${EVENT_NAMES.join(", ")}`);
    if (typeof listener !== "function") return badArgument("listener", listener, "a function");
    return this.#mirror.add(name, listener);
  }

  /** Removes a listener of `on` or `once`. */
  off<Name extends RoomEventName>(name: Name, listener: (event: RoomEvents[Name]) => void): void {
    this.#mirror.remove(name, listener);
  }

  /**
   * Listens to the next event only.
   * @returns resolves with it; rejects with LEFT, or the reason, when the room ends before
   * @throws PliantError BAD_ARGUMENT
   */
  async once<Name extends RoomEventName>(name: Name): Promise<RoomEvents[Name]> {
    for await (const event of this.events(name)) return event;
    throw this.#endError();
  }

  /**
   * Iterates over the events of a name, until the room ends: `for await (const {tick} of room.events("frame"))`. Events
   * that come while the caller is busy wait; beyond MOST_WAITING the oldest are dropped.
   * @throws PliantError BAD_ARGUMENT
   */
  events<Name extends RoomEventName>(name: Name): AsyncIterableIterator<RoomEvents[Name]> {
    const waiting: RoomEvents[Name][] = [];
    let wake = (): void => {};
    let ended = this.state === "ended";
    const off = this.on(name, (event) => {
      if (waiting.push(event) > MOST_WAITING) waiting.shift();
      wake();
    });
    const offState = this.on("state", ({ state }) => {
      ended ||= state === "ended";
      wake();
    });
    const stop = async (): Promise<IteratorReturnResult<undefined>> => {
      off();
      offState();
      ended = true;
      wake();
      return { done: true, value: undefined };
    };
    return {
      async next() {
        while (waiting.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve));
        return waiting.length > 0 ? { done: false, value: waiting.shift()! } : stop();
      },
      return: stop,
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  #endError(): PliantError {
    return this.#state?.state === "ended" ? this.#state.error : new PliantError("LEFT");
  }

  /**
   * float32[3*count], positions of a body's particles in the newest frame, m, relative to the room's origin. Live: the
   * next frame is written into the same array.
   * @throws PliantError BAD_ARGUMENT
   */
  positions(body: BodyReference): Float32Array {
    const { first, count } = this.#body(body);
    return this.#mirror.frames!.positions.subarray(3 * first, 3 * (first + count));
  }

  /** int32[3*count], the same in grid steps of the body, exactly as the server has it. Valid until the next frame. */
  quantized(body: BodyReference): Int32Array {
    const { first, count } = this.#body(body);
    return this.#mirror.frames!.ints.subarray(3 * first, 3 * (first + count));
  }

  /**
   * Grabs a point of a body's surface. The body is pulled once the grab moves. `together`: grabs the same place of all
   * bodies in `topology.interaction.together`.
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED, GRAB_LIMIT, BODY_ABSENT
   */
  grab(body: BodyReference, point: PointReference, { together = false }: GrabOptions = {}): Grab {
    const at = this.#surfacePoint(body, point);
    const all = this.topology.interaction.together ?? [];
    if (together && !all.includes(at.body)) badArgument("together", together, "with a body of interaction.together");
    this.#mayAct();
    const most = this.#limit("grabsPerMember", Limits.grabsPerMember);
    const { size } = this.#grabs.live;
    if (size >= most) throw new PliantError("GRAB_LIMIT", { field: "grabs", value: size + 1, limit: most });
    if (this.spawnable.includes(at.body)) throw new PliantError("BODY_ABSENT", { field: "body", value: at.body });
    const target: Point = [0, 0, 0];
    const { triangles } = this.bodies[at.body]!;
    surfacePoint(target, { positions: this.positions(at.body), triangles }, at.triangle, at.u, at.v);
    return this.#grabs.begin(at, target, { together });
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
   * Spawns a body, the middle of its underside at `position` (m).
   * @returns resolves when it is in the room; rejects with the server's reason, for example PLACE_TAKEN
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  spawn(body: BodyReference, position: Point, { heading, occupied }: SpawnOptions = {}): Promise<void> {
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
    const how = { ...(heading && { heading }), ...(occupied && { occupied }) };
    return this.#ask((request) => build.spawn(index, place, { ...how, request }));
  }

  /**
   * Takes a spawned body out.
   * @returns resolves when it is out; rejects with the server's reason
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  remove(body: BodyReference): Promise<void> {
    const { index } = this.#spawnable(body);
    this.#mayAct();
    return this.#ask((request) => build.remove(index, { request }));
  }

  /**
   * Changes the look of a spawnable body for everyone, until it is taken out or the scene is restarted.
   * @param change color (#rrggbb), finish, or a text beside the body; null: as in the scene
   * @returns resolves when it is done; rejects with the server's reason
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  dress(body: BodyReference, change: LookChange): Promise<void> {
    const { index } = this.#spawnable(body);
    this.#mayAct();
    return this.#ask((request) => build.dress(index, { ...change, request }));
  }

  /**
   * Turns an own grab into a pin, which stays when this member lets go or leaves.
   * @returns resolves when it is done; rejects with the server's reason, and the grab stays
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  pin(grab: Grab): Promise<void> {
    if (!this.#grabs.live.has(grab)) badArgument("grab", grab, "a live grab");
    this.#mayAct();
    grab.settle();
    return this.#ask((request) => build.pin(grab.id, { request })).then(() => grab.end());
  }

  /**
   * Removes a pin of any member.
   * @param pin its number; null: all pins, for owners
   * @returns resolves when it is done; rejects with the server's reason
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  unpin(pin: number | null): Promise<void> {
    checkInteger("pin", pin ?? 0, MOST_MEMBER);
    this.#mayAct();
    return this.#ask((request) => build.unpin(pin, { request }));
  }

  /**
   * Restarts the scene for everyone.
   * @returns resolves when it is done; rejects with the server's reason
   * @throws PliantError OFFLINE, LEFT, NOT_ALLOWED
   */
  reset(): Promise<void> {
    this.#mayAct();
    return this.#ask((request) => build.reset({ request }));
  }

  /**
   * Removes a member with a lower role. For owners.
   * @param ban time for which it may not return, s; absent: it may
   * @returns resolves when it is done and stored; rejects with the server's reason
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  kick(member: number, { ban }: { ban?: number } = {}): Promise<void> {
    checkInteger("member", member, MOST_MEMBER);
    if (ban !== undefined) checkNumber("ban", ban, LEAST_BAN_SECONDS, MOST_BAN_SECONDS);
    this.#mayAct("owner");
    return this.#ask((request) => build.kick(member, ban, { request }));
  }

  /**
   * Changes lock, password and rights of the room in one step. For owners. The event `access` tells all members.
   * @returns resolves when the change holds and is stored; rejects with the server's reason: then nothing has changed
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  setAccess(change: AccessChange): Promise<void> {
    const { password, ...flags } = change;
    for (const [field, flag] of Object.entries(flags))
      if (!/^(locked|ownersOnly|chat|liftBans)$/.test(field)) badArgument(field, flag, UNKNOWN);
      else if (flag !== undefined && typeof flag !== "boolean") badArgument(field, flag, "true or false");
    const { min, max } = PASSWORD_LENGTH;
    if (typeof password === "string" ? password.length < min || password.length > max : password != null)
      badArgument("password", "not shown", `a string of ${min} to ${max} characters, or null`);
    this.#mayAct("owner");
    return this.#ask((request) => build.access({ ...change, request }));
  }

  /** Measures the round trip to the server, ms. @throws PliantError OFFLINE, LEFT; rejects when the line is lost */
  ping(): Promise<number> {
    this.#mustBeOpen();
    return new Promise((resolve, reject) => {
      const sentMs = performance.now();
      const settle = (): void => {
        offPong();
        offState();
      };
      const offPong = this.#mirror.add("pong", ({ clientTimeMs }) => {
        if (clientTimeMs !== sentMs) return;
        settle();
        resolve(performance.now() - sentMs);
      });
      const offState = this.#mirror.add("state", () => {
        settle();
        reject(new PliantError("OFFLINE"));
      });
      this.#connection.send(build.ping(sentMs));
    });
  }

  /**
   * Changes gravity, wind, the time scale or a body's material, for everyone. `asScene` undoes all such changes.
   * @returns resolves when the change holds; rejects with the server's reason
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  tune({ body, ...asked }: Omit<TuningChange, "body"> & { body?: BodyReference }): Promise<void> {
    const change: TuningChange = checkTuning(asked);
    if (body !== undefined) change.body = this.#body(body).index;
    else if ([...BODY_FIELDS, "pins"].some((field) => field in change))
      badArgument("body", body, "a body, because the change is about damping, friction or material");
    this.#mayAct("owner");
    return this.#ask((request) => build.tune({ ...change, request }));
  }

  /**
   * Undoes this member's last act that is separable from the acts of the others: its spawn, removal, tuning, pull or
   * reset. For owners: the last act of any member.
   * @returns resolves when it is undone; rejects with the server's reason, NOTHING_TO_UNDO or NOT_SEPARABLE
   * @throws PliantError OFFLINE, LEFT, NOT_ALLOWED
   */
  undo(): Promise<void> {
    this.#mayAct();
    return this.#ask((request) => build.undo({ request }));
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

  /**
   * Shows a reaction at this member's cursor for a moment. Above the rate limit it is refused with RATE_LIMITED.
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT
   */
  react(reaction: (typeof REACTIONS)[number]): void {
    const place = REACTIONS.indexOf(reaction);
    if (place < 0) badArgument("reaction", reaction, `one of ${REACTIONS}`);
    this.#mustBeOpen();
    this.#connection.send(build.react(place));
  }

  /**
   * Writes a line in the room's chat; all members get it with the event `said`. Above the rate limit it is refused with
   * RATE_LIMITED, in a closed chat with NOT_ALLOWED.
   * @throws PliantError BAD_ARGUMENT, OFFLINE, LEFT, NOT_ALLOWED
   */
  say(text: string): void {
    if (!text) badArgument("text", text, "text");
    this.#mayAct();
    this.#connection.send(build.say(text));
  }

  /** Leaves the room and releases all grabs. May be called twice. */
  leave(): void {
    if (this.#state?.state !== "ended") this.#connection.close();
  }

  /** Leaves the room at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.leave();
  }

  #ask(message: (request: number) => Uint8Array): Promise<void> {
    const { request, answer } = this.#answers.begin();
    this.#connection.send(message(request));
    return answer;
  }

  #limit(name: string, otherwise: number): number {
    return this.#mirror.welcome?.limits[name] ?? otherwise;
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

  #mirrored({ fetchTopology, onJoined }: RoomOptions): RoomMirror {
    const needKeyframe = (): void => this.#connection.send(build.needKeyframe());
    const mirror = new RoomMirror({ fetchTopology, needKeyframe });
    mirror.add("topology", (topology) => void (this.#bodies = bodiesOf(topology)));
    // A pending `joinRoom` gets the error.
    mirror.add("topologyFailed", (error) =>
      onJoined(error instanceof PliantError ? error : new PliantError("BAD_ANSWER", { cause: error })),
    );
    mirror.add("decoded", () => onJoined());
    mirror.add("done", ({ request }) => this.#answers.done(request));
    mirror.add("notice", (notice) => {
      this.#answers.refused(notice);
      if (notice.code !== "TOKEN_INVALID") return;
      this.#token = undefined;
      this.#options.onTokenInvalid();
    });
    mirror.add("reset", () => this.#endGrabs());
    mirror.add("spawnable", ({ bodies }) => this.#endGrabs(({ at }) => bodies.includes(at.body)));
    return mirror;
  }

  #lineIs(status: ConnectionStatus): void {
    if (status.state === "connecting") return;
    if (status.state !== "open") {
      this.#endGrabs();
      this.#answers.lost(new PliantError(status.state === "ended" ? "LEFT" : "OFFLINE"));
    }
    if (status.state === "ended") {
      const error = status.error ?? closeError(status.code, status.reason);
      this.#state = { state: "ended", error };
      this.#mirror.end();
      this.#options.onJoined(error);
    } else if (status.state === "reconnecting") {
      const { attempt, retryInMs, code } = status;
      this.#state = { state: "reconnecting", attempt, retryInMs };
      // A close code of the server before the first welcome is a refusal, and not a lost connection.
      if (!this.#mirror.welcome && code >= 4000 && code !== CloseCode.heartbeatLost)
        this.#options.onJoined(closeError(code, ""));
    } else this.#state = { state: "open" };
    this.#mirror.tell("state", this.#state);
    if (this.#state.state === "ended" && this.#state.error.code !== "LEFT")
      this.#mirror.tell("error", { error: this.#state.error });
  }

  #endGrabs(which: (grab: Grab) => boolean = () => true): void {
    for (const grab of this.grabs) if (which(grab)) grab.end();
  }
}
