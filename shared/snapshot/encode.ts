/**
 * Encodes frames (format.ts). The encoder keeps no state except the previous frame. So any thread that can read that
 * frame may encode the next one, and any client that holds it can decode the result.
 */
import { HEADER_BYTES, KIND_DELTA, KIND_KEYFRAME, SnapshotError, frameChecksum } from "./format.ts";
import { kernelOf } from "./kernel.ts";
import type { SnapshotModel } from "./model.ts";
import { encodeFrame } from "./twin.ts";

/**
 * Encodes a keyframe, which decodes alone.
 *
 * @param current int32[3*total] grid units within +-COORDINATE_LIMIT, in
 * @returns the bytes of the frame, owned by the caller
 * @throws SnapshotError for a wrong length or a coordinate beyond the limit
 */
export function encodeKeyframe(model: SnapshotModel, current: Int32Array): Uint8Array {
  return encode(model, null, current);
}

/**
 * Encodes a frame against the previous one in the room's chain.
 *
 * @param previous int32[3*total] grid units, in
 * @param current int32[3*total] grid units within +-COORDINATE_LIMIT, in; the particles of sleeping bodies are reset to
 * `previous`, so that after the call it equals the frame of every decoder
 * @param asleep uint8[bodies], in: a body with a nonzero entry is sent as unchanged even if it trembles (one bit, or
 * less)
 * @returns the bytes of the frame, owned by the caller
 * @throws SnapshotError for a wrong length or a coordinate beyond the limit
 */
export function encodeDelta(
  model: SnapshotModel,
  previous: Int32Array,
  current: Int32Array,
  asleep?: Uint8Array,
): Uint8Array {
  checkLength(model, "previous", previous);
  checkLength(model, "current", current);
  const bodies = model.starts.length - 1;
  if (asleep !== undefined) {
    if (asleep.length !== bodies)
      throw new SnapshotError(`asleep has ${asleep.length} entries, the model has ${bodies} bodies`);
    for (let body = 0; body < bodies; body++) {
      if (asleep[body] === 0) continue;
      const [from, to] = [3 * model.starts[body], 3 * model.starts[body + 1]];
      current.set(previous.subarray(from, to), from);
    }
  }
  return encode(model, previous, current);
}

function encode(model: SnapshotModel, previous: Int32Array | null, current: Int32Array): Uint8Array {
  checkLength(model, "current", current);
  const kernel = kernelOf(model);
  const bytes =
    kernel === undefined ? encodeFrame(model, previous, current) : kernel.encode(previous, current, HEADER_BYTES);
  const checksum = kernel === undefined ? frameChecksum(current) : kernel.checksum();
  bytes[0] = previous === null ? KIND_KEYFRAME : KIND_DELTA;
  bytes[1] = checksum & 255;
  bytes[2] = checksum >> 8;
  return bytes;
}

function checkLength(model: SnapshotModel, name: string, frame: Int32Array): void {
  if (frame.length !== 3 * model.total)
    throw new SnapshotError(`${name} has ${frame.length} integers, must be ${3 * model.total}`);
}
