/**
 * The pictures of the last seconds, kept so that a visitor can save them: small, compressed, and at a bounded rate. At
 * most 80 pictures of about 20 kB.
 */

/** Length of the ring, ms. */
const RING_MS = 10_000;
/** Least time between two pictures, ms. */
const STEP_MS = 125;
/** Longest side, px. */
const LONGEST = 480;
const QUALITY = 0.85;

export interface RingFrame {
  /** On the clock of performance.now(). */
  ms: number;
  picture: Blob;
}

export class FrameRing {
  private frames: RingFrame[] = [];
  private lastMs = -Infinity;
  private packing = false;
  private readonly scratch = document.createElement("canvas");

  /** Takes a picture if it is time. Called right after the canvas was drawn, before the browser clears its buffer. */
  take(canvas: HTMLCanvasElement, nowMs: number): void {
    if (this.packing || nowMs - this.lastMs < STEP_MS || canvas.width === 0 || canvas.height === 0) return;
    this.lastMs = nowMs;
    this.packing = true;
    paint(canvas, this.scratch, LONGEST);
    this.scratch.toBlob(
      (picture) => {
        this.packing = false;
        if (picture) this.frames.push({ ms: nowMs, picture });
        this.forget(nowMs);
      },
      "image/webp",
      QUALITY,
    );
  }

  /** Keeps the last picture before the ring's time, because it was shown until the next one. */
  private forget(nowMs: number): void {
    while (this.frames.length > 1 && this.frames[1]!.ms <= nowMs - RING_MS) this.frames.shift();
  }

  /** The last seconds, oldest first. The first picture may be older, if nothing moved. */
  recent(nowMs: number): RingFrame[] {
    this.forget(nowMs);
    return this.frames.map(({ ms, picture }) => ({ ms: Math.max(ms, nowMs - RING_MS), picture }));
  }
}

/** Paints the drawn canvas on the page's background, with even sides as video needs. @param longest px */
export function paint(from: HTMLCanvasElement, to: HTMLCanvasElement, longest: number): void {
  const scale = Math.min(1, longest / Math.max(from.width, from.height));
  const even = (side: number): number => Math.max(2, 2 * Math.round((scale * side) / 2));
  const [width, height] = [even(from.width), even(from.height)];
  if (to.width !== width) to.width = width;
  if (to.height !== height) to.height = height;
  const context = to.getContext("2d")!;
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper") || "#f0e4d6";
  context.fillRect(0, 0, width, height);
  context.drawImage(from, 0, 0, width, height);
}
