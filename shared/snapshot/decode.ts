/**
 * Bytes to frames (format.ts). Trusts nothing: any input either decodes to a frame whose checksum is right or throws a SnapshotError, after at
 * most some 70 bits per coordinate, and never touches anything but `out`.
 */
import {
  CONTEXT_BODY,
  COORDINATE_LIMIT,
  HEADER_BYTES,
  KIND_DELTA,
  KIND_KEYFRAME,
  SnapshotError,
  frameChecksum,
} from "./format.ts";
import type { SnapshotModel } from "./model.ts";
import { BitDecoder } from "./pack.ts";
import { type Predictor, predictorOf } from "./predict.ts";

const decoder = new BitDecoder();

/**
 * Decodes a frame that stands alone.
 *
 * @param model
 * @param bytes in
 * @param out int32[3*total] grid units, out; after an error its contents mean nothing
 * @throws SnapshotError for anything but a whole, unchanged keyframe of this model
 */
export function decodeKeyframe(model: SnapshotModel, bytes: Uint8Array, out: Int32Array): void {
  decode(model, KIND_KEYFRAME, null, bytes, out);
}

/**
 * Decodes a frame against the one before it.
 *
 * @param model
 * @param previous int32[3*total] grid units, in
 * @param bytes in
 * @param out int32[3*total] grid units, out; may be `previous` itself. After an error its contents mean nothing
 * @throws SnapshotError for anything but a whole, unchanged delta of this model against this previous frame
 */
export function decodeDelta(model: SnapshotModel, previous: Int32Array, bytes: Uint8Array, out: Int32Array): void {
  if (previous.length !== 3 * model.total) throw new SnapshotError(`previous has ${previous.length} integers, must be ${3 * model.total}`);
  decode(model, KIND_DELTA, previous, bytes, out);
}

function decode(model: SnapshotModel, kind: number, previous: Int32Array | null, bytes: Uint8Array, out: Int32Array): void {
  if (out.length !== 3 * model.total) throw new SnapshotError(`out has ${out.length} integers, must be ${3 * model.total}`);
  if (bytes.length < HEADER_BYTES) throw new SnapshotError(`frame has ${bytes.length} bytes, must have at least ${HEADER_BYTES}`);
  if (bytes[0] !== kind) throw new SnapshotError(`frame is of kind ${bytes[0]}, must be ${kind}`);
  if (bytes.length > HEADER_BYTES && bytes[bytes.length - 1] === 0) throw new SnapshotError(`byte ${bytes.length - 1} is 0, the last one never is`);
  const { starts } = model;
  const predictor = predictorOf(model);
  predictor.begin(previous === null);
  decoder.begin(bytes, HEADER_BYTES);
  let flag = 0;
  for (let body = 0; body + 1 < starts.length; body++) {
    const [first, end] = [starts[body], starts[body + 1]];
    flag = decoder.bit(CONTEXT_BODY + flag);
    if (flag === 1) decodeBody(predictor, previous, out, first, end);
    else if (previous === null) out.fill(0, 3 * first, 3 * end);
    else out.set(previous.subarray(3 * first, 3 * end), 3 * first);
  }
  decoder.end();
  const expected = bytes[1] | (bytes[2] << 8);
  const checksum = frameChecksum(out);
  if (checksum !== expected) throw new SnapshotError(`checksum of the decoded frame is ${checksum}, the frame says ${expected}`);
}

function decodeBody(predictor: Predictor, previous: Int32Array | null, out: Int32Array, first: number, end: number): void {
  const { order } = predictor.model;
  for (let i = first; i < end; i++) {
    const v = 3 * order[i];
    for (let c = 0; c < 3; c++) predictor.previous[3 * i + c] = previous === null ? 0 : previous[v + c];
    predictor.enter(i, first);
    for (let c = 0; c < 3; c++) {
      predictor.expect(c);
      const residual = decoder.residual(predictor.slot);
      const y = predictor.below ? predictor.base - residual : predictor.base + residual;
      const now = predictor.previous[3 * i + c] + y;
      if (now > COORDINATE_LIMIT || now < -COORDINATE_LIMIT) {
        throw new SnapshotError(`coordinate ${v + c} decodes to ${now}, must be within +-${COORDINATE_LIMIT}`);
      }
      out[v + c] = now;
      predictor.settle(i, c, y);
    }
    predictor.leave(i);
  }
}
