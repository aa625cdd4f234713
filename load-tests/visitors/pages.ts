/** Real pages for benchmark parts: a headless Chromium with software rendering. */
import { type Browser, chromium, type Page } from "playwright-core";
import { chromiumFlags, findChromium } from "../../tests/support/chromium.ts";

/** The part of the page's `window.pliant` that the load tests use. */
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

/** Height of tabs, address and bars, px; really about 90, and less on a phone's page. */
const BROWSERS_OWN = 200;

/** @throws Error if no browser is installed */
export function launch(flags: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("no Chromium was found: install one, or set CHROMIUM_PATH");
  return chromium.launch({ executablePath, args: [...chromiumFlags, ...flags] });
}

/**
 * Makes the window taller than the page. Otherwise the browser's own bars, which a headless browser does not show, hide
 * the lower part of the page, of which no pictures come.
 */
export async function showWhole(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { windowId, bounds } = await session.send("Browser.getWindowForTarget");
  const height = (bounds.height ?? 0) + BROWSERS_OWN;
  await session.send("Browser.setWindowBounds", { windowId, bounds: { height } });
}

/**
 * A surface point near the middle of all particles. Concave bodies may have air in their middle, so it searches around
 * it in a spiral. Undefined if nothing is found.
 */
export function surfacePoint(page: Page): Promise<Place | undefined> {
  return page.evaluate(() => {
    const { pliant } = globalThis as unknown as Partial<PageWindow>;
    // The page is still loading.
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
