/**
 * Layout shift and interaction to next paint of all pages, as in Lighthouse, measured by the browser's own observers in
 * a Chromium with software rendering. Each page is used as intended: every control that opens something is pressed, by
 * pointer and by key.
 */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { createRoom } from "../../bot.ts";
import { quantile, type Row } from "../../part.ts";
import { startServer } from "../../measuredServer.ts";
import { launch, type PageWindow, showWhole, surfacePoint } from "../../visitors/pages.ts";
import { steadinessOf, watchSteadiness } from "../../visitors/steadiness.ts";

export const name = "budget";
export const about = "layout shift, and interaction to next paint, of every page (headless Chromium, drawn by the CPU)";
export const runs = 1;

/** A scene with all kinds of panels, including one for spawnable bodies. */
const SCENE = "put-in";
const ADMIN = "operators-own-token-for-this-benchmark";
const WITHIN_MS = 60_000;
/** Time for late content to arrive, and pause between two presses, ms. */
const LATE_MS = 3000;
const PAUSE_MS = 400;
const PULLS = 4;
const DESK = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 664 }, hasTouch: true, isMobile: true };

/** Use of a page: when it is ready, and which controls are pressed in sequence. */
interface Use {
  what: string;
  path: string;
  way: BrowserContextOptions;
  ready: (page: Page) => Promise<unknown>;
  /** Selectors to press, with an Escape after each. A list counts as one: the Escape follows its last item. */
  presses: readonly (string | readonly string[])[];
  /** Further actions, without an Escape after each. */
  further?: (page: Page) => Promise<unknown>;
}

const drawn = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => (globalThis as unknown as PageWindow).pliant?.firstDrawnFrameMs !== undefined, undefined, {
    timeout: WITHIN_MS,
    polling: 50,
  });

const enter = async (page: Page): Promise<void> => {
  await page.fill(".admin-login input", ADMIN);
  await page.press(".admin-login input", "Enter");
  await page.waitForSelector(".admin tbody[data-room]");
};

/** Pulls with the pointer, and with the keyboard alone. */
async function pull(page: Page): Promise<void> {
  for (let time = 0; time < PULLS; time++) {
    const at = await surfacePoint(page);
    if (!at) continue;
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x + 40, at.y - 60, { steps: 8 });
    await page.mouse.up();
    await page.waitForTimeout(PAUSE_MS);
  }
  await page.focus("canvas.view");
  for (const key of ["Space", ...Array<string>(PULLS).fill("ArrowUp"), "Space", "h", "p", "p", "r", "Tab", "Tab"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(PAUSE_MS / 2);
  }
}

const ROOM = [".tool.share", ".tool.me", "[data-tool='push']", "[data-tool='push']"];

const USES: readonly Use[] = [
  {
    what: "lobby",
    path: "/",
    way: DESK,
    ready: (page) => page.waitForSelector(".card"),
    presses: [".chips label >> nth=1", ".chips label >> nth=2", ".chips label >> nth=0"],
  },
  {
    what: "lobby on a phone",
    path: "/",
    way: PHONE,
    ready: (page) => page.waitForSelector(".card"),
    presses: [".chips label >> nth=1", ".chips label >> nth=2", ".chips label >> nth=0"],
  },
  {
    what: "room",
    path: `/r/budget?scene=${SCENE}`,
    way: DESK,
    ready: drawn,
    presses: [
      ...ROOM,
      "[data-tool='chart']",
      "[data-tool='chart']",
      "[data-tool='help']",
      "canvas",
      "[data-tool='home']",
      ".spares .tool",
      ".access .tool",
      ".tuning .tool",
    ],
    further: pull,
  },
  {
    what: "room on a phone",
    path: "/r/budget",
    way: PHONE,
    ready: drawn,
    presses: [".more-tools", [".more-tools", "[data-tool='help']"], "canvas", ...ROOM, ".people-button", "canvas"],
    further: pull,
  },
  {
    what: "replay",
    path: "/r/budget/replay",
    way: DESK,
    ready: (page) => page.waitForSelector(".replay input:not([disabled])", { timeout: WITHIN_MS }),
    presses: [".deck button", ".deck button", ".replay input", "canvas"],
  },
  { what: "operators' page", path: "/admin", way: DESK, ready: enter, presses: [".admin .toggle", ".admin .toggle"] },
];

async function use(browser: Browser, url: string, { what, path, way, ready, presses, further }: Use): Promise<Row[]> {
  const context = await browser.newContext(way);
  try {
    const page = await context.newPage();
    await showWhole(page);
    await watchSteadiness(page);
    await page.goto(url + path);
    await ready(page);
    await page.waitForTimeout(LATE_MS);
    for (const press of presses) {
      for (const selector of [press].flat()) {
        await page.locator(selector).first().click({ timeout: WITHIN_MS });
        await page.waitForTimeout(PAUSE_MS);
      }
      await page.keyboard.press("Escape");
      await page.waitForTimeout(PAUSE_MS);
    }
    await further?.(page);
    const { shifts, interactions } = await steadinessOf(page);
    const shift = shifts.reduce((sum, { score }) => sum + score, 0);
    const took = interactions.map(({ duration }) => duration);
    const slowest = interactions.reduce((a, b) => (b.duration > a.duration ? b : a), {
      name: "none took 16 ms",
      duration: 0,
      processing: 0,
    });
    return [
      {
        what: `${what}, layout shift`,
        value: shift,
        unit: "",
        absolute: true,
        target: { atMost: 0 },
        ...(shifts.length > 0 && {
          note: shifts.map(({ score, moved }) => `${score.toFixed(4)} ${moved.join()}`).join("; "),
        }),
      },
      {
        what: `${what}, interaction to next paint, slowest`,
        value: slowest.duration,
        unit: "ms",
        target: { atMost: 200 },
        note: `${slowest.name}, ${slowest.processing.toFixed(0)} ms of it in listeners; of ${took.length}, median ${took.length > 0 ? quantile(took, 0.5) : 0}`,
      },
    ];
  } finally {
    await context.close();
  }
}

export async function run(): Promise<Row[]> {
  const server = await startServer({ env: { PLIANT_PREWARM: SCENE, PLIANT_ADMIN_TOKEN: ADMIN } });
  const browser = await launch();
  try {
    await createRoom(server.url, SCENE, "for-the-lobby");
    const rows: Row[] = [];
    for (const page of USES) rows.push(...(await use(browser, server.url, page)));
    return rows;
  } finally {
    await browser.close();
    await server.stop();
  }
}
