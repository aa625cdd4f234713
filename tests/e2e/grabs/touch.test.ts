/**
 * Touch: each finger grabs its own point, a finger beside the body turns the view, and lifting a finger ends its grab.
 * Another finger pins the point that a finger holds; a tap, or the keyboard, removes a pin.
 */
import type { CDPSession, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { findings, PHONE_ONLY, withAxe } from "../controls.ts";
import { drawn, noBrowser, PATIENCE_MS, press, surfaceUnderMiddle, takeHold, toasted, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

interface Finger {
  id: number;
  x: number;
  y: number;
}

const touch = (
  session: CDPSession,
  type: "touchStart" | "touchMove" | "touchEnd",
  touchPoints: Finger[],
): Promise<unknown> => session.send("Input.dispatchTouchEvent", { type, touchPoints });

/** The projection of fixed points shows the camera's direction. */
const projected = (page: Page) =>
  page.evaluate(() => [window.pliant.project([0, 0, 0]), window.pliant.project([0.2, 0.2, 0.2])]);

/** A finger beside the body turns the view and grabs nothing. */
async function turnsTheView(page: Page, session: CDPSession): Promise<void> {
  const [, before] = await projected(page);
  await touch(session, "touchStart", [{ id: 1, x: 40, y: 180 }]);
  for (let step = 1; step <= 6; step++)
    await touch(session, "touchMove", [{ id: 1, x: 40 + 20 * step, y: 180 + 6 * step }]);
  expect(await page.evaluate(() => window.pliant.grabs().length)).toBe(0);
  await touch(session, "touchEnd", []);
  await until(page, (first) => Math.abs(window.pliant.project([0.2, 0.2, 0.2])!.x - first) > 10, before!.x);
}

describe.skipIf(noBrowser)("touch", () => {
  const stage = useStage({}, { fewPictures: true });

  test("two fingers grab two points of one body, and the view stays; one beside the body turns it", async () => {
    const { path } = await stage.room("bunny");
    const page = await drawn(
      await stage.visit(path, { viewport: { width: 412, height: 780 }, hasTouch: true, isMobile: true }),
    );
    await until(page, () => window.pliant.frames().at(-1)?.still, undefined);
    // The view leaves the hint its place, also if the hint's text arrives after the first picture.
    await page.waitForSelector(".hint:not([hidden])");
    const session = await page.context().newCDPSession(page);
    const held = await surfaceUnderMiddle(page);
    const view = await projected(page);
    const before = await page.evaluate(() => window.pliant.displayed());
    const fingers = [
      { id: 1, x: held.x - 12, y: held.y },
      { id: 2, x: held.x + 25, y: held.y + 5 },
    ];
    await touch(session, "touchStart", [fingers[0]!]);
    await touch(session, "touchStart", fingers);
    await until(page, () => window.pliant.grabs().length === 2, undefined);
    for (let step = 1; step <= 8; step++) {
      await touch(session, "touchMove", [
        { ...fingers[0]!, x: fingers[0]!.x - 8 * step },
        { ...fingers[1]!, x: fingers[1]!.x + 8 * step },
      ]);
      await page.waitForTimeout(50);
    }
    await until(
      page,
      (first) => {
        const change = window.pliant.displayed().map((x, i) => x - first[i]!);
        return Math.max(...change) > 0.015 && Math.min(...change) < -0.015;
      },
      before,
    );
    await stage.shoot(page, "touch-two-fingers");
    expect(await projected(page)).toEqual(view);
    const triangles = await page.evaluate(() => window.pliant.grabs().map(({ triangle }) => triangle));
    expect(new Set(triangles).size).toBe(2);
    await touch(session, "touchEnd", []);
    await until(page, () => window.pliant.grabs().length === 0, undefined);
    await turnsTheView(page, session);
  });

  test("a held body is pinned by the offer or by K, stays for all, and falls when its pin is pressed", async () => {
    const { path } = await stage.room("jelly-stack");
    const viewport = { width: 390, height: 664 };
    const phone = await withAxe(await drawn(await stage.visit(path, { viewport, hasTouch: true, isMobile: true })));
    const other = await drawn(await stage.visit(path, { viewport }));
    const pins = ".pins .pin:not([hidden])";
    expect(await phone.locator(".pin-here").isVisible()).toBe(false);
    const session = await phone.context().newCDPSession(phone);
    const { x, y } = await surfaceUnderMiddle(phone);
    const finger = { id: 1, x, y };
    await touch(session, "touchStart", [finger]);
    for (let step = 1; step <= 6; step++)
      await touch(session, "touchMove", [{ ...finger, x: x + 12 * step, y: y - 15 * step }]);
    const offer = phone.locator(".pin-here");
    await offer.waitFor();
    expect(await findings(phone, PHONE_ONLY)).toEqual([]);
    await offer.tap();
    await phone.waitForSelector(pins);
    await toasted(phone, /It stays here/);
    await touch(session, "touchEnd", []);
    await until(phone, () => window.pliant.grabs().length === 0, undefined);
    await other.waitForSelector(pins);
    await toasted(other, /set a pin/);
    expect(await findings(phone, PHONE_ONLY)).toEqual([]);
    await stage.shoot(phone, "pin");

    // The other member sees the pin at its place, names its body to screen readers, and removes it with the keyboard.
    const pin = other.locator(pins);
    expect(await pin.getAttribute("aria-label")).toMatch(/^Remove the pin of \S/);
    await pin.press("Enter");
    for (const page of [other, phone]) await page.waitForSelector(".pins .pin", { state: "detached" });
    await toasted(phone, /removed a pin/);

    // K pins the point that the mouse holds; a press on the pin removes it; undo sets it again.
    await takeHold(other);
    await other.keyboard.press("k");
    await phone.waitForSelector(".pins .pin", { state: "attached" });
    await other.mouse.up();
    await other.locator(pins).click();
    await phone.waitForSelector(".pins .pin", { state: "detached" });
    await other.keyboard.press("Control+z");
    await phone.waitForSelector(".pins .pin", { state: "attached" });
  });

  test("an owner removes all pins at once; without pins there is no such button", async () => {
    const viewport = { width: 1280, height: 800 };
    const owner = await drawn(await stage.visit("/r/all-pins?scene=jelly-stack", { viewport }));
    const guest = await drawn(await stage.visit("/r/all-pins", { viewport }));
    await press(owner, ".access .tool");
    const remove = owner.getByRole("button", { name: "Remove all pins" });
    expect(await remove.count()).toBe(0);
    await takeHold(guest);
    await guest.keyboard.press("k");
    await owner.waitForSelector(".pins .pin", { state: "attached" });
    await guest.mouse.up();
    await remove.click();
    for (const page of [owner, guest]) await page.waitForSelector(".pins .pin", { state: "detached" });
    await expect.poll(() => remove.count(), { timeout: PATIENCE_MS }).toBe(0);
  });
});
