/**
 * Modes of the room page, chosen by its address: without tools in another page's frame, on a big screen, and as an
 * exhibit in public, which keeps nothing of earlier visitors.
 */
import { describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { readQr } from "../../../load-tests/visitors/qr.ts";
import { drawn, noBrowser, takeHold, toasted, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

describe.skipIf(noBrowser)("modes", () => {
  // The browser's own error message for a room that has ended.
  const stage = useStage({}, { fewPictures: true }, /404/);

  test("ui=none shows only the picture, which can be grabbed; ui=minimal three tools; an unknown mode is reported", async () => {
    const { path } = await stage.room("jelly-stack");
    const bare = await drawn(await stage.visit(`${path}?ui=none`));
    expect(await bare.locator(".room a:visible, .room button:visible, .room li:visible").count()).toBe(0);
    await takeHold(bare);
    await bare.mouse.up();
    await stage.shoot(bare, "ui-none");
    const minimal = await drawn(await stage.visit(`${path}?ui=minimal`));
    expect(await minimal.locator(".toolbar :is(button, a):visible").allInnerTexts()).toHaveLength(3);
    expect(await minimal.isVisible(".tool[title^='Start the scene']")).toBe(true);
    // The choice exists only if one grab may pull several bodies.
    expect(await minimal.isVisible(".together")).toBe(false);
    await stage.shoot(minimal, "ui-minimal");
    const unknown = await stage.visit(`${path}?ui=tiny`);
    await toasted(unknown, "ui=tiny is unknown. Use one of: full, minimal, none, present");
  });

  test("ui=present shows how to join and who is there, and no tools", async () => {
    const { name, path } = await stage.room("jelly-stack");
    const screen = await drawn(await stage.visit(`${path}?ui=present`, { viewport: { width: 1920, height: 1080 } }));
    await screen.waitForSelector(".invitation svg");
    expect(await screen.textContent(".invitation")).toContain(path);
    const read = readQr(await screen.locator(".invitation").screenshot());
    expect(read).toBe(`http://${await screen.textContent(".invitation span")}`);
    const other = await Bot.join(stage.url, name);
    await screen.waitForFunction(() => document.querySelectorAll(".people li").length === 2);
    await other.leave();
    expect(await screen.isVisible(".toolbar")).toBe(false);
    await stage.shoot(screen, "ui-present");
  });

  test("an exhibit resets after a time without input: shape, name, cards and view", async () => {
    // Long enough that the following steps are one visit, even on a busy machine.
    const page = await drawn(await stage.visit("/r/exhibit?scene=jelly-stack&exhibit=15"));
    // A name that the visitor types, and the browser stores.
    await page.locator(".tool.me").click();
    await page.locator(".profile-panel input").first().fill("Zoë");
    await page.keyboard.press("Enter");
    await until(page, () => window.pliant.members.some(({ name }) => name === "Zoë"), undefined);
    await page.keyboard.press("Escape");
    const first = await page.evaluate(() => ({
      shape: window.pliant.displayed(),
      name: window.pliant.members.find(({ member }) => member === window.pliant.member)!.name,
      origin: window.pliant.project([0, 0, 0])!,
    }));
    // The visitor who opened it owns nothing here, and no link leads away.
    expect(
      await page.locator(".access:visible, .tuning:visible, .people .out, .room a[href]:visible, .bring").count(),
    ).toBe(0);
    // A visitor leaves with a grab still active, a turned view, push mode and an open card.
    await page.keyboard.press("p");
    await page.mouse.move(20, 200);
    await page.mouse.down();
    await page.mouse.move(120, 220, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.press("p");
    const held = await takeHold(page);
    await page.mouse.move(held.x + 120, held.y - 60, { steps: 6 });
    await page.keyboard.press("?");
    await page.waitForSelector(".help");
    await until(
      page,
      (old) => window.pliant.members.every(({ member, name }) => member !== window.pliant.member || name !== old),
      first.name,
    );
    await page.waitForSelector(".help", { state: "hidden" });
    await until(
      page,
      ({ shape, origin }) => {
        const at = window.pliant.project([0, 0, 0])!;
        return (
          window.pliant.grabs().length === 0 &&
          Math.hypot(at.x - origin.x, at.y - origin.y) < 2 &&
          window.pliant.displayed().every((x, i) => Math.abs(x - shape[i]!) < 0.05)
        );
      },
      first,
    );
    expect(await page.getAttribute(".tool[title*='Push']", "aria-pressed")).toBe("false");
    // The hint shows the next visitor how to grab.
    await page.evaluate(() =>
      addEventListener("animationstart", ({ target }) => {
        if ((target as Element).matches(".ghost .palm")) document.body.dataset.showed = "how";
      }),
    );
    await until(page, () => document.body.dataset.showed === "how", undefined);
    // After a reload the browser does not remember the visitor.
    await page.reload();
    await drawn(page);
    expect(await page.evaluate(() => window.pliant.members.map(({ name }) => name))).not.toContain("Zoë");
    // A room that ends is reopened without a visitor's action, and no link leads away meanwhile.
    await stage.app.registry.remove("exhibit");
    await page.waitForSelector(".message h1");
    expect(await page.locator(".message a").count()).toBe(0);
    await page.waitForSelector(".room");
    await drawn(page);
  });
});
