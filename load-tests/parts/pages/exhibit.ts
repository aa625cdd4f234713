/**
 * An exhibit in public for two hours (`--minutes 120`; `--pause`: seconds without visitors between two of them;
 * intermediate results are in the file of `--json` with `.sofar` appended). The room page with `?exhibit=` runs in a
 * real Chromium; visitors act at random (`../../visitors/visit.ts`), some of them with phones. After each visitor
 * everything must return to the initial state within seconds: name, cards, view, modes, the page's address, spawned
 * bodies, settings of the room, and the shape of the bodies; and the ghost hand must show. Otherwise the visitor counts
 * as stuck, the problem is reported, and the page is opened again.
 *
 * After each visitor both heaps are measured after a garbage collection: the page's, and that of the server's main
 * thread.
 * The first sixth is warm-up. Every half hour the page reloads itself (client/ui/room/exhibit.ts), which bounds the
 * memory of the browser. Heaps are flat if the slope of a line through the rest is at most 2 % an hour, within twice
 * its standard error.
 */
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import { randomStream } from "../../../tests/parity/kit.ts";
import { Bot } from "../../bot.ts";
import { readMetrics, total } from "../../metrics.ts";
import { type PartOptions, quantile, type Row } from "../../part.ts";
import { serveCommand, startServer } from "../../measuredServer.ts";
import { Inspected, pageHeap } from "../../visitors/heap.ts";
import { launch, type PageWindow } from "../../visitors/pages.ts";
import { slopeOf } from "../../visitors/slope.ts";
import { leave, visit } from "../../visitors/visit.ts";

export const name = "exhibit";
export const about =
  "two hours of an exhibit's page with random visitors: does everything return after each of them, do heaps grow?";
export const runs = 1;
export const onDemand = true;
export const timeoutSeconds = ({ minutes, pause }: PartOptions): number => 60 * minutes + (pause ?? 0) + 600;

const SCENE = "put-in";
const ROOM = "exhibit";
/** Time without input after which the page returns to its initial state, s. */
const IDLE_SECONDS = 8;
/** Lowest quality: pictures do not matter here, and a CPU renders them. */
const PATH = `/r/${ROOM}?scene=${SCENE}&exhibit=${IDLE_SECONDS}&quality=6`;
const VIEWPORT = { width: 480, height: 360 };
/** Timeout for bodies to fall and come to rest and for the ghost hand to show, ms: on a machine with other load. */
const BACK_WITHIN_MS = 180_000;
const LOOK_MS = 250;
/** Bodies at rest in a tray must be this near to their first place of rest, m. */
const NEAR = 0.05;
const WARM_UP = 1 / 6;
/** Least number of samples for a line. */
const LEAST_SAMPLES = 5;
const MB = 2 ** 20;
/** Share of visitors that also have a phone. */
const PHONES = 1 / 3;

interface Sample {
  /** Time since the start, h. */
  at: number;
  page: number;
  pageAll: number;
  nodes: number;
  listeners: number;
  server: number;
  serverRss: number;
}

/** State of the page and the room before the first visitor. */
interface Found {
  href: string;
  origin: { x: number; y: number };
  frame: Int32Array;
  spawnable: string;
  tuned: string;
  access: string;
}

class Exhibit {
  readonly stuck: string[] = [];
  readonly backMs: number[] = [];
  readonly samples: Sample[] = [];
  readonly faults: string[] = [];
  visitors = 0;
  readonly #url: string;
  readonly #page: Page;
  readonly #session: CDPSession;
  #watcher: Bot;
  readonly #server: Inspected;
  readonly #random: () => number;
  #found!: Found;
  /** A phone that was left behind, with its grab. */
  #phone: Bot | undefined;

  constructor(url: string, page: Page, session: CDPSession, watcher: Bot, server: Inspected) {
    this.#url = url;
    this.#page = page;
    this.#session = session;
    this.#watcher = watcher;
    this.#server = server;
    const stream = randomStream(20261125);
    this.#random = () => (stream() + 1) / 2;
    page.on("pageerror", (error) => this.faults.push(error.stack ?? error.message));
    page.on("console", (message) => message.type() === "error" && this.faults.push(message.text()));
    page.context().on("page", (other) => {
      this.#isStuck(`another page was opened: ${other.url()}`);
      void other.close();
    });
  }

  /** Waits until nothing moves, and remembers the state. */
  async open(): Promise<void> {
    const watcher = this.#watcher;
    await watcher.until(() => watcher.counts.emptyDeltas > 2, "rest", BACK_WITHIN_MS);
    // This is the view to which the page returns when it is idle.
    await this.#page.waitForSelector(".ghost .palm", { timeout: BACK_WITHIN_MS });
    this.#found = {
      ...(await this.#page.evaluate(() => ({
        href: location.href,
        origin: (globalThis as unknown as PageWindow).pliant.project([0, 0, 0])!,
      }))),
      frame: watcher.frame.slice(),
      ...this.#settings(),
    };
  }

  async serve(): Promise<void> {
    this.visitors += 1;
    if (this.#watcher.closed) {
      this.faults.push(`the watcher's connection was lost: ${this.#watcher.closed.code}`);
      this.#watcher = await joinAsWatcher(this.#url);
    }
    await this.#comePhone();
    const visitor = { page: this.#page, session: this.#session, random: this.#random };
    await visit(visitor);
    const name = await this.#name();
    const resets = this.#watcher.resets;
    await leave(visitor);
    const leftMs = performance.now();
    const wrong = await this.#untilBack(name, resets);
    if (wrong.length === 0) this.backMs.push(performance.now() - leftMs);
    else {
      this.#isStuck(wrong.join("; "));
      await openPage(this.#page, this.#url);
    }
  }

  async sample(hours: number): Promise<void> {
    const { used, all, nodes, listeners } = await pageHeap(this.#session);
    const server = await this.#server.heap();
    const rss = total(await readMetrics(this.#url), "process_resident_memory_bytes");
    this.samples.push({
      at: hours,
      page: used / MB,
      pageAll: all / MB,
      nodes,
      listeners,
      server: server.used / MB,
      serverRss: rss / MB,
    });
  }

  #isStuck(what: string): void {
    this.stuck.push(`visitor ${this.visitors}: ${what}`);
    console.log(`  STUCK ${this.stuck.at(-1)}`);
  }

  #name(): Promise<string> {
    return this.#page.evaluate(() => {
      const { pliant } = globalThis as unknown as PageWindow;
      return pliant?.members.find(({ member }) => member === pliant.member)?.name ?? "";
    });
  }

  #settings(): Pick<Found, "spawnable" | "tuned" | "access"> {
    const { spawnable, tuned, access } = this.#watcher;
    return {
      spawnable: JSON.stringify([...spawnable.bodies].sort()),
      tuned: JSON.stringify(tuned && { ...tuned, tick: 0, member: 0 }),
      access: JSON.stringify(access),
    };
  }

  /** A visitor with a phone pulls, too; then leaves, disappears, or puts the phone down during the grab. */
  async #comePhone(): Promise<void> {
    this.#phone?.drop();
    this.#phone = undefined;
    if (this.#random() > PHONES) return;
    const phone = await Bot.join(this.#url, ROOM, { name: "phone", timeoutMs: BACK_WITHIN_MS });
    const at = { body: 0, triangle: 3, u: 0.3, v: 0.3 };
    const [x, y, z] = phone.surfacePosition(at);
    phone.grab(1, at, [x, y, z]);
    phone.move(1, [x + 0.1, y + 0.1, z]);
    const end = this.#random();
    if (end < 1 / 3) await phone.leave();
    else if (end < 2 / 3) phone.drop();
    else this.#phone = phone;
    // Its connection stays open with pings, like that of a phone on a table.
    if (this.#phone) setInterval(() => phone.closed ?? phone.ping(), 1000).unref();
  }

  /** @returns differences from the initial state after the timeout; empty: none */
  async #untilBack(name: string, resets: number): Promise<string[]> {
    const end = performance.now() + BACK_WITHIN_MS;
    let shown = false;
    for (;;) {
      await sleep(LOOK_MS);
      const { wrong, ghost } = await this.#pageNow(name);
      if (this.#watcher.resets === resets) wrong.push("the room was not reset");
      const now = this.#settings();
      for (const key of ["spawnable", "tuned", "access"] as const)
        if (now[key] !== this.#found[key]) wrong.push(`${key} is ${now[key]}, was ${this.#found[key]}`);
      const far = this.#furthest();
      if (far > NEAR) wrong.push(`a particle is ${far.toFixed(3)} m from where it was`);
      shown ||= ghost;
      if (!shown) wrong.push("nothing shows how to pull");
      if (wrong.length === 0 || performance.now() > end) return wrong;
    }
  }

  /** Sometimes the page reloads itself: then the question to the old page is lost. */
  #pageNow(name: string): Promise<ReturnType<typeof pageNow>> {
    const found = { ...this.#found, name, near: NEAR, frame: undefined };
    return this.#page
      .evaluate(pageNow, found)
      .catch((error: Error) => ({ wrong: [`the page did not answer: ${error.message}`], ghost: false }));
  }

  #furthest(): number {
    const { frame, topology, spawnable } = this.#watcher;
    const shown = topology.bodies.filter((_, body) => !spawnable.bodies.includes(body));
    let most = 0;
    for (const { first, count, quantum } of shown)
      for (let i = 3 * first; i < 3 * (first + count); i++)
        most = Math.max(most, quantum * Math.abs(frame[i]! - this.#found.frame[i]!));
    return most;
  }
}

async function joinAsWatcher(url: string): Promise<Bot> {
  const bot = await Bot.join(url, ROOM, { name: "watcher", timeoutMs: BACK_WITHIN_MS });
  // A member without messages would be considered lost.
  setInterval(() => bot.closed ?? bot.ping(), 1000).unref();
  return bot;
}

/** Resolves when the bodies are drawn. */
async function openPage(page: Page, url: string): Promise<void> {
  await page.goto(url + PATH);
  await page.waitForFunction(
    () => (globalThis as unknown as PageWindow).pliant?.firstDrawnFrameMs !== undefined,
    undefined,
    { timeout: BACK_WITHIN_MS, polling: LOOK_MS },
  );
}

/** Runs in the page: differences from the initial state. */
function pageNow({ href, origin, name, near }: Pick<Found, "href" | "origin"> & { name: string; near: number }): {
  wrong: string[];
  ghost: boolean;
} {
  const { pliant } = globalThis as unknown as PageWindow;
  const wrong: string[] = [];
  if (location.href !== href) wrong.push(`the page is at ${location.href}`);
  if (pliant?.status !== "open") return { wrong: [...wrong, `the connection is ${pliant?.status}`], ghost: false };
  const own = pliant.members.find(({ member }) => member === pliant.member)?.name;
  if (own === name) wrong.push(`the name is still ${name}`);
  for (const element of document.querySelectorAll(".popover, .help, .stats, .overflow.open, .people.open"))
    if (element.checkVisibility() && (element.matches(".open") || !element.matches(".overflow, .people")))
      wrong.push(`${element.className} is open`);
  if (document.querySelector("dialog[open]")) wrong.push("a dialog is open");
  if (visualViewport && visualViewport.scale !== 1) wrong.push(`the page is zoomed by ${visualViewport.scale}`);
  for (const mode of ["pushing", "placing", "offline", "watching"])
    if (document.querySelector(`.room.${mode}`)) wrong.push(`${mode} is on`);
  if (pliant.grabs().length > 0) wrong.push("a member holds a body");
  // On a low screen the camera frames the bodies, so it may differ as far as their positions may.
  const [at, beside] = [pliant.project([0, 0, 0]), pliant.project([near, 0, 0])];
  if (!at || !beside || Math.hypot(at.x - origin.x, at.y - origin.y) > 2 + Math.hypot(at.x - beside.x, at.y - beside.y))
    wrong.push("the view differs");
  return { wrong, ghost: document.querySelector(".ghost .palm")?.checkVisibility() ?? false };
}

function rowsOf(exhibit: Exhibit, minutes: number): Row[] {
  const { stuck, backMs, samples, visitors, faults } = exhibit;
  const length = `${minutes.toFixed(0)} min`;
  const row = (what: string, value: number, unit: string, more: Partial<Row> = {}): Row => ({
    what: `${length}, ${what}`,
    key: what,
    value,
    unit,
    absolute: true,
    ...more,
  });
  const warm = samples.slice(Math.floor(WARM_UP * samples.length));
  const growth = (what: string, unit: string, value: (sample: Sample) => number, judged = true): Row => {
    const { slope, error, mean } = slopeOf(
      warm.map(({ at }) => at),
      warm.map(value),
    );
    const percent = (x: number): string => ((100 * x) / mean).toFixed(2);
    return row(`${what}, growth`, (100 * slope) / mean, "% an hour", {
      note: `+- ${percent(2 * error)} (two standard errors), of ${mean.toFixed(1)} ${unit}`,
      ...(judged && { target: { atMost: 2 + (200 * error) / mean } }),
      series: samples.map((sample) => Number(value(sample).toPrecision(5))),
    });
  };
  return [
    row("visitors", visitors, ""),
    row("after which something was left behind", stuck.length, "", {
      target: { atMost: 0 },
      ...(stuck.length > 0 && { note: stuck.slice(0, 3).join(" | ") }),
    }),
    row("errors in the page, lines lost", faults.length, "", {
      target: { atMost: 0 },
      note: faults.slice(0, 2).join(" | "),
    }),
    row("as it was again, median", quantile(backMs, 0.5) / 1000, "s", { note: `idle for ${IDLE_SECONDS} s of it` }),
    row("as it was again, worst", Math.max(...backMs) / 1000, "s"),
    growth("page's heap", "MB", ({ page }) => page),
    growth("page's heap and buffers", "MB", ({ pageAll }) => pageAll),
    growth("page's DOM nodes", "", ({ nodes }) => nodes),
    growth("page's listeners", "", ({ listeners }) => listeners),
    growth("heap of the server's main thread", "MB", ({ server }) => server),
    growth("server's resident memory", "MB", ({ serverRss }) => serverRss, false),
  ];
}

export async function run({ minutes, pause = 0, sofar }: PartOptions): Promise<Row[]> {
  const server = await startServer({
    command: serveCommand("--inspect=127.0.0.1:0"),
    env: { PLIANT_PREWARM: SCENE, PLIANT_WORKERS: "1" },
  });
  const browser = await launch();
  const inspected = await Inspected.of(server.output());
  try {
    const context = await browser.newContext({ viewport: VIEWPORT, hasTouch: true });
    const page = await context.newPage();
    await openPage(page, server.url);
    const watcher = await joinAsWatcher(server.url);
    const exhibit = new Exhibit(server.url, page, await context.newCDPSession(page), watcher, inspected);
    await exhibit.open();
    const beginMs = performance.now();
    const passed = (): number => (performance.now() - beginMs) / 60_000;
    while (passed() < minutes) {
      await exhibit.serve();
      await exhibit.sample(passed() / 60);
      if (sofar !== undefined && exhibit.samples.length > LEAST_SAMPLES)
        writeFileSync(sofar, `${JSON.stringify({ rows: rowsOf(exhibit, passed()), samples: exhibit.samples })}\n`);
      await sleep(1000 * pause);
      const { page: heap, server: main, nodes } = exhibit.samples.at(-1)!;
      if (exhibit.visitors % 10 === 0)
        console.log(
          `  ${passed().toFixed(0)} min, ${exhibit.visitors} visitors, ${exhibit.stuck.length} stuck; page ${heap.toFixed(2)} MB, ${nodes} nodes; server ${main.toFixed(2)} MB`,
        );
    }
    return rowsOf(exhibit, passed());
  } finally {
    inspected.close();
    await browser.close();
    await server.stop();
  }
}
