/** Reactions, chat, contact sounds and the camera that follows, on real pages. */
import { describe, expect, test } from "vitest";
import { drawn, noBrowser, toasted, until } from "./stage.ts";
import { useStage } from "./useStage.ts";

const MARKUP = "<b>Look</b> at https://example.com";

describe.skipIf(noBrowser)("talk", () => {
  const stage = useStage({}, { fewPictures: true });

  test("a line is shown as text, a reaction rises, and the owner closes the chat", async () => {
    const { path, token } = await stage.room("one-cube");
    const ann = await drawn(await stage.visit(`${path}#token=${token}`));
    const ben = await drawn(await stage.visit(path));
    await ann.click(".tool.talk");
    await ann.fill("#chat-line", MARKUP);
    await ann.press("#chat-line", "Enter");
    await toasted(ben, /<b>Look<\/b> at https:\/\/example\.com$/);
    await ben.waitForSelector(".tool .unread:not([hidden])");
    await ben.keyboard.press("t");
    await ben.waitForSelector(".talk-panel .lines li");
    expect(await ben.textContent(".talk-panel .lines li span")).toBe(MARKUP);
    expect(await ben.evaluate(() => document.querySelectorAll(".talk-panel .lines :is(a, span b)").length)).toBe(0);
    expect(await ben.isHidden(".tool .unread")).toBe(true);
    // Seen by all, also by its author.
    const seen = [ann, ben].map((page) => page.waitForSelector(".reacted span", { state: "attached" }));
    await ann.click(".talk-panel .reactions button:nth-child(6)");
    for (const shown of await Promise.all(seen)) expect(await shown.textContent()).toBe("🎉");
    await stage.shoot(ben, "talk");

    await ann.keyboard.press("Escape");
    await ann.click(".access .tool");
    await ann.check("#access-chat");
    await ben.waitForSelector(".talk-panel .closed:not([hidden])");
    expect(await ben.isHidden("#chat-line")).toBe(true);
    expect(await ben.evaluate(() => document.querySelectorAll(".talk-panel .lines li").length)).toBe(0);
    expect(await ann.evaluate(() => document.querySelector<HTMLElement>(".talk-panel form")!.hidden)).toBe(false);
  });

  test("contacts sound once they are turned on, and the camera follows a body until Home", async () => {
    const { path } = await stage.room("one-cube");
    const page = await drawn(await stage.visit(path));
    expect(await page.evaluate(() => window.pliant.sounds)).toBeUndefined();
    await page.click(".tool.talk");
    await page.check("#talk-sound");
    await until(page, () => window.pliant.sounds === 0, undefined);
    // The cube falls again.
    await page.evaluate(() => document.querySelector<HTMLElement>("canvas.view")!.focus());
    await page.keyboard.press("r");
    await until(page, () => window.pliant.sounds! > 0, undefined);
    await page.click(".tool.talk");
    await page.uncheck("#talk-sound");
    await until(page, () => window.pliant.sounds === undefined, undefined);
    await page.selectOption("#talk-follow", "body 0");
    const distance = (): number => {
      const { positions } = window.pliant.view!.bodies[0]!;
      const { target } = window.pliant.view!.stage.controls;
      const middle = [0, 1, 2].map(
        (r) => positions.reduce((sum, x, n) => sum + (n % 3 === r ? x : 0), 0) / (positions.length / 3),
      );
      return Math.hypot(middle[0]! - target.x, middle[1]! - target.y, middle[2]! - target.z);
    };
    await page.waitForFunction(`(${distance.toString()})() < 0.001`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("h");
    await page.waitForFunction(`(${distance.toString()})() > 0.001`);
    expect(await page.inputValue("#talk-follow")).toBe("");
  });
});
