/**
 * Records each picture that a page draws: the drawn positions, the same without the local bend, the grab's target, and
 * the time. It works from outside: it wraps requestAnimationFrame and reads the page's state after the callback that
 * drew.
 */
import type { Page } from "playwright-core";

export interface Picture {
  /** Start of the animation frame's callback, ms of the page's clock. */
  ms: number;
  /** Page's own work in this animation frame, ms. */
  workMs: number;
  tick: number;
  /** Target of the page's own first grab, m; undefined without a grab. */
  hand: number[] | undefined;
  /** float32[3n] m */
  displayed: Float32Array;
  sampled: Float32Array;
  /** A cross-fade over a jump of the time line was in progress. */
  crossFading: boolean;
}

interface Recording {
  pictures: {
    ms: number;
    workMs: number;
    tick: number;
    hand: number[] | undefined;
    /** Typed arrays: Playwright transfers lists number by number. */
    displayed: Float32Array;
    sampled: Float32Array;
    crossFading: boolean;
  }[];
  on: boolean;
}

declare global {
  interface Window {
    recording?: Recording;
    /** When the browser received each pointermove, and when the page's handler had finished. */
    moves?: { eventMs: number; handledMs: number }[];
  }
}

/** Starts recording. @param keep number of pictures kept, the last ones */
export async function record(page: Page, keep = 400): Promise<void> {
  await page.evaluate((keep) => {
    if (window.recording) {
      window.recording.pictures = [];
      window.moves = [];
      window.recording.on = true;
      return undefined;
    }
    const recording: Recording = (window.recording = { pictures: [], on: true });
    let drawn = window.pliant.drawn;
    window.moves = [];
    addEventListener(
      "pointermove",
      (event) => window.moves!.push({ eventMs: event.timeStamp, handledMs: performance.now() }),
      { capture: true },
    );
    const request = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (callback) =>
      request((frameMs) => {
        const ms = performance.now();
        callback(frameMs);
        // Other callbacks of the same animation frame draw nothing.
        if (!recording.on || window.pliant.drawn === drawn) return;
        drawn = window.pliant.drawn;
        const workMs = performance.now() - ms;
        const hand = window.pliant.grabs().find(({ id }) => id.startsWith("own:"))?.target;
        recording.pictures.push({
          ms,
          workMs,
          tick: window.pliant.tick,
          hand,
          displayed: Float32Array.from(window.pliant.displayed()),
          sampled: Float32Array.from(window.pliant.sampled()),
          crossFading: window.pliant.crossFading,
        });
        if (recording.pictures.length > keep) recording.pictures.shift();
      });
    // The page requested its next callback before this one: from the one after that, none is missed.
    return new Promise<void>((done) => request(() => request(() => done())));
  }, keep);
}

/** Stops, and returns the recording. */
export async function recorded(
  page: Page,
): Promise<{ pictures: Picture[]; moves: { eventMs: number; handledMs: number }[] }> {
  return page.evaluate(() => {
    const recording = window.recording!;
    recording.on = false;
    return { pictures: recording.pictures, moves: window.moves! };
  });
}

/** The path of a pointer: window pixels over time. */
export interface HandPath {
  from: { x: number; y: number };
  /** px */
  amplitude: { x: number; y: number };
  /** ms */
  period: number;
  /** Duration until it lets go, ms. */
  holdMs: number;
}

/**
 * Grabs, moves on a Lissajous curve that begins at speed 0, and lets go at full speed. Events come from inside the
 * page, before each animation frame as the browser's own do, so the path does not depend on the test's load.
 * @returns where the grab began and ended, m
 */
export async function wave(page: Page, path: HandPath): Promise<{ begin: number[]; end: number[] }> {
  return page.evaluate(
    ({ from, amplitude, period, holdMs }) =>
      new Promise((done) => {
        const canvas = document.querySelector("canvas.view")!;
        const fire = (type: string, x: number, y: number) =>
          canvas.dispatchEvent(
            new PointerEvent(type, {
              pointerId: 7,
              pointerType: "mouse",
              button: 0,
              buttons: 1,
              clientX: x,
              clientY: y,
              bubbles: true,
              cancelable: true,
            }),
          );
        const startMs = performance.now();
        fire("pointerdown", from.x, from.y);
        const target = () => window.pliant.grabs().find(({ id }) => id.startsWith("own:"))!.target;
        const begin = target();
        const step = () => {
          const ms = performance.now() - startMs;
          const angle = (2 * Math.PI * ms) / period;
          const x = from.x + amplitude.x * Math.sin(angle) * Math.min(1, ms / period);
          const y = from.y - amplitude.y * (1 - Math.cos(angle));
          if (ms < holdMs) {
            fire("pointermove", x, y);
            requestAnimationFrame(step);
          } else {
            const end = target();
            fire("pointerup", x, y);
            done({ begin, end });
          }
        };
        requestAnimationFrame(step);
      }),
    path,
  );
}
