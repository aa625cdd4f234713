/**
 * Everything that this page knows of its room, and how it came to know it: socket events go in, the view reads. No
 * drawing here, so it runs without a browser's graphics. Frames that arrive before the topology wait for it; the chain
 * of deltas needs every one.
 */
import type { Topology } from "../../shared/topology.ts";
import { dequantizeInto } from "../../shared/snapshot/index.ts";
import { Clock } from "../sdk/clock.ts";
import type { RoomStats, Tuning, Welcome } from "../../shared/protocol/protocol.ts";
import type { AccessState, Hand, Member, ServerEvent } from "../../shared/protocol/fromServer.ts";
import { FrameDecoder, type FrameEvent } from "../sdk/frameDecoder.ts";
import { AcknowledgedGrabs } from "./acknowledgedGrabs.ts";
import { interpolateInto } from "./interpolate.ts";
import { Playout } from "./playout.ts";
import { CrossFade } from "./crossFade.ts";
import { SimulatedTime } from "./simulatedTime.ts";
import { SnapshotBuffer, type Frame } from "./snapshotBuffer.ts";
import { WaitingBodies } from "./waitingBodies.ts";

export interface RoomStateOptions {
  fetchTopology: (hash: string) => Promise<Topology>;
  /** The chain is broken: ask the server for a keyframe. */
  needKeyframe: () => void;
  /** The topology is there; drawing can start. Called again if the room comes back with another one. */
  onTopology: (topology: Topology) => void;
  onTopologyFailed: (error: unknown) => void;
  onMembers: () => void;
  onStats: (stats: RoomStats) => void;
  onReset: (member: number) => void;
  onNotice: (code: string, text: string, details: unknown) => void;
  /** Bodies came or went, by this member's hand (0: the server's); not called for what was so when this page joined. */
  onWaiting: (member: number, came: readonly number[], went: readonly number[]) => void;
  onAccess?: (access: AccessState) => void;
  onTuned?: (tuning: Tuning) => void;
  onFrame?: (frame: Frame) => void;
}

/** Frames kept while the topology is still loading; past this the oldest go and a keyframe is asked for. */
const PENDING_FRAMES = 300;
/** A broken chain is complained about at most this often, ms. */
const COMPLAINT_MS = 1000;

export class RoomState {
  welcome: Welcome | undefined;
  topology: Topology | undefined;
  buffer: SnapshotBuffer | undefined;
  playout: Playout | undefined;
  clock: Clock | undefined;
  members: Member[] = [];
  /** By member; a message names only the hands that changed. */
  readonly hands = new Map<number, Hand>();
  stats: RoomStats | undefined;
  /** This member's own hands as the server had them. */
  readonly acknowledged = new AcknowledgedGrabs();
  /** float32[3*particles] the server's motion at the playhead, jumps cross-faded, m. */
  sampled = new Float32Array(0);
  /** float32[3*particles] what is drawn now, m: `sampled`, and what the picture adds for own hands. */
  displayed = new Float32Array(0);
  /** By body, 1: it waits, and is not drawn. */
  hidden = new Uint8Array(0);
  readonly spares = new WaitingBodies();
  readonly time = new SimulatedTime();
  /** Longest and mean time to decode a frame, ms, for the debugging hook. */
  readonly decode = { frames: 0, totalMs: 0, worstMs: 0, failures: 0 };
  private readonly options: RoomStateOptions;
  private tuning: Tuning | undefined;
  private decoder: FrameDecoder | undefined;
  private pending: { event: FrameEvent; receivedMs: number }[] = [];
  private topologyHash: string | undefined;
  private rejoining = false;
  private quanta = new Float64Array(0);
  private lastKey = Number.NaN;
  private lastComplaintMs = -Infinity;
  private readonly fade = new CrossFade();
  /** `sampled` is a picture of this topology, not yet zeros: there is something to fade from. */
  private shown = false;
  /** Somebody looks again. */
  private back = false;

  constructor(options: RoomStateOptions) {
    this.options = options;
  }

  receive(event: ServerEvent, receivedMs: number): void {
    switch (event.type) {
      case "welcome":
        return this.welcomed(event.welcome);
      case "keyframe":
      case "delta":
        return this.frame(event, receivedMs);
      case "members":
        this.members = event.members;
        for (const member of this.hands.keys()) {
          if (!event.members.some((m) => m.member === member && m.connected)) this.hands.delete(member);
        }
        return this.options.onMembers();
      case "hands":
        for (const hand of event.hands) {
          this.hands.set(hand.member, hand);
          if (hand.member === this.welcome?.member) this.acknowledged.note(event.tick, hand.grabs);
        }
        return;
      case "pong":
        return this.clock?.pong(event.clientTimeMs, event.serverTick, receivedMs);
      case "stats":
        this.stats = event.stats;
        return this.options.onStats(event.stats);
      case "reset":
        this.crossFade(receivedMs);
        return this.options.onReset(event.member);
      case "notice":
        return this.options.onNotice(event.code, event.text, event.details);
      case "access":
        return this.options.onAccess?.(event.access);
      case "tuned":
        this.time.note(event.tick, event.tuning);
        if (event.tuning.timeScale !== this.tuning?.timeScale) this.keepPace(event.tuning.timeScale, receivedMs);
        this.tuning = event.tuning;
        return this.options.onTuned?.(event.tuning);
      case "waiting": {
        const { came, went } = this.spares.note(event.tick, event.bodies);
        return this.options.onWaiting(event.member, came, went);
      }
    }
  }

  /** What was drawn last fades into what is true now. */
  get crossFading(): boolean {
    return this.fade.blending;
  }

  /** Nobody looked for a while: what was shown last fades into what is true at the next look. */
  returned(): void {
    this.back = true;
  }

  /** Ticks between two frames. */
  get sendTicks(): number {
    return this.welcome ? this.welcome.tickHz / this.welcome.sendHz : 1;
  }

  /**
   * Moves the playhead to now and fills `displayed`.
   * @returns the tick shown (fractional) and whether the positions differ from the last call's; undefined before the
   *   first frame
   */
  sample(nowMs: number): { tick: number; moved: boolean } | undefined {
    if (!this.welcome || !this.buffer || !this.playout) return undefined;
    if (this.back) this.crossFade(nowMs);
    this.back = false;
    const playheadMs = this.playout.advance(nowMs);
    if (Number.isNaN(playheadMs)) return undefined;
    const tick = playheadMs / this.tickMs;
    const pair = this.buffer.at(tick, this.sendTicks);
    if (!pair) return undefined;
    interpolateInto(this.sampled, pair.from.positions, pair.to.positions, pair.alpha);
    const key = pair.to.still || pair.from === pair.to ? pair.from.changedTick : tick;
    const blending = this.fade.blendInto(this.sampled, nowMs);
    this.displayed.set(this.sampled);
    this.shown = true;
    const moved = this.hide(pair.from.tick, pair.to.tick) || blending || key !== this.lastKey;
    this.lastKey = key;
    return { tick, moved };
  }

  /** Ticks that the room wants in a second: its owners say how fast time goes; where it stands, at the scene's rate. */
  get ticksPerSecond(): number {
    return (this.welcome?.tickHz ?? 60) * (this.tuning?.timeScale || 1);
  }

  private get tickMs(): number {
    return 1000 / this.ticksPerSecond;
  }

  /** Ticks come at another rate: the time line begins anew, and what is shown fades into what comes. */
  private keepPace(timeScale: number, nowMs: number): void {
    const before = this.tuning?.timeScale || 1;
    if ((timeScale || 1) === before || !this.welcome) return;
    this.tuning = { ...this.tuning!, timeScale };
    this.clock = new Clock(this.ticksPerSecond);
    if (!this.playout) return;
    this.crossFade(nowMs);
    this.playout = new Playout({ intervalMs: this.sendTicks * this.tickMs });
  }

  /** What is shown fades into what comes; bodies do not burst out of the origin when nothing has been shown. */
  private crossFade(nowMs: number): void {
    if (this.shown) this.fade.begin(this.sampled, nowMs);
  }

  /** @returns whether a body has come or gone */
  private hide(fromTick: number, toTick: number): boolean {
    let changed = false;
    for (let body = 0; body < this.hidden.length; body++) {
      const now = this.spares.waits(body, fromTick, toTick) ? 1 : 0;
      changed ||= now !== this.hidden[body];
      this.hidden[body] = now;
    }
    return changed;
  }

  private welcomed(welcome: Welcome): void {
    const resumed = this.welcome?.session === welcome.session && this.topologyHash === welcome.topology;
    this.welcome = welcome;
    this.hands.clear();
    this.acknowledged.clear();
    // The old line's frames stay on the screen until the new line's first keyframe: a freeze, and no empty picture.
    if (this.decoder) this.decoder.broken = true;
    this.rejoining = true;
    if (!resumed || !this.clock) this.clock = new Clock(this.ticksPerSecond);
    if (this.topologyHash === welcome.topology) return;
    this.topologyHash = welcome.topology;
    this.topology = this.buffer = this.decoder = undefined;
    this.pending = [];
    const hash = welcome.topology;
    this.options.fetchTopology(hash).then(
      (topology) => {
        if (this.topologyHash === hash) this.useTopology(topology);
      },
      (error: unknown) => {
        // Another try comes with the next welcome.
        if (this.topologyHash === hash) this.topologyHash = undefined;
        this.options.onTopologyFailed(error);
      },
    );
  }

  private useTopology(topology: Topology): void {
    this.topology = topology;
    this.decoder = new FrameDecoder(topology);
    this.quanta = Float64Array.from(topology.bodies, (body) => body.quantum);
    this.buffer = new SnapshotBuffer(topology.particles);
    this.playout = new Playout({ intervalMs: this.sendTicks * this.tickMs });
    this.sampled = new Float32Array(3 * topology.particles);
    this.displayed = new Float32Array(3 * topology.particles);
    this.hidden = new Uint8Array(topology.bodies.length);
    this.shown = false;
    this.options.onTopology(topology);
    const pending = this.pending;
    this.pending = [];
    for (const { event, receivedMs } of pending) this.frame(event, receivedMs);
  }

  private frame(event: FrameEvent, receivedMs: number): void {
    if (!this.decoder || !this.buffer || !this.playout) {
      this.pending.push({ event, receivedMs });
      if (this.pending.length > PENDING_FRAMES) this.pending.shift();
      return;
    }
    const frame = this.decodeFrame(event);
    if (!frame) return;
    const before = this.buffer.newest;
    // A keyframe that repeats a frame which is already there (asked for by somebody else) changes nothing.
    if (before && event.type === "keyframe" && before.tick === frame.tick) return this.buffer.giveBack(frame);
    const restarted = before !== undefined && frame.tick < before.tick;
    // Frames are left out only where nothing moves, and by a line that is too slow: then a keyframe follows.
    frame.afterRest = event.type === "delta" && frame.tick - event.baseTick > this.sendTicks;
    const { tickMs } = this;
    const stillFromMs = before && (before.still || frame.afterRest) ? before.changedTick * tickMs : Number.NaN;
    if (before && (this.rejoining || restarted)) {
      // The line was down: what was shown last fades into what the room is now, instead of sweeping over the gap.
      this.crossFade(receivedMs);
      this.buffer.clear();
      this.playout.restart();
    }
    this.rejoining = false;
    this.buffer.push(frame);
    if (this.playout.arrived(frame.tick * tickMs, receivedMs, stillFromMs)) this.crossFade(receivedMs);
    this.options.onFrame?.(frame);
  }

  private decodeFrame(event: FrameEvent): Frame | undefined {
    const buffer = this.buffer!;
    const decoder = this.decoder!;
    const startMs = performance.now();
    const frame = buffer.borrow();
    try {
      if (!decoder.decodeInto(event, buffer.newest, frame.ints)) return void buffer.giveBack(frame);
    } catch (error) {
      buffer.giveBack(frame);
      this.decode.failures++;
      // Should keyframes fail as well, neither the log nor the server must be flooded.
      if (startMs - this.lastComplaintMs > COMPLAINT_MS) {
        this.lastComplaintMs = startMs;
        console.warn(`frame of tick ${event.tick} cannot be decoded; asking for a keyframe`, error);
        this.options.needKeyframe();
      }
      return undefined;
    }
    frame.tick = event.tick;
    dequantizeInto(decoder.model, frame.ints, this.quanta, frame.positions);
    const tookMs = performance.now() - startMs;
    this.decode.frames++;
    this.decode.totalMs += tookMs;
    this.decode.worstMs = Math.max(this.decode.worstMs, tookMs);
    return frame;
  }
}
