/**
 * Every control of the room page and of the replay page can be reached on any screen. It lies in the window or in a
 * scrollable element, nothing covers it, and for touch it has 44 px.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { steadinessOf, watchSteadiness } from "../../../load-tests/visitors/steadiness.ts";
import { PANELS, SIZES, tooWide, wrong } from "../controls.ts";
import { drawn, noBrowser, openStage, press, until, type E2e, PATIENCE_MS } from "../pageStage.ts";
import { inLong } from "../../support/run/long.ts";

const PHONE = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 664 } };

/** Height of the picture's middle under the physics panel, px. On phones the panel takes under half of the page. */
const hidden = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const picture = document.querySelector("canvas.view")!.getBoundingClientRect();
    const panel = document.querySelector(".tuning-panel")!.getBoundingClientRect();
    const middle = picture.left + picture.width / 2;
    const beside = panel.right <= middle || panel.left >= middle;
    const height = beside ? 0 : Math.max(0, picture.bottom - panel.top);
    return panel.height > 0.46 * innerHeight && !beside ? panel.height : Math.round(height);
  });

describe.skipIf(noBrowser)("every panel on every screen", () => {
  let stage: E2e;
  beforeAll(async () => {
    stage = await openStage({}, { fewPictures: true });
  });
  afterAll(() => stage?.close());

  test("an owner reaches every control of the room page", async () => {
    const page = await drawn(await stage.visit("/r/screens?scene=put-in", PHONE, { prepare: watchSteadiness }));
    await page.waitForSelector(".access:not([hidden])", { state: "attached" });
    const guest = await Bot.join(stage.url, "screens");
    await until(page, () => document.querySelectorAll(".people .out").length === 1, undefined);
    expect((await steadinessOf(page)).shifts).toEqual([]);
    // The whole remark, not a line of it.
    const lines = page.locator(".title .notice:visible").evaluate((text) => text.scrollHeight - text.clientHeight);
    expect(await lines).toBeLessThanOrEqual(1);
    for (const size of inLong(SIZES.slice(0, 4), [SIZES[0], SIZES[2]])) await lookAtAll(page, size, true);
    // The same owner on a desktop.
    const desk = await stage.visit("/r/screens", { storageState: await page.context().storageState() });
    await page.close();
    await drawn(desk);
    await until(desk, () => document.querySelectorAll(".people .out").length === 1, undefined);
    await cardsStandAboveTools(desk);
    await lookAtAll(desk, SIZES[4], false);
    await guest.leave();
    await projects(desk);
    expect(stage.takeErrors()).toEqual([]);
  });

  test("the replay page's controls are in reach", async () => {
    const replay = await stage.visit("/r/screens/replay", PHONE, { prepare: watchSteadiness });
    await replay.waitForSelector(".replay input:not([disabled])", { timeout: PATIENCE_MS });
    // The text of a waiting message changes, and nothing shifts.
    expect((await steadinessOf(replay)).shifts).toEqual([]);
    for (const size of SIZES) {
      const at = `replay-${size.width}x${size.height}`;
      await replay.setViewportSize(size);
      expect(await wrong(replay, ".room", true), at).toEqual([]);
      expect(await tooWide(replay), at).toEqual([]);
      await stage.shoot(replay, at);
    }
    expect(stage.takeErrors()).toEqual([]);
  });

  /** A viewer in the last row reads the same address as in the share panel. */
  async function projects(page: Page): Promise<void> {
    await page.click(".tool.share");
    const { url } = (await (await fetch(`${stage.url}/api/address`)).json()) as { url: string | null };
    expect(await page.getAttribute(".share-panel .address", "href")).toBe(`${url ?? stage.url}/r/screens`);
    await page.getByRole("button", { name: "Open on a big screen" }).click();
    await page.waitForSelector(".share-panel.projected");
    const { width, height } = SIZES[4];
    expect(await page.locator(".share-panel").boundingBox()).toEqual({ x: 0, y: 0, width, height });
    expect((await page.locator(".share-panel .qr svg").boundingBox())!.height).toBeGreaterThan(height / 2);
    expect(await wrong(page, ".share-panel", false)).toEqual([]);
    await stage.shoot(page, "projected");
    await page.click(".share-panel .close");
    await page.waitForSelector(".share-panel", { state: "hidden" });
  }

  async function lookAtAll(page: Page, size: (typeof SIZES)[number], touch: boolean): Promise<void> {
    const at = `${size.width}x${size.height}`;
    await page.setViewportSize(size);
    expect(await wrong(page, ".room", touch), at).toEqual([]);
    await stage.shoot(page, `room-${at}`);
    for (const [button, panel] of [
      [".more-tools", ".overflow"],
      [".people-button", ".people"],
    ] as const)
      if (await page.isVisible(button)) await lookAt(page, button, panel, at, touch);
    for (const [button, panel] of PANELS) await lookAt(page, button, panel, at, touch);
  }

  /** A card of a tool in the menu stands on the tools, whole, and not where the menu was. */
  async function cardsStandAboveTools(page: Page): Promise<void> {
    await page.setViewportSize({ width: 960, height: 700 });
    for (const [button, panel] of PANELS) {
      if (!(await page.locator(`.overflow ${button}`).count()) || /stats|help|tuning/.test(panel)) continue;
      await press(page, button);
      await page.waitForSelector(panel);
      const [gap, cut] = await page.evaluate((panel) => {
        const card = document.querySelector(panel)!;
        const { top, bottom } = card.getBoundingClientRect();
        const gap = document.querySelector(".more-tools")!.getBoundingClientRect().top - bottom;
        return [gap, top < 0 || card.scrollHeight > card.clientHeight + 1];
      }, panel);
      expect([gap > 0 && gap < 20, cut], panel).toEqual([true, false]);
      await page.keyboard.press("Escape");
      await page.waitForSelector(panel, { state: "hidden" });
    }
  }

  async function lookAt(page: Page, button: string, panel: string, at: string, touch: boolean): Promise<void> {
    if (!(await page.isVisible(button))) await page.click(".more-tools");
    await page.click(button);
    await page.waitForSelector(panel);
    expect(await wrong(page, panel, touch), `${panel} ${at}`).toEqual([]);
    expect(await tooWide(page), `${panel} ${at}`).toEqual([]);
    if (panel === ".tuning-panel") expect(await hidden(page), at).toBe(0);
    await stage.shoot(page, `${panel.slice(1)}-${at}`);
    await page.keyboard.press("Escape");
    await page.waitForSelector(panel, { state: "hidden" });
  }
});
