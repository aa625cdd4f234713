/**
 * Latency from a grab on one page to the picture of another page: two pages of one real Chromium, one room of the real
 * server, loopback. Every stage has a stamp: pages stamp their pointer events, messages, decoded frames and pictures
 * (`../../latency/pageProbe.ts`), the server its inputs and ticks (diagnostics channels).
 *
 * Two measurements. A pull of a body at rest: from the pointer event to the first picture of the other page whose
 * pixels differ; that page does not receive grabs, so only the body can differ. A moving grab: from every move to its
 * frame, decoded on the other page, without the interpolation buffer.
 * Both pages are rendered by the CPU that also simulates: pictures take longer than with a graphics card, and stages
 * wait for each other. So the room has one thread: several threads that wait for each other make no sense on busy
 * cores.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
import { chromiumFlags, findChromium } from "../../../tests/support/chromium.ts";
import { createRoom } from "../../bot.ts";
import { chains, firstChange, parseTrace, type Chain } from "../../latency/chain.ts";
import {
  installPuller,
  installWatcher,
  type PictureStamp,
  type PullerLog,
  type WatcherLog,
} from "../../latency/pageProbe.ts";
import { quantile, type Row } from "../../part.ts";
import { serveCommand, startServer } from "../../measuredServer.ts";
import { type PageWindow, type Place, surfacePoint } from "../../visitors/pages.ts";

export const name = "latency";
export const about =
  "from a grab on one page to the other page's decoded frame and first changed pixel (two pages of a headless Chromium, drawn by the CPU)";
export const runs = 2;

const SCENE = "bunny";
/** Number of pulls of a body at rest. */
const PULLS = 8;
/** Duration of the moving grab, s, with about 30 moves a second. */
const SECONDS = 8;
const REST_WITHIN_MS = 120_000;
/** Small, because every pixel is rendered by the CPU. */
const viewport = { width: 320, height: 220 };
/** Ticks between two frames of this scene at the server's default rate. */
const SEND_TICKS = 2;

interface Window extends PageWindow {
  pliantPuller: PullerLog;
  pliantWatcher: WatcherLog;
  watchAt?: Place | undefined;
}

/** @throws Error if the page shows no surface near the middle of its bodies */
async function placeToPull(page: Page): Promise<Place> {
  const found = await surfacePoint(page);
  if (!found) throw new Error(`${SCENE}: no surface near its middle`);
  return found;
}

const rested = (page: Page): Promise<unknown> =>
  page.waitForFunction(
    () =>
      performance.timeOrigin + performance.now() - (globalThis as unknown as Window).pliantWatcher.quietSinceMs > 600,
    undefined,
    { timeout: REST_WITHIN_MS, polling: 100 },
  );

/** Grabs the body and pulls at once, so that nothing moves before the pull. */
async function pull(page: Page, at: Place, by: number): Promise<void> {
  await page.mouse.move(at.x, at.y);
  await Promise.all([page.mouse.down(), page.mouse.move(at.x + by, at.y - Math.abs(by))]);
}

async function pullFromRest(puller: Page, watcher: Page): Promise<void> {
  for (let k = 0; k < PULLS; k++) {
    await rested(watcher);
    const at = await placeToPull(puller);
    const known = await watcher.evaluate((at) => {
      const page = globalThis as unknown as Window;
      page.watchAt = at;
      return page.pliantWatcher.pictures.length;
    }, at);
    // Resetting the view to itself draws the picture with which the next one is compared.
    await watcher.keyboard.press("h");
    await watcher.waitForFunction(
      (known) => (globalThis as unknown as Window).pliantWatcher.pictures.length > known,
      known,
      { polling: 50 },
    );
    await rested(watcher);
    // Vary the phase relative to ticks and pictures.
    await puller.waitForTimeout(300 + ((k * 37) % 101));
    await pull(puller, at, k % 2 === 0 ? 12 : -12);
    await puller.waitForTimeout(250);
    await puller.mouse.up();
  }
}

async function pullAbout(puller: Page): Promise<void> {
  const at = await placeToPull(puller);
  await pull(puller, at, 10);
  const startMs = performance.now();
  for (let ms = 0; ms < 1000 * SECONDS; ms = performance.now() - startMs) {
    await puller.mouse.move(at.x + 15 * Math.sin(ms / 400), at.y - 10 + 8 * Math.cos(ms / 300));
    await puller.waitForTimeout(25 + ((ms * 7) % 13));
  }
  await puller.mouse.up();
}

const STAGES: [string, keyof Chain, keyof Chain][] = [
  ["pointer event -> message sent", "event", "sent"],
  ["-> in the room", "sent", "received"],
  ["-> its tick begins", "received", "tick"],
  ["-> the tick that sends a frame begins", "tick", "frameTick"],
  ["-> stepped and encoded", "frameTick", "encoded"],
  ["-> handed to the sockets", "encoded", "handedOver"],
  ["-> on the other page", "handedOver", "arrived"],
  ["-> decoded", "arrived", "decoded"],
];

/** Median, 95th percentile and maximum. */
const spread = (what: string, values: number[], target?: Row["target"]): Row[] => [
  { what: `${what}, median`, value: quantile(values, 0.5), unit: "ms", note: `of ${values.length}` },
  { what: `${what}, p95`, value: quantile(values, 0.95), unit: "ms", ...(target && { target }) },
  { what: `${what}, max`, value: Math.max(...values), unit: "ms" },
];

const stage = (what: string, values: number[]): Row => ({
  what: `  ${what}`,
  value: quantile(values, 0.5),
  unit: "ms",
  note: `median; p95 ${quantile(values, 0.95).toFixed(1)}, max ${Math.max(...values).toFixed(1)}`,
});

const between =
  (from: keyof Chain, to: keyof Chain) =>
  (chain: Chain): number =>
    (chain[to] as number) - (chain[from] as number);

/** Rows of the pulls from rest, until the first picture of the other page that differs. */
function restRows(all: readonly Chain[], untilMs: number, pictures: WatcherLog["pictures"]): Row[] {
  const grabs = all.filter(({ grabs, sent }) => grabs && sent < untilMs);
  const seen = grabs.flatMap(
    (grab, k) =>
      firstChange(
        pictures,
        all.filter(({ sent }) => sent >= grab.sent && sent < (grabs[k + 1]?.sent ?? untilMs)),
        SEND_TICKS,
      ) ?? [],
  );
  // A picture that takes longer than a pull shows none of it; that may happen to less than half of the pulls.
  if (seen.length < PULLS / 2) throw new Error(`${seen.length} of ${PULLS} pulls were visible`);
  const of = (value: (chain: Chain, picture: PictureStamp) => number): number[] =>
    seen.map(({ chain, picture }) => value(chain, picture));
  const chainOf = seen.map(({ chain }) => chain);
  return [
    ...spread(
      `${SCENE} at rest, pull to first changed pixel`,
      of((chain, picture) => picture.drawnMs - chain.event),
    ),
    ...STAGES.map(([what, from, to]) => stage(what, chainOf.map(between(from, to)))),
    stage(
      "-> shown: interpolation buffer",
      of((chain, picture) => picture.startMs - chain.decoded),
    ),
    stage(
      "-> drawn, pixels read",
      of((_, picture) => picture.drawnMs - picture.startMs),
    ),
  ];
}

function movingRows(all: readonly Chain[], fromMs: number): Row[] {
  const moving = all.filter(({ sent, grabs }) => sent >= fromMs && !grabs);
  return [
    ...spread(
      `${SCENE} pulled about, pointer event to the other page's decoded frame`,
      moving.map(between("event", "decoded")),
    ),
    ...spread(
      `${SCENE} pulled about, force sent to the other page's decoded frame`,
      moving.map(between("sent", "decoded")),
      { atMost: 60 },
    ),
    ...STAGES.map(([what, from, to]) => ({ ...stage(what, moving.map(between(from, to))), what: `  moving: ${what}` })),
  ];
}

export async function run(): Promise<Row[]> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("no Chromium was found: install one, or set CHROMIUM_PATH");
  const folder = mkdtempSync(join(tmpdir(), "pliant-latency-"));
  const trace = join(folder, "trace.jsonl");
  const preload = fileURLToPath(new URL("../../latency/traceServer.ts", import.meta.url));
  const server = await startServer({
    command: serveCommand("--import", preload),
    env: { TRACE_FILE: trace, PLIANT_PREWARM: SCENE, PLIANT_WORKERS: "1" },
  });
  const browser = await chromium.launch({ executablePath, args: [...chromiumFlags] });
  try {
    const { room } = await createRoom(server.url, SCENE);
    const visit = async (install: () => void): Promise<Page> => {
      const page = await (await browser.newContext({ viewport })).newPage();
      await page.addInitScript(install);
      await page.goto(`${server.url}/r/${room}?quality=6`);
      await page.waitForFunction(() => (globalThis as unknown as Window).pliant?.firstMovingFrameMs, undefined, {
        timeout: 30_000,
        polling: 50,
      });
      return page;
    };
    const watcher = await visit(installWatcher);
    const puller = await visit(installPuller);
    await pullFromRest(puller, watcher);
    const fromRest = await puller.evaluate(() => (globalThis as unknown as Window).pliantPuller.sent.length);
    await pullAbout(puller);
    await watcher.waitForTimeout(500);
    const { member, sent } = await puller.evaluate(() => ({
      member: (globalThis as unknown as Window).pliant.member,
      sent: (globalThis as unknown as Window).pliantPuller.sent,
    }));
    const { frames, pictures } = await watcher.evaluate(() => (globalThis as unknown as Window).pliantWatcher);
    const all = chains(sent, frames, parseTrace(readFileSync(trace, "utf8"), room), member);
    return [...restRows(all, sent[fromRest]!.ms, pictures), ...movingRows(all, sent[fromRest]!.ms)];
  } finally {
    await browser.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
