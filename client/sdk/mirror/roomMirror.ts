/**
 * A client's copy of a room: the only place that handles each message of the server. The public `Room` and the room
 * page's state are built on it.
 */
import type { Pin } from "../../../shared/members/pin.ts";
import type { BodyLook } from "../../../shared/scene/bodyLook.ts";
import type { AccessState, Member, ServerEvent, RoomStats, Welcome } from "../../../shared/protocol/fromServer.ts";
import type { Tuning } from "../../../shared/members/tuningLimits.ts";
import { decoderReady } from "../../../shared/snapshot/decode.ts";
import type { Topology } from "../../../shared/topology.ts";
import { Listeners } from "../events.ts";
import type { FrameEvent } from "./frameDecoder.ts";
import { type HeldChanges, HeldPoints } from "./heldPoints.ts";
import { RoomFrames } from "./roomFrames.ts";

export interface RoomMirrorOptions {
  fetchTopology: (hash: string) => Promise<Topology>;
  /** Asks the server for a keyframe. @param error of the frame that broke the chain, if one did */
  needKeyframe: (error?: unknown) => void;
}

/** Frames kept while the topology is loading; beyond this the oldest are dropped. */
const MOST_EARLY_FRAMES = 300;

export class RoomMirror extends Listeners {
  welcome: Welcome | undefined;
  /** Frames of the room; while another topology is loading, those of the previous scene. */
  frames: RoomFrames | undefined;
  loading = false;
  members: readonly Member[] = [];
  /** Bodies that can be spawned, because they are not in the room. */
  spawnable: readonly number[] = [];
  /** Looks that members gave bodies, by body. */
  looks: Record<number, BodyLook> = {};
  pins: Readonly<Record<number, Pin>> = {};
  access: AccessState | undefined;
  tuning: Tuning | undefined;
  stats: RoomStats | undefined;
  /** Local clock when the message came that is being handled, ms. */
  receivedMs = 0;
  readonly #options: RoomMirrorOptions;
  /** Grabs of all members. */
  readonly #held = new HeldPoints();
  /** Hash of the topology of `frames`, or of the one that is loading. */
  #topologyHash: string | undefined;
  /** The next `said` has the last lines before this member came. */
  #expectsLines = false;
  #early: { event: FrameEvent; receivedMs: number }[] = [];

  constructor(options: RoomMirrorOptions) {
    super();
    this.#options = options;
  }

  receive(event: ServerEvent, receivedMs: number): void {
    this.receivedMs = receivedMs;
    switch (event.type) {
      case "welcome":
        return this.#welcomed(event.welcome);
      case "keyframe":
      case "delta":
        return this.#frame(event);
      case "members":
        this.members = event.members;
        this.tell("members", event);
        return this.#tellHeld(
          this.#held.membersAre(event.members.map(({ member }) => member)),
          this.frames?.tick ?? -1,
        );
      case "grabs":
        this.tell("grabs", event);
        return this.#tellHeld(this.#held.grabsAre(event.members), event.tick);
      case "message":
        return this.tell("message", { member: event.member, type: event.kind, data: event.data });
      case "contacts":
        for (const bodies of event.pairs) this.tell("contact", { tick: event.tick, bodies });
        return;
      case "spawnable":
        return this.#spawnableAre(event);
      case "looks":
        for (const [body, look] of event.looks) this.looks[body] = look;
        break;
      case "pins":
        this.pins = Object.fromEntries(event.pins);
        break;
      case "access":
        this.access = event.access;
        return this.tell("access", event.access);
      case "tuned":
        this.tuning = event.tuning;
        break;
      case "stats":
        this.stats = event.stats;
        return this.tell("stats", event.stats);
      case "reactions":
        for (const [member, reaction] of event.reactions) this.tell("reaction", { member, reaction });
        return;
      case "said":
        this.tell("said", { lines: event.lines, earlier: this.#expectsLines });
        this.#expectsLines = false;
        return;
      case "positions":
        return;
    }
    this.tell(event.type, event);
  }

  /** Ignores a topology that is still loading. */
  end(): void {
    this.#topologyHash = undefined;
  }

  /** False before a member's first frame: changes that come earlier are the initial state and fire no events. */
  get #hasFrame(): boolean {
    return !this.loading && this.frames?.tick !== undefined;
  }

  #tellHeld({ grabbed, released }: HeldChanges, tick: number): void {
    if (!this.#hasFrame) return;
    for (const point of released) this.tell("released", { ...point, tick });
    for (const point of grabbed) this.tell("grabbed", { ...point, tick });
  }

  #spawnableAre(event: Extract<ServerEvent, { type: "spawnable" }>): void {
    const { tick, bodies, member } = event;
    const before = this.spawnable;
    this.spawnable = bodies;
    this.tell("spawnable", event);
    if (!this.#hasFrame) return;
    for (const body of before) if (!bodies.includes(body)) this.tell("spawned", { tick, body, member });
    for (const body of bodies) if (!before.includes(body)) this.tell("removed", { tick, body, member });
  }

  #welcomed(welcome: Welcome): void {
    const hash = welcome.topology;
    const known = this.#topologyHash === hash;
    const resumed = known && this.welcome?.session === welcome.session;
    this.welcome = welcome;
    this.looks = {};
    this.pins = {};
    this.#expectsLines = true;
    // The chain of a new connection begins with a keyframe.
    this.frames?.lineLost();
    this.#early = [];
    this.loading ||= !known;
    this.tell("welcome", { resumed });
    if (known) return;
    this.#topologyHash = hash;
    Promise.all([this.#options.fetchTopology(hash), decoderReady]).then(
      ([topology]) => {
        if (this.#topologyHash === hash) this.#use(topology, welcome.scene);
      },
      (error: unknown) => {
        if (this.#topologyHash !== hash) return;
        // The next welcome loads again.
        this.#topologyHash = undefined;
        this.tell("topologyFailed", error);
      },
    );
  }

  #use(topology: Topology, scene: string): void {
    const { needKeyframe } = this.#options;
    const isOther = this.frames !== undefined;
    const frames = (this.frames = new RoomFrames(topology, needKeyframe));
    this.loading = false;
    this.tell("topology", topology);
    if (isOther) this.tell("scene", { scene });
    const early = this.#early;
    this.#early = [];
    for (const { event, receivedMs } of early) {
      this.receivedMs = receivedMs;
      this.#frame(event);
    }
    // The keyframe was among the dropped frames.
    if (early.length > 0 && frames.tick === undefined) needKeyframe();
  }

  #frame(event: FrameEvent): void {
    if (!this.loading) {
      if (!this.frames?.receive(event)) return;
      this.tell("decoded", event);
      this.tell("frame", { tick: event.tick });
    } else if (this.#early.push({ event, receivedMs: this.receivedMs }) > MOST_EARLY_FRAMES) this.#early.shift();
  }
}
