/** The pages in other languages: German, whose words are long, and Arabic, which runs from right to left. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { german } from "../../../client/text/german.ts";
import { arabic } from "../../../client/text/arabic.ts";
import { findings, PANELS, PHONE_ONLY, tooWide, withAxe, wrong } from "../controls.ts";
import { ADMIN_TOKEN, drawn, noBrowser, toasted, until, PATIENCE_MS } from "../pageStage.ts";
import { useStage } from "../useStage.ts";
import { inLong } from "../../support/run/long.ts";

const NARROW = { width: 320, height: 568 };
const PHONE = { hasTouch: true, isMobile: true, viewport: NARROW };

describe.skipIf(noBrowser)("languages", () => {
  const stage = useStage({}, { fewPictures: true }, /404|401/);

  const written = (page: Page): Promise<{ lang: string; dir: string }> =>
    page.evaluate(() => ({ lang: document.documentElement.lang, dir: document.documentElement.dir }));

  test.each([
    ["de-AT", german, { lang: "de", dir: "ltr" }],
    ["ar-EG", arabic, { lang: "ar", dir: "rtl" }],
  ] as const)("the lobby uses the browser's language: %s", async (locale, texts, expected) => {
    const room = await stage.room("jelly-stack");
    const bot = await Bot.join(stage.url, room.name, { name: "Heron" });
    const page = await withAxe(await stage.visit("/", { locale, viewport: NARROW }));
    await page.waitForSelector(".rooms a");
    await page.waitForSelector(".card");
    expect(await written(page)).toEqual(expected);
    expect(await page.textContent(".live-rooms h2")).toBe(texts.lobbyLiveRooms);
    expect(await page.textContent(".lobby h1 em")).toBe(texts.lobbyHeroShared);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(NARROW.width);
    await stage.shoot(page, `lobby-${expected.lang}`);
    expect(await findings(page, PHONE_ONLY)).toEqual([]);
    await bot.leave();
    await stage.app.registry.remove(room.name);
  });

  test("the address sets the language for the whole visit; only that language and English are loaded", async () => {
    const page = await stage.visit("/?lang=es", { locale: "de" });
    await page.waitForSelector(".card");
    expect((await written(page)).lang).toBe("es");
    await page.goto(`${stage.url}/nope`);
    await page.waitForSelector("h1");
    expect(await page.textContent("h1")).toBe("Página no encontrada");
    const chunks = (): Promise<string[]> =>
      page.evaluate(() =>
        performance.getEntriesByType("resource").flatMap(({ name }) => /(german|spanish|arabic)/.exec(name)?.[1] ?? []),
      );
    expect(await chunks()).toEqual(["spanish"]);
    await page.goto(`${stage.url}/?lang=en`);
    await page.waitForSelector(".card");
    expect(await written(page)).toEqual({ lang: "en", dir: "ltr" });
    expect(await chunks()).toEqual([]);
  });

  test.each(inLong(["de", "ar"] as const, ["ar"] as const))(
    "a room's cards fit at 320 px, and events are reported: %s",
    async (lang) => {
      const texts = lang === "de" ? german : arabic;
      const address = `/r/in-${lang}?scene=put-in&lang=${lang}`;
      const page = await withAxe(await drawn(await stage.visit(address, PHONE)));
      expect((await written(page)).lang).toBe(lang);
      await page.waitForSelector(".access:not([hidden])", { state: "attached" });
      const guest = await Bot.join(stage.url, `in-${lang}`, { name: "Heron" });
      await until(page, () => document.querySelectorAll(".people .out").length === 1, undefined);
      expect(await wrong(page, ".room", true)).toEqual([]);
      await stage.shoot(page, `room-${lang}`);
      for (const [button, panel] of [[".more-tools", ".overflow"], [".people-button", ".people"], ...PANELS] as const) {
        if (!(await page.isVisible(button))) await page.click(".more-tools");
        await page.click(button);
        await page.waitForSelector(panel);
        expect(await wrong(page, panel, true), panel).toEqual([]);
        expect(await tooWide(page), panel).toEqual([]);
        await stage.shoot(page, `${panel.slice(1)}-${lang}`);
        await page.keyboard.press("Escape");
        await page.waitForSelector(panel, { state: "hidden" });
      }
      // Members with different languages each get messages in their own.
      guest.reset();
      const said = texts.startedAgain.replace("{name}", lang === "ar" ? "\u2068Heron\u2069" : "Heron");
      await toasted(page, said);
      expect(await findings(page, PHONE_ONLY)).toEqual([]);
      await guest.leave();
      await page.goto(`${stage.url}/r/in-${lang}/replay?lang=${lang}`);
      await page.waitForSelector(".replay input:not([disabled])", { timeout: PATIENCE_MS });
      expect(await wrong(page, ".room", true)).toEqual([]);
      expect(await tooWide(page)).toEqual([]);
      await stage.shoot(page, `replay-${lang}`);
      expect(await findings(await withAxe(page), PHONE_ONLY)).toEqual([]);
    },
  );

  test("the operators' page from right to left", async () => {
    await stage.room("jelly-stack");
    const page = await withAxe(await stage.visit("/admin?lang=ar"));
    await page.fill(".admin-login input", ADMIN_TOKEN);
    await page.press(".admin-login input", "Enter");
    await page.waitForSelector(".admin tbody[data-room]");
    await page.click(".admin .toggle");
    expect(await findings(page, PHONE_ONLY)).toEqual([]);
    await stage.shoot(page, "admin-ar");
    expect(await page.textContent("th[scope=col]")).toBe(arabic.columnRoom);
  });
});
