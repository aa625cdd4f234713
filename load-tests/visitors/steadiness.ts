/**
 * Layout shift and interaction to next paint of a page, by the browser's own observers
 * (https://web.dev/articles/vitals).
 */
import type { Page } from "playwright-core";

export interface Steadiness {
  /** Shifts without input: the score, and the moved elements. */
  shifts: { score: number; moved: string[] }[];
  /** Presses, clicks and keys, each once: time to the next picture, and time in the page's own listeners, ms. */
  interactions: { name: string; duration: number; processing: number }[];
}

interface LayoutShift extends PerformanceEntry {
  value: number;
  hadRecentInput: boolean;
  sources: { node: Node | null }[];
}

interface Watching {
  steadiness: Steadiness;
}

/** Runs in the page, before its scripts. */
function watch(): void {
  const found: Steadiness = { shifts: [], interactions: [] };
  (globalThis as unknown as Watching).steadiness = found;
  const nameOf = (node: Node | null): string =>
    (node instanceof Element && node.getAttribute("class")) || (node?.nodeName ?? "?");
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries() as LayoutShift[])
      if (!hadRecentInput) found.shifts.push({ score: value, moved: sources.map(({ node }) => nameOf(node)) });
  }).observe({ type: "layout-shift", buffered: true });
  const longest = new Map<number, Steadiness["interactions"][number]>();
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as PerformanceEventTiming[]) {
      const { interactionId = 0, name, duration, processingStart, processingEnd, target } = entry;
      if (interactionId === 0 || duration <= (longest.get(interactionId)?.duration ?? -1)) continue;
      const processing = processingEnd - processingStart;
      longest.set(interactionId, { name: `${name} ${nameOf(target)}`, duration, processing });
      found.interactions = [...longest.values()];
    }
  }).observe({ type: "event", durationThreshold: 16, buffered: true } as PerformanceObserverInit);
}

/** Call it before the page is opened. */
export async function watchSteadiness(page: Page): Promise<void> {
  await page.addInitScript(watch);
}

/** Results since the page was opened. Only interactions of 16 ms and more are listed. */
export const steadinessOf = (page: Page): Promise<Steadiness> =>
  page.evaluate(() => (globalThis as unknown as Watching).steadiness);

/** Forgets earlier shifts, after the page has painted its current state. */
export const forgetShifts = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    // The second frame begins after the first has been painted; its shifts are reported in a later task.
    for (let frame = 0; frame < 2; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
    await new Promise((resolve) => setTimeout(resolve));
    (globalThis as unknown as Watching).steadiness.shifts = [];
  });
