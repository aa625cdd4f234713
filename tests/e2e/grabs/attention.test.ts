/**
 * The page shows how to grab without covering anything, asks before it resets other members' work, and draws nothing
 * while it is hidden.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { drawn, noBrowser, press, takeHold, toasted, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

/** Stops the animated hint in the middle of its path. */
function stopGhost(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(".ghost > * { animation-play-state: paused !important; animation-delay: -1.4s !important }");
  document.adoptedStyleSheets.push(sheet);
}

/** Simulates the browser's report that the tab is visible or hidden. */
const setHidden = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);

/** Turns the view. @returns whether it swings on */
async function swings(page: Page): Promise<boolean> {
  await page.mouse.move(30, 200);
  await page.mouse.down();
  await page.mouse.move(150, 200, { steps: 3 });
  await page.mouse.up();
  const [early, late] = await page.evaluate(async () => {
    const picture = () => new Promise((done) => requestAnimationFrame(done));
    const at = () => window.pliant.project([0.1, 0, 0.1])!;
    await picture();
    const first = at();
    for (let k = 0; k < 12; k++) await picture();
    return [first, at()];
  });
  return Math.hypot(late!.x - early!.x, late!.y - early!.y) > 0.5;
}

describe.skipIf(noBrowser)("attention", () => {
  const stage = useStage({}, { fewPictures: true });

  test("a hint shows how to grab, over a body, covers no control, and disappears at the first grab", async () => {
    const { path } = await stage.room("jelly-stack");
    const stopped = { animated: true, prepare: (page: Page) => page.addInitScript(stopGhost) };
    const page = await drawn(await stage.visit(path, {}, stopped));
    await page.waitForSelector(".ghost .palm");
    await stage.shoot(page, "first-touch");
    const { held, under } = await page.evaluate(() => {
      const { x, y } = document.querySelector(".ghost")!.getBoundingClientRect();
      return {
        held: window.pliant.pick(x, y) !== undefined,
        under: [x, x + 60, x + 85].map((at) => document.elementFromPoint(at, y)?.className),
      };
    });
    expect(held).toBe(true);
    expect(under).toEqual(["view", "view", "view"]);
    await takeHold(page);
    await page.waitForSelector(".ghost .palm", { state: "hidden" });
    await page.mouse.up();
    // The hint also disappears after its animation, without a grab.
    const other = await drawn(await stage.visit(path, {}, { animated: true }));
    await other.waitForSelector(".ghost.seen", { state: "attached" });
    expect(await other.isVisible(".ghost .palm")).toBe(false);
    // A turned view swings on.
    expect(await swings(other)).toBe(true);
  });

  test("the cursor and a ring say that a press would grab, also after the body has moved away", async () => {
    const { name, path } = await stage.room("jelly-stack");
    const page = await drawn(await stage.visit(path, { viewport: { width: 800, height: 600 } }));
    await until(page, () => window.pliant.frames().at(-1)?.still, undefined);
    const cursor = () => page.evaluate(() => getComputedStyle(document.querySelector("canvas.view")!).cursor);
    const ring = page.locator(".ring");
    await page.mouse.move(5, 300);
    expect([await cursor(), await ring.isVisible()]).toEqual(["auto", false]);
    // The uppermost cube: below it nothing would be hit after it is lifted.
    const top = (await page.evaluate(() => {
      for (let y = 60; y < innerHeight; y++) if (window.pliant.pick(innerWidth / 2, y)) return { x: innerWidth / 2, y };
      return undefined;
    }))!;
    await page.mouse.move(top.x, top.y + 8);
    await ring.waitFor();
    expect(await cursor()).toBe("grab");
    await page.mouse.down();
    await ring.waitFor({ state: "hidden" });
    expect(await cursor()).toBe("grabbing");
    await page.mouse.up();
    await ring.waitFor();
    const at = (await page.evaluate(({ x, y }) => window.pliant.pick(x, y + 8), top))!;
    const bot = await Bot.join(stage.url, name);
    bot.grab(0, at, [at.point[0]!, at.point[1]! + 1, at.point[2]!]);
    await ring.waitFor({ state: "hidden" });
    expect(await cursor()).toBe("auto");
    await bot.leave();
  });

  test("a reset asks if other members are present, Escape cancels it; with reduced motion the view does not swing on", async () => {
    const { path } = await stage.room("jelly-stack");
    const ann = await drawn(await stage.visit(path));
    await ann.keyboard.press("r");
    await toasted(ann, "You restarted the scene");
    expect(await ann.isVisible(".reset-panel")).toBe(false);
    const ben = await drawn(await stage.visit(path, { reducedMotion: "reduce" }));
    expect(await swings(ben)).toBe(false);
    await until(ann, () => window.pliant.members.filter(({ connected }) => connected).length === 2, undefined);
    await press(ann, ".tool[title^='Start the scene']");
    await ann.waitForSelector(".reset-panel");
    await ann.keyboard.press("Escape");
    await ann.waitForSelector(".reset-panel", { state: "hidden" });
    await ann.keyboard.press("r");
    await ann.getByRole("button", { name: "Start again", exact: true }).click();
    await toasted(ben, / restarted the scene$/);
    expect(await ben.evaluate(() => window.toasted.length)).toBe(1);
  });

  test("a hidden page draws nothing, lets go of grabs, and on return fades from its last picture to the current state", async () => {
    const { name, path } = await stage.room("bunny");
    const page = await drawn(await stage.visit(path));
    const other = await Bot.join(stage.url, name);
    await takeHold(page);
    await setHidden(page, true);
    // Wait for a picture that was in progress when the tab was hidden.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const before = await page.evaluate(() => ({ drawn: window.pliant.drawn, shown: window.pliant.sampled() }));
    expect(await page.evaluate(() => window.pliant.grabs().filter(({ id }) => id.startsWith("own:")).length)).toBe(0);
    const at = { body: 0, triangle: 100, u: 0.3, v: 0.3 };
    const [x, y, z] = other.surfacePosition(at);
    other.grab(1, at, [x, y, z]);
    other.move(1, [x, y + 0.3, z]);
    await until(
      page,
      (shown) => {
        const { ints } = window.pliant.frames().at(-1)!;
        return ints.some((x, i) => Math.abs(x * window.pliant.quanta[0]! - shown[i]!) > 0.05);
      },
      before.shown,
    );
    expect(await page.evaluate(() => window.pliant.drawn)).toBe(before.drawn);
    const first = await page.evaluate(async () => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => false });
      document.dispatchEvent(new Event("visibilitychange"));
      // Runs after the page's own callback in the same frame.
      await new Promise((done) => requestAnimationFrame(done));
      return { shown: window.pliant.sampled(), fading: window.pliant.crossFading };
    });
    expect(first.fading).toBe(true);
    expect(first.shown).toEqual(before.shown);
    await until(page, (count) => window.pliant.drawn > count && !window.pliant.crossFading, before.drawn);
    await other.leave();
  });
});
