/**
 * Byte sequences that violate WebSocket itself (RFC 6455), written to a bare TCP connection after a proper handshake.
 * Each has the close code that the standard and PROTOCOL.md define.
 */
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import type { Random } from "./random.ts";

/** One frame as a client sends it. */
function frame({
  fin = true,
  rsv = 0,
  opcode = 2,
  masked = true,
  length,
  payload = new Uint8Array(0),
}: {
  fin?: boolean;
  rsv?: number;
  opcode?: number;
  masked?: boolean;
  length?: number | bigint;
  payload?: Uint8Array;
}): Buffer {
  const claimed = length ?? payload.length;
  const head: number[] = [(fin ? 0x80 : 0) | (rsv << 4) | opcode];
  const bit = masked ? 0x80 : 0;
  if (typeof claimed === "bigint") {
    const wide = Buffer.alloc(8);
    wide.writeBigUInt64BE(claimed);
    head.push(bit | 127, ...wide);
  } else if (claimed > 65535)
    head.push(bit | 127, 0, 0, 0, 0, claimed >>> 24, (claimed >>> 16) & 255, (claimed >>> 8) & 255, claimed & 255);
  else if (claimed > 125) head.push(bit | 126, claimed >> 8, claimed & 255);
  else head.push(bit | claimed);
  if (!masked) return Buffer.concat([Buffer.from(head), payload]);
  const key = randomBytes(4);
  return Buffer.concat([Buffer.from(head), key, payload.map((byte, i) => byte ^ key[i & 3]!)]);
}

export interface Violation {
  name: string;
  bytes: (random: Random) => Buffer;
  code: number;
}

const close = (code: number, reason = new Uint8Array(0)): Buffer =>
  frame({ opcode: 8, payload: Uint8Array.from([code >> 8, code & 255, ...reason]) });

export const VIOLATIONS: readonly Violation[] = [
  { name: "a frame without a mask", bytes: () => frame({ masked: false, payload: new Uint8Array(3) }), code: 1002 },
  {
    name: "reserved bits",
    bytes: (random) => frame({ rsv: 1 + random.below(7), payload: new Uint8Array(3) }),
    code: 1002,
  },
  {
    name: "an unknown opcode",
    bytes: (random) => frame({ opcode: random.pick([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]), payload: new Uint8Array(3) }),
    code: 1002,
  },
  { name: "a continuation without a start", bytes: () => frame({ opcode: 0, payload: new Uint8Array(3) }), code: 1002 },
  {
    name: "a message within a message",
    bytes: () =>
      Buffer.concat([frame({ fin: false, payload: new Uint8Array(3) }), frame({ payload: new Uint8Array(3) })]),
    code: 1002,
  },
  {
    name: "a ping in fragments",
    bytes: () => frame({ fin: false, opcode: 9, payload: new Uint8Array(3) }),
    code: 1002,
  },
  { name: "a ping of 126 bytes", bytes: () => frame({ opcode: 9, payload: new Uint8Array(126) }), code: 1002 },
  {
    name: "text with invalid UTF-8",
    bytes: () => frame({ opcode: 1, payload: Uint8Array.from([0xc3, 0x28]) }),
    code: 1007,
  },
  { name: "a close reason with invalid UTF-8", bytes: () => close(1000, Uint8Array.from([0xff])), code: 1007 },
  {
    name: "a reserved close code",
    bytes: (random) => close(random.pick([0, 999, 1004, 1005, 1006, 1015, 2999])),
    code: 1002,
  },
  { name: "a close of one byte", bytes: () => frame({ opcode: 8, payload: new Uint8Array(1) }), code: 1002 },
  { name: "a length of 2^63", bytes: () => frame({ length: 2n ** 63n }), code: 1009 },
  { name: "a length of 2^32", bytes: () => frame({ length: 2n ** 32n }), code: 1009 },
  { name: "a length just over the limit", bytes: () => frame({ length: 4097 }), code: 1009 },
  {
    name: "fragments beyond the limit in total",
    bytes: () =>
      Buffer.concat([
        frame({ fin: false, payload: new Uint8Array(4000) }),
        frame({ opcode: 0, payload: new Uint8Array(97) }),
      ]),
    code: 1009,
  },
  {
    name: "nine fragments",
    bytes: () =>
      Buffer.concat([
        frame({ fin: false, payload: new Uint8Array(1) }),
        ...Array.from({ length: 8 }, (_, i) => frame({ fin: i === 7, opcode: 0, payload: new Uint8Array(1) })),
      ]),
    code: 1008,
  },
];

/**
 * Writes the bytes after a handshake.
 * @returns the code of the close frame that came back; 1006 if the connection ended without one
 */
export function violate(url: string, room: string, bytes: Buffer, withinMs = 10_000): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    let open = false;
    const line = connect(Number(port), hostname);
    const overdue = setTimeout(() => line.destroy(new Error("the server did not close the connection")), withinMs);
    line.on("error", reject);
    line.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (open) return;
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      if (!received.toString("latin1").startsWith("HTTP/1.1 101"))
        return void line.destroy(new Error(received.toString("latin1").split("\r\n")[0]));
      open = true;
      received = received.subarray(end + 4);
      line.write(bytes);
    });
    line.on("close", (failed) => {
      clearTimeout(overdue);
      if (!failed) resolve(closeCodeIn(received));
    });
    line.write(
      `GET /api/rooms/${room}/socket HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`,
    );
  });
}

/** The server's frames are not masked, and those of a connection before its hello are short. */
function closeCodeIn(bytes: Buffer): number {
  for (let at = 0; at + 2 <= bytes.length; at += 2 + (bytes[at + 1]! & 127))
    if ((bytes[at]! & 15) === 8 && at + 4 <= bytes.length) return bytes.readUInt16BE(at + 2);
  return 1006;
}
