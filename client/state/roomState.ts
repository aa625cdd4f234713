/**
 * The state of the room that this page shows. Socket messages change it; the view reads it. It does not draw, so it
 * runs without a browser. Frames that arrive before the topology are kept, because the chain of deltas needs every one.
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
import { WaitingBodies } from "./spawnableBodies.ts";

export interface RoomStateOptions {
  fetchTopology: (hash: string) => Promise<Topology>;
  /** The chain is broken: ask the server for a keyframe. */
  needKeyframe: () => void;
  /** The topology has loaded: drawing can start. Called again if the room is resumed with another topology. */
  onTopology: (topology: Topology) => void;
  onTopologyFailed: (error: unknown) => void;
  onMembers: () => void;
  onStats: (stats: RoomStats) => void;
  onReset: (member: number) => void;
  onNotice: (code: string, text: string, details: unknown) => void;
  /** A member put bodies in or took them out (0: the server). Not called for the state at the time of joining. */
  onWaiting: (member: number, came: readonly number[], went: readonly number[]) => void;
  onAccess?: (access: AccessState) => void;
  onTuned?: (tuning: Tuning) => void;
  onFrame?: (frame: Frame) => void;
}

/** Frames kept while the topology is loading; beyond this the oldest are dropped and a keyframe is requested. */
const PENDING_FRAMES = 300;
/** Least time between two requests for a keyframe, ms. */
const COMPLAINT_MS = 1000;

export class RoomState {
  welcome: Welcome | undefined;
  topology: Topology | undefined;
  buffer: SnapshotBuffer | undefined;
  playout: Playout | undefined;
  clock: Clock | undefined;
  members: Member[] = [];
  /** By member; a message names only members with a change. */
  readonly hands = new Map<number, Hand>();
  stats: RoomStats | undefined;
  /** This member's own grabs as the server had them. */
  readonly acknowledged = new AcknowledgedGrabs();
  /** float32[3*particles] the server's motion at the playhead, jumps cross-faded, m. */
  sampled = new Float32Array(0);
  /** float32[3*particles] positions drawn now, m: `sampled` plus the local bends of the own grabs. */
  displayed = new Float32Array(0);
  /** By body, 1: a spawnable body that is not in the room, and not drawn. */
  hidden = new Uint8Array(0);
  readonly spawnable = new WaitingBodies();
  readonly time = new SimulatedTime();
  /** Longest and total time to decode frames, ms, for the debugging hook. */
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
  /** `sampled` holds a picture of this topology, not the initial zeros: a fade can start from it. */
  private shown = false;
  /** The page became visible again: cross-fade at the next sample. */
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
        const { came, went } = this.spawnable.note(event.tick, event.bodies);
        return this.options.onWaiting(event.member, came, went);
      }
    }
  }

  /** True while the last picture fades into the current one. */
  get crossFading(): boolean {
    return this.fade.blending;
  }

  /** The page was hidden for a while: the next picture fades in from the last one. */
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

  /** Ticks per second of wall time that the owners' time scale asks for; the scene's rate while time is paused. */
  get ticksPerSecond(): number {
    return (this.welcome?.tickHz ?? 60) * (this.tuning?.timeScale || 1);
  }

  private get tickMs(): number {
    return 1000 / this.ticksPerSecond;
  }

  /** Starts a new time line when the time scale changes, with a cross-fade. */
  private keepPace(timeScale: number, nowMs: number): void {
    const before = this.tuning?.timeScale || 1;
    if ((timeScale || 1) === before || !this.welcome) return;
    this.tuning = { ...this.tuning!, timeScale };
    this.clock = new Clock(this.ticksPerSecond);
    if (!this.playout) return;
    this.crossFade(nowMs);
    this.playout = new Playout({ intervalMs: this.sendTicks * this.tickMs });
  }

  /** Fades from the last picture. If nothing was shown yet, no fade: bodies would burst out of the origin. */
  private crossFade(nowMs: number): void {
    if (this.shown) this.fade.begin(this.sampled, nowMs);
  }

  /** @returns true if a body appeared or disappeared */
  private hide(fromTick: number, toTick: number): boolean {
    let changed = false;
    for (let body = 0; body < this.hidden.length; body++) {
      const now = this.spawnable.waits(body, fromTick, toTick) ? 1 : 0;
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
    // The last frames of the old connection stay on the screen until the first keyframe of the new one.
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
        // The next welcome loads again.
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
    // Ignore a keyframe that repeats the newest frame: another member asked for it.
    if (before && event.type === "keyframe" && before.tick === frame.tick) return this.buffer.giveBack(frame);
    const restarted = before !== undefined && frame.tick < before.tick;
    // The server skips frames when nothing moves. It also skips them for slow connections, but then a keyframe follows.
    frame.afterRest = event.type === "delta" && frame.tick - event.baseTick > this.sendTicks;
    const { tickMs } = this;
    const stillFromMs = before && (before.still || frame.afterRest) ? before.changedTick * tickMs : Number.NaN;
    if (before && (this.rejoining || restarted)) {
      // After a lost connection or a restart, fade from the last picture instead of interpolating over the gap.
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
      // Limits the rate, so that failing keyframes flood neither the log nor the server.
      if (startMs - this.lastComplaintMs > COMPLAINT_MS) {
        this.lastComplaintMs = startMs;
        console.warn(`the frame of tick ${event.tick} cannot be decoded; requesting a keyframe`, error);
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
