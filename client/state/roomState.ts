/**
 * The state of the room that this page shows: the copy of the room that the SDK keeps, and its playback in time. The
 * view reads it. It does not draw, so it runs without a browser.
 */
import type { MemberGrabs } from "../../shared/protocol/fromServer.ts";
import type { Topology } from "../../shared/topology.ts";
import { Clock } from "../sdk/connection/serverClock.ts";
import type { FrameEvent } from "../sdk/mirror/frameDecoder.ts";
import { RoomMirror, type RoomMirrorOptions } from "../sdk/mirror/roomMirror.ts";
import { AcknowledgedGrabs } from "./acknowledgedGrabs.ts";
import { interpolateInto } from "./interpolate.ts";
import { Playout } from "./playout.ts";
import { CrossFade } from "./crossFade.ts";
import { SimulatedTime } from "./simulatedTime.ts";
import { SnapshotBuffer } from "./snapshotBuffer.ts";
import { MoverYields } from "./moverYields.ts";
import { TickHistory } from "./tickHistory.ts";

/** Number of changes kept; the picture is a second behind at most. */
const KEPT_CHANGES = 256;

export class RoomState extends RoomMirror {
  buffer: SnapshotBuffer | undefined;
  playout: Playout | undefined;
  clock: Clock | undefined;
  /** Cursor and grabs of each member. A message names only members with a change. */
  readonly grabsByMember = new Map<number, MemberGrabs>();
  /** This member's own grabs as the server had them. */
  readonly acknowledged = new AcknowledgedGrabs();
  /** float32[3*particles] the server's motion at the playhead, jumps cross-faded, m. */
  sampled = new Float32Array(0);
  /** float32[3*particles] positions drawn now, m: `sampled` plus the local bends of the own grabs. */
  displayed = new Float32Array(0);
  /** 1 for each spawnable body that is not in the room, and not drawn. */
  hidden = new Uint8Array(0);
  readonly time = new SimulatedTime();
  /** Moving colliders off their paths. */
  readonly yields = new MoverYields(KEPT_CHANGES);
  /** Absent bodies. */
  private readonly absent = new TickHistory<ReadonlySet<number>>(KEPT_CHANGES);
  /** `ticksPerSecond` of `clock` and `playout`. */
  private pace = Number.NaN;
  private rejoining = false;
  private lastKey = Number.NaN;
  private readonly fade = new CrossFade();
  /** `sampled` holds a picture of this topology, not the initial zeros: a fade can start from it. */
  private shown = false;
  /** The page became visible again: cross-fade at the next sample. */
  private back = false;

  constructor(options: RoomMirrorOptions) {
    super(options);
    this.add("welcome", ({ resumed }) => this.welcomed(resumed));
    this.add("topology", (topology) => this.use(topology));
    this.add("decoded", (event) => this.arrived(event));
    this.add("members", ({ members }) => {
      for (const member of this.grabsByMember.keys())
        if (!members.some((m) => m.member === member && m.connected)) this.grabsByMember.delete(member);
    });
    this.add("grabs", ({ tick, members }) => {
      for (const entry of members) {
        this.grabsByMember.set(entry.member, entry);
        if (entry.member === this.welcome?.member) this.acknowledged.note(tick, entry.grabs);
      }
    });
    this.add("pong", ({ clientTimeMs, serverTick }) => this.clock?.pong(clientTimeMs, serverTick, this.receivedMs));
    this.add("reset", () => this.crossFade(this.receivedMs));
    this.add("tuned", ({ tick, tuning }) => {
      this.time.note(tick, tuning);
      if (this.pace !== this.ticksPerSecond) this.keepPace();
    });
    this.add("spawnable", ({ tick, bodies }) => this.absent.note(tick, new Set(bodies)));
    this.add("movers", ({ tick, movers }) => this.yields.note(tick, movers));
  }

  /** Undefined while it loads. */
  get topology(): Topology | undefined {
    return this.loading ? undefined : this.frames?.topology;
  }

  /** True while the last picture fades into the current one. */
  get crossFading(): boolean {
    return this.fade.blending;
  }

  /** True if a body was not in the room at this tick. */
  isAbsent(body: number, tick: number): boolean {
    return this.absent.at(tick)?.has(body) ?? false;
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

  /** Starts a new time line after a change of the time scale, with a cross-fade. */
  private keepPace(): void {
    this.startClock();
    if (!this.playout) return;
    this.crossFade(this.receivedMs);
    this.startPlayout();
  }

  private startClock(): void {
    this.pace = this.ticksPerSecond;
    this.clock = new Clock(this.pace);
  }

  private startPlayout(): void {
    this.playout = new Playout({ intervalMs: this.sendTicks * this.tickMs });
  }

  /** Fades from the last picture. If nothing was shown yet, no fade: bodies would burst out of the origin. */
  private crossFade(nowMs: number): void {
    if (this.shown) this.fade.begin(this.sampled, nowMs);
  }

  /**
   * Hides bodies that are absent at any moment between two frames: interpolation would sweep them to the place where
   * they were put in.
   * @returns true if a body appeared or disappeared
   */
  private hide(fromTick: number, toTick: number): boolean {
    const absent = this.absent.between(fromTick, toTick);
    let changed = false;
    for (let body = 0; body < this.hidden.length; body++) {
      const now = absent.some((bodies) => bodies.has(body)) ? 1 : 0;
      changed ||= now !== this.hidden[body];
      this.hidden[body] = now;
    }
    return changed;
  }

  private welcomed(resumed: boolean): void {
    this.grabsByMember.clear();
    this.acknowledged.clear();
    // The last frames of the old connection stay on the screen until the first keyframe of the new one.
    this.rejoining = true;
    if (!resumed || !this.clock) this.startClock();
    if (this.loading) this.buffer = undefined;
  }

  private use({ particles, bodies }: Topology): void {
    this.buffer = new SnapshotBuffer(particles);
    this.startPlayout();
    this.sampled = new Float32Array(3 * particles);
    this.displayed = new Float32Array(3 * particles);
    this.hidden = new Uint8Array(bodies.length);
    this.shown = false;
  }

  /** Takes over the frame that was decoded. */
  private arrived(event: FrameEvent): void {
    const { buffer, playout, tickMs, receivedMs } = this;
    const { tick } = event;
    if (!buffer || !playout) return;
    const before = buffer.newest;
    // Ignore a keyframe that repeats the newest frame: another member asked for it.
    if (before?.tick === tick) return;
    const frame = buffer.borrow();
    frame.tick = tick;
    frame.ints.set(this.frames!.ints);
    frame.positions.set(this.frames!.positions);
    // The server skips frames when nothing moves. It also skips them for slow connections, but then a keyframe follows.
    frame.afterRest = event.type === "delta" && tick - event.baseTick > this.sendTicks;
    const stillFromMs = before && (before.still || frame.afterRest) ? before.changedTick * tickMs : Number.NaN;
    if (before && (this.rejoining || tick < before.tick)) {
      // After a lost connection or a restart, fade from the last picture instead of interpolating over the gap.
      this.crossFade(receivedMs);
      buffer.clear();
      playout.restart();
    }
    this.rejoining = false;
    buffer.push(frame);
    if (playout.arrived(tick * tickMs, receivedMs, stillFromMs)) this.crossFade(receivedMs);
  }
}
