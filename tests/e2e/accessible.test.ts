/**
 * axe-core finds nothing on any page, in both themes, on a phone and at a desk; and whoever has only a keyboard pulls,
 * opens and closes everything, and never loses the focus. Anchor: PhET's practice of alternative input.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { findings, PANELS, WIDTHS, withAxe } from "./controls.ts";
import { drawn, noBrowser, until, PATIENCE_MS } from "./stage.ts";
import { useStage } from "./useStage.ts";

const TOKEN = "operators-own-token-for-this-test-only";
describe.skipIf(noBrowser)("for everybody", () => {
  const stage = useStage({ adminToken: TOKEN }, { fewPictures: true }, /404|401/);

  const visit = async (path: string): Promise<Page> => withAxe(await stage.visit(path));

  test("the lobby, folded and open, and pages that only say something", async () => {
    await stage.room("jelly-stack");
    const lobby = await visit("/");
    await lobby.waitForSelector(".rooms a");
    await lobby.waitForSelector(".card");
    expect(await findings(lobby)).toEqual([]);
    for (const summary of await lobby.locator("summary").all()) await summary.click();
    expect(await findings(lobby)).toEqual([]);
    for (const path of ["/nope", "/r/nobody-was-here", "/report", "/admin", "/materials"]) {
      const page = await visit(path);
      await page.waitForSelector("h1");
      expect(await findings(page), path).toEqual([]);
    }
  });

  test("the operators' page", async () => {
    await stage.room("jelly-stack");
    const page = await visit("/admin");
    await page.fill(".admin-login input", TOKEN);
    await page.press(".admin-login input", "Enter");
    await page.waitForSelector(".admin tbody[data-room]");
    await page.click(".admin .toggle");
    expect(await findings(page)).toEqual([]);
  });

  test("a room, each of its cards, and its replay", async () => {
    const room = await visit("/r/everybody?scene=put-in");
    await drawn(room);
    await drawn(await stage.visit("/r/everybody"));
    await until(room, () => document.querySelectorAll(".people .out").length === 1, undefined);
    expect(await findings(room)).toEqual([]);
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
      expect(await findings(room, { within: panel }), panel).toEqual([]);
      await close();
    }
    // what only a phone has
    const widths = WIDTHS.slice(0, 1);
    await room.setViewportSize(widths[0]!);
    await room.click(".more-tools");
    expect(await findings(room, { widths }), "menu").toEqual([]);
    const replay = await visit("/r/everybody/replay");
    await replay.waitForSelector(".replay input:not([disabled])", { timeout: PATIENCE_MS });
    expect(await findings(replay)).toEqual([]);
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

  test("the lobby's first stop is where one joins", async () => {
    const page = await stage.visit("/");
    await page.waitForSelector(".card");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).name)).toBe("room");
  });
});
