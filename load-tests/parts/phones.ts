/**
 * A class: a room on the projector (`?ui=present`) and thirty phones that open the link of its QR code in the same
 * moment; nobody types. How long until each one's first pull is in the room, and is the room in real time while all
 * thirty pull?
 *
 * The link is read from the projector's picture. A few of the phones are real pages in a Chromium with touch (two cores
 * that also simulate draw no thirty pages); the others fetch the same files, hold the same socket, decode every frame
 * and send the same messages, but draw nothing. A phone's time runs from opening the link to the moment in which the
 * projector's side is told of its hand; how long a person looks first is not in it.
 *
 * After that all pull for a while, with the pages and, when those have gone and others have taken their hands, without:
 * a page drawn by the CPU takes what real phones bring along.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { Bot, createRoom, type Point, type SurfacePoint } from "../bot.ts";
import { FrameWatch } from "../frameWatch.ts";
import { type HeldSurface, offsetOf, positionOf, spread } from "../hands/circles.ts";
import { type PartOptions, quantile, type Row } from "../part.ts";
import { startServer } from "../server.ts";
import { launch, type PageWindow, surfacePoint } from "../visitors/pages.ts";
import { readQr } from "../visitors/qr.ts";

export const name = "phones";
export const about =
  "thirty phones open the QR code's link at once, four of them real pages: time to the first pull, and the room while all pull";
export const runs = 1;

const PHONES = 30;
const PAGES = 4;
const SCENE = "bunny";
const SECONDS = 15;
const MOVES_PER_SECOND = 25;
const WITHIN_MS = 60_000;
const LOOK_MS = 25;
const PHONE = { viewport: { width: 390, height: 664 }, hasTouch: true, isMobile: true };

interface Phone {
  /** From the link to the first pull that the room knows of. */
  ms: number;
  member: number;
}

/** Files that the page of a first visit fetches, its own address first. */
async function filesOf(browser: Browser, link: string): Promise<string[]> {
  const context = await browser.newContext(PHONE);
  const page = await context.newPage();
  const files: string[] = [];
  page.on("response", (answer) => answer.request().method() === "GET" && files.push(answer.url()));
  await openRoom(page, link);
  await context.close();
  return files;
}

async function openRoom(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.waitForFunction(
    () => (globalThis as unknown as PageWindow).pliant?.firstDrawnFrameMs !== undefined,
    undefined,
    { timeout: WITHIN_MS, polling: LOOK_MS },
  );
}

/** Waits until the watcher is told that the member holds something. */
const untilHolds = (watcher: Bot, member: number): Promise<void> =>
  watcher.until(() => (watcher.hands.get(member)?.grabs.length ?? 0) > 0, `the pull of member ${member}`, WITHIN_MS);

/** A finger on what is in the middle. */
async function realPhone(context: BrowserContext, link: string, watcher: Bot): Promise<Phone & { page: Page }> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const startMs = performance.now();
  await openRoom(page, link);
  const member = await page.evaluate(() => (globalThis as unknown as PageWindow).pliant.member);
  const finger = async (type: "touchStart" | "touchMove" | "touchEnd", x: number, y: number): Promise<void> => {
    await session.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x, y, id: 1 }] });
  };
  while (performance.now() - startMs < WITHIN_MS) {
    const at = await surfacePoint(page);
    if (!at) continue;
    await finger("touchStart", at.x, at.y);
    await finger("touchMove", at.x + 10, at.y - 10);
    if (
      await page.evaluate(() => (globalThis as unknown as PageWindow).pliant.grabs().some(({ id }) => /^own:/.test(id)))
    )
      break;
    // What moved away is tried again.
    await finger("touchEnd", at.x, at.y);
  }
  await untilHolds(watcher, member);
  return { ms: performance.now() - startMs, member, page };
}

/** The same without a picture. @param files of the page; none: it has been here before */
async function drawnByNobody(
  files: readonly string[],
  { url, room, watcher }: { url: string; room: string; watcher: Bot },
  place: SurfacePoint,
): Promise<Phone & { bot: Bot }> {
  const startMs = performance.now();
  const headers = { "accept-encoding": "br, gzip" };
  const get = async (file: string): Promise<ArrayBuffer> => (await fetch(file, { headers })).arrayBuffer();
  // What else there is to fetch is known when the page has come.
  for (const page of files.slice(0, 1)) await get(page);
  await Promise.all(files.slice(1).map(get));
  const bot = await Bot.join(url, room, { timeoutMs: WITHIN_MS });
  const { member } = bot.welcome;
  bot.grab(0, place, bot.surfacePosition(place));
  await untilHolds(watcher, member);
  return { ms: performance.now() - startMs, member, bot };
}

function placesOn(bot: Bot, count: number): { place: SurfacePoint; start: Point }[] {
  const surfaces = bot.topology.bodies.map(
    ({ triangles }, body): HeldSurface => ({
      body,
      triangles: new Uint32Array(triangles.slice().buffer),
      at: (particle) => bot.position(body, particle),
    }),
  );
  return spread(surfaces, count).map((place) => ({
    place,
    start: positionOf(surfaces.find(({ body }) => body === place.body)!, place),
  }));
}

/** Everybody leads a hand about. @returns what ends it */
function pullOn(bots: readonly Bot[], starts: readonly Point[]): NodeJS.Timeout {
  const beginMs = performance.now();
  return setInterval(() => {
    const seconds = (performance.now() - beginMs) / 1000;
    for (const [hand, bot] of bots.entries()) {
      const offset = offsetOf(hand, bots.length, seconds);
      bot.move(0, starts[hand]!.map((c, r) => c + offset[r]!) as Point);
    }
  }, 1000 / MOVES_PER_SECOND);
}

interface Watched {
  realTime: number;
  gaps: number[];
}

async function watch(bots: readonly Bot[]): Promise<Watched> {
  const watches = bots.map((bot) => new FrameWatch(bot));
  const [first] = bots;
  const { tick } = first!;
  const beginMs = performance.now();
  await sleep(1000 * SECONDS);
  const elapsed = (performance.now() - beginMs) / 1000;
  return {
    realTime: (first!.tick - tick) / first!.welcome.tickHz / elapsed,
    gaps: watches.flatMap((frames) => frames.take()),
  };
}

const spreadRows = (what: string, values: number[], target?: Row["target"]): Row[] => [
  { what: `${what}, p50`, value: quantile(values, 0.5), unit: "ms", note: `of ${values.length}` },
  { what: `${what}, p95`, value: quantile(values, 0.95), unit: "ms" },
  { what: `${what}, longest`, value: Math.max(...values), unit: "ms", ...(target && { target }) },
];

function roomRows(how: string, { realTime, gaps }: Watched): Row[] {
  return [
    {
      what: `${how}: real time that the room keeps`,
      value: realTime,
      unit: "",
      absolute: true,
      target: { atLeast: 0.95 },
    },
    { what: `${how}: from frame to frame, p50`, value: quantile(gaps, 0.5), unit: "ms", absolute: true },
    { what: `${how}: from frame to frame, p99`, value: quantile(gaps, 0.99), unit: "ms", absolute: true },
    { what: `${how}: from frame to frame, longest`, value: Math.max(...gaps), unit: "ms", absolute: true },
  ];
}

export async function run({ scenes: [scene = SCENE] = [] }: PartOptions): Promise<Row[]> {
  const server = await startServer({ env: { PLIANT_PREWARM: scene } });
  const { url } = server;
  const browser = await launch();
  try {
    const { room } = await createRoom(url, scene, "class");
    const projector = await browser.newPage({ viewport: { width: 640, height: 480 } });
    await projector.goto(`${url}/r/${room}?ui=present&quality=6`);
    await projector.waitForSelector(".invitation svg");
    const link = await readQr(projector, ".invitation");
    if (!link.endsWith(`/r/${room}`)) throw new Error(`the QR code leads to ${link}`);
    // The projector's own page costs what a page costs; here it is a picture that has been taken.
    await projector.close();
    const files = await filesOf(browser, link);
    const watcher = await Bot.join(url, room, { name: "projector", timeoutMs: WITHIN_MS });
    // Whoever says nothing is taken for lost.
    setInterval(() => watcher.ping(), 1000).unref();
    const places = placesOn(watcher, PHONES);
    const contexts = await Promise.all(Array.from({ length: PAGES }, () => browser.newContext(PHONE)));
    const [real, others] = await Promise.all([
      Promise.all(contexts.map((context) => realPhone(context, link, watcher))),
      Promise.all(
        places
          .slice(PAGES)
          .map(({ place }) => drawnByNobody(files, { url: new URL(link).origin, room, watcher }, place)),
      ),
    ]);
    const starts = places.slice(PAGES).map(({ start }) => start);
    let timer = pullOn(
      others.map(({ bot }) => bot),
      starts,
    );
    const drawn = async (): Promise<number[]> =>
      Promise.all(real.map(({ page }) => page.evaluate(() => (globalThis as unknown as PageWindow).pliant.drawn)));
    const before = await drawn();
    const withPages = await watch(others.map(({ bot }) => bot));
    const pictures = (await drawn()).map((count, i) => (count - before[i]!) / SECONDS);
    clearInterval(timer);
    for (const context of contexts) await context.close();
    const late = await Promise.all(
      places.slice(0, PAGES).map(({ place }) => drawnByNobody([], { url: new URL(link).origin, room, watcher }, place)),
    );
    const everybody = [...late, ...others].map(({ bot }) => bot);
    timer = pullOn(
      everybody,
      places.map(({ start }) => start),
    );
    const without = await watch(everybody);
    clearInterval(timer);
    for (const bot of [...everybody, watcher]) bot.drop();
    const realMs = real.map(({ ms }) => ms);
    const allMs = [...realMs, ...others.map(({ ms }) => ms)];
    return [
      ...spreadRows(`${scene}, ${PHONES} phones, link to first pull`, allMs, { atMost: 10_000 }),
      ...spreadRows(`${scene}, of these ${PAGES} real pages`, realMs, { atMost: 10_000 }),
      ...roomRows(`${scene}, all pull, ${PAGES} pages are drawn beside it`, withPages),
      {
        what: `${scene}, pictures of the slowest of ${PAGES} pages`,
        value: Math.min(...pictures),
        unit: "1/s",
        absolute: true,
      },
      ...roomRows(`${scene}, ${PHONES} pull`, without),
    ];
  } finally {
    await browser.close();
    await server.stop();
  }
}
