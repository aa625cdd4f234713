/**
 * Exhibit mode, for unattended public screens. When the page has not been used for a while, it returns to its initial
 * state and repeats an animation of how to pull. Nothing that a visitor does persists.
 */

export interface ExhibitOptions {
  /** Time without input, s. */
  seconds: number;
  /** Targets of other members' grabs, as text: each change counts as input. Empty: no grabs. */
  others: () => string;
  /**
   * Restores the initial state.
   * @param touched true if there was input since the last time
   * @returns false if the connection is down; then it is called again
   */
  renew: (touched: boolean) => boolean;
  /** Shows how to pull, repeatedly while the page is idle. */
  attract: () => void;
  /** Aborted to end the mode. */
  signal: AbortSignal;
}

const LOOK_MS = 500;
/** Time between two animations while the page is idle, ms. */
const ATTRACT_MS = 8000;
/**
 * After this time the page reloads itself when it is idle, ms. This frees the browser's memory for compiled code and
 * pictures (1.4 kB per visitor), which would add up over months, and loads the page of a newer server.
 */
const FRESH_MS = 30 * 60_000;
/** Time between two attempts to reload, ms: if the server is down, a reload would end at an error page. */
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
  // Movement continues a press. A press without movement does not count: the visitor has left it behind.
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
 * Reloads the page if the server answers; otherwise an error page would stay.
 * @param wanted asked again after the answer
 * @returns true if it reloads
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

/** Reloads the page after this time, s, or later, as soon as the server answers. */
export function reopen(seconds: number): void {
  setTimeout(() => void opensAnew(() => true).then((opens) => opens || reopen(seconds)), 1000 * seconds);
}
