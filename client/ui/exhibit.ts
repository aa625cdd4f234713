/**
 * A room that stands alone in public: when nobody has touched the page for a while it is as the first visitor found it,
 * and a hand shows again and again how to pull. Nothing that a visitor can do outlasts this.
 */

export interface ExhibitOptions {
  /** Without input for this long, s. */
  seconds: number;
  /** Others pull just now: theirs is not to be taken away. */
  busy: () => boolean;
  /** Everything as it was at first. @param touched somebody has done something since the last time */
  renew: (touched: boolean) => void;
  /** While nobody comes. */
  attract: () => void;
  /** Ends it. */
  signal: AbortSignal;
}

const LOOK_MS = 500;
/** Between two shows, as long as nobody comes, ms. */
const ATTRACT_MS = 8000;
const INPUTS = ["pointerdown", "pointerup", "wheel", "keydown", "input"] as const;

export function exhibit({ seconds, busy, renew, attract, signal }: ExhibitOptions): void {
  let lastMs = performance.now();
  let touched = false;
  let rests = false;
  let shownMs = -Infinity;
  const input = (): void => {
    lastMs = performance.now();
    touched = true;
    rests = false;
  };
  for (const type of INPUTS) addEventListener(type, input, { signal, capture: true, passive: true });
  const timer = setInterval(() => {
    const nowMs = performance.now();
    if (document.hidden || busy() || nowMs - lastMs < 1000 * seconds) return;
    if (!rests) renew(touched);
    rests = true;
    touched = false;
    if (nowMs - shownMs < ATTRACT_MS) return;
    shownMs = nowMs;
    attract();
  }, LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}
