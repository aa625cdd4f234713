/**
 * The view shows all of a scene without a camera between the tools: on opening, after the window turns, and after
 * *Home*.
 */
import { describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { SCENES_DIR } from "../../integration/testServer.ts";
import { expectFramed } from "../controls.ts";
import { ADMIN_TOKEN, drawn, noBrowser, PATIENCE_MS, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

describe.skipIf(noBrowser)("framing", () => {
  const stage = useStage({ scenesDir: SCENES_DIR }, { fewPictures: true });
  /** With the project's own scenes. */
  const projects = useStage({}, { fewPictures: true });

  test("the bodies lie between the tools, and not behind the hint, at every size, and again after Home", async () => {
    const { path } = await stage.room("cube");
    const page = await drawn(await stage.visit(path));
    await until(page, () => window.pliant.frames().at(-1)?.still, undefined);
    await page.waitForSelector(".hint:not([hidden])");
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
  });

  test("a spawned body is brought into the picture", async () => {
    const { name, path } = await stage.room("spare");
    const page = await drawn(await stage.visit(path));
    const bot = await Bot.join(stage.url, name, {});
    const far: [number, number, number] = [1.5, 0.15, 0];
    const at = (): Promise<number> => page.evaluate((place) => window.pliant.project(place)!.x - innerWidth, far);
    expect(await at()).toBeGreaterThan(0);
    bot.spawn(1, far);
    await until(page, () => !window.pliant.absent.includes(1), undefined);
    await expect.poll(at, { timeout: PATIENCE_MS }).toBeLessThan(0);
    await expectFramed(page);
    await stage.shoot(page, "framing-put-in");
    await bot.leave();
  });

  test("a tray stays whole in a wide picture when a body is put down far beside it", async () => {
    const { name, path } = await projects.room("put-in");
    const page = await drawn(await projects.visit(path, { viewport: { width: 1440, height: 900 } }));
    const bot = await Bot.join(projects.url, name, {});
    const far: [number, number, number] = [0.95, 0.1, -0.62];
    expect(await page.evaluate((at) => window.pliant.project(at)!.x - innerWidth, far)).toBeGreaterThan(0);
    bot.spawn(1, far);
    await until(page, (at) => window.pliant.project(at)!.x < innerWidth, far);
    expect(await page.evaluate(() => window.pliant.project([-0.3, 0.03, 0.3])!.x)).toBeGreaterThan(0);
    await projects.shoot(page, "framing-tray");
    await bot.leave();
  });

  test("a room in slow motion shows this and the reason to visitors and operators, on a phone too", async () => {
    const { name, path } = await stage.room("heavy");
    const page = await drawn(await stage.visit(path));
    // Four times its budget, and more on a slow machine.
    await until(page, () => document.querySelector(".slow:not([hidden])"), undefined);
    const badge = page.locator(".slow");
    const percent = Number(/^(\d+) %/.exec((await badge.textContent())!)?.[1]);
    expect(percent).toBeLessThan(95);
    expect(await badge.getAttribute("title")).toMatch(/^Slow motion: much to compute\. Numbers \(O\)$/);
    await stage.shoot(page, "slow-motion");
    await badge.click();
    await page.waitForSelector(".stats:not([hidden])");
    const admin = await stage.visit("/admin", { viewport: { width: 1280, height: 900 } });
    await admin.fill(".admin-login input", ADMIN_TOKEN);
    await admin.press(".admin-login input", "Enter");
    const heavy = admin.locator(`tbody[data-room="${name}"] .badge`, { hasText: "scene too heavy" });
    await heavy.waitFor({ timeout: PATIENCE_MS });
    expect(await heavy.textContent()).toMatch(/^scene too heavy: \d+\.\d\d ms per tick, 4\.17 ms available$/);
    await stage.shoot(admin, "admin-heavy");
    await admin.setViewportSize({ width: 390, height: 844 });
    expect(await admin.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await stage.shoot(admin, "admin-heavy-phone");
  });

  test("an unknown address shows a page with a way out", async () => {
    const page = await stage.visit("/nope");
    await page.waitForSelector("main.message");
    expect(await page.textContent("h1")).toBe("Page not found");
    // The browser's own error message for the response.
    expect(stage.takeErrors().every((error) => /404/.test(error))).toBe(true);
  });
});
