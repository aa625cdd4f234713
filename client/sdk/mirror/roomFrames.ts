/** The newest frame of a room, decoded as it arrives: as integers and in meters. */
import { dequantizeInto } from "../../../shared/snapshot/quantize.ts";
import type { Topology } from "../../../shared/topology.ts";
import { type FrameBase, FrameDecoder, type FrameEvent } from "./frameDecoder.ts";

/** Least time between two requests for a keyframe, ms. */
const COMPLAINT_MS = 1000;

export class RoomFrames {
  readonly topology: Topology;
  /** float32[3*particles] m */
  readonly positions: Float32Array;
  /** Number of decoded frames, and the time that they took, ms. */
  readonly decode = { frames: 0, totalMs: 0 };
  readonly #decoder: FrameDecoder;
  readonly #quanta: Float64Array;
  readonly #needKeyframe: (error: unknown) => void;
  #newest: FrameBase | undefined;
  #spare: FrameBase;
  #complainedMs = -Infinity;

  /** @param needKeyframe asks the server for a keyframe */
  constructor(topology: Topology, needKeyframe: (error: unknown) => void) {
    this.topology = topology;
    this.positions = new Float32Array(3 * topology.particles);
    this.#decoder = new FrameDecoder(topology);
    this.#quanta = Float64Array.from(topology.bodies, ({ quantum }) => quantum);
    this.#spare = this.#empty();
    this.#needKeyframe = needKeyframe;
  }

  /** Tick of the newest frame; undefined before the first. */
  get tick(): number | undefined {
    return this.#newest?.tick;
  }

  /** int32[3*particles] of the newest frame; live until the next one. Empty before the first. */
  get ints(): Int32Array {
    return this.#newest?.ints ?? new Int32Array(0);
  }

  /** Waits for a keyframe, with which the chain of a new connection begins. */
  lineLost(): void {
    this.#decoder.broken = true;
  }

  /** @returns true if there is a new frame */
  receive(event: FrameEvent): boolean {
    const into = this.#spare;
    const startMs = performance.now();
    try {
      if (!this.#decoder.decodeInto(event, this.#newest, into.ints)) return false;
    } catch (error) {
      // Limits the rate, so that failing keyframes do not flood the server.
      if (startMs - this.#complainedMs > COMPLAINT_MS) {
        this.#complainedMs = startMs;
        this.#needKeyframe(error);
      }
      return false;
    }
    into.tick = event.tick;
    this.#spare = this.#newest ?? this.#empty();
    this.#newest = into;
    dequantizeInto(this.#decoder.model, into.ints, this.#quanta, this.positions);
    this.decode.frames++;
    this.decode.totalMs += performance.now() - startMs;
    return true;
  }

  #empty(): FrameBase {
    return { tick: -1, ints: new Int32Array(this.positions.length) };
  }
}
