/**
 * Pictures in the lobby that the server paints: of rooms in their current state, and of scenes without a picture file.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { SCENES_DIR } from "../../integration/testServer.ts";
import { noBrowser, until, PATIENCE_MS } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

/** A picture's opacities and colors, as decoded by the browser. */
const pixelsOf = (page: Page, room: string): Promise<number[]> =>
  page.evaluate((room) => {
    const image = document.querySelector<HTMLImageElement>(`a[data-room="${room}"] img`)!;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext("2d")!;
    context.drawImage(image, 0, 0);
    return [...context.getImageData(0, 0, canvas.width, canvas.height).data];
  }, room);

/** Waits until the room has a picture of the server other than `before`. @returns its address */
async function shown(page: Page, room: string, before = ""): Promise<string> {
  await until(
    page,
    ([room, before]) => {
      const image = document.querySelector<HTMLImageElement>(`a[data-room="${room}"] img.live`);
      return image !== null && image.src !== before && image.complete && image.naturalWidth === 240;
    },
    [room, before] as const,
  );
  return (await page.locator(`a[data-room="${room}"] img`).getAttribute("src"))!;
}

describe.skipIf(noBrowser)("the lobby", () => {
  const stage = useStage({}, { fewPictures: true });

  test("shows the current state of a room, and its state after a pull; a locked room shows its scene", async () => {
    const { name } = await stage.room("jelly-stack");
    const locked = await stage.room("bunny");
    // Only rooms with people are live.
    const watchers = await Promise.all([name, locked.name].map((room) => Bot.join(stage.url, room, { name: "Owl" })));
    await stage.app.registry.get(locked.name).access.change({ locked: true });
    const page = await stage.visit("/", { viewport: { width: 1280, height: 900 } });
    // The list is below the scenes, and pictures load when they are seen.
    await page.locator(`a[data-room="${name}"]`).scrollIntoViewIfNeeded();
    let address = await shown(page, name);
    const before = await pixelsOf(page, name);
    await stage.shoot(page, "lobby-live");

    const bot = await Bot.join(stage.url, name, { name: "Heron" });
    await bot.frames(1);
    bot.grab(1, { body: 2, triangle: 0, u: 0.3, v: 0.3 }, [0.4, 0.5, 0.3]);
    const [x] = bot.center(2);
    await bot.until(() => Math.hypot(bot.center(2)[0] - x) > 0.1, "the stack is pulled over", PATIENCE_MS);
    // A picture in progress may show the earlier state.
    await expect
      .poll(
        async () => {
          address = await shown(page, name, address);
          const now = await pixelsOf(page, name);
          return now.filter((value, i) => Math.abs(value - before[i]!) > 32).length / now.length;
        },
        { timeout: PATIENCE_MS },
      )
      .toBeGreaterThan(0.01);
    await stage.shoot(page, "lobby-live-pulled");
    const image = page.locator(`a[data-room="${locked.name}"] img`);
    expect(await image.getAttribute("src")).toBe("/thumbnails/bunny.jpg");

    // The picture stays when the list is refreshed, and disappears with its room.
    await bot.leave();
    await page.locator(`a[data-room="${name}"] .count`, { hasText: "1 person" }).waitFor();
    expect(await page.locator(`a[data-room="${name}"] img.live`).count()).toBe(1);
    await stage.app.registry.remove(name);
    await page.locator(`a[data-room="${name}"]`).waitFor({ state: "detached" });
    await Promise.all(watchers.map((watcher) => watcher.leave()));
  });
});

describe.skipIf(noBrowser)("custom scenes", () => {
  const stage = useStage({ scenesDir: SCENES_DIR, prewarm: ["cube", "sheet"] }, { fewPictures: true });

  test("have a picture once they are built, on a phone too", async () => {
    await stage.app.warm;
    const { name } = await stage.room("cube");
    const watcher = await Bot.join(stage.url, name, { name: "Owl" });
    const page = await stage.visit("/", { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await page.locator(`a[data-room="${name}"]`).scrollIntoViewIfNeeded();
    await shown(page, name);
    const picture = page.locator('.card[data-scene="cube"] .picture img');
    await picture.scrollIntoViewIfNeeded();
    await until(
      page,
      () => document.querySelector<HTMLImageElement>('.card[data-scene="cube"] .picture img')?.naturalWidth === 480,
      null,
    );
    expect(await page.locator('.card[data-scene="stuck"] .picture img.placeholder').count()).toBe(1);
    await stage.shoot(page, "lobby-own-card");
    await page.evaluate(() => scrollTo(0, 0));
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await stage.shoot(page, "lobby-own");
    await watcher.leave();
  });
});
