/**
 * What a page does to who uses it, by the browser's own observers: what moves by itself (layout shift), and how long
 * after a press the next picture comes (interaction to next paint; https://web.dev/articles/vitals).
 */
import type { Page } from "playwright-core";

export interface Steadiness {
  /** Shifts that no input had called for: the score, and what moved. */
  shifts: { score: number; moved: string[] }[];
  /** Presses, clicks and keys, each once: to the next picture, and in the page's own listeners, ms. */
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

/** In a page, before its scripts. */
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

/** Before the page is opened. */
export async function watchSteadiness(page: Page): Promise<void> {
  await page.addInitScript(watch);
}

/** Since the page was opened. Durations are those of 16 ms and more; the others are no interactions here. */
export const steadinessOf = (page: Page): Promise<Steadiness> =>
  page.evaluate(() => (globalThis as unknown as Watching).steadiness);

/** Once what has been called for is on the screen. */
export const forgetShifts = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    // The second frame begins when the first has been painted; its shifts are told in a task after that.
    for (let frame = 0; frame < 2; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
    await new Promise((resolve) => setTimeout(resolve));
    (globalThis as unknown as Watching).steadiness.shifts = [];
  });
