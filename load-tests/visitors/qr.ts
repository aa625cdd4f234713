/** Reads a QR code from a picture, as a phone's camera does. */
import { decode } from "fast-png";
import jsqr from "jsqr";

/** @param picture PNG. @throws Error if no code can be read */
export function readQr(picture: Uint8Array): string {
  const { data, width, height, channels } = decode(picture);
  const pixels = new Uint8ClampedArray(4 * width * height).fill(255);
  for (let pixel = 0; pixel < width * height; pixel++)
    for (let k = 0; k < 3; k++) pixels[4 * pixel + k] = data[channels * pixel + Math.min(k, channels - 1)]!;
  const read = jsqr.default(pixels, width, height);
  if (!read) throw new Error(`no QR code can be read in a picture of ${width} x ${height}`);
  return read.data;
}
