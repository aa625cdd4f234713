/**
 * A school class: a room on the projector (`?ui=present`), and thirty phones that open the link of its QR code at the
 * same moment. Measures the time until each phone's first pull is in the room, and the room's real time while all
 * thirty pull.
 *
 * The link is read from a picture of the projector's code. As many phones as there are cores are real pages in a
 * Chromium with touch, because a CPU that also simulates cannot render thirty pages. The others fetch the same files,
 * hold the same socket, decode every frame and send the same messages, but draw nothing. A phone's time runs from
 * opening the link until the projector's side is told of its grab; it excludes the time in which a person only looks.
 *
 * Then all pull for a while, first with the pages, and then, after other clients have taken over their grabs, without
 * them: rendering pages takes CPU time that real phones bring along.
 *
 * Then another class joins one after another, as many at a time as there are cores. Here each of the thirty is a real
 * page, which closes after its pull; a client without pictures continues the pull, so that the room fills up. Every
 * sixth opens the lobby and types the room's code.
 */
import { Agent, get } from "node:http";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { readConfig } from "../../../server/config.ts";
import { Bot, createRoom, type Point, type SurfacePoint } from "../../bot.ts";
import { FrameWatch } from "../../frameWatch.ts";
import { type HeldSurface, offsetOf, positionOf, spread } from "../../hands/circles.ts";
import { type PartOptions, quantile, type Row } from "../../part.ts";
import { startServer } from "../../measuredServer.ts";
import { threadSeconds } from "../../load/threads.ts";
import { launch, type PageWindow, surfacePoint } from "../../visitors/pages.ts";
import { readQr } from "../../visitors/qr.ts";

export const name = "phones";
export const about =
  "thirty phones open the QR code's link at once, as many of them real pages as there are cores, and thirty real pages one after another: time to the first pull, and the room while all pull";
export const runs = 1;
export const timeoutSeconds = 900;

const PHONES = 30;
/** More pages than cores would only measure each other. */
const PAGES = Math.min(6, availableParallelism());
const SCENE = "bunny";
const SECONDS = 15;
const MOVES_PER_SECOND = 25;
const WITHIN_MS = 120_000;
/** A pull that has not been reported after this time is tried again, ms. */
const AGAIN_MS = 5000;
const REACH = { atMost: 10_000 };
const LOOK_MS = 25;
/** In the second class, every TYPES-th phone types the code. */
const TYPES = 6;
/** HTTP connections of a browser to one host. */
const LINES = 6;
/** A class comes from one address, so the server's default limits for one address apply. */
const { addressBudget, membersPerAddress } = readConfig({});
const DEFAULTS = {
  PLIANT_ADDRESS_BUDGET: String(addressBudget),
  PLIANT_MEMBERS_PER_ADDRESS: String(membersPerAddress),
};
const PHONE = { viewport: { width: 390, height: 664 }, hasTouch: true, isMobile: true };

interface Phone {
  /** Time from the link to the first pull that the room reports, ms. */
  ms: number;
  member: number;
}

/** Reads the link from the QR code on the projector's page. */
async function linkOf(browser: Browser, url: string, room: string): Promise<string> {
  const page = await browser.newPage(PHONE);
  await page.goto(`${url}/r/${room}?ui=present`);
  const svg = page.locator(".invitation svg");
  await svg.waitFor({ state: "attached", timeout: WITHIN_MS });
  const code = await svg.evaluate((element) => element.outerHTML);
  // Only the code is photographed: rendering the rest of the page would take CPU time from the others.
  await page.goto("about:blank");
  await page.setContent(`<body style="background: white">${code}</body>`);
  const link = readQr(await page.screenshot());
  await page.close();
  if (!link.endsWith(`/r/${room}`)) throw new Error(`the QR code leads to ${link}`);
  return link;
}

/** URLs that a first visit fetches, the page first. */
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
  await untilDrawn(page);
}

/** Opens the room by typing its code, which is shown beside the QR code, in the lobby. */
async function typeCode(page: Page, link: string): Promise<void> {
  const { origin, pathname } = new URL(link);
  await page.goto(origin);
  await page.fill(".join input", pathname.slice("/r/".length));
  await page.tap(".join button");
  await untilDrawn(page);
}

async function untilDrawn(page: Page): Promise<void> {
  await page.waitForFunction(
    () => (globalThis as unknown as PageWindow).pliant?.firstDrawnFrameMs !== undefined,
    undefined,
    { timeout: WITHIN_MS, polling: LOOK_MS },
  );
}

/**
 * Pulls until the watcher receives the member's grab; a pull that missed or was refused is repeated. After WITHIN_MS it
 * gives up and logs the phone's state, so that the row shows the full time.
 * @param pull begins a pull; true: a grab began, as far as the phone knows
 * @param said describes the phone's state
 */
async function untilHolds(
  watcher: Bot,
  member: number,
  pull: () => Promise<boolean>,
  said: () => Promise<string>,
): Promise<void> {
  const endMs = performance.now() + WITHIN_MS;
  const known = (): boolean => (watcher.memberGrabs.get(member)?.grabs.length ?? 0) > 0;
  while (performance.now() < endMs) {
    if (!(await pull())) continue;
    const told = await watcher.until(known, "the pull", AGAIN_MS).then(
      () => true,
      () => false,
    );
    if (told) return;
  }
  console.log(`  the pull of member ${member} was not reported within ${WITHIN_MS} ms: ${await said()}`);
}

/** A real page: a touch on the body in the middle. */
async function realPhone(
  context: BrowserContext,
  link: string,
  watcher: Bot,
  come = openRoom,
): Promise<Phone & { page: Page }> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const startMs = performance.now();
  await come(page, link);
  const member = await page.evaluate(() => (globalThis as unknown as PageWindow).pliant.member);
  const finger = async (type: "touchStart" | "touchMove" | "touchEnd", x: number, y: number): Promise<void> => {
    await session.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x, y, id: 1 }] });
  };
  let down = false;
  const pull = async (): Promise<boolean> => {
    if (down) await finger("touchEnd", 0, 0);
    down = false;
    const at = await surfacePoint(page);
    if (!at) return false;
    down = true;
    await finger("touchStart", at.x, at.y);
    await finger("touchMove", at.x + 10, at.y - 10);
    return page.evaluate(() => (globalThis as unknown as PageWindow).pliant.grabs().some(({ id }) => /^own:/.test(id)));
  };
  const said = (): Promise<string> =>
    page.evaluate(() => {
      const { status, drawn, grabs } = (globalThis as unknown as PageWindow).pliant;
      return `${status}, ${drawn} pictures, holds ${JSON.stringify(grabs())}, ${document.querySelector(".toasts")?.textContent}`;
    });
  await untilHolds(watcher, member, pull, said);
  return { ms: performance.now() - startMs, member, page };
}

/** Fetches a whole file, compressed. */
const fetchFile = (file: string, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    get(file, { agent, headers: { "accept-encoding": "br, gzip" } }, (answer) =>
      answer.resume().once("end", resolve).once("error", reject),
    ).once("error", reject);
  });

/** A phone without pictures. @param files of the page; empty: they are in its cache */
async function drawnByNobody(
  files: readonly string[],
  { url, room, watcher }: { url: string; room: string; watcher: Bot },
  place: SurfacePoint,
): Promise<Phone & { bot: Bot }> {
  const startMs = performance.now();
  const agent = new Agent({ keepAlive: true, maxSockets: LINES });
  // The page itself comes first, because it names the other files.
  for (const page of files.slice(0, 1)) await fetchFile(page, agent);
  await Promise.all(files.slice(1).map((file) => fetchFile(file, agent)));
  const bot = await Bot.join(url, room, { timeoutMs: WITHIN_MS });
  const { member } = bot.welcome;
  const pull = async (): Promise<boolean> => {
    bot.release(0);
    bot.grab(0, place, bot.surfacePosition(place));
    return true;
  };
  const said = async (): Promise<string> => JSON.stringify([bot.closed, bot.notices]);
  await untilHolds(watcher, member, pull, said);
  const ms = performance.now() - startMs;
  agent.destroy();
  return { ms, member, bot };
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

/** Moves all grabs in circles. @param count number of phones that will have come. @returns timer that stops it */
function pullOn(bots: readonly Bot[], starts: readonly Point[], count = bots.length): NodeJS.Timeout {
  const beginMs = performance.now();
  return setInterval(() => {
    const seconds = (performance.now() - beginMs) / 1000;
    for (const [hand, bot] of bots.entries()) {
      const offset = offsetOf(hand, count, seconds);
      bot.move(0, starts[hand]!.map((c, r) => c + offset[r]!) as Point);
    }
  }, 1000 / MOVES_PER_SECOND);
}

interface Watched {
  realTime: number;
  /** CPU of the stepping threads per tick, and the tick's period in real time, ms. */
  tickCpuMs: number;
  tickMs: number;
  gaps: number[];
}

/** @param pid of the server */
async function watch(bots: readonly Bot[], pid: number): Promise<Watched> {
  const watches = bots.map((bot) => new FrameWatch(bot));
  const [first] = bots;
  const { tick } = first!;
  const cpu = threadSeconds(pid);
  const beginMs = performance.now();
  await sleep(1000 * SECONDS);
  const elapsed = (performance.now() - beginMs) / 1000;
  const ticks = first!.tick - tick;
  const { tickHz } = first!.welcome;
  const after = threadSeconds(pid);
  return {
    realTime: ticks / tickHz / elapsed,
    tickCpuMs: cpu && after ? (1000 * (after.others - cpu.others)) / ticks : NaN,
    tickMs: 1000 / tickHz,
    gaps: watches.flatMap((frames) => frames.take()),
  };
}

const spreadRows = (what: string, values: number[], target?: Row["target"]): Row[] => [
  { what: `${what}, p50`, value: quantile(values, 0.5), unit: "ms", note: `of ${values.length}` },
  { what: `${what}, p95`, value: quantile(values, 0.95), unit: "ms" },
  { what: `${what}, longest`, value: Math.max(...values), unit: "ms", ...(target && { target }) },
];

function roomRows(how: string, { realTime, gaps, tickCpuMs, tickMs }: Watched): Row[] {
  return [
    {
      what: `${how}: real time that the room keeps`,
      value: realTime,
      unit: "",
      absolute: true,
      target: { atLeast: 0.95 },
    },
    // CPU time does not depend on other load: a room below its tick's period keeps real time on a core of its own.
    { what: `${how}: CPU a tick`, value: tickCpuMs, unit: "ms", target: { atMost: tickMs } },
    { what: `${how}: from frame to frame, p50`, value: quantile(gaps, 0.5), unit: "ms", absolute: true },
    { what: `${how}: from frame to frame, p99`, value: quantile(gaps, 0.99), unit: "ms", absolute: true },
    { what: `${how}: from frame to frame, longest`, value: Math.max(...gaps), unit: "ms", absolute: true },
  ];
}

interface Class {
  url: string;
  room: string;
  link: string;
  watcher: Bot;
}

async function openClass(browser: Browser, url: string, scene: string, name: string): Promise<Class> {
  const { room } = await createRoom(url, scene, name);
  const link = await linkOf(browser, url, room);
  const watcher = await Bot.join(url, room, { name: "projector", timeoutMs: WITHIN_MS });
  // A member without messages would be considered lost.
  setInterval(() => watcher.closed ?? watcher.ping(), 1000).unref();
  return { url, room, link, watcher };
}

/** All phones open the link at the same moment, and pull. @param pid of the server */
async function atOnce(browser: Browser, at: Class, scene: string, pid: number): Promise<Row[]> {
  const { link, watcher } = at;
  const files = await filesOf(browser, link);
  const places = placesOn(watcher, PHONES);
  const contexts = await Promise.all(Array.from({ length: PAGES }, () => browser.newContext(PHONE)));
  const [real, others] = await Promise.all([
    Promise.all(contexts.map((context) => realPhone(context, link, watcher))),
    Promise.all(places.slice(PAGES).map(({ place }) => drawnByNobody(files, at, place))),
  ]);
  const starts = places.slice(PAGES).map(({ start }) => start);
  let bots = others.map(({ bot }) => bot);
  let timer = pullOn(bots, starts);
  const drawn = async (): Promise<number[]> =>
    Promise.all(real.map(({ page }) => page.evaluate(() => (globalThis as unknown as PageWindow).pliant.drawn)));
  const before = await drawn();
  const withPages = await watch(bots, pid);
  const pictures = (await drawn()).map((count, i) => (count - before[i]!) / SECONDS);
  clearInterval(timer);
  for (const context of contexts) await context.close();
  const late = await Promise.all(places.slice(0, PAGES).map(({ place }) => drawnByNobody([], at, place)));
  bots = [...late, ...others].map(({ bot }) => bot);
  timer = pullOn(
    bots,
    places.map(({ start }) => start),
  );
  const without = await watch(bots, pid);
  clearInterval(timer);
  for (const bot of [...bots, watcher]) bot.drop();
  const realMs = real.map(({ ms }) => ms);
  return [
    ...spreadRows(`${scene}, ${PHONES} phones, link to first pull`, [...realMs, ...others.map(({ ms }) => ms)], REACH),
    ...spreadRows(`${scene}, of these ${PAGES} real pages`, realMs, REACH),
    ...roomRows(`${scene}, all pull, ${PAGES} pages are drawn beside it`, withPages),
    {
      what: `${scene}, pictures of the slowest of ${PAGES} pages`,
      value: Math.min(...pictures),
      unit: "1/s",
      absolute: true,
    },
    ...roomRows(`${scene}, ${PHONES} pull`, without),
  ];
}

/** The phones join one after another, each as a real page until it has pulled. */
async function comeIn(browser: Browser, at: Class, scene: string): Promise<Row[]> {
  const { link, watcher } = at;
  const places = placesOn(watcher, PHONES);
  const bots: Bot[] = [];
  const starts: Point[] = [];
  const timer = pullOn(bots, starts, PHONES);
  const came: { ms: number; typed: boolean }[] = [];
  const next = async (): Promise<void> => {
    for (let phone = came.length + busy; phone < PHONES; phone = came.length + busy) {
      busy++;
      const typed = phone % TYPES === TYPES - 1;
      const context = await browser.newContext(PHONE);
      const { ms } = await realPhone(context, link, watcher, typed ? typeCode : openRoom);
      await context.close();
      const { place, start } = places[phone]!;
      const { bot } = await drawnByNobody([], at, place);
      bots.push(bot);
      starts.push(start);
      busy--;
      came.push({ ms, typed });
    }
  };
  let busy = 0;
  await Promise.all(Array.from({ length: PAGES }, next));
  clearInterval(timer);
  for (const bot of [...bots, watcher]) bot.drop();
  const msOf = (wanted: boolean): number[] => came.flatMap(({ ms, typed }) => (typed === wanted ? [ms] : []));
  const how = `${scene}, ${PHONES} real pages, ${PAGES} at a time`;
  return [
    ...spreadRows(`${how}, link to first pull`, msOf(false), REACH),
    ...spreadRows(`${how}, lobby and typed code to first pull`, msOf(true), REACH),
  ];
}

export async function run({ scenes: [scene = SCENE] = [] }: PartOptions): Promise<Row[]> {
  const server = await startServer({ env: { PLIANT_PREWARM: scene, ...DEFAULTS } });
  const { url } = server;
  const browser = await launch();
  try {
    const rows = await atOnce(browser, await openClass(browser, url, scene, "class"), scene, server.process.pid!);
    return [...rows, ...(await comeIn(browser, await openClass(browser, url, scene, "next-class"), scene))];
  } finally {
    await browser.close();
    await server.stop();
  }
}
