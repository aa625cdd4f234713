/**
 * The environment of end-to-end tests: the real server in this process with the project's own scenes (lightScenes.ts),
 * a client built from the current sources, and a real Chromium with WebGL on the CPU. Errors of every page are
 * collected, because a page that works with errors counts as broken. In a test run all files share one browser
 * (tests/e2e/sharedServer.ts). Files that do not change the server share one server, too.
 */
import { mkdirSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { BrowserContextOptions, Download, Page } from "playwright-core";
import type { DebugHook } from "../../client/debugHook.ts";
import { type App, buildApp } from "../../server/app.ts";
import { type Config, readConfig } from "../../server/config.ts";
import { findChromium } from "../support/chromium.ts";
import { SHARED_SCENES } from "./sharedBrowser.ts";
import { inLong } from "../support/run/long.ts";
import { lacks } from "../support/run/tools.ts";
import { PATIENCE_MS, type Way, Visitors } from "./visitors.ts";
import { postJson } from "../support/request.ts";

export { PATIENCE_MS };

declare global {
  interface Window {
    pliant: DebugHook;
  }
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const clientDir = `${root}build/client`;
/** Operators' token of every stage without one of its own. */
export const ADMIN_TOKEN = "operators-own-token-for-tests-only";
const screenshotDir = `${root}artifacts/e2e`;

/** True, with a message, if there is no browser; in CI it throws instead. */
export const noBrowser = lacks("Chromium", findChromium());

export interface E2e {
  app: App;
  url: string;
  /** Opens a page for a new visitor. Errors in it fail the test at `close`. */
  visit(path: string, options?: BrowserContextOptions, way?: Way): Promise<Page>;
  /** Opens a room and returns its page's path. */
  room(scene: string): Promise<{ name: string; path: string }>;
  /** Saves a screenshot for people, with TEST_LONG=1 only. As JPEG: a PNG takes three times the CPU. */
  shoot(page: Page, name: string): Promise<void>;
  /** Returns and clears the errors of all pages so far. */
  takeErrors(): string[];
  /** All visitors leave, because each costs the next test much of a core. Rooms that wait for their return end. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

export interface StageOptions {
  /** Command-line flags. The stage then launches a separate browser. */
  flags?: readonly string[];
  /** Starts a separate server for this stage. */
  alone?: boolean;
  /**
   * For tests that do not depend on the time between two pictures: draws few, which leaves time for servers and pages.
   */
  fewPictures?: boolean;
}

interface Server {
  app: App;
  url: string;
}

async function openServer(changes: Partial<Config>): Promise<Server> {
  const app = await buildApp({
    ...readConfig({ PLIANT_OPERATIONS_PORT: "same" }),
    clientDir,
    scenesDir: process.env[SHARED_SCENES]!,
    prewarm: "none",
    store: "none",
    roomsPerMinute: 100_000,
    adminToken: ADMIN_TOKEN,
    objectsDeadlineMs: 2 * PATIENCE_MS,
    // A room stays open for slow visitors. Its history is short, so that a slow machine can replay all of it.
    emptyRoomSeconds: 3600,
    historySeconds: 45,
    ...changes,
  });
  return { app, url: await app.fastify.listen({ port: 0, host: "127.0.0.1" }) };
}

/** Servers shared by files, by their changes of the configuration. They end with the process. */
const servers = new Map<string, Promise<Server>>();

/** Configurations that several files use: no change, or other scenes of the repository. */
const isShared = ({ scenesDir = root, ...others }: Partial<Config>): boolean =>
  scenesDir.startsWith(root) && Object.keys(others).length === 0;

function sharedServer(changes: Partial<Config>): Promise<Server> {
  const key = JSON.stringify(changes);
  return servers.get(key) ?? servers.set(key, openServer(changes)).get(key)!;
}

const endRooms = async ({ registry }: App): Promise<unknown> =>
  Promise.all(registry.list().map(({ name }) => registry.remove(name)));

export async function openStage(
  changes: Partial<Config> = {},
  { flags, alone = false, fewPictures = false }: StageOptions = {},
): Promise<E2e> {
  mkdirSync(screenshotDir, { recursive: true });
  const stays = !alone && isShared(changes);
  const { app, url } = await (stays ? sharedServer(changes) : openServer(changes));
  const visitors = new Visitors(url, fewPictures, flags);
  return {
    app,
    url,
    visit: (path, options, way) => visitors.visit(path, options, way),
    room: async (scene) => {
      const answer = await postJson(`${url}/api/rooms`, { scene });
      if (!answer.ok) throw new Error(`POST /api/rooms for ${scene}: ${answer.status} ${await answer.text()}`);
      const { room } = (await answer.json()) as { room: string };
      return { name: room, path: `/r/${room}` };
    },
    shoot: async (page, name) => {
      if (inLong(true, false)) await page.screenshot({ path: `${screenshotDir}/${name}.jpg` });
    },
    takeErrors: () => visitors.takeErrors(),
    leave: async () => {
      await visitors.leave();
      await endRooms(app);
    },
    close: async () => {
      await visitors.close(stays);
      await (stays ? endRooms(app) : app.close());
    },
  };
}

/** Content of a download. `download.path()` does not work in a shared browser, which is connected remotely. */
export const downloaded = async (download: Download): Promise<Buffer> => buffer(await download.createReadStream());

/** Presses a tool of the toolbar, on narrow pages in the menu. The page has drawn its bodies. */
export async function press(page: Page, tool: string): Promise<void> {
  if (!(await page.isVisible(tool))) await page.click(".more-tools");
  await page.click(tool);
}

/** Resolves when the page draws the room's bodies. */
export async function drawn(page: Page): Promise<Page> {
  await page.waitForFunction(() => window.pliant?.firstDrawnFrameMs !== undefined, undefined);
  return page;
}

/** Resolves when the condition is true in the page; polls ten times a second. */
export async function until<T>(page: Page, condition: (argument: T) => unknown, argument: T): Promise<void> {
  await page.waitForFunction(condition as (argument: unknown) => unknown, argument as unknown, {
    timeout: PATIENCE_MS,
    polling: 100,
  });
}

/** Resolves when a toast has shown this text, even if it has disappeared since. */
export const toasted = (page: Page, text: string | RegExp): Promise<void> =>
  until(
    page,
    (text) => window.toasted.some((said) => (text instanceof RegExp ? text.test(said) : said === text)),
    text,
  );

export type Frame = ReturnType<DebugHook["frames"]>[number];

/**
 * Frames that both pages had, as pairs of one tick. A page keeps only its last two seconds, and a busy machine polls
 * one page later than the other.
 * @param enough stops when this is true
 * @param between runs between two polls
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
      // Concave bodies have air in their middle: search around it in a spiral.
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
 * Presses the pointer on a body's middle until the page has a grab: a moving body may have left the place before the
 * press.
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
  throw new Error("fifty presses on the middle of the body grabbed nothing");
}

export interface ServerPositions {
  tick: number;
  frameTick: number;
  positions: number[];
  quantized: number[];
  /** Spawnable bodies that are not in the scene. */
  spawnableBodies: number[];
}

export async function serverPositions(stage: E2e, room: string): Promise<ServerPositions> {
  return (await (await fetch(`${stage.url}/api/rooms/${room}/positions`)).json()) as ServerPositions;
}
