/**
 * Forwards the frames of a client's WebSocket (RFC 6455) to another process. A callback may replace each message; the
 * replacement goes out in one frame. Other messages pass unchanged. From the first byte on that is not a valid client
 * frame, everything passes unchanged, and the other process refuses it.
 */
import { randomBytes } from "node:crypto";
import { Transform, type TransformCallback } from "node:stream";

/**
 * @param first is it the socket's first message?
 * @returns the replacement; null: the message passes unchanged
 */
export type Rewrite = (message: Buffer, first: boolean) => Promise<Uint8Array> | null;

/** Limits of a message; the other process refuses larger ones. */
const MOST_BYTES = 4096;
const MOST_FRAGMENTS = 8;
const CONTINUATION = 0;
const BINARY = 2;
const FIRST_CONTROL = 8;

export class ClientStream extends Transform {
  readonly #rewrite: Rewrite;
  /** Bytes of an incomplete frame. */
  #held: Buffer = Buffer.alloc(0);
  /** Frames of an incomplete message, and their payloads. */
  #frames: Buffer[] = [];
  #parts: Buffer[] = [];
  #first = true;
  /** The stream is no longer parsed: all bytes pass unchanged. */
  #blind = false;

  constructor(rewrite: Rewrite) {
    super();
    this.#rewrite = rewrite;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#blind) return done(null, chunk);
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#read().then(() => done(), done);
  }

  override _flush(done: TransformCallback): void {
    this.#letGo();
    done();
  }

  async #read(): Promise<void> {
    for (;;) {
      const frame = readFrame(this.#held);
      if (frame === "more") return;
      if (frame === "other") return this.#letGo();
      const bytes = this.#held.subarray(0, frame.end);
      this.#held = this.#held.subarray(frame.end);
      // Control frames may come between fragments; sending them first changes nothing.
      if (frame.opcode >= FIRST_CONTROL) this.push(bytes);
      else {
        this.#frames.push(bytes);
        if (frame.opcode !== (this.#parts.length === 0 ? BINARY : CONTINUATION)) return this.#letGo();
        this.#parts.push(frame.payload);
        const length = this.#parts.reduce((sum, part) => sum + part.length, 0);
        if (length > MOST_BYTES || this.#parts.length > MOST_FRAGMENTS) return this.#letGo();
        if (frame.final) await this.#whole(Buffer.concat(this.#parts));
      }
    }
  }

  async #whole(message: Buffer): Promise<void> {
    const instead = this.#rewrite(message, this.#first);
    this.#first = false;
    if (instead !== null) this.#frames = [frameOf(await instead)];
    for (const frame of this.#frames) this.push(frame);
    this.#frames = [];
    this.#parts = [];
  }

  #letGo(): void {
    this.#blind = true;
    for (const bytes of [...this.#frames, this.#held]) if (bytes.length > 0) this.push(bytes);
    this.#frames = [];
    this.#held = Buffer.alloc(0);
  }
}

interface Frame {
  opcode: number;
  final: boolean;
  payload: Buffer;
  /** Offset of the next frame. */
  end: number;
}

/**
 * Parses a frame (RFC 6455, section 5.2).
 * @returns `more`: the frame is incomplete; `other`: not a frame of our clients
 */
function readFrame(bytes: Buffer): Frame | "more" | "other" {
  if (bytes.length < 2) return "more";
  const [first, second] = [bytes[0]!, bytes[1]!];
  // Reserved bits need an extension, and none is offered. Clients must mask.
  if ((first & 0x70) !== 0 || (second & 0x80) === 0) return "other";
  const short = second & 0x7f;
  if (short === 127) return "other";
  const mask = short === 126 ? 4 : 2;
  if (bytes.length < mask + 4) return "more";
  const length = short === 126 ? bytes.readUInt16BE(2) : short;
  if (length > MOST_BYTES) return "other";
  const end = mask + 4 + length;
  if (bytes.length < end) return "more";
  const payload = Buffer.alloc(length);
  for (let i = 0; i < length; i++) payload[i] = bytes[mask + 4 + i]! ^ bytes[mask + (i & 3)]!;
  return { opcode: first & 0x0f, final: (first & 0x80) !== 0, payload, end };
}

/** Builds one binary message as a client sends it. @param message less than 64 KiB */
function frameOf(message: Uint8Array): Buffer {
  const mask = randomBytes(4);
  const head = Buffer.from([0x80 | BINARY, 0x80 | (message.length < 126 ? message.length : 126)]);
  const length = Buffer.alloc(message.length < 126 ? 0 : 2);
  if (length.length > 0) length.writeUInt16BE(message.length);
  return Buffer.concat([head, length, mask, message.map((byte, i) => byte ^ mask[i & 3]!)]);
}
