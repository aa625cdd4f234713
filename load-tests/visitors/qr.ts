/** Reads the QR code that a page shows, from its picture, as a phone's camera does. */
import { decode } from "fast-png";
import jsqr from "jsqr";
import type { Page } from "playwright-core";

/** A page that a busy CPU draws takes its time. */
const WITHIN_MS = 120_000;

/** @param selector of what shows the code. @throws Error where none can be read */
export async function readQr(page: Page, selector: string): Promise<string> {
  const { data, width, height, channels } = decode(await page.locator(selector).screenshot({ timeout: WITHIN_MS }));
  const pixels = new Uint8ClampedArray(4 * width * height).fill(255);
  for (let pixel = 0; pixel < width * height; pixel++)
    for (let k = 0; k < 3; k++) pixels[4 * pixel + k] = data[channels * pixel + Math.min(k, channels - 1)]!;
  const read = jsqr.default(pixels, width, height);
  if (!read) throw new Error(`no QR code can be read in ${selector}, ${width} x ${height} px`);
  return read.data;
}
