/** Reads the output of server/pictures/png.ts, chunk by chunk as in the standard. */
import { crc32, inflateSync } from "node:zlib";

export interface Decoded {
  width: number;
  height: number;
  /** uint8[4 * width * height] */
  pixels: Uint8Array;
}

/** @throws Error for anything except a whole PNG of eight bits, RGB and opacity, whose rows have filter 0 or 2 */
export function decodePng(bytes: Uint8Array): Decoded {
  const png = Buffer.from(bytes);
  if (png.subarray(0, 8).toString("latin1") !== "\x89PNG\r\n\x1a\n") throw new Error("not a PNG");
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const named = png.subarray(at + 4, at + 8 + length);
    if (png.readUInt32BE(at + 8 + length) !== crc32(named)) throw new Error(`checksum of ${named.subarray(0, 4)}`);
    chunks.set(named.subarray(0, 4).toString("latin1"), named.subarray(4));
    at += 12 + length;
  }
  const head = chunks.get("IHDR")!;
  if (!chunks.has("IEND") || head.subarray(8).toString("hex") !== "0806000000") throw new Error("another kind of PNG");
  const width = head.readUInt32BE(0);
  const height = head.readUInt32BE(4);
  const rows = inflateSync(chunks.get("IDAT")!);
  const stride = 4 * width;
  if (rows.length !== height * (stride + 1)) throw new Error(`${rows.length} bytes`);
  const pixels = new Uint8Array(height * stride);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (stride + 1)]!;
    if (filter !== 0 && filter !== 2) throw new Error(`filter ${filter}`);
    for (let x = 0; x < stride; x++)
      pixels[y * stride + x] =
        rows[y * (stride + 1) + 1 + x]! + (filter === 2 && y > 0 ? pixels[(y - 1) * stride + x]! : 0);
  }
  return { width, height, pixels };
}
