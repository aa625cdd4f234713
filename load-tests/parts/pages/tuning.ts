/**
 * Time from an owner's slider on one page to its effect on another page. Gravity of a resting stack is alternately
 * reduced and restored, so that it swells and sinks; there are no grabs. The time runs from the slider's event to the
 * first picture of the other page in which a particle has moved by a step of the grid. Two pages of one real Chromium,
 * rendered by the CPU that also simulates, loopback; times are of the machine's one monotonic clock.
 */
import type { Page } from "playwright-core";
import { createRoom } from "../../bot.ts";
import { quantile, type Row } from "../../part.ts";
import { startServer } from "../../measuredServer.ts";
import { launch, type PageWindow } from "../../visitors/pages.ts";

export const name = "tuning";
export const about =
  "an owner's slider to its effect in another page's picture (two pages of a headless Chromium, drawn by the CPU)";
export const runs = 1;

const SCENE = "jelly-stack";
const MOVES = 12;
/** Values of gravity, alternating, m/s^2; the scene's is 9.81. */
const VALUES = [4, 9.81];
/** Without motion for this long the stack counts as at rest, ms. */
const STANDS_MS = 300;
const WITHIN_MS = 60_000;
/** Small, because every pixel is rendered by the CPU; the owner's page has room for the panel. */
const WATCHER = { width: 320, height: 220 };
const OWNER = { width: 640, height: 400 };

interface Watched {
  /** Set by `stand`: time of the first picture that differs from the rest, ms since the epoch. */
  movedMs?: number;
}

/** Resolves when nothing has moved for a while; from then on the page watches for motion. */
const stand = (page: Page, standsMs: number): Promise<void> =>
  page.evaluate((ms) => {
    const { pliant } = globalThis as unknown as PageWindow;
    const watched = globalThis as unknown as Watched;
    const furthest = (a: readonly number[], b: readonly number[]): number =>
      a.reduce((most, x, k) => Math.max(most, Math.abs(x - b[k]!)), 0);
    const STEP = 0.0005;
    return new Promise<void>((resolve) => {
      let rest = pliant.displayed();
      let sinceMs = performance.now();
      let stands = false;
      const look = (): void => {
        const now = pliant.displayed();
        if (furthest(now, rest) > STEP) {
          if (stands) {
            watched.movedMs = performance.timeOrigin + performance.now();
            return;
          }
          rest = now;
          sinceMs = performance.now();
        } else if (!stands && performance.now() - sinceMs > ms) {
          stands = true;
          rest = now;
          delete watched.movedMs;
          resolve();
        }
        requestAnimationFrame(look);
      };
      look();
    });
  }, standsMs);

/** @returns time of the slider's event, ms since the epoch */
const slide = (page: Page, value: number): Promise<number> =>
  page.evaluate((to) => {
    const range = document.querySelector<HTMLInputElement>("#tuning-gravity")!;
    range.value = String(to);
    const ms = performance.timeOrigin + performance.now();
    range.dispatchEvent(new Event("input", { bubbles: true }));
    return ms;
  }, value);

const moved = async (page: Page): Promise<number> => {
  const handle = await page.waitForFunction(() => (globalThis as unknown as Watched).movedMs, undefined, {
    timeout: WITHIN_MS,
    polling: 20,
  });
  return (await handle.jsonValue())!;
};

export async function run(): Promise<Row[]> {
  const server = await startServer({ env: { PLIANT_PREWARM: SCENE, PLIANT_WORKERS: "1" } });
  const browser = await launch();
  try {
    const { token } = await createRoom(server.url, SCENE, "tuned");
    const visit = async (fragment: string, viewport: typeof OWNER): Promise<Page> => {
      const page = await (await browser.newContext({ viewport })).newPage();
      await page.goto(`${server.url}/r/tuned${fragment}`);
      await page.waitForFunction(() => (globalThis as unknown as PageWindow).pliant?.firstDrawnFrameMs, undefined, {
        timeout: WITHIN_MS,
        polling: 50,
      });
      return page;
    };
    const owner = await visit(`#token=${token}`, OWNER);
    const guest = await visit("", WATCHER);
    await owner.click(".more-tools");
    await owner.click(".tuning .tool");
    const took: number[] = [];
    for (let k = 0; k < MOVES; k++) {
      await stand(guest, STANDS_MS);
      const slidMs = await slide(owner, VALUES[k % VALUES.length]!);
      took.push((await moved(guest)) - slidMs);
    }
    const what = "slider moved to another page's picture";
    return [
      { what: `${what}, least`, value: Math.min(...took), unit: "ms", note: `of ${MOVES}` },
      { what: `${what}, median`, value: quantile(took, 0.5), unit: "ms" },
      { what: `${what}, p95`, value: quantile(took, 0.95), unit: "ms", target: { atMost: 150 } },
    ];
  } finally {
    await browser.close();
    await server.stop();
  }
}
