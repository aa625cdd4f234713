/** Decodes a room's chain of frames: a keyframe decodes alone, a delta against the frame before it. */
import { decodeDelta, decodeKeyframe } from "../../../shared/snapshot/decode.ts";
import { createSnapshotModel, type SnapshotModel } from "../../../shared/snapshot/model.ts";
import type { Topology } from "../../../shared/topology.ts";
import { uint32Of } from "../../../shared/bytes.ts";
import type { ServerEvent } from "../../../shared/protocol/fromServer.ts";

export type FrameEvent = Extract<ServerEvent, { type: "keyframe" | "delta" }>;

/** A decoded frame, as the base of the next one. */
export interface FrameBase {
  tick: number;
  /** int32[3*particles] */
  ints: Int32Array;
}

/** Create it once `decoderReady` has resolved. */
export class FrameDecoder {
  readonly model: SnapshotModel;
  /** The chain is broken: deltas are ignored until the next keyframe. */
  broken = true;

  constructor(topology: Topology) {
    this.model = createSnapshotModel(
      topology.bodies.map(({ count, triangles }) => ({ count, triangles: uint32Of(triangles) })),
    );
  }

  /**
   * @param base the newest frame, if there is one
   * @param ints int32[3*particles] out
   * @returns false for a delta before the first keyframe; `ints` is then unchanged
   * @throws Error if this frame breaks the chain; ask the server for a keyframe then
   */
  decodeInto(event: FrameEvent, base: FrameBase | undefined, ints: Int32Array): boolean {
    if (event.type === "delta" && this.broken) return false;
    this.broken = true;
    if (event.type === "keyframe") decodeKeyframe(this.model, event.data, ints);
    else {
      if (base?.tick !== event.baseTick)
        throw new Error(`delta against tick ${event.baseTick}, but the newest frame is ${base?.tick}`);
      decodeDelta(this.model, base.ints, event.data, ints);
    }
    this.broken = false;
    return true;
  }
}
