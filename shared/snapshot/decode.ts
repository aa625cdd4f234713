/**
 * Decodes frames (format.ts). It trusts no input: any bytes either decode to a frame with a valid checksum or throw a
 * SnapshotError, after at most about 70 bits per coordinate, and only `out` is written.
 */
import { HEADER_BYTES, KIND_DELTA, KIND_KEYFRAME, STATE_BYTES, SnapshotError, frameChecksum } from "./format.ts";
import { compiled, kernelOf } from "./kernel.ts";
import type { SnapshotModel } from "./model.ts";

/** Only where the compiled coder cannot run. */
let twin: typeof import("./twin.ts") | undefined;
/**
 * Frames can be decoded once it has resolved. No module may wait for it at its top: the twin imports modules that a
 * bundler puts beside this one.
 */
export const decoderReady: Promise<void> =
  compiled === undefined ? import("./twin.ts").then((code) => void (twin = code)) : Promise.resolve();

/**
 * Decodes a keyframe.
 *
 * @param model
 * @param bytes in
 * @param out int32[3*total] grid units, out; undefined after an error
 * @throws SnapshotError for anything but a complete, unchanged keyframe of this model
 */
export function decodeKeyframe(model: SnapshotModel, bytes: Uint8Array, out: Int32Array): void {
  decode(model, KIND_KEYFRAME, null, bytes, out);
}

/**
 * Decodes a frame against the previous one.
 *
 * @param model
 * @param previous int32[3*total] grid units, in
 * @param bytes in
 * @param out int32[3*total] grid units, out; may be `previous` itself. Undefined after an error
 * @throws SnapshotError for anything but a complete, unchanged delta of this model against this previous frame
 */
export function decodeDelta(model: SnapshotModel, previous: Int32Array, bytes: Uint8Array, out: Int32Array): void {
  if (previous.length !== 3 * model.total)
    throw new SnapshotError(`previous has ${previous.length} integers, must be ${3 * model.total}`);
  decode(model, KIND_DELTA, previous, bytes, out);
}

function decode(
  model: SnapshotModel,
  kind: number,
  previous: Int32Array | null,
  bytes: Uint8Array,
  out: Int32Array,
): void {
  if (out.length !== 3 * model.total)
    throw new SnapshotError(`out has ${out.length} integers, must be ${3 * model.total}`);
  const least = HEADER_BYTES + STATE_BYTES;
  if (bytes.length < least) throw new SnapshotError(`frame has ${bytes.length} bytes, must have at least ${least}`);
  if (bytes[0] !== kind) throw new SnapshotError(`frame is of kind ${bytes[0]}, must be ${kind}`);
  if ((bytes.length - least) % 2 !== 0)
    throw new SnapshotError(`frame has ${bytes.length} bytes, must have an odd number of them`);
  const kernel = kernelOf(model);
  if (kernel === undefined) twin!.decodeFrame(model, previous, bytes, out);
  else kernel.decode(previous, bytes.subarray(HEADER_BYTES), out);
  const expected = bytes[1]! | (bytes[2]! << 8);
  const checksum = kernel === undefined ? frameChecksum(out) : kernel.checksum();
  if (checksum !== expected)
    throw new SnapshotError(`checksum of the decoded frame is ${checksum}, the frame says ${expected}`);
}
