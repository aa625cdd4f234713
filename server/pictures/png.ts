/** Writes PNG with 8 bits per channel and opacity (ISO/IEC 15948). */
import { crc32, deflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Filter of each row: difference to the row above. */
const UP = 2;
/** Quantization step of a channel: smooth shading then takes a third of the bytes and looks the same. */
const STEP = 4;

/** @param pixels uint8[4 * width * height] */
export function encodePng(pixels: Uint8Array, width: number, height: number): Buffer {
  const stride = 4 * width;
  const kept = pixels.map((value) => Math.min(255, STEP * Math.round(value / STEP)));
  const rows = Buffer.alloc(height * (stride + 1));
  for (let y = 0; y < height; y++) {
    const at = y * (stride + 1);
    rows[at] = UP;
    for (let x = 0; x < stride; x++)
      rows[at + 1 + x] = kept[y * stride + x]! - (y === 0 ? 0 : kept[(y - 1) * stride + x]!);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const out = Buffer.alloc(named.length + 8);
  out.writeUInt32BE(content.length, 0);
  out.set(named, 4);
  out.writeUInt32BE(crc32(named), named.length + 4);
  return out;
}
