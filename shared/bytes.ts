/**
 * Converts a topology's msgpack `bin` fields to typed arrays. They are copied, because a field's offset in its message
 * need not be a multiple of four.
 */

export function uint32Of(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.slice().buffer);
}

export function float32Of(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}
