/**
 * Encodes a world's positions as frame messages. All state that outlives a tick is in the room's `FrameState`, so a new
 * encoder can be created on any thread.
 */
import { decode } from "@msgpack/msgpack";
import { encodeDeltaMessage, encodeKeyframeMessage, encodePositions } from "../../../shared/protocol/fromServer.ts";
import {
  createSnapshotModel,
  encodeDelta,
  encodeKeyframe,
  quantizeInto,
  type SnapshotModel,
} from "../../../shared/snapshot/index.ts";
import type { Topology } from "../../../shared/topology.ts";
import type { World } from "../../sim/types.ts";
import type { FrameState } from "./frameState.ts";
import { type EncodedMessage, type Frames, NO_FRAMES, type StepTask } from "../messages.ts";

/** The codec's data of a topology. It is shared by all rooms of a scene, because creating it takes 10 ms. */
export interface FrameModel {
  snapshot: SnapshotModel;
  /** Grid step of each body, m. */
  quanta: number[];
}

export function createFrameModel(topologyBytes: SharedArrayBuffer): FrameModel {
  // The decoder returns views of shared memory; the copies below give the codec its own memory.
  const topology = decode(new Uint8Array(topologyBytes)) as Topology;
  return {
    snapshot: createSnapshotModel(
      topology.bodies.map(({ count, triangles }) => ({ count, triangles: new Uint32Array(triangles.slice().buffer) })),
    ),
    quanta: topology.bodies.map((body) => body.quantum),
  };
}

export class FrameEncoder {
  readonly #model: FrameModel;
  readonly #positions: Float32Array;
  readonly #next: Int32Array;

  constructor(model: FrameModel) {
    this.#model = model;
    this.#positions = new Float32Array(3 * model.snapshot.total);
    this.#next = new Int32Array(3 * model.snapshot.total);
  }

  /**
   * Encodes a send tick and advances the room's delta chain to it.
   * @param state the room's last frame, inout
   * @returns a delta if anything changed, if a collider moves (clients draw it by their frame's tick), or if the task
   *   forces one; a keyframe and positions as the task asks
   */
  encode(world: World, state: FrameState, task: Pick<StepTask, "tick" | "delta" | "keyframe" | "positions">): Frames {
    const { snapshot } = this.#model;
    const first = state.frameTick < 0;
    this.#quantize(world, state, first);
    const moved = world.collidersMove() || this.#changed(state.frame);
    const whole = task.positions === "always" || (task.positions === "moving" && moved);
    if (!moved && !whole && !task.keyframe && task.delta !== "always") return NO_FRAMES;
    const { tick } = task;
    const baseTick = state.frameTick;
    const delta = first
      ? null
      : message("delta", encodeDeltaMessage(tick, baseTick, encodeDelta(snapshot, state.frame, this.#next)));
    const keyframe = task.keyframe
      ? message("keyframe", encodeKeyframeMessage(tick, encodeKeyframe(snapshot, this.#next)))
      : null;
    const positions = whole ? message("positions", encodePositions(tick, this.#next)) : null;
    state.frame.set(this.#next);
    state.frameTick = tick;
    return { moved, delta, keyframe, positions };
  }

  /**
   * Quantizes all bodies. A sleeping body keeps its last frame, because a jitter of one grid step is not worth sending.
   * A body that is not in the scene keeps it, too: it is not drawn.
   */
  #quantize(world: World, state: FrameState, first: boolean): void {
    const { snapshot, quanta } = this.#model;
    world.readStreamed(this.#positions);
    quantizeInto(snapshot, this.#positions, quanta, this.#next);
    const asleep = world.asleep();
    const absent = world.absent();
    for (let body = 0; body < asleep.length; body++) {
      const start = 3 * snapshot.starts[body]!;
      const end = 3 * snapshot.starts[body + 1]!;
      if (absent[body] || (!first && asleep[body] && this.#withinOneStep(state.frame, start, end)))
        this.#next.set(state.frame.subarray(start, end), start);
    }
  }

  /** Slow creep must not accumulate to a visible error. */
  #withinOneStep(frame: Int32Array, start: number, end: number): boolean {
    for (let i = start; i < end; i++) {
      const step = this.#next[i]! - frame[i]!;
      if (step > 1 || step < -1) return false;
    }
    return true;
  }

  #changed(frame: Int32Array): boolean {
    for (let i = 0; i < frame.length; i++) if (frame[i] !== this.#next[i]) return true;
    return false;
  }
}

// `encode` copies out of the encoder's own buffer, so the bytes may be transferred away.
const message = (kind: EncodedMessage["kind"], bytes: Uint8Array<ArrayBuffer>): EncodedMessage => ({ kind, bytes });
