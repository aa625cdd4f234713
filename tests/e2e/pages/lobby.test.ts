/**
 * The lobby in a real browser: scenes, live rooms that appear without a reload, a new room with one click, and error
 * pages.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { forgetShifts, steadinessOf, watchSteadiness } from "../../../load-tests/visitors/steadiness.ts";
import { SCENES_DIR } from "../../integration/testServer.ts";
import { SIZES, wrong } from "../controls.ts";
import { drawn, noBrowser, openStage, PATIENCE_MS } from "../pageStage.ts";
import { useStage } from "../useStage.ts";
import { inLong } from "../../support/run/long.ts";
import { testFolder } from "../../support/testFolder.ts";

/** Runs in the page before its scripts: a browser without WebGL. */
function withoutWebGl(): void {
  for (const { prototype } of [HTMLCanvasElement, OffscreenCanvas]) {
    const { getContext } = prototype as HTMLCanvasElement;
    prototype.getContext = function (this: HTMLCanvasElement, kind: string, ...options: unknown[]) {
      return kind.startsWith("webgl") ? null : getContext.call(this, kind, ...options);
    } as typeof prototype.getContext;
  }
}

describe.skipIf(noBrowser)("lobby", () => {
  const reportDir = testFolder("report");
  const stage = useStage({ reportDir }, { fewPictures: true });

  test("shows every scene, and adds and removes rooms as they open and close", async () => {
    const page = await stage.visit("/", { viewport: { width: 1280, height: 900 } }, { prepare: watchSteadiness });
    await page.waitForSelector(".card");
    const { scenes } = (await (await fetch(`${stage.url}/api/scenes`)).json()) as {
      scenes: { id: string; title: string }[];
    };
    expect(scenes.length).toBeGreaterThanOrEqual(4);
    const shown = (): Promise<string[]> => page.locator(".card h3").allTextContents();
    expect((await shown()).slice(0, 3)).toEqual(["Dragon", "Bunny", "Drape"]);
    expect(await page.locator("section.live-rooms").isVisible()).toBe(false);
    expect(await page.locator(".to-live").isVisible()).toBe(false);
    // No link leads to a report that does not exist.
    expect(await page.locator("a.report").count()).toBe(0);

    const { name } = await stage.room("jelly-stack");
    const bot = await Bot.join(stage.url, name, { name: "Heron" });
    await page.waitForSelector(`a[data-room="${name}"]`, { timeout: PATIENCE_MS });
    expect(await page.locator(`a[data-room="${name}"] .count`).textContent()).toBe("1 person");
    expect(await page.textContent(".to-live")).toBe("Live rooms: 1");
    expect((await steadinessOf(page)).shifts).toEqual([]);
    // An empty room is not live.
    await bot.leave();
    await page.locator("section.live-rooms").waitFor({ state: "hidden", timeout: PATIENCE_MS });
    for (const group of ["soft", "cloth", "fluid", "lessons"]) {
      await page.check(`.chips input[value="${group}"]`);
      expect(await page.locator(".card:visible").count()).toBeGreaterThan(1);
    }
    await page.check('.chips input[value="all"]');
    // On a busy machine a shift can come so late after the click that the browser no longer relates them.
    await forgetShifts(page);
    expect(await page.locator(".card:visible").count()).toBe(scenes.length);
    // Pictures further down load only when scrolled to.
    await page.evaluate(() =>
      document.querySelectorAll<HTMLImageElement>(".card img").forEach((image) => (image.loading = "eager")),
    );
    await page.waitForFunction(() =>
      [...document.querySelectorAll<HTMLImageElement>(".card img")].every(
        (image) => image.complete && image.naturalWidth > 0,
      ),
    );
    expect((await shown()).sort()).toEqual(scenes.map(({ title }) => title).sort());
    await stage.shoot(page, "lobby");
    // Neither late content nor a room that opens and closes moves other elements.
    expect((await steadinessOf(page)).shifts).toEqual([]);
  });

  test("the body in the first screen can be pulled, in a room that all lobbies share and the list leaves out", async () => {
    const pages = await Promise.all([0, 1].map(() => stage.visit("/", { viewport: { width: 1000, height: 700 } })));
    const frames = await Promise.all(
      pages.map(async (page) => {
        await page.waitForSelector(".live-body.ready");
        return page.frames().find((frame) => frame.url().includes("/r/"))!;
      }),
    );
    const [{ name }, other] = (await Promise.all(
      frames.map((frame) => frame.evaluate(() => ({ name: window.pliant.room, member: window.pliant.member }))),
    )) as [{ name: string; member: number }, { name: string; member: number }];
    expect(other.name).toBe(name);
    const [page, seer] = [pages[0]!, frames[1]!];
    const box = (await page.locator(".live-body iframe").boundingBox())!;
    const at = await frames[0]!.evaluate(() => {
      for (let y = innerHeight / 2; y < innerHeight; y += 4)
        if (window.pliant.pick(innerWidth / 2, y)) return { x: innerWidth / 2, y };
      return undefined;
    });
    await page.mouse.move(box.x + at!.x, box.y + at!.y);
    await page.mouse.down();
    await page.mouse.move(box.x + at!.x + 40, box.y + at!.y - 30, { steps: 4 });
    await seer.waitForFunction(() => window.pliant.grabs().length === 1);
    await page.mouse.up();
    await seer.waitForFunction(() => window.pliant.grabs().length === 0);
    // The frame has no tools, and visitors of the lobby do not own its room.
    expect(await frames[0]!.locator(".toolbar").isVisible()).toBe(false);
    expect(stage.app.registry.list().map((room) => room.name)).toEqual([name]);
    expect(await page.locator("section.live-rooms").isVisible()).toBe(false);
    await stage.shoot(page, "lobby-body");
  });

  test("the main button opens a room of the body's scene", async () => {
    const page = await stage.visit("/");
    await page.click(".open");
    await page.waitForURL(/\/r\/./);
    await drawn(page);
    expect(await page.evaluate(() => [window.pliant.scene, window.pliant.room !== "welcome"])).toEqual([
      "jelly-stack",
      true,
    ]);
  });

  test("one click opens a room of that scene; a code or a pasted link joins it", async () => {
    const page = await stage.visit("/");
    await page.click('.card[data-scene="jelly-stack"]');
    await page.waitForURL(/\/r\/./);
    await drawn(page);
    expect(await page.evaluate(() => window.pliant.scene)).toBe("jelly-stack");
    // No section of the physics report is about this scene.
    expect(await page.locator("a.evidence").isVisible()).toBe(false);
    const { pathname } = new URL(page.url());
    const other = await stage.visit("/");
    for (const typed of [`https://example.org${pathname}?x=1`, pathname.slice("/r/".length)]) {
      await other.goto(stage.url);
      await other.fill(".join input", typed);
      await other.press(".join input", "Enter");
      await other.waitForURL(`**${pathname}`);
    }
    await drawn(other);
    await page.waitForFunction(() => document.querySelectorAll(".people li").length === 2);
    expect(await other.evaluate(() => window.pliant.room)).toBe(await page.evaluate(() => window.pliant.room));
  });

  test("with a report, a scene's section is one click away from its room and its card", async () => {
    await writeFile(join(reportDir, "index.html"), "<h1>measured</h1>");
    const { path } = await stage.room("stretched-cloth");
    const inside = await drawn(await stage.visit(path));
    const link = inside.locator("a.evidence");
    await link.waitFor();
    // The scene names its bodies, which it compares.
    expect(await inside.locator(".cost strong").allTextContents()).toEqual(["nu = 0.1", "nu = 0.3", "nu = 0.499"]);
    const [report] = await Promise.all([inside.waitForEvent("popup"), link.click()]);
    await report.waitForLoadState();
    expect(new URL(report.url()).pathname + new URL(report.url()).hash).toBe("/report#fig7");
    await stage.shoot(inside, "room-with-report");
    const lobby = await stage.visit("/");
    await lobby.check('.chips input[value="lessons"]');
    const card = lobby.locator('.measured:has(.card[data-scene="stretched-cloth"]) a.report');
    expect(await card.getAttribute("href")).toBe("/report#fig7");
    const materials = await stage.visit("/materials");
    await materials.waitForSelector('a[href="/report"]');
  });

  test("a link with a scene opens its room if it does not exist, and joins it if it does", async () => {
    const path = "/r/from-a-slide?scene=jelly-stack";
    const first = await drawn(await stage.visit(path));
    const second = await drawn(await stage.visit(path));
    expect(await first.evaluate(() => window.pliant.scene)).toBe("jelly-stack");
    await second.waitForFunction(() => document.querySelectorAll(".people li").length === 2);
    await stage.app.registry.remove("from-a-slide");
  });

  test("a link with an unknown scene says so", async () => {
    const page = await stage.visit("/r/from-a-typo?scene=jely-stack");
    await page.waitForSelector(".message h1");
    expect(await page.textContent(".message h1")).toBe("There is no such scene");
    // The browser logs the answer 404, and the page its error.
    expect(stage.takeErrors().every((error) => /404|SCENE_NOT_FOUND|scene/.test(error))).toBe(true);
  });

  test("a room that does not exist shows an error and the way back", async () => {
    const page = await stage.visit("/r/nobody-was-here");
    await page.waitForSelector(".message h1");
    expect(await page.textContent(".message h1")).toBe("There is no such room");
    await page.click(".message .button");
    await page.waitForSelector(".card");
  });

  test("phones: nothing is wider than the screen, and the first scene is in sight", async () => {
    const page = await stage.visit("/", {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
      colorScheme: "dark",
    });
    await page.waitForSelector(".card");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    const join = await page.locator(".join").boundingBox();
    expect(join!.y + join!.height).toBeLessThan(740);
    expect((await page.locator(".card").first().boundingBox())!.y).toBeLessThan(740);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(3 * 740);
    await stage.shoot(page, "lobby-phone-dark");
    for (const size of inLong([...SIZES], [SIZES[0], SIZES[3], SIZES[4]])) {
      const at = `${size.width}x${size.height}`;
      await page.setViewportSize(size);
      expect(await wrong(page, ".lobby", size.width < 1000), at).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), at).toBe(size.width);
      await page.evaluate(() => scrollTo(0, 0));
      await stage.shoot(page, `lobby-${at}`);
    }
  });

  test("without WebGL the room page says what is missing", async () => {
    const { path } = await stage.room("jelly-stack");
    const prepare = (page: Page): Promise<unknown> => page.addInitScript(withoutWebGl);
    const page = await stage.visit(path, {}, { prepare });
    await page.waitForSelector(".message h1");
    expect(await page.textContent(".message h1")).toBe("This browser cannot draw it");
  });
});

describe.skipIf(noBrowser)("a folder with an invalid scene", () => {
  test("a visitor on the server's computer sees which scene is invalid and why, and the others open as usual", async () => {
    const stage = await openStage({ scenesDir: SCENES_DIR });
    try {
      const page = await stage.visit("/");
      await page.waitForSelector(".broken");
      expect(await page.locator(".broken li").allInnerTexts()).toContainEqual(
        expect.stringMatching(/^invalid\.json\n.*\/bodies\/0\/material\/poissonsRatio: 0\.7/),
      );
      expect(await page.isVisible('.card[data-scene="cube"]')).toBe(true);
      await stage.shoot(page, "lobby-broken");
    } finally {
      await stage.close();
    }
  });
});
