/** A scene without a camera is seen whole between the tools: when it opens, when the window turns, by *Home*. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bot } from "../../load-tests/bot.ts";
import { expectFramed } from "./controls.ts";
import { drawn, noBrowser, openStage, PATIENCE_MS, until, type E2e } from "./stage.ts";

describe.skipIf(noBrowser)("framing", () => {
  let stage: E2e;
  beforeAll(async () => {
    const scenesDir = fileURLToPath(new URL("../integration/scenes", import.meta.url));
    stage = await openStage({ scenesDir }, { fewPictures: true });
  });
  afterAll(() => stage?.close());

  test("the bodies lie between the tools at every size, and again after Home", async () => {
    const { path } = await stage.room("cube");
    const page = await drawn(await stage.visit(path));
    await until(page, () => window.pliant.frames().at(-1)?.still, undefined);
    for (const [width, height] of [
      [390, 664],
      [640, 320],
      [1200, 700],
    ] as const) {
      await page.setViewportSize({ width, height });
      await until(page, (wide) => document.querySelector("canvas")!.clientWidth === wide, width);
      await expectFramed(page, `at ${width}`);
      await stage.shoot(page, `framing-${width}`);
    }
    const before = await page.evaluate(() => window.pliant.project([0, 0, 0])!);
    await page.mouse.move(30, 350);
    await page.mouse.down();
    await page.mouse.move(230, 390, { steps: 4 });
    await page.mouse.up();
    await until(page, ({ x }) => Math.abs(window.pliant.project([0, 0, 0.1])!.x - x) > 5, before);
    await page.keyboard.press("h");
    await expectFramed(page);
    expect(stage.takeErrors()).toEqual([]);
  });

  test("what is put in beside them comes into the picture", async () => {
    const { name, path } = await stage.room("spare");
    const page = await drawn(await stage.visit(path));
    const bot = await Bot.join(stage.url, name, {});
    const far: [number, number, number] = [1.5, 0.15, 0];
    const at = (): Promise<number> => page.evaluate((place) => window.pliant.project(place)!.x - innerWidth, far);
    expect(await at()).toBeGreaterThan(0);
    bot.spawn(1, far);
    await until(page, () => !window.pliant.waiting.includes(1), undefined);
    await expect.poll(at, { timeout: PATIENCE_MS }).toBeLessThan(0);
    await expectFramed(page);
    await stage.shoot(page, "framing-put-in");
    await bot.leave();
    expect(stage.takeErrors()).toEqual([]);
  });

  test("a room in slow motion says so, and why", async () => {
    const { path } = await stage.room("heavy");
    const page = await drawn(await stage.visit(path));
    // four times the time that it has, and more on a slow machine
    await until(page, () => document.querySelector(".slow:not([hidden])"), undefined);
    const badge = page.locator(".slow");
    const percent = Number(/^(\d+) %/.exec((await badge.textContent())!)?.[1]);
    expect(percent).toBeLessThan(95);
    expect(await badge.getAttribute("title")).toMatch(/^Slow motion: .*(equations|solv|calculat).*\. Numbers \(O\)$/);
    await stage.shoot(page, "slow-motion");
    await badge.click();
    await page.waitForSelector(".stats:not([hidden])");
    expect(stage.takeErrors()).toEqual([]);
  });

  test("an address that leads nowhere shows a page with the way out", async () => {
    const page = await stage.visit("/nope");
    await page.waitForSelector("main.message");
    expect(await page.textContent("h1")).toBe("Nothing is here");
    // the browser's own word for the answer
    expect(stage.takeErrors().every((error) => /404/.test(error))).toBe(true);
  });
});
