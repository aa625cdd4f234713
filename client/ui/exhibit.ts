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
/**
 * A page that has been open for so long opens itself anew when it has just been renewed, ms: what a browser keeps of
 * what it has compiled and drawn (1.4 kB a visitor) does not add up over months, and a newer server brings its page.
 */
const FRESH_MS = 30 * 60_000;
/** Between two attempts at that, ms: a server that is away would leave an error page behind. */
const REOPEN_MS = 5000;
const INPUTS = ["pointerdown", "pointerup", "wheel", "keydown", "input"] as const;

export function exhibit({ seconds, others, renew, attract, signal }: ExhibitOptions): void {
  let lastMs = performance.now();
  let touched = false;
  let rests = false;
  let shownMs = -Infinity;
  let askedMs = -Infinity;
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
    if (nowMs > FRESH_MS && nowMs - askedMs >= REOPEN_MS) {
      askedMs = nowMs;
      void opensAnew(() => rests && !signal.aborted);
      return;
    }
    if (nowMs - shownMs < ATTRACT_MS) return;
    shownMs = nowMs;
    attract();
  }, LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/**
 * Opens the page again if there is somebody to answer: an error page would stay.
 * @param wanted asked when the answer is there
 * @returns whether it does
 */
async function opensAnew(wanted: () => boolean): Promise<boolean> {
  const answers = await fetch(location.href, { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!answers || !wanted()) return false;
  location.reload();
  return true;
}

/** Opens the page again after so long, s, and as soon as there is somebody to answer. */
export function reopen(seconds: number): void {
  setTimeout(() => void opensAnew(() => true).then((opens) => opens || reopen(seconds)), 1000 * seconds);
}
