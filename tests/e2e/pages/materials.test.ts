/**
 * The page that explains material parameters: it converts pascals to Hz and mm, a measured ruler to pascals, and
 * reports wrong inputs.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { findings, PHONE_ONLY, SIZES, withAxe, wrong } from "../controls.ts";
import { noBrowser, toasted } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

/** A number without its unit. */
const shown = async (page: Page, id: string): Promise<number> =>
  Number.parseFloat((await page.textContent(`#${id}`))!.replaceAll(",", ""));

const problems = (page: Page): Promise<string[]> => page.locator(".problem:visible").allTextContents();

/** A steel ruler, 30 cm of it over the table's edge. */
async function clampRuler(page: Page): Promise<void> {
  const numbers = { modulus: "2.1e11", density: "7850", ratio: "0.3", length: "30", height: "0,1" };
  for (const [id, text] of Object.entries(numbers)) await page.fill(`#${id}`, text);
}

describe.skipIf(noBrowser)("materials", () => {
  const stage = useStage({}, { fewPictures: true });

  test("reached from the lobby: pascals give Hz and a sag; the ruler's mm and counted swings give pascals", async () => {
    const lobby = await stage.visit("/", { viewport: { width: 1280, height: 900 } });
    await lobby.click('footer a[href="/materials"]');
    await lobby.waitForSelector(".materials svg");
    await clampRuler(lobby);
    expect(await shown(lobby, "wobble")).toBeCloseTo(9.28, 2);
    expect(await shown(lobby, "swings")).toBeCloseTo(92.8, 1);
    expect(await shown(lobby, "sag")).toBeCloseTo(4.45, 2);
    expect(await lobby.locator(".notes p").count()).toBe(0);
    expect(await lobby.textContent(".scene")).toBe(
      '"material": { "youngsModulus": 210000000000, "density": 7850, "poissonsRatio": 0.3 }',
    );
    // Another unit shows the same length.
    await lobby.selectOption("#unit", "m");
    expect([await lobby.inputValue("#length"), await lobby.inputValue("#height")]).toEqual(["0.3", "0.001"]);
    expect(await shown(lobby, "sag")).toBeCloseTo(4.45, 2);

    await stage.shoot(lobby, "materials");

    await lobby.fill("#measured", "8.9");
    expect(await lobby.textContent(".answer .button:visible")).toBe("Use 105\u00a0GPa");
    await lobby.click(".answer .button:visible");
    expect(await lobby.inputValue("#modulus")).toBe("1.05e11");
    expect(await shown(lobby, "sag")).toBeCloseTo(8.9, 1);
    await lobby.fill("#measured", "");
    await lobby.fill("#counted", "92.8");
    await lobby.click(".answer .button:visible");
    expect(await shown(lobby, "swings")).toBeCloseTo(92.8, 0);
    expect(await lobby.inputValue("#modulus")).toBe("2.1e11");
    // Half of the height after 40 swings: ln 2 / (2 pi^2 9.28 40).
    await lobby.fill("#halved", "40");
    expect(await shown(lobby, "retardation")).toBeCloseTo(0.0946, 4);
    expect(await lobby.textContent(".scene")).toMatch(/"retardationTime": 0\.0000946 }$/);
    await lobby.click(".copied .button");
    await toasted(lobby, /^(Copied|"material": )/);
  });

  test("a wrong input shows the field, the value and the limit, and does not affect other fields", async () => {
    const page = await stage.visit("/materials");
    await page.waitForSelector(".materials svg");
    const bounce = await shown(page, "bounce");
    expect(await problems(page)).toEqual([]);
    await page.fill("#height", "11");
    expect(await problems(page)).toEqual([
      "Height of the beam: 11 is out of range. The range is 0.001\u00a0cm to 10\u00a0cm.",
    ]);
    expect(await page.textContent("#wobble")).toBe("–");
    expect(await page.locator(".to-scale svg").count()).toBe(0);
    expect(await shown(page, "bounce")).toBe(bounce);
    expect(await page.getAttribute("#height", "aria-invalid")).toBe("true");
    await page.fill("#height", "1");
    for (const [text, said] of [
      ["", /^Density is empty\. It takes a number from 0\.1\u00a0kg\/m³ to 100,000\u00a0kg\/m³\.$/],
      ["-5", /^Density: -5 is out of range\. /],
      ["0", /^Density: 0 is out of range\. /],
      ["1e9", /^Density: 1e9 is out of range\. /],
      ["heavy", /^Density: “heavy” is not a number\. .* to 100,000\u00a0kg\/m³\.$/],
    ] as const) {
      await page.fill("#density", text);
      expect(await problems(page)).toEqual([expect.stringMatching(said)]);
    }
    await page.fill("#density", "930");
    await page.fill("#measured", "100");
    expect(await problems(page)).toEqual([
      expect.stringMatching(/^Measured sag of the end: 100 is out of range\. .* to 99\.1\u00a0mm\.$/),
    ]);
    await page.fill("#measured", "9");
    expect(await problems(page)).toEqual([]);
    expect(await shown(page, "wobble")).toBeGreaterThan(1);
    expect(await page.locator(".to-scale svg").count()).toBe(1);
  });

  test("values outside the formulas' range are reported", async () => {
    const page = await stage.visit("/materials");
    await page.click('.chips .button:has-text("jelly")');
    expect(await page.textContent(".beam-section .notes")).toMatch(/tenth of the length.*it gives 1,0\d\d\u00a0mm/);
    expect(await page.getAttribute('.chips .button:has-text("jelly")', "aria-pressed")).toBe("true");
    await page.fill("#modulus", "100");
    expect(await page.textContent(".beam-section .notes")).toMatch(/straight down/);
    await page.fill("#modulus", "1e9");
    await page.fill("#height", "3");
    expect(await page.textContent(".beam-section .notes")).toMatch(/short for its height\. .* 7 %/);
  });

  test("accessible: themes, small screens, touch, from right to left", async () => {
    const page = await withAxe(await stage.visit("/materials", { hasTouch: true, isMobile: true, viewport: SIZES[0] }));
    await page.waitForSelector(".materials svg");
    await page.fill("#height", "x");
    await page.fill("#measured", "5");
    await page.fill("#height", "1");
    await page.fill("#edge", "");
    for (const viewport of SIZES) {
      await page.setViewportSize(viewport);
      expect(await wrong(page, ".materials", true), String(viewport.width)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
    }
    await page.click('.chips .button:has-text("jelly")');
    await page.emulateMedia({ colorScheme: "dark" });
    await stage.shoot(page, "materials-dark");
    // accessible.test.ts checks whole pages in both themes.
    expect(await findings(page, PHONE_ONLY)).toEqual([]);
    const arabic = await withAxe(await stage.visit("/materials?lang=ar", { viewport: SIZES[0] }));
    await arabic.waitForSelector(".materials svg");
    expect(await arabic.evaluate(() => document.documentElement.scrollWidth)).toBe(SIZES[0].width);
    expect(await findings(arabic, PHONE_ONLY)).toEqual([]);
    await stage.shoot(arabic, "materials-ar");
  });
});
