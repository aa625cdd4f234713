/**
 * A replay as it came: its frames stay encoded, a minute of 10,000 particles is then some megabytes and not a gigabyte.
 * Any moment is had again from the keyframe before it; what follows a moment that is there already takes one delta.
 *
 *     K d d d d d K d d d [from][to] d d K ...     two decoded frames, and the moment between them
 */
import {
  createSnapshotModel,
  decodeDelta,
  decodeKeyframe,
  dequantizeInto,
  type SnapshotModel,
} from "../../shared/snapshot/index.ts";
import type { ReplayHead } from "../../shared/protocol/protocol.ts";
import type { Topology } from "../../shared/topology.ts";
import type { Hand, ServerEvent } from "../../shared/protocol/fromServer.ts";
import { uint32Of } from "../../shared/bytes.ts";
import { interpolateInto } from "./interpolate.ts";

interface EncodedFrame {
  tick: number;
  /** It decodes alone. */
  key: boolean;
  data: Uint8Array;
}

interface DecodedFrame {
  /** Of `frames`; -1: nothing yet. */
  index: number;
  ints: Int32Array;
  positions: Float32Array;
}

/** The last entry at or before a tick, -1: none. `entries` ascend. */
function lastAt(entries: readonly { tick: number }[], tick: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]!.tick <= tick) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export class ReplayBuffer {
  readonly head: ReplayHead;
  readonly topology: Topology;
  /** float32[3*particles] m at the moment of the last `show`. */
  readonly displayed: Float32Array;
  /** By body, 1: it is not there. */
  readonly hidden: Uint8Array;
  private readonly frames: EncodedFrame[] = [];
  private readonly waits: { tick: number; bodies: ReadonlySet<number> }[] = [];
  private readonly resets: { tick: number }[] = [];
  private readonly hands: { tick: number; hands: ReadonlyMap<number, Hand> }[] = [];
  private readonly model: SnapshotModel;
  private readonly quanta: Float64Array;
  private from: DecodedFrame;
  private to: DecodedFrame;

  constructor(head: ReplayHead, topology: Topology) {
    this.head = head;
    this.topology = topology;
    this.model = createSnapshotModel(
      topology.bodies.map(({ count, triangles }) => ({ count, triangles: uint32Of(triangles) })),
    );
    this.quanta = Float64Array.from(topology.bodies, (body) => body.quantum);
    this.displayed = new Float32Array(3 * topology.particles);
    this.hidden = new Uint8Array(topology.bodies.length);
    const empty = (): DecodedFrame => ({
      index: -1,
      ints: new Int32Array(3 * topology.particles),
      positions: new Float32Array(3 * topology.particles),
    });
    this.from = empty();
    this.to = empty();
  }

  /** The first tick that can be shown, NaN before it has come. */
  get first(): number {
    return this.frames[0]?.tick ?? Number.NaN;
  }

  /** How far it has come: the last tick that can be shown, NaN before there is one. */
  get last(): number {
    return this.frames.at(-1)?.tick ?? Number.NaN;
  }

  /** What comes next. */
  add(event: ServerEvent): void {
    switch (event.type) {
      case "keyframe":
      case "delta":
        this.frames.push({ tick: event.tick, key: event.type === "keyframe", data: event.data });
        return;
      case "waiting":
        this.waits.push({ tick: event.tick, bodies: new Set(event.bodies) });
        return;
      case "reset":
        this.resets.push({ tick: event.tick });
        return;
      case "hands":
        this.hands.push({
          tick: event.tick,
          hands: new Map([
            ...(this.hands.at(-1)?.hands ?? []),
            ...event.hands.map((hand) => [hand.member, hand] as const),
          ]),
        });
        return;
      default:
        return;
    }
  }

  /** Who holds what at a moment. */
  handsAt(tick: number): ReadonlyMap<number, Hand> {
    return this.hands[lastAt(this.hands, tick)]?.hands ?? new Map<number, Hand>();
  }

  /**
   * Makes `displayed` and `hidden` those of a moment: between two frames, or the first or the last frame that has come.
   * @param tick fractions allowed
   * @returns the tick that is shown, NaN: nothing has come yet
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
    for (let body = 0; body < this.hidden.length; body++)
      this.hidden[body] = this.waitsAt(body, start) || this.waitsAt(body, end) ? 1 : 0;
    return shown;
  }

  /** Grid coordinates of the last frame at or before the moment that is shown. */
  get ints(): Int32Array {
    return this.from.ints;
  }

  private alpha(tick: number, start: number, end: number): number {
    // nothing lies between the moment before a reset and the scene's start
    const reset = this.resets[lastAt(this.resets, end)];
    if (reset && reset.tick > start) return tick >= end ? 1 : 0;
    // no frames: nothing moved, until a frame before the one that is there again
    const begin = Math.max(start, end - this.head.tickHz / this.head.sendHz);
    return Math.max(0, (tick - begin) / (end - begin));
  }

  private waitsAt(body: number, tick: number): boolean {
    return this.waits[lastAt(this.waits, tick)]?.bodies.has(body) ?? false;
  }

  /** Brings `from` and `to` to these frames, `next` being `at` or the one after it. */
  private decode(at: number, next: number): void {
    if (this.to.index === at && this.from.index !== at) [this.from, this.to] = [this.to, this.from];
    if (this.from.index !== at) this.decodeInto(at);
    if (this.to.index === next) return;
    if (next === at) {
      this.to.ints.set(this.from.ints);
      this.to.positions.set(this.from.positions);
      this.to.index = at;
    } else this.step(this.from, this.to);
  }

  /** `from` becomes any frame, by way of the keyframe before it or of what is decoded and nearer. */
  private decodeInto(at: number): void {
    let key = at;
    while (key > 0 && !this.frames[key]!.key) key--;
    if (!(this.from.index >= key && this.from.index <= at)) {
      decodeKeyframe(this.model, this.frames[key]!.data, this.from.ints);
      this.finish(this.from, key);
    }
    while (this.from.index < at) {
      this.step(this.from, this.to);
      [this.from, this.to] = [this.to, this.from];
    }
  }

  /** `target` becomes the frame after `base`. */
  private step(base: DecodedFrame, target: DecodedFrame): void {
    const frame = this.frames[base.index + 1]!;
    if (frame.key) decodeKeyframe(this.model, frame.data, target.ints);
    else decodeDelta(this.model, base.ints, frame.data, target.ints);
    this.finish(target, base.index + 1);
  }

  private finish(frame: DecodedFrame, index: number): void {
    frame.index = index;
    dequantizeInto(this.model, frame.ints, this.quanta, frame.positions);
  }
}
