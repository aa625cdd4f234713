/**
 * axe-core finds nothing on any page, in both themes, on a phone and at a desk; and whoever has only a keyboard pulls,
 * opens and closes everything, and never loses the focus. Anchor: PhET's practice of alternative input.
 */
import { describe, expect, test } from "vitest";
import { Bot } from "../../load-tests/bot.ts";
import { inLong } from "../support/long.ts";
import { findings, PANELS, WIDTHS, withAxe } from "./controls.ts";
import { ADMIN_TOKEN, drawn, noBrowser, until, PATIENCE_MS } from "./stage.ts";
import { useStage } from "./useStage.ts";

/** In short a phone in the light and a desk in the dark: axe-core is most of what this file takes. */
const LOOK = inLong({}, { inTurns: true });

describe.skipIf(noBrowser)("for everybody", () => {
  const stage = useStage({}, { fewPictures: true }, /404|401/);

  test("the lobby, folded and open, pages that only say something, and the operators'", async () => {
    await stage.room("jelly-stack");
    const page = await stage.visit("/");
    await page.waitForSelector(".rooms a");
    await page.waitForSelector(".card");
    // its first stop is where one joins
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).name)).toBe("room");
    expect(await findings(await withAxe(page), LOOK)).toEqual([]);
    for (const summary of await page.locator("summary").all()) await summary.click();
    expect(await findings(page, LOOK)).toEqual([]);
    for (const path of ["/nope", "/r/nobody-was-here", "/report", "/materials", "/admin"]) {
      await page.goto(stage.url + path);
      await page.waitForSelector("h1");
      expect(await findings(await withAxe(page)), path).toEqual([]);
    }
    await page.fill(".admin-login input", ADMIN_TOKEN);
    await page.press(".admin-login input", "Enter");
    await page.waitForSelector(".admin tbody[data-room]");
    await page.click(".admin .toggle");
    expect(await findings(page, LOOK)).toEqual([]);
  });

  test("a room, each of its cards, and its replay", async () => {
    const room = await withAxe(await drawn(await stage.visit("/r/everybody?scene=put-in")));
    const guest = await Bot.join(stage.url, "everybody");
    await until(room, () => document.querySelectorAll(".people .out").length === 1, undefined);
    expect(await findings(room, LOOK)).toEqual([]);
    for (const [button, panel] of PANELS) {
      const open = async (): Promise<void> => {
        await room.focus(button);
        await room.keyboard.press("Enter");
        await room.waitForSelector(panel);
      };
      const close = async (): Promise<void> => {
        await room.keyboard.press("Escape");
        await room.waitForSelector(panel, { state: "hidden" });
      };
      await room.setViewportSize(WIDTHS[1]!);
      await open();
      await close();
      expect(await room.evaluate((wanted) => document.activeElement?.matches(wanted), button), button).toBe(true);
      await open();
      expect(await findings(room, { ...LOOK, within: panel }), panel).toEqual([]);
      await close();
    }
    // what only a phone has
    const widths = WIDTHS.slice(0, 1);
    await room.setViewportSize(widths[0]!);
    await room.click(".more-tools");
    expect(await findings(room, { widths }), "menu").toEqual([]);
    await guest.leave();
    await room.goto(`${stage.url}/r/everybody/replay`);
    await room.waitForSelector(".replay input:not([disabled])", { timeout: PATIENCE_MS });
    expect(await findings(await withAxe(room), LOOK)).toEqual([]);
  });

  test("the keyboard alone takes hold, pulls, and lets go; somebody else is told", async () => {
    const { path } = await stage.room("bunny");
    const ann = await drawn(await stage.visit(path));
    const ben = await drawn(await stage.visit(path));
    await until(ann, () => window.pliant.frames().at(-1)?.still, undefined);
    const before = await ann.evaluate(() => window.pliant.displayed());
    await ann.keyboard.press("Tab");
    expect(await ann.evaluate(() => document.activeElement?.className)).toContain("view");
    await ann.keyboard.press("Space");
    await ann.waitForSelector(".mark");
    await until(ben, () => window.pliant.grabs().length === 1, undefined);
    expect(await ann.textContent("main > [aria-live]:not(.toasts)")).toMatch(/^You hold /);
    await until(ben, () => / holds /.test(document.querySelector("main > .unseen")!.textContent), undefined);
    for (let k = 0; k < 6; k++) await ann.keyboard.press("ArrowUp");
    await stage.shoot(ann, "keyboard-hand");
    await until(ben, (first) => window.pliant.displayed().some((x, i) => Math.abs(x - first[i]!) > 0.03), before);
    await ann.keyboard.press("Space");
    await until(ben, () => window.pliant.grabs().length === 0, undefined);
    // What holds is let go by Escape, and by leaving the picture.
    for (const way of ["Escape", "Tab"]) {
      // what was under the mark may have sprung back: then the mark goes where something is
      for (let k = 0; k < 10 && (await ann.evaluate(() => window.pliant.grabs().length)) === 0; k++)
        await ann.keyboard.press("Space");
      expect(await ann.evaluate(() => window.pliant.grabs().length), way).toBe(1);
      await ann.keyboard.press(way);
      await until(ann, () => window.pliant.grabs().length === 0, undefined);
    }
  });
});
