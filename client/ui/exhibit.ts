/**
 * A room that stands alone in public: when nobody has touched the page for a while it is as the first visitor found it,
 * and a hand shows again and again how to pull. Nothing that a visitor can do outlasts this.
 */

export interface ExhibitOptions {
  /** Without input for this long, s. */
  seconds: number;
  /** Where others hold something, as text: each change is somebody's touch, too. Empty: nobody does. */
  others: () => string;
  /**
   * Everything as it was at first.
   * @param touched somebody has done something since the last time
   * @returns whether it is: without a line the room cannot be, and it is asked for again
   */
  renew: (touched: boolean) => boolean;
  /** While nobody comes. */
  attract: () => void;
  /** Ends it. */
  signal: AbortSignal;
}

const LOOK_MS = 500;
/** Between two shows, as long as nobody comes, ms. */
const ATTRACT_MS = 8000;
const INPUTS = ["pointerdown", "pointerup", "wheel", "keydown", "input"] as const;

export function exhibit({ seconds, others, renew, attract, signal }: ExhibitOptions): void {
  let lastMs = performance.now();
  let touched = false;
  let rests = false;
  let shownMs = -Infinity;
  let held = "";
  const input = (): void => {
    lastMs = performance.now();
    touched = true;
    rests = false;
  };
  for (const type of INPUTS) addEventListener(type, input, { signal, capture: true, passive: true });
  // A long pull is one press; a press that does not move any more has been left behind.
  const pulls = ({ buttons, movementX, movementY }: PointerEvent): void => {
    if (buttons !== 0 && (movementX !== 0 || movementY !== 0)) input();
  };
  addEventListener("pointermove", pulls, { signal, capture: true, passive: true });
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const holds = others();
    if (holds !== held && holds !== "") input();
    held = holds;
    if (document.hidden || nowMs - lastMs < 1000 * seconds) return;
    if (!rests && !renew(touched)) return;
    rests = true;
    touched = false;
    if (nowMs - shownMs < ATTRACT_MS) return;
    shownMs = nowMs;
    attract();
  }, LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** Opens the page again after so long, s, and as soon as there is somebody to answer: an error page would stay. */
export function reopen(seconds: number): void {
  const again = (): void => reopen(seconds);
  setTimeout(() => {
    fetch(location.href, { cache: "no-store" }).then(({ ok }) => (ok ? location.reload() : again()), again);
  }, 1000 * seconds);
}
