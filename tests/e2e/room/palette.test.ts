/** The palette on real pages: an owner gives a room objects, and a guest adds one of them. */
import { describe, expect, test } from "vitest";
import { findings, PHONE_ONLY, withAxe } from "../controls.ts";
import { drawn, noBrowser, press, toasted, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

describe.skipIf(noBrowser)("the palette", () => {
  const stage = useStage({}, { fewPictures: true });

  test("an owner gives a room objects in its language; both pages return, and a guest adds one", async () => {
    const viewport = { width: 1440, height: 900 };
    const owner = await withAxe(await drawn(await stage.visit("/r/fitted?scene=jelly-stack", { viewport })));
    const guest = await drawn(await stage.visit("/r/fitted", { viewport, locale: "de-DE" }));
    expect(await guest.locator(".spares").isVisible()).toBe(false);
    await press(owner, ".tuning .tool");
    await owner.getByRole("button", { name: "Objects to add" }).click();
    expect(await findings(owner, PHONE_ONLY)).toEqual([]);
    await owner.getByRole("button", { name: "Start again with objects" }).click();
    await toasted(owner, /Choose Add/);
    const boxes = guest.locator(".spares-panel [data-body]");
    await boxes.first().waitFor({ state: "attached" });
    expect(await boxes.count()).toBe(13);
    expect(await boxes.first().textContent()).toContain("weicher Kasten: Wackelpudding");

    await guest.waitForSelector(".loading.gone", { state: "attached" });
    const body = await guest.evaluate(() => window.pliant.absent[0]!);
    await press(guest, ".spares .tool");
    await guest.click(`.spares-panel [data-body="${body}"]`);
    const at = (await guest.evaluate(() => window.pliant.project([0.3, 0, 0.3])))!;
    await guest.mouse.click(at.x, at.y);
    await until(owner, (added) => !window.pliant.absent.includes(added), body);

    // Another color, surface and text: every page shows them, also one that comes later.
    await press(guest, ".spares .tool");
    await guest.click(`.spares-panel [data-body="${body}"] + .dress`);
    const dialog = guest.getByRole("dialog");
    await dialog.locator("#dress-color").fill("#2e86ab");
    await dialog.locator("#dress-finish").selectOption("metal");
    await dialog.locator("#dress-text").fill("  Zoë’s   box ");
    await stage.shoot(guest, "palette-dress");
    await dialog.locator("#dress-text").press("Enter");
    const dressed = `.spares-panel [data-body="${body}"] .swatch[style*="#2e86ab"]`;
    const late = await drawn(await stage.visit("/r/fitted", { viewport }));
    for (const page of [owner, guest, late]) {
      await page.waitForSelector('.sign:text-is("Zoë’s box")');
      await page.waitForSelector(dressed, { state: "attached" });
    }
    await until(late, (one) => window.pliant.view?.bodies[one]?.color.getHexString() === "2e86ab", body);
    await toasted(owner, /Zoë’s box/);
    await stage.shoot(owner, "palette");
    await press(owner, ".spares .tool");
    await owner.click(`.spares-panel [data-body="${body}"] + .dress`);
    expect(await findings(owner, PHONE_ONLY)).toEqual([]);
    await owner.getByRole("button", { name: "As in the scene" }).click();
    for (const page of [owner, guest, late]) {
      await page.waitForSelector(".sign", { state: "detached" });
      await page.waitForSelector(dressed, { state: "detached" });
    }
    await press(guest, ".spares .tool");
    await guest.click(`.spares-panel [data-body="${body}"]`);
    await until(owner, (added) => window.pliant.absent.includes(added), body);
  });
});
