/** Public API of the snapshot codec. */
export { decodeDelta, decodeKeyframe } from "./decode.ts";
export { encodeDelta, encodeKeyframe } from "./encode.ts";
export { COORDINATE_LIMIT, SnapshotError } from "./format.ts";
export { type SnapshotModel, createSnapshotModel } from "./model.ts";
export { dequantizeInto, quantizeInto } from "./quantize.ts";
