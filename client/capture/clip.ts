/** Makes a GIF or a WebM of the ring's pictures, in the page. Loaded when a visitor asks for one. */
import { applyPalette, GIFEncoder, quantize } from "gifenc";
import type { RingFrame } from "./frameRing.ts";

const COLORS = 256;
/** Time that the last picture stays in a GIF, ms. */
const LAST_MS = 500;
const WEBM_BITS_PER_SECOND = 2_500_000;

export const canRecord = (): boolean =>
  typeof MediaRecorder === "function" && MediaRecorder.isTypeSupported("video/webm") && "captureStream" in canvasType;
const canvasType = HTMLCanvasElement.prototype;

/** @param progress called with the done share, 0 to 1 */
export async function gifOf(frames: readonly RingFrame[], progress: (share: number) => void): Promise<Blob> {
  const gif = GIFEncoder();
  const screen = document.createElement("canvas");
  const context = screen.getContext("2d", { willReadFrequently: true })!;
  for (const [n, { ms, picture }] of frames.entries()) {
    await show(picture, screen, context);
    const { data, width, height } = context.getImageData(0, 0, screen.width, screen.height);
    const palette = quantize(data, COLORS);
    const delay = Math.max(20, (frames[n + 1]?.ms ?? ms + LAST_MS) - ms);
    gif.writeFrame(applyPalette(data, palette), width, height, { palette, delay });
    progress((n + 1) / frames.length);
    // The page stays responsive between two pictures.
    await new Promise((resolve) => setTimeout(resolve));
  }
  gif.finish();
  return new Blob([gif.bytes() as Uint8Array<ArrayBuffer>], { type: "image/gif" });
}

/** Plays the pictures to the browser's recorder, in as much time as they took. */
export async function webmOf(frames: readonly RingFrame[], progress: (share: number) => void): Promise<Blob> {
  const screen = document.createElement("canvas");
  const context = screen.getContext("2d")!;
  await show(frames[0]!.picture, screen, context);
  const stream = screen.captureStream(0);
  const track = stream.getVideoTracks()[0] as CanvasCaptureMediaStreamTrack;
  const recorder = new MediaRecorder(stream, { mimeType: "video/webm", videoBitsPerSecond: WEBM_BITS_PER_SECOND });
  const parts: Blob[] = [];
  recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
  const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
  recorder.start();
  const startMs = performance.now();
  const [first, last] = [frames[0]!.ms, frames.at(-1)!.ms];
  for (const { ms, picture } of frames) {
    const waitMs = startMs + (ms - first) - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    await show(picture, screen, context);
    track.requestFrame();
    progress(last > first ? (ms - first) / (last - first) : 1);
  }
  await new Promise((resolve) => setTimeout(resolve, LAST_MS));
  recorder.stop();
  await stopped;
  track.stop();
  return new Blob(parts, { type: "video/webm" });
}

/** Shows a picture. The first one sets the size; later ones, after a turn of the phone, are fitted in. */
async function show(picture: Blob, screen: HTMLCanvasElement, context: CanvasRenderingContext2D): Promise<void> {
  const bitmap = await createImageBitmap(picture);
  if (screen.dataset.sized === undefined) {
    screen.width = bitmap.width;
    screen.height = bitmap.height;
    screen.dataset.sized = "";
  }
  const scale = Math.min(screen.width / bitmap.width, screen.height / bitmap.height);
  const [width, height] = [scale * bitmap.width, scale * bitmap.height];
  context.drawImage(bitmap, (screen.width - width) / 2, (screen.height - height) / 2, width, height);
  bitmap.close();
}
