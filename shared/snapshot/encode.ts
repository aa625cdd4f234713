/**
 * Frames to bytes (format.ts). The encoder keeps no state of its own between frames: the previous frame is all there is, so any thread that
 * can read it may encode the next one, and any client that holds it can decode that.
 */
import { CONTEXT_BODY, COORDINATE_LIMIT, HEADER_BYTES, KIND_DELTA, KIND_KEYFRAME, SnapshotError, frameChecksum } from "./format.ts";
import type { SnapshotModel } from "./model.ts";
import { BitEncoder } from "./pack.ts";
import { type Predictor, predictorOf } from "./predict.ts";

const encoder = new BitEncoder();

/**
 * Encodes a frame so that it decodes alone.
 *
 * @param model
 * @param current int32[3*total] grid units within +-COORDINATE_LIMIT, in
 * @returns the bytes of the frame, owned by the caller
 * @throws SnapshotError for a wrong length or a coordinate beyond the limit
 */
export function encodeKeyframe(model: SnapshotModel, current: Int32Array): Uint8Array {
  return encode(model, null, current);
}

/**
 * Encodes a frame against the one before it in the room's chain.
 *
 * @param model
 * @param previous int32[3*total] grid units, in
 * @param current int32[3*total] grid units within +-COORDINATE_LIMIT, in; the particles of sleeping bodies are set back to `previous`, so that
 *   after the call it is what every decoder has
 * @param asleep uint8[bodies], in: a body whose entry is not 0 is sent as unchanged even if it trembles (one bit, or less)
 * @returns the bytes of the frame, owned by the caller
 * @throws SnapshotError for a wrong length or a coordinate beyond the limit
 */
export function encodeDelta(model: SnapshotModel, previous: Int32Array, current: Int32Array, asleep?: Uint8Array): Uint8Array {
  checkLength(model, "previous", previous);
  checkLength(model, "current", current);
  const bodies = model.starts.length - 1;
  if (asleep !== undefined) {
    if (asleep.length !== bodies) throw new SnapshotError(`asleep has ${asleep.length} entries, the model has ${bodies} bodies`);
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
  const { starts } = model;
  const predictor = predictorOf(model);
  predictor.begin(previous === null);
  encoder.begin();
  let flag = 0;
  for (let body = 0; body + 1 < starts.length; body++) {
    const context = CONTEXT_BODY + flag;
    flag = isUnchanged(previous, current, 3 * starts[body], 3 * starts[body + 1]) ? 0 : 1;
    encoder.reserve();
    encoder.bit(context, flag);
    if (flag === 1) encodeBody(predictor, previous, current, starts[body], starts[body + 1]);
  }
  const bytes = encoder.finish(HEADER_BYTES);
  const checksum = frameChecksum(current);
  bytes[0] = previous === null ? KIND_KEYFRAME : KIND_DELTA;
  bytes[1] = checksum & 255;
  bytes[2] = checksum >> 8;
  return bytes;
}

function isUnchanged(previous: Int32Array | null, current: Int32Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (current[i] !== (previous === null ? 0 : previous[i])) return false;
  }
  return true;
}

function encodeBody(predictor: Predictor, previous: Int32Array | null, current: Int32Array, first: number, end: number): void {
  const { order } = predictor.model;
  for (let i = first; i < end; i++) {
    const v = 3 * order[i];
    for (let c = 0; c < 3; c++) predictor.previous[3 * i + c] = previous === null ? 0 : previous[v + c];
    predictor.enter(i, first);
    encoder.reserve();
    for (let c = 0; c < 3; c++) {
      const now = current[v + c];
      if (now > COORDINATE_LIMIT || now < -COORDINATE_LIMIT) {
        throw new SnapshotError(`current[${v + c}] is ${now}, must be within +-${COORDINATE_LIMIT}`);
      }
      const y = now - predictor.previous[3 * i + c];
      predictor.expect(c);
      encoder.residual(predictor.below ? predictor.base - y : y - predictor.base, predictor.slot);
      predictor.settle(i, c, y);
    }
    predictor.leave(i);
  }
}

function checkLength(model: SnapshotModel, name: string, frame: Int32Array): void {
  if (frame.length !== 3 * model.total) throw new SnapshotError(`${name} has ${frame.length} integers, must be ${3 * model.total}`);
}
