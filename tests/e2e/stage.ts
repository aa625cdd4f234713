/**
 * The set for end-to-end tests: the real server in this process with the project's own scenes (lightScenes.ts), a
 * client built from the sources as they are, a real Chromium whose WebGL is drawn by the CPU. Every page's errors are
 * collected, because a page that works with errors does not. In a test run all files share one browser
 * (tests/e2e/shared.ts).
 */
import { mkdirSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Download,
  type Page,
} from "playwright-core";
import type { DebugHook } from "../../client/debugHook.ts";
import { type App, buildApp } from "../../server/app.ts";
import { type Config, readConfig } from "../../server/config.ts";
import { chromiumFlags, findChromium } from "../support/chromium.ts";
import { lightScenes } from "./lightScenes.ts";
import { lacks } from "../support/tools.ts";
import { SHARED_BROWSER } from "./sharedBrowser.ts";

declare global {
  interface Window {
    pliant: DebugHook;
    /** All that toasts have said so far. */
    toasted: string[];
  }
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const clientDir = `${root}build/client`;
let scenes: string | undefined;
const screenshotDir = `${root}artifacts/e2e`;

/** True, with a loud line, where there is no browser; in CI it throws instead. */
export const noBrowser = lacks("Chromium", findChromium());

/** Small, because every pixel is drawn by the CPU. */
const VIEWPORT = { width: 720, height: 480 };

/** How a visitor comes. */
interface Way {
  /** Another way to the server than its own address: http://host:port. */
  through?: string;
  /** Before the page is opened, which waits for it: a shared browser is behind a line of its own. */
  prepare?: (page: Page) => unknown;
  /** Whether animations take their time. Otherwise, where few pictures are drawn, they end as they begin. */
  animated?: boolean;
}

export interface E2e {
  app: App;
  url: string;
  browser: Browser;
  /** A page of its own visitor. Errors in it fail the test at `close`. */
  visit(path: string, options?: BrowserContextOptions, way?: Way): Promise<Page>;
  /** Opens a room and answers its page's path. */
  room(scene: string): Promise<{ name: string; path: string }>;
  shoot(page: Page, name: string): Promise<void>;
  /** Errors of all pages so far; taken out. */
  takeErrors(): string[];
  /**
   * Closes all pages, each of which costs the next test a good part of a core, and the rooms that wait for them to come
   * back.
   */
  leave(): Promise<void>;
  close(): Promise<void>;
}

export interface StageOptions {
  /** For a browser of its own. */
  flags?: readonly string[];
  /** No test here is about what happens between two pictures: few are drawn, and servers and pages have time. */
  fewPictures?: boolean;
}

/** Nobody waits so long for anything that comes at all, however busy the machine is, ms. */
export const PATIENCE_MS = 150_000;
/** In a page, before its scripts: a toast is gone after three seconds, whoever has looked by then. */
function noteToasts(): void {
  window.toasted = [];
  new MutationObserver((changes) => {
    for (const added of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!(added instanceof Element)) continue;
      // one that is there when the page comes is added with all of it
      const toasts = [...(added.matches(".toast") ? [added] : []), ...added.querySelectorAll(".toast")];
      window.toasted.push(...toasts.map(({ textContent }) => textContent));
    }
  }).observe(document, { childList: true, subtree: true });
}

/** Between two pictures where few are drawn, ms. */
const FEW_MS = 400;

/** In a page, before its scripts: callbacks of requestAnimationFrame come `ms` after the ones before. */
function drawFew(ms: number): void {
  const request = window.requestAnimationFrame.bind(window);
  let asked = new Map<number, FrameRequestCallback>();
  let last = 0;
  const draw = (now: number): void => {
    const callbacks = [...asked.values()];
    asked = new Map();
    for (const callback of callbacks) callback(now);
  };
  window.requestAnimationFrame = (callback) => {
    if (asked.size === 0) setTimeout(() => request(draw), ms);
    asked.set(++last, callback);
    return last;
  };
  window.cancelAnimationFrame = (id) => void asked.delete(id);
}

/** In a page, before its scripts: while something moves by itself, all of the page is drawn sixty times a second. */
function endAnimations(): void {
  const sheet = new CSSStyleSheet();
  const changes = "animation-duration: 1ms !important; animation-iteration-count: 1 !important";
  sheet.replaceSync(`*, ::before, ::after { ${changes}; transition-duration: 0s !important }`);
  document.adoptedStyleSheets.push(sheet);
}

export async function openStage(
  changes: Partial<Config> = {},
  { flags, fewPictures = false }: StageOptions = {},
): Promise<E2e> {
  mkdirSync(screenshotDir, { recursive: true });
  const app = await buildApp({
    ...readConfig({}),
    clientDir,
    scenesDir: (scenes ??= lightScenes()),
    prewarm: "none",
    store: "none",
    roomsPerMinute: 100_000,
    ...changes,
  });
  const url = await app.fastify.listen({ port: 0, host: "127.0.0.1" });
  const shared = process.env[SHARED_BROWSER];
  const browser = await (flags === undefined && shared !== undefined
    ? chromium.connect(shared)
    : chromium.launch({ executablePath: findChromium()!, args: [...(flags ?? chromiumFlags)], timeout: PATIENCE_MS }));
  const contexts: BrowserContext[] = [];
  const errors: string[] = [];
  return {
    app,
    url,
    browser,
    visit: async (path, options = {}, { through = url, prepare, animated = !fewPictures } = {}) => {
      const context = await browser.newContext({ viewport: VIEWPORT, ...options });
      contexts.push(context);
      context.setDefaultTimeout(PATIENCE_MS);
      await context.addInitScript(noteToasts);
      if (fewPictures) await context.addInitScript(drawFew, FEW_MS);
      if (!animated) await context.addInitScript(endAnimations);
      const page = await context.newPage();
      page.on("pageerror", (error) => errors.push(`${path}: ${error.message}`));
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(`${path}: ${message.text()}`);
      });
      await prepare?.(page);
      await page.goto(through + path);
      return page;
    },
    room: async (scene) => {
      const answer = await fetch(`${url}/api/rooms`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ scene }),
      });
      if (!answer.ok) throw new Error(`POST /api/rooms for ${scene}: ${answer.status} ${await answer.text()}`);
      const { room } = (await answer.json()) as { room: string };
      return { name: room, path: `/r/${room}` };
    },
    shoot: async (page, name) => void (await page.screenshot({ path: `${screenshotDir}/${name}.png` })),
    takeErrors: () => errors.splice(0),
    leave: async () => {
      await Promise.all(contexts.splice(0).map((context) => context.close()));
      await Promise.all(app.registry.list().map(({ name }) => app.registry.remove(name)));
    },
    close: async () => {
      await browser.close();
      await app.close();
    },
  };
}

/** What was downloaded; a shared browser's file has no path here. */
export const downloaded = async (download: Download): Promise<Buffer> => buffer(await download.createReadStream());

/** Resolves when the page draws the room's bodies. */
export async function drawn(page: Page): Promise<Page> {
  await page.waitForFunction(() => window.pliant?.firstDrawnFrameMs !== undefined, undefined);
  return page;
}

/** Resolves when the condition holds in the page, asked ten times a second. */
export async function until<T>(page: Page, condition: (argument: T) => unknown, argument: T): Promise<void> {
  await page.waitForFunction(condition as (argument: unknown) => unknown, argument as unknown, {
    timeout: PATIENCE_MS,
    polling: 100,
  });
}

/** Resolves when a toast has said this, whether or not it is still there. */
export const toasted = (page: Page, text: string | RegExp): Promise<void> =>
  until(
    page,
    (text) => window.toasted.some((said) => (text instanceof RegExp ? text.test(said) : said === text)),
    text,
  );

export type Frame = ReturnType<DebugHook["frames"]>[number];

/**
 * Frames that both pages have had, each a pair of one tick: a page keeps its last two seconds only, and a busy machine
 * asks one page later than the other.
 * @param enough of them
 * @param between two looks
 */
export async function commonFrames(
  pages: readonly [Page, Page],
  enough: (common: [Frame, Frame][]) => boolean,
  between: () => Promise<unknown> = async () => {},
): Promise<[Frame, Frame][]> {
  const [a, b] = [new Map<number, Frame>(), new Map<number, Frame>()];
  for (;;) {
    const frames = await Promise.all(pages.map((page) => page.evaluate(() => window.pliant.frames())));
    for (const [i, had] of [a, b].entries()) for (const frame of frames[i]!) had.set(frame.tick, frame);
    const common = [...a].flatMap(([tick, frame]): [Frame, Frame][] => (b.has(tick) ? [[frame, b.get(tick)!]] : []));
    if (enough(common)) return common;
    await between();
  }
}

export interface Held {
  /** Window pixels. */
  x: number;
  y: number;
  body: number;
  triangle: number;
  point: [number, number, number];
}

/** A surface point that can be grabbed: the one under the middle of a body's particles, or near it. */
export async function surfaceUnderMiddle(
  page: Page,
  firstParticle = 0,
  count = Number.POSITIVE_INFINITY,
): Promise<Held> {
  const { held, ...looked } = await page.evaluate(
    ({ firstParticle, count }): { held?: Held } & Record<string, unknown> => {
      const p = window.pliant.displayed();
      const middle: [number, number, number] = [0, 0, 0];
      const end = Math.min(p.length, 3 * (firstParticle + count));
      for (let i = 3 * firstParticle; i < end; i++) middle[i % 3]! += (3 * p[i]!) / (end - 3 * firstParticle);
      const at = window.pliant.project(middle);
      if (!at) return { middle };
      // Concave bodies have air in their middle: look around it in a spiral.
      for (let k = 0; k < 200; k++) {
        const x = at.x + 1.5 * k * Math.cos(k * 0.7);
        const y = at.y + 1.5 * k * Math.sin(k * 0.7);
        const hit = window.pliant.pick(x, y);
        if (hit)
          return {
            held: { x, y, body: hit.body, triangle: hit.triangle, point: hit.point as [number, number, number] },
          };
      }
      return {
        middle,
        at,
        tick: window.pliant.tick,
        drawn: window.pliant.drawn,
        canvas: document.querySelector("canvas.view")?.getBoundingClientRect().toJSON() as unknown,
      };
    },
    { firstParticle, count: Number.isFinite(count) ? count : 1e9 },
  );
  if (!held) throw new Error(`no surface point was found near the middle of the body: ${JSON.stringify(looked)}`);
  return held;
}

/**
 * Presses the pointer on a body's middle until the page holds it: a body in motion may have left the place between the
 * look and the press.
 * @returns where the pointer is down
 */
export async function takeHold(page: Page, firstParticle?: number, count?: number): Promise<Held> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const held = await surfaceUnderMiddle(page, firstParticle, count);
    await page.mouse.move(held.x, held.y);
    await page.mouse.down();
    if (await page.evaluate(() => window.pliant.grabs().some(({ id }) => id.startsWith("own:")))) return held;
    await page.mouse.up();
  }
  throw new Error("fifty presses on the middle of the body held nothing");
}

export interface ServerPositions {
  tick: number;
  frameTick: number;
  positions: number[];
  quantized: number[];
  /** Bodies that wait. */
  waiting: number[];
}

export async function serverPositions(stage: E2e, room: string): Promise<ServerPositions> {
  return (await (await fetch(`${stage.url}/api/rooms/${room}/positions`)).json()) as ServerPositions;
}
