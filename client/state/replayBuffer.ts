/**
 * The frames of a replay, kept encoded: a minute of 10,000 particles takes some megabytes instead of a gigabyte. Any
 * moment is decoded from the keyframe before it; playing on takes one delta per frame.
 *
 *     K d d d d d K d d d [from][to] d d K ...     two decoded frames, and the moment between them
 */
import { dequantizeInto } from "../../shared/snapshot/quantize.ts";
import type { ReplayHead } from "../../shared/protocol/protocol.ts";
import type { Topology } from "../../shared/topology.ts";
import { MoverYields } from "./moverYields.ts";
import type { MemberGrabs, ServerEvent } from "../../shared/protocol/fromServer.ts";
import { type FrameBase, FrameDecoder, type FrameEvent } from "../sdk/mirror/frameDecoder.ts";
import { interpolateInto } from "./interpolate.ts";
import { lastAt, TickHistory } from "./tickHistory.ts";

interface DecodedFrame extends FrameBase {
  /** Index into `frames`; -1: none yet. */
  index: number;
  positions: Float32Array;
}

export class ReplayBuffer {
  readonly head: ReplayHead;
  readonly topology: Topology;
  /** float32[3*particles] m at the moment of the last `show`. */
  readonly displayed: Float32Array;
  /** 1 for each spawnable body that is not in the room at that moment. */
  readonly hidden: Uint8Array;
  /** Moving colliders off their paths. */
  readonly yields = new MoverYields();
  private readonly frames: FrameEvent[] = [];
  private readonly absent = new TickHistory<ReadonlySet<number>>();
  /** Ticks of resets. */
  private readonly resets = new TickHistory<number>();
  private readonly grabs = new TickHistory<ReadonlyMap<number, MemberGrabs>>();
  private readonly decoder: FrameDecoder;
  private readonly quanta: Float64Array;
  private from: DecodedFrame;
  private to: DecodedFrame;

  constructor(head: ReplayHead, topology: Topology) {
    this.head = head;
    this.topology = topology;
    this.decoder = new FrameDecoder(topology);
    this.quanta = Float64Array.from(topology.bodies, (body) => body.quantum);
    this.displayed = new Float32Array(3 * topology.particles);
    this.hidden = new Uint8Array(topology.bodies.length);
    const empty = (): DecodedFrame => ({
      index: -1,
      tick: -1,
      ints: new Int32Array(3 * topology.particles),
      positions: new Float32Array(3 * topology.particles),
    });
    this.from = empty();
    this.to = empty();
  }

  /** The first tick that can be shown; NaN before it has arrived. */
  get first(): number {
    return this.frames[0]?.tick ?? Number.NaN;
  }

  /** The last tick that can be shown so far; NaN before there is one. */
  get last(): number {
    return this.frames.at(-1)?.tick ?? Number.NaN;
  }

  /** Appends the next message of the stream. */
  add(event: ServerEvent): void {
    switch (event.type) {
      case "keyframe":
      case "delta":
        this.frames.push(event);
        return;
      case "spawnable":
        this.absent.note(event.tick, new Set(event.bodies));
        return;
      case "movers":
        this.yields.note(event.tick, event.movers);
        return;
      case "reset":
        this.resets.note(event.tick, event.tick);
        return;
      case "grabs":
        this.grabs.note(
          event.tick,
          new Map([
            ...(this.grabs.at(event.tick) ?? []),
            ...event.members.map((entry) => [entry.member, entry] as const),
          ]),
        );
        return;
      default:
        return;
    }
  }

  /** Cursors and grabs of all members at a moment. */
  handsAt(tick: number): ReadonlyMap<number, MemberGrabs> {
    return this.grabs.at(tick) ?? new Map<number, MemberGrabs>();
  }

  /**
   * Sets `displayed` and `hidden` to a moment: between two frames, or clamped to the first or last frame received.
   * @param tick fractions allowed
   * @returns the tick that is shown; NaN if nothing has arrived yet
   */
  show(tick: number): number {
    if (this.frames.length === 0) return Number.NaN;
    const at = Math.max(0, lastAt(this.frames, tick));
    const next = Math.min(at + 1, this.frames.length - 1);
    const { tick: start } = this.frames[at]!;
    const { tick: end } = this.frames[next]!;
    this.decode(at, next);
    const shown = Math.min(Math.max(tick, start), end);
    interpolateInto(
      this.displayed,
      this.from.positions,
      this.to.positions,
      next === at ? 0 : this.alpha(shown, start, end),
    );
    const absent = this.absent.between(start, end);
    for (let body = 0; body < this.hidden.length; body++)
      this.hidden[body] = absent.some((bodies) => bodies.has(body)) ? 1 : 0;
    return shown;
  }

  /** Grid coordinates of the last frame at or before the moment that is shown. */
  get ints(): Int32Array {
    return this.from.ints;
  }

  private alpha(tick: number, start: number, end: number): number {
    // Do not interpolate across a reset: show the frame before it until the frame after it.
    if ((this.resets.at(end) ?? -Infinity) > start) return tick >= end ? 1 : 0;
    // A gap between frames means that nothing moved until one send interval before the next frame.
    const begin = Math.max(start, end - this.head.tickHz / this.head.sendHz);
    return Math.max(0, (tick - begin) / (end - begin));
  }

  /** Decodes these frames into `from` and `to`. `next` is `at` or `at` + 1. */
  private decode(at: number, next: number): void {
    if (this.to.index === at && this.from.index !== at) [this.from, this.to] = [this.to, this.from];
    if (this.from.index !== at) this.decodeInto(at);
    if (this.to.index === next) return;
    if (next === at) {
      this.to.ints.set(this.from.ints);
      this.to.positions.set(this.from.positions);
      this.to.index = at;
      this.to.tick = this.from.tick;
    } else this.step(this.from, this.to);
  }

  /** Decodes any frame into `from`, starting at its keyframe, or at the current `from` if that is nearer. */
  private decodeInto(at: number): void {
    let key = at;
    while (key > 0 && this.frames[key]!.type !== "keyframe") key--;
    if (!(this.from.index >= key && this.from.index <= at)) this.decodeFrame(key, undefined, this.from);
    while (this.from.index < at) {
      this.step(this.from, this.to);
      [this.from, this.to] = [this.to, this.from];
    }
  }

  /** Decodes the frame after `base` into `target`. */
  private step(base: DecodedFrame, target: DecodedFrame): void {
    this.decodeFrame(base.index + 1, base, target);
  }

  private decodeFrame(index: number, base: FrameBase | undefined, into: DecodedFrame): void {
    const event = this.frames[index]!;
    // Every base is a complete frame, whatever failed before.
    this.decoder.broken = false;
    this.decoder.decodeInto(event, base, into.ints);
    into.index = index;
    into.tick = event.tick;
    dequantizeInto(this.decoder.model, into.ints, this.quanta, into.positions);
  }
}
