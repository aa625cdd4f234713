/**
 * Messages as the bytes that go over the line: WebSocket frames of a server (RFC 6455, section 5.2: final, binary,
 * unmasked), several of them in one buffer. Made once and written to every member's socket as it is, in one call of the
 * operating system. `ws` builds a header for every client and hands header and payload over apart, once for each
 * message: with 1,000 clients at 30 Hz half of the main thread's time was in `writev`, twice a frame (frame and hands).
 */

const FINAL_BINARY = 0x82;
/** Payloads below this say their length in the second byte; up to 65,535 two more bytes do, then eight. */
const LENGTH_IN_TWO = 126;
const LENGTH_IN_EIGHT = 127;

const headerBytes = (length: number): number => (length < LENGTH_IN_TWO ? 2 : length < 65536 ? 4 : 10);

/**
 * @param payloads one message each, in
 * @returns their frames, one after another, in memory of its own
 */
export function wireFrames(payloads: readonly Uint8Array[]): Buffer {
  const frames = Buffer.allocUnsafeSlow(
    payloads.reduce((sum, { byteLength }) => sum + headerBytes(byteLength) + byteLength, 0),
  );
  let at = 0;
  for (const payload of payloads) {
    const { byteLength } = payload;
    frames[at] = FINAL_BINARY;
    if (byteLength < LENGTH_IN_TWO) frames[at + 1] = byteLength;
    else if (byteLength < 65536) {
      frames[at + 1] = LENGTH_IN_TWO;
      frames.writeUInt16BE(byteLength, at + 2);
    } else {
      frames[at + 1] = LENGTH_IN_EIGHT;
      frames.writeBigUInt64BE(BigInt(byteLength), at + 2);
    }
    at += headerBytes(byteLength);
    frames.set(payload, at);
    at += byteLength;
  }
  return frames;
}
