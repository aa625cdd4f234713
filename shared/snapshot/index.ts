/** The snapshot codec's public face. */
export { decodeDelta, decodeKeyframe } from "./decode.ts";
export { encodeDelta, encodeKeyframe } from "./encode.ts";
export { COORDINATE_LIMIT, FORMAT_VERSION, SnapshotError } from "./format.ts";
export { type SnapshotBody, type SnapshotModel, createSnapshotModel } from "./model.ts";
export { dequantizeInto, quantizeInto } from "./quantize.ts";
