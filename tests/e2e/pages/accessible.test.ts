/**
 * axe-core finds no problem on any page, in both themes, on a phone and on a desktop. With only a keyboard a visitor
 * can grab, open and close everything, and never loses the focus. Model: PhET's practice of alternative input.
 */
import { describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { inLong } from "../../support/run/long.ts";
import { findings, PANELS, WIDTHS, withAxe } from "../controls.ts";
import { ADMIN_TOKEN, drawn, noBrowser, until, PATIENCE_MS } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

/**
 * In the short form a phone in the light theme and a desktop in the dark theme: axe-core takes most of this file's
 * time.
 */
const LOOK = inLong({}, { inTurns: true });
/** In the short form every panel in one of these looks. */
const lookOf = (panel: number): Parameters<typeof findings>[1] => {
  const n = panel % 2;
  return inLong({}, { widths: [WIDTHS[n]!], schemes: [(["light", "dark"] as const)[n]!] });
};

describe.skipIf(noBrowser)("accessibility", () => {
  const stage = useStage({}, { fewPictures: true }, /404|401/);

  test("the lobby, folded and open, message pages, and the operators' page", async () => {
    const { name } = await stage.room("jelly-stack");
    await Bot.join(stage.url, name, { name: "Heron" });
    const page = await stage.visit("/");
    await page.waitForSelector(".rooms a");
    await page.waitForSelector(".card");
    await page.waitForSelector(".to-live");
    // The first focus stops: the live rooms, a new room, an own model, and the field to join a room.
    for (const text of ["Live rooms: 1", "Open a new room", "Upload a model"]) {
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement!.textContent)).toBe(text);
    }
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).name)).toBe("room");
    expect(await findings(await withAxe(page), LOOK)).toEqual([]);
    await page.check('.chips input[value="all"]');
    expect(await findings(page, LOOK)).toEqual([]);
    for (const path of ["/nope", "/r/nobody-was-here", "/report", "/materials", "/admin"]) {
      await page.goto(stage.url + path);
      await page.waitForSelector("h1");
      expect(await findings(await withAxe(page), LOOK), path).toEqual([]);
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
    for (const [k, [button, panel]] of PANELS.entries()) {
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
      expect(await findings(room, { ...lookOf(k), within: panel }), panel).toEqual([]);
      await close();
    }
    // Controls that only a phone has.
    const widths = WIDTHS.slice(0, 1);
    await room.setViewportSize(widths[0]!);
    await room.click(".more-tools");
    expect(await findings(room, { widths }), "menu").toEqual([]);
    await guest.leave();
    await room.goto(`${stage.url}/r/everybody/replay`);
    await room.waitForSelector(".replay input:not([disabled])", { timeout: PATIENCE_MS });
    expect(await findings(await withAxe(room), LOOK)).toEqual([]);
  });

  test("the keyboard alone grabs, pulls, and lets go; another member is told", async () => {
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
    // Escape ends a grab, and so does leaving the picture.
    for (const way of ["Escape", "Tab"]) {
      // The body may have sprung back from under the cursor: then the cursor moves to a body.
      for (let k = 0; k < 10 && (await ann.evaluate(() => window.pliant.grabs().length)) === 0; k++)
        await ann.keyboard.press("Space");
      expect(await ann.evaluate(() => window.pliant.grabs().length), way).toBe(1);
      await ann.keyboard.press(way);
      await until(ann, () => window.pliant.grabs().length === 0, undefined);
    }
  });
});
