/** The palette on real pages: an owner gives a room objects, and a guest adds one of them. */
import { describe, expect, test } from "vitest";
import { findings, PHONE_ONLY, withAxe } from "../controls.ts";
import { drawn, noBrowser, press, until } from "../pageStage.ts";
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
    await owner.waitForSelector('.toast:has-text("Choose Put in")');
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
    await stage.shoot(owner, "palette");
    await press(guest, ".spares .tool");
    await guest.click(`.spares-panel [data-body="${body}"]`);
    await until(owner, (added) => window.pliant.absent.includes(added), body);
  });
});
