/**
 * Time from dropping a file of 110,336 triangles onto the lobby until its body is pulled, and the effect on other
 * rooms.
 *
 * First in a real Chromium with software rendering on the CPU that also builds and simulates: file sent, read, shown,
 * meshed, the room's page opened, the body grabbed and lifted by a tenth of its size. Each time with another file and
 * an empty browser cache; choices are left at their defaults. Second without a page: rooms with grabs, in alternating
 * spans with and without builds of uploaded models, so that other load of the machine is in both. Once beside one room,
 * which leaves one of two cores to the building thread, and once beside three, which leave less. The uploads come from
 * a process with idle priority, because another machine's work is not the server's.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { Bot, createRoom } from "../../bot.ts";
import { FrameWatch } from "../../frameWatch.ts";
import { late } from "../../load/drive.ts";
import { increase, readMetrics } from "../../metrics.ts";
import { quantile, type Row } from "../../part.ts";
import { forkGivingWay } from "../../givingWay.ts";
import { startServer } from "../../measuredServer.ts";
import { launch, type PageWindow } from "../../visitors/pages.ts";
import { RING, ringGlb } from "../../visitors/ringFile.ts";

export const name = "objects";
export const about =
  "a GLB of 110,336 triangles: dropped on the lobby to pulled (headless Chromium, drawn by the CPU); rooms beside while objects are built";
export const runs = 1;

const DROPS = 5;
const WITHIN_MS = 120_000;
/** The smallest usual window, because the CPU renders every pixel. */
const VIEWPORT = { width: 720, height: 480 };

const BESIDE = { "one room": ["jelly-stack"], "three rooms": ["jelly-stack", "one-sheet", "jelly-stack"] };
const PAIRS = 4;
const SPAN_SECONDS = 10;

interface Progress {
  /** Times at which the progress text of the dialog changed, ms. */
  toldMs: number[];
}

/** Runs in the page: drops the file, and records when the dialog's text changes. */
function drop([file, text]: readonly [string, string]): void {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], file));
  const told: number[] = [performance.now()];
  (globalThis as unknown as Progress).toldMs = told;
  let said = "";
  new MutationObserver(() => {
    const dialog = document.querySelector(".bring-dialog");
    const now = `${dialog?.querySelector(".said")?.textContent} ${dialog?.querySelector("progress")?.value}`;
    if (now !== said) told.push(performance.now());
    said = now;
  }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  for (const kind of ["dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
}

/** The particle nearest to the camera: its index, its height in m, and the window pixels of a point just behind it. */
const nearest = (page: Page): Promise<{ particle: number; height: number; x: number; y: number }> =>
  page.evaluate(() => {
    const { pliant } = globalThis as unknown as PageWindow;
    const p = pliant.displayed();
    let particle = 0;
    for (let i = 1; i < p.length / 3; i++) if (p[3 * i + 2]! > p[3 * particle + 2]!) particle = i;
    const place = p.slice(3 * particle, 3 * particle + 3);
    return { particle, height: place[1]!, ...pliant.project([place[0]!, place[1]!, place[2]! - 0.01])! };
  });

const heightOf = (page: Page, particle: number): Promise<number> =>
  page.evaluate((i) => (globalThis as unknown as PageWindow).pliant.displayed()[3 * i + 1]!, particle);

/** Grabs the nearest particle, and lifts it by 3 cm. */
async function pull(page: Page): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const { particle, height, x, y } = await nearest(page);
    await page.mouse.move(x, y);
    await page.mouse.down();
    if (await page.evaluate(() => (globalThis as unknown as PageWindow).pliant.grabs().length > 0)) {
      await page.mouse.move(x, y - 100);
      while ((await heightOf(page, particle)) < height + 0.03) await sleep(10);
      return;
    }
    await page.mouse.up();
  }
  throw new Error("twenty presses on the body began no grab");
}

interface Timed {
  read: number;
  built: number;
  drawn: number;
  pulled: number;
  /** Longest time without a change of the dialog's text, ms. */
  silent: number;
}

async function dropped(browser: Browser, url: string, phase: number): Promise<Timed> {
  const glb = Buffer.from(await ringGlb({ ...RING, phase }));
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(WITHIN_MS);
    await page.goto(url);
    await page.waitForSelector(".card");
    const file = ["ring.glb", glb.toString("base64")] as const;
    const startMs = performance.now();
    await page.evaluate(drop, file);
    await page.waitForSelector(".bring-dialog form:not([hidden])");
    const readMs = performance.now();
    // Ask while the page still exists, because its record is lost with it.
    let told: number[] = [];
    const left = page.waitForURL(/\/r\//, { waitUntil: "commit" });
    const asking = setInterval(() => {
      void page
        .evaluate(() => (globalThis as unknown as Progress).toldMs)
        .then(
          (now) => now && (told = now),
          () => {},
        );
    }, 100);
    await page.selectOption("#bring-material", "rubber");
    await page.click(".bring-dialog button[type=submit]");
    await left;
    clearInterval(asking);
    const builtMs = performance.now();
    await page.waitForFunction(() => (globalThis as unknown as PageWindow).pliant?.firstDrawnFrameMs, undefined, {
      polling: 20,
    });
    const drawnMs = performance.now();
    await pull(page);
    const gaps = told.slice(1).map((ms, k) => ms - told[k]!);
    return {
      read: readMs - startMs,
      built: builtMs - readMs,
      drawn: drawnMs - builtMs,
      pulled: performance.now() - startMs,
      silent: Math.max(...gaps),
    };
  } finally {
    await context.close();
  }
}

async function drops(): Promise<Row[]> {
  const server = await startServer({
    env: { PLIANT_PREWARM: "none", PLIANT_OBJECTS_PER_MINUTE: "1000", PLIANT_ROOMS_PER_MINUTE: "1000" },
  });
  const browser = await launch();
  try {
    const timed: Timed[] = [];
    // The first one warms up the server's code: the first visitor after a start waits this long.
    const cold = await dropped(browser, server.url, 0);
    for (let k = 1; k <= DROPS; k++) timed.push(await dropped(browser, server.url, k));
    const of = (what: keyof Timed): number[] => timed.map((all) => all[what] / 1000);
    const part = (what: string, key: keyof Timed): Row => ({
      what: `  ${what}`,
      value: quantile(of(key), 0.5),
      unit: "s",
      note: `median; p95 ${quantile(of(key), 0.95).toFixed(2)}`,
    });
    const what = "dropped to pulled";
    return [
      { what: `${what}, least`, value: Math.min(...of("pulled")), unit: "s", note: `of ${DROPS}` },
      { what: `${what}, median`, value: quantile(of("pulled"), 0.5), unit: "s", warmUp: cold.pulled / 1000 },
      { what: `${what}, p95`, value: quantile(of("pulled"), 0.95), unit: "s", target: { atMost: 10 } },
      part("sent, read, offered", "read"),
      part("meshed, the room open", "built"),
      part("the room's page drawn", "drawn"),
      part("longest time without a word of progress", "silent"),
    ];
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** A client on another machine that has models built for a span, once it is told to. */
class Builds {
  readonly #child: ChildProcess;
  readonly #ended = new AbortController();
  readonly #ready: Promise<unknown>;

  constructor(url: string, first: number) {
    this.#child = forkGivingWay(new URL("../../visitors/builds.ts", import.meta.url), [
      url,
      String(SPAN_SECONDS),
      String(first),
    ]);
    this.#child.once("exit", () => this.#ended.abort());
    this.#ready = once(this.#child, "message", { signal: this.#ended.signal });
  }

  /** Resolves when the files have been generated, which is work, but not the server's. */
  async ready(): Promise<void> {
    await this.#ready;
  }

  /** @returns the time to read and build each model, s */
  async run(): Promise<number[]> {
    this.#child.send("go");
    const [took] = (await once(this.#child, "message", { signal: this.#ended.signal })) as [number[]];
    return took;
  }

  stop(): void {
    this.#child.kill();
  }
}

interface Beside {
  late: number;
  ticks: number;
  gaps: number[];
}

async function beside(what: string, scenes: readonly string[]): Promise<Row[]> {
  const server = await startServer({
    env: {
      PLIANT_PREWARM: [...new Set(scenes)].join(),
      PLIANT_OBJECTS_PER_MINUTE: "1000",
      PLIANT_OBJECTS_PER_ADDRESS: "1000",
      PLIANT_ROOMS_PER_MINUTE: "1000",
    },
  });
  try {
    const bots: Bot[] = [];
    for (const [i, scene] of scenes.entries()) {
      await createRoom(server.url, scene, `beside-${i}`);
      const bot = await Bot.join(server.url, `beside-${i}`, { timeoutMs: 60_000 });
      const point = { body: 0, triangle: 9, u: 0.3, v: 0.3 };
      const [x, y, z] = bot.surfacePosition(point);
      bot.grab(1, point, [x, y, z]);
      // A moving grab keeps the room awake.
      let angle = 0;
      setInterval(() => bot.move(1, [x + 0.1 * Math.cos((angle += 0.2)), y, z + 0.1 * Math.sin(angle)]), 33).unref();
      bots.push(bot);
    }
    await sleep(3000);
    const watches = bots.map((bot) => new FrameWatch(bot));
    const quiet: Beside = { late: 0, ticks: 0, gaps: [] };
    const building: Beside = { late: 0, ticks: 0, gaps: [] };
    const took: number[] = [];
    for (let k = 0; k < 2 * PAIRS; k++) {
      const into = k % 2 === 0 ? quiet : building;
      const builds = new Builds(server.url, 1000 * k);
      await builds.ready();
      for (const watch of watches) watch.take();
      const before = await readMetrics(server.url);
      if (into === building) took.push(...(await builds.run()));
      else await sleep(1000 * SPAN_SECONDS);
      builds.stop();
      const after = await readMetrics(server.url);
      into.late += late(before, after);
      into.ticks += increase(before, after, "pliant_tick_lateness_seconds_count");
      into.gaps.push(...watches.flatMap((watch) => watch.take()));
    }
    const rows = (when: string, { late: n, ticks, gaps }: Beside): Row[] => [
      { what: `${what}: late ticks, ${when}`, value: n / ticks, unit: "", note: `${n} of ${ticks}` },
      { what: `${what}: frame gap p99, ${when}`, value: quantile(gaps, 0.99), unit: "ms", absolute: true },
    ];
    return [
      {
        what: `${what}: an object read and built, without a page`,
        value: quantile(took, 0.5),
        unit: "s",
        note: `of ${took.length}`,
      },
      ...rows("nobody builds", quiet),
      ...rows("objects are built all the time", building),
      {
        what: `${what}: late ticks because of it`,
        value: building.late / building.ticks - quiet.late / quiet.ticks,
        unit: "",
        target: { atMost: 0 },
      },
    ];
  } finally {
    await server.stop();
  }
}

export async function run(): Promise<Row[]> {
  const rows = await drops();
  for (const [what, scenes] of Object.entries(BESIDE)) rows.push(...(await beside(what, scenes)));
  return rows;
}
