/** Real pages for the parts that need some: a headless Chromium whose pictures are drawn by the CPU. */
import { type Browser, chromium, type Page } from "playwright-core";
import { chromiumFlags, findChromium } from "../../tests/support/chromium.ts";

/** What of the page's `window.pliant` the load tests look at. */
interface Pliant {
  member: number;
  status: string;
  drawn: number;
  firstDrawnFrameMs?: number;
  firstMovingFrameMs?: number;
  members: { member: number; name: string }[];
  displayed(): number[];
  project(point: number[]): { x: number; y: number } | undefined;
  pick(x: number, y: number): unknown;
  grabs(): { id: string }[];
}

export interface PageWindow {
  pliant: Pliant;
}

export interface Place {
  /** Window pixels. */
  x: number;
  y: number;
}

/** Tabs, address and bars, px; about 90, and less on a phone's page. */
const BROWSERS_OWN = 200;

/** @throws Error where there is no browser */
export function launch(flags: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("no Chromium was found: install one, or name it in CHROMIUM_PATH");
  return chromium.launch({ executablePath, args: [...chromiumFlags, ...flags] });
}

/**
 * Makes the window larger than the page: what a headless browser would show beside the page takes away from it below,
 * and of what happens there no picture comes.
 */
export async function showWhole(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { windowId, bounds } = await session.send("Browser.getWindowForTarget");
  const height = (bounds.height ?? 0) + BROWSERS_OWN;
  await session.send("Browser.setWindowBounds", { windowId, bounds: { height } });
}

/**
 * A point of the surface near the middle of all particles: concave bodies have air in their middle, so it looks around
 * it in a spiral. Undefined: nothing is there.
 */
export function surfacePoint(page: Page): Promise<Place | undefined> {
  return page.evaluate(() => {
    const { pliant } = globalThis as unknown as Partial<PageWindow>;
    // The page is just coming.
    if (!pliant) return undefined;
    const p = pliant.displayed();
    const sum = [0, 0, 0];
    for (let i = 0; i < p.length; i++) sum[i % 3]! += (3 * p[i]!) / p.length;
    const middle = pliant.project(sum);
    for (let k = 0; middle && k < 200; k++) {
      const x = middle.x + 1.5 * k * Math.cos(k * 0.7);
      const y = middle.y + 1.5 * k * Math.sin(k * 0.7);
      if (pliant.pick(x, y)) return { x, y };
    }
    return undefined;
  });
}
