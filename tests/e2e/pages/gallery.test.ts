/** The gallery: an owner saves a room's scene, and visitors open and remix it; its owner and operators delete it. */
import { describe, expect, test } from "vitest";
import { findings, PHONE_ONLY, SIZES, withAxe, wrong } from "../controls.ts";
import { ADMIN_TOKEN, drawn, noBrowser, press, toasted } from "../pageStage.ts";
import { useStage } from "../useStage.ts";
import { inLong } from "../../support/run/long.ts";

const save = ".bring-dialog button[type=submit]";

describe.skipIf(noBrowser)("the gallery", () => {
  const stage = useStage({}, { alone: true, fewPictures: true });

  test("a room's scene is saved, opened, remixed, renamed and deleted; an operator deletes the remix", async () => {
    const owner = await stage.visit("/r/first?scene=jelly-stack", { viewport: { width: 1440, height: 900 } });
    await drawn(owner);
    await press(owner, ".tuning .tool");
    await owner.getByRole("button", { name: "Save in the gallery" }).click();
    await owner.fill("#saved-title", "\u200b");
    await owner.click(save);
    expect(await owner.textContent(".bring-dialog .problem:visible")).toBeTruthy();
    expect(stage.takeErrors()).toEqual([expect.stringContaining("status of 400")]);
    await owner.fill("#saved-title", "Tower <b>of</b> jelly");
    await owner.click(save);
    await toasted(owner, /is in the gallery/);
    await owner.waitForSelector(".bring-dialog", { state: "detached" });

    const guest = await stage.visit("/", { viewport: { width: 1440, height: 900 } });
    await guest.click('footer a[href="/gallery"]');
    await guest.waitForSelector('.saved li:has-text("Tower <b>of</b> jelly")');
    await guest.waitForFunction(() => (document.querySelector(".saved img") as HTMLImageElement).naturalWidth === 240);
    expect(await guest.locator(".saved .danger").count()).toBe(0);
    await guest.getByRole("button", { name: "New room: Tower <b>of</b> jelly" }).click();
    await guest.waitForURL(/\/r\//);
    await drawn(guest);
    await press(guest, ".tuning .tool");
    await guest.getByRole("button", { name: "Save in the gallery" }).click();
    expect(await guest.inputValue("#saved-title")).toBe("Tower <b>of</b> jelly");
    await guest.fill("#saved-title", "Remix");
    await guest.click(save);
    await toasted(guest, /Remix is in the gallery/);

    await owner.goto(`${stage.url}/gallery`);
    await owner.waitForSelector('.saved li:has-text("Made from Tower <b>of</b> jelly")');
    expect(await owner.locator(".saved .danger").count()).toBe(1);
    // the page has its own style sheets, also without a visit to the lobby
    expect(await owner.locator("h1").evaluate((h1) => h1.getBoundingClientRect().left)).toBeGreaterThan(16);
    await owner.click('[data-action="rename"]');
    await owner.fill("#saved-title", "Tower");
    await owner.click(save);
    await owner.waitForSelector('.saved li:has-text("Made from Tower") >> text=Remix');
    await stage.shoot(owner, "gallery");
    await owner.click(".saved .danger");
    await owner.click(".saved .danger");
    await owner.waitForFunction(() => document.querySelectorAll(".saved li").length === 1);

    const admin = await stage.visit("/admin");
    await admin.fill("input[name=token]", ADMIN_TOKEN);
    await admin.click("button[type=submit]");
    const listed = admin.locator('[data-saved]:has-text("Remix")');
    await listed.locator(".danger").click();
    await listed.locator(".danger").click();
    await listed.waitFor({ state: "detached" });
    await owner.reload();
    await owner.waitForSelector('.none:has-text("No scene is saved yet")');
  });

  test("accessible: themes, small screens, touch, from right to left", async () => {
    const owner = await stage.visit("/r/second?scene=drape", { hasTouch: true, isMobile: true, viewport: SIZES[0] });
    await drawn(owner);
    await press(owner, ".tuning .tool");
    await owner.getByRole("button", { name: "Save in the gallery" }).click();
    await owner.fill("#saved-title", "A title without a space ".repeat(4).replaceAll(" ", "").slice(0, 80));
    await owner.click(save);
    await toasted(owner, /is in the gallery/);
    await owner.goto(`${stage.url}/gallery`);
    const page = await withAxe(owner);
    await page.waitForSelector(".saved li");
    for (const viewport of inLong([...SIZES], [SIZES[0], SIZES[2], SIZES[4]])) {
      await page.setViewportSize(viewport);
      expect(await wrong(page, ".gallery", true), String(viewport.width)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
    }
    expect(await findings(page, PHONE_ONLY)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    await stage.shoot(page, "gallery-dark");
    expect(await findings(page, PHONE_ONLY)).toEqual([]);
    await page.click('[data-action="rename"]');
    expect(await findings(page, PHONE_ONLY)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.goto(`${stage.url}/gallery?lang=ar`);
    await page.waitForSelector(".saved li");
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    await stage.shoot(page, "gallery-ar");
  });
});
