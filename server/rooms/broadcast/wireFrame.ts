/**
 * Builds WebSocket frames of a server (RFC 6455, section 5.2: final, binary, unmasked), several messages in one buffer.
 * The buffer is built once and written to every member's socket in one system call. `ws` instead builds a header for
 * every client and writes header and payload separately for each message: with 1,000 clients at 30 Hz, `writev` took
 * half of the main thread's time, with two messages per frame (frame and grabs).
 */

const FINAL_BINARY = 0x82;
/** A payload below this has its length in the second byte; up to 65,535 two more bytes hold it, above that eight. */
const LENGTH_IN_TWO = 126;
const LENGTH_IN_EIGHT = 127;

const headerBytes = (length: number): number => (length < LENGTH_IN_TWO ? 2 : length < 65536 ? 4 : 10);

/**
 * @param payloads one message each, in
 * @returns the frames in order, in a new buffer
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
