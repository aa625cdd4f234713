/**
 * Visitors of a stage, each with its own browser context. The page of a visitor who left is cleared and reused for the
 * next one. Its scripts are cached and compiled, so it opens for two thirds of a new page's cost. Pages are kept from
 * file to file, as long as their server is the same.
 */
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { chromiumFlags, findChromium } from "../support/chromium.ts";
import { drawFew, drawPlainly, endAnimations, noteToasts } from "./pageScripts.ts";
import { SHARED_BROWSER } from "./sharedBrowser.ts";

/** Timeout of all waits, long enough for any busy machine, ms. */
export const PATIENCE_MS = 150_000;
/** Small, because the CPU draws every pixel. */
const VIEWPORT = { width: 720, height: 480 };
/** A page of the server that runs no script, from which the stored data of its pages can be cleared. */
const BLANK = "/icon.svg";
/** Limit of idle pages: each is a process. */
const MOST_WAITING = 8;

/** Options of a visit. */
export interface Way {
  /** Address to reach the server through, instead of its own: http://host:port. */
  through?: string;
  /** Runs before the page is opened, which waits for its promise. */
  prepare?: (page: Page) => unknown;
  /** Runs animations at normal speed. Otherwise, if few pictures are drawn, they end at once. */
  animated?: boolean;
  /** Uses a new page with an empty cache. */
  first?: boolean;
}

interface Visit {
  context: BrowserContext;
  page: Page;
  /** Path of the address; undefined without a visitor. */
  path: string | undefined;
  /** Kind of visitors that may reuse the page; undefined: none. */
  kind: string | undefined;
  errors: string[];
}

/** Pages without a visitor, the longest idle first. */
const waiting: Visit[] = [];
let shared: Promise<Browser> | undefined;

const launch = (flags: readonly string[]): Promise<Browser> =>
  chromium.launch({ executablePath: findChromium()!, args: [...flags], timeout: PATIENCE_MS });

/** One connection to the shared browser for all files: its contexts would end with it. */
function sharedBrowser(): Promise<Browser> {
  const address = process.env[SHARED_BROWSER];
  return (shared ??= address === undefined ? launch(chromiumFlags) : chromium.connect(address));
}

async function empty({ context, page }: Visit, url: string): Promise<void> {
  const others = context.pages().filter((one) => one !== page);
  await Promise.all([...others.map((one) => one.close()), page.unrouteAll({ behavior: "ignoreErrors" })]);
  await page.goto(url + BLANK);
  await page.mouse.up();
  await page.mouse.move(-10, -10);
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await context.clearCookies();
}

export class Visitors {
  private visits: Visit[] = [];
  private readonly errors: string[] = [];
  private readonly browser: Promise<Browser>;
  private readonly url: string;
  private readonly fewPictures: boolean;
  private readonly own: boolean;

  /** @param flags command line of a separate browser; undefined: the shared browser */
  constructor(url: string, fewPictures: boolean, flags: readonly string[] | undefined) {
    this.url = url;
    this.fewPictures = fewPictures;
    this.own = flags !== undefined;
    this.browser = flags === undefined ? sharedBrowser() : launch(flags);
  }

  async visit(path: string, options: BrowserContextOptions = {}, way: Way = {}): Promise<Page> {
    const { through = this.url, prepare, animated = !this.fewPictures, first = false } = way;
    const { viewport = VIEWPORT, colorScheme = "light", reducedMotion = "no-preference", ...lasting } = options;
    const changed = through !== this.url || prepare !== undefined || options.storageState !== undefined;
    const kind = JSON.stringify([this.url, this.fewPictures, animated, lasting]);
    const at = changed || first || this.own ? -1 : waiting.findIndex((one) => one.kind === kind);
    const visit =
      waiting.splice(at, at < 0 ? 0 : 1)[0] ??
      (await this.open({ viewport, colorScheme, reducedMotion, ...lasting }, animated, changed ? undefined : kind));
    visit.path = path;
    visit.errors = this.errors;
    this.visits.push(visit);
    const { page } = visit;
    if (at >= 0) {
      if (viewport !== null) await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme, reducedMotion });
    }
    await prepare?.(page);
    await page.goto(through + path);
    return page;
  }

  private async open(options: BrowserContextOptions, animated: boolean, kind: string | undefined): Promise<Visit> {
    const context = await (await this.browser).newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript(noteToasts);
    if (this.fewPictures) {
      await context.addInitScript(drawFew);
      await context.addInitScript(drawPlainly);
    }
    if (!animated) await context.addInitScript(endAnimations);
    const page = await context.newPage();
    const visit: Visit = { context, page, path: undefined, kind: this.own ? undefined : kind, errors: [] };
    const note = (text: string): void => {
      if (visit.path !== undefined) visit.errors.push(`${visit.path}: ${text}`);
    };
    page.on("pageerror", ({ message }) => note(message));
    page.on("console", (message) => {
      const { url } = message.location();
      // The browser asks for it on its own, for an answer that is not a page, and reports it on the next one.
      if (message.type() === "error" && !url.endsWith("/favicon.ico")) note(`${message.text()} ${url}`.trim());
    });
    return visit;
  }

  takeErrors(): string[] {
    return this.errors.splice(0);
  }

  /** All visitors leave. */
  async leave(): Promise<void> {
    await Promise.all(
      this.visits.splice(0).map(async (visit) => {
        visit.path = undefined;
        if (visit.kind === undefined || visit.page.isClosed()) return visit.context.close();
        await empty(visit, this.url);
        waiting.push(visit);
      }),
    );
    const tooMany = waiting.splice(0, Math.max(0, waiting.length - MOST_WAITING));
    await Promise.all(tooMany.map(({ context }) => context.close()));
  }

  /** @param stays the server keeps running, so its pages are kept for visitors of other stages */
  async close(stays: boolean): Promise<void> {
    await this.leave();
    if (this.own) await (await this.browser).close();
    if (stays) return;
    const ended = waiting.filter(({ kind }) => (JSON.parse(kind!) as [string])[0] === this.url);
    for (const visit of ended) waiting.splice(waiting.indexOf(visit), 1);
    await Promise.all(ended.map(({ context }) => context.close()));
  }
}
