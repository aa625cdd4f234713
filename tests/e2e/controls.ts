/** Checks that every page must pass in a real browser: reachable controls, their size, and axe-core. */
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { PATIENCE_MS, until } from "./pageStage.ts";

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** Buttons of an owner's room page with the panels that they open. */
export const PANELS: readonly [button: string, panel: string][] = [
  [".tool.me", ".profile-panel"],
  ["[data-tool='reset']", ".reset-panel"],
  [".spares .tool", ".spares-panel"],
  ["[data-tool='chart']", ".stats"],
  ["[data-tool='help']", ".help"],
  [".tool.talk", ".talk-panel"],
  [".tool.share", ".share-panel"],
  ["[data-tool='camera']", ".capture-panel"],
  [".access .tool", ".access-panel"],
  [".tuning .tool", ".tuning-panel"],
];

/** A small phone, a phone, a phone on its side, a tablet, a desktop. */
export const SIZES = [
  { width: 320, height: 568 },
  { width: 390, height: 664 },
  { width: 640, height: 320 },
  { width: 768, height: 1024 },
  { width: 1920, height: 1080 },
] as const;

/** Controls that are unreachable or too small, each with the reason. @param touch fingers need 44 px */
export const wrong = (page: Page, within: string, touch: boolean): Promise<string[]> =>
  page.evaluate(
    ({ within, touch }) => {
      const found: string[] = [];
      const scrolls = (element: Element): boolean => {
        for (let at: Element | null = element; at; at = at.parentElement)
          if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)) return true;
        const { scrollHeight, clientHeight } = document.documentElement;
        return scrollHeight > clientHeight;
      };
      for (const root of document.querySelectorAll(within))
        for (const control of root.querySelectorAll<HTMLElement>("button, a, input, select, [tabindex='0']")) {
          if (!control.checkVisibility() || control.matches("canvas")) continue;
          const name = control.getAttribute("aria-label") ?? control.title ?? control.textContent;
          if (scrolls(control)) control.scrollIntoView({ block: "center" });
          const box = control.getBoundingClientRect();
          const { left, right, top, bottom, width, height } = box;
          if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight)
            found.push(`${name}: outside, ${[left, top, right, bottom].map(Math.round).join(" ")}`);
          const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
          if (!control.contains(hit)) found.push(`${name}: under ${hit?.className ?? "nothing"}`);
          const label = control.matches("[type=checkbox]") ? control.closest(".line")! : control;
          const target = label.getBoundingClientRect();
          if (touch && Math.min(target.width, target.height) < 43.9)
            found.push(`${name}: ${Math.round(width)} x ${Math.round(height)} px`);
        }
      return found;
    },
    { within, touch },
  );

/** Finds panels that scroll sideways. */
export const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll(".popover, .help, .stats, .people, .overflow, .deck, .topbar, .bring-dialog")]
      .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1)
      .map((element) => element.className),
  );

export const WIDTHS = [
  { width: 390, height: 664 },
  { width: 1280, height: 800 },
];

interface Look {
  widths?: readonly { width: number; height: number }[];
  schemes?: readonly ("light" | "dark")[];
  /** Uses each width with one theme only: the first with the first, the second with the second. */
  inTurns?: boolean;
  /** Selector of the part that changed since the whole page was checked; absent: the whole page. */
  within?: string;
}

/** A phone in the light theme: enough for checks that do not depend on colors and widths. */
export const PHONE_ONLY: Look = { widths: WIDTHS.slice(0, 1), schemes: ["light"] };

/** axe-core's findings on the page as it is now; by default at both widths in both themes. */
export async function findings(
  page: Page,
  { widths = WIDTHS, schemes = ["light", "dark"], inTurns = false, within }: Look = {},
): Promise<string[]> {
  const found: string[] = [];
  for (const [i, viewport] of widths.entries())
    for (const colorScheme of inTurns ? [schemes[i % schemes.length]!] : schemes) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const { violations } = await page.evaluate(
        (selector) => window.axe.run(selector ?? document, { resultTypes: ["violations"] }),
        within,
      );
      for (const { id, nodes } of violations)
        for (const { html, failureSummary } of nodes)
          found.push(`${viewport.width} ${colorScheme} ${id}: ${html.slice(0, 120)} ${failureSummary?.slice(0, 260)}`);
    }
  return found;
}

/** @returns the page with axe loaded */
export async function withAxe(page: Page): Promise<Page> {
  await page.evaluate(axe.source);
  return page;
}

/**
 * Sets the quality level as if pictures came too slowly, or quickly enough. Resolves when a picture has been drawn at
 * this level.
 */
export async function setQuality(page: Page, level: number): Promise<void> {
  const before = await page.evaluate((level) => {
    const view = window.pliant.view!;
    (view.stage as unknown as { applyQuality(level: number): void }).applyQuality(level);
    view.invalidate();
    return window.pliant.drawn;
  }, level);
  await until(page, (than) => window.pliant.drawn > than, before);
}

/** Distance by which the bodies exceed the free part of the window, px: negative inside. */
const over = (page: Page): Promise<{ above: number; below: number; left: number; right: number }> =>
  page.evaluate(() => {
    const positions = [...window.pliant.view!.shownPoints()];
    const seen = [];
    for (let i = 0; i < positions.length; i += 3)
      seen.push(window.pliant.project(positions.slice(i, i + 3) as [number, number, number])!);
    const bar = document.querySelector(".title")!.getBoundingClientRect();
    const low = [...document.querySelectorAll(".toolbar, .hint:not([hidden])")].map(
      (element) => element.getBoundingClientRect().top,
    );
    return {
      above: bar.bottom - Math.min(...seen.map(({ y }) => y)),
      below: Math.max(...seen.map(({ y }) => y)) - Math.min(...low),
      left: -Math.min(...seen.map(({ x }) => x)),
      right: Math.max(...seen.map(({ x }) => x)) - innerWidth,
    };
  });

/** Expects the bodies inside the free part of the window soon after a change. */
export const expectFramed = (page: Page, what = ""): Promise<void> =>
  expect
    .poll(async () => Object.entries(await over(page)).filter(([, px]) => px >= 0), {
      timeout: PATIENCE_MS,
      message: `over the edge ${what}`,
    })
    .toEqual([]);
