/** Reactions, chat, contact sounds and the camera that follows, on real pages. */
import { describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { PATIENCE_MS, drawn, press, noBrowser, toasted, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

/** A spawnable body of scene put-in. */
const GREEN = 2;
const MARKUP = "<b>Look</b> at https://example.com";

/** In the page: is the middle of the green body the camera's target, as wanted? */
function centered(wanted: boolean): boolean {
  const { bodies, stage } = window.pliant.view!;
  const { positions } = bodies[2]!;
  const { target } = stage.controls;
  const middle = [0, 0, 0];
  for (const [n, x] of positions.entries()) middle[n % 3]! += (3 * x) / positions.length;
  return Math.hypot(middle[0]! - target.x, middle[1]! - target.y, middle[2]! - target.z) < 0.001 === wanted;
}

describe.skipIf(noBrowser)("talk", () => {
  const stage = useStage({}, { fewPictures: true });

  test("a line is shown as text, a reaction rises, and the owner closes the chat", async () => {
    // The first visitor opens the room, and owns it.
    const ann = await drawn(await stage.visit("/r/talk?scene=put-in"));
    const ben = await drawn(await stage.visit("/r/talk"));
    await press(ann, ".tool.talk");
    await ann.fill("#chat-line", MARKUP);
    await ann.press("#chat-line", "Enter");
    await toasted(ben, /<b>Look<\/b> at https:\/\/example\.com$/);
    await ben.waitForSelector(".tool .unread:not([hidden])", { state: "attached" });
    await ben.keyboard.press("t");
    await ben.waitForSelector(".talk-panel .lines p");
    expect(await ben.textContent(".talk-panel .lines p span")).toBe(MARKUP);
    expect(await ben.evaluate(() => document.querySelectorAll(".talk-panel .lines :is(a, span b)").length)).toBe(0);
    expect(await ben.locator(".tool .unread[hidden]").count()).toBe(1);
    // Seen by all, also by its author.
    const seen = [ann, ben].map((page) => page.waitForSelector(".reacted span", { state: "attached" }));
    await ann.click(".talk-panel .reactions button:nth-child(6)");
    for (const shown of await Promise.all(seen)) expect(await shown.textContent()).toBe("🎉");
    await stage.shoot(ben, "talk");

    await ann.keyboard.press("Escape");
    await press(ann, ".access .tool");
    await ann.check("#access-chat");
    await ben.waitForSelector(".talk-panel .closed:not([hidden])");
    expect(await ben.isHidden("#chat-line")).toBe(true);
    expect(await ben.evaluate(() => document.querySelectorAll(".talk-panel .lines p").length)).toBe(0);
    expect(await ann.evaluate(() => document.querySelector<HTMLElement>(".talk-panel form")!.hidden)).toBe(false);
  });

  test("contacts sound once they are turned on, and the camera follows a body until Home", async () => {
    const { name, path } = await stage.room("put-in");
    const page = await drawn(await stage.visit(path));
    expect(await page.evaluate(() => window.pliant.sounds)).toBeUndefined();
    await press(page, ".tool.talk");
    await page.check("#talk-sound");
    await until(page, () => window.pliant.sounds === 0, undefined);
    const bot = await Bot.join(stage.url, name);
    // A page that draws slowly may miss the frames of an impact: the body falls until one is heard.
    const fall = (): Promise<number> => {
      bot.remove(GREEN);
      bot.spawn(GREEN, [0.18, 0.7, 0.1]);
      return page.evaluate(() => window.pliant.sounds!);
    };
    await expect.poll(fall, { timeout: PATIENCE_MS, interval: 3000 }).toBeGreaterThan(0);
    await page.uncheck("#talk-sound");
    await until(page, () => window.pliant.sounds === undefined, undefined);
    await page.selectOption("#talk-follow", `body ${GREEN}`);
    await until(page, centered, true);
    await page.keyboard.press("Escape");
    await page.keyboard.press("h");
    await until(page, centered, false);
    expect(await page.inputValue("#talk-follow")).toBe("");
    await bot.leave();
  });
});
