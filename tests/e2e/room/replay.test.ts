/**
 * The replay page shows the actions of two members again, moment by moment, with slider and keys. An owner's undo sets
 * both of their pages back.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import type { ReplayHook } from "../../../client/replayHook.ts";
import { commonFrames, drawn, noBrowser, press, takeHold, toasted, until, PATIENCE_MS } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

declare global {
  interface Window {
    pliantReplay: ReplayHook;
  }
}

/** @param look runs in the page, whose policy forbids evaluated strings, so it names its hook itself */
const replay = <T>(page: Page, look: (hook?: ReplayHook) => T): Promise<T> =>
  page.evaluate(look as () => T) as Promise<T>;
const replayUntil = async (page: Page, holds: (hook?: ReplayHook) => boolean): Promise<void> => {
  await page.waitForFunction(() => window.pliantReplay !== undefined, undefined, { timeout: PATIENCE_MS });
  await page.waitForFunction(holds as () => boolean, undefined, { timeout: PATIENCE_MS, polling: 100 });
};

interface Moment {
  tick: number;
  ints: number[];
}

/** The newest frame that the page has. */
const newest = (page: Page): Promise<Moment> =>
  page.evaluate(() => {
    const { tick, ints } = window.pliant.frames().at(-1)!;
    return { tick, ints };
  });

/** Grabs and moves up gradually. The button stays down. */
async function pull(page: Page, particles: [first: number, count: number], dx: number): Promise<void> {
  const held = await takeHold(page, ...particles);
  for (let step = 1; step <= 8; step++) {
    await page.mouse.move(held.x + dx * step, held.y - 8 * step);
    await page.waitForTimeout(60);
  }
}

/** Resolves when a particle in the page's newest frame is 5 cm from its place in `from`. */
const moved = (page: Page, from: number[]): Promise<void> =>
  until(
    page,
    (before) => {
      const [quantum] = window.pliant.quanta;
      return window.pliant
        .frames()
        .at(-1)!
        .ints.some((x, i) => Math.abs(x - before[i]!) * quantum! > 0.05);
    },
    from,
  );

/** Pauses, whether it plays, reaches its end meanwhile, or is paused already. */
async function pause(page: Page): Promise<void> {
  if (await replay(page, (hook = window.pliantReplay) => hook.playing)) await page.keyboard.press("Space");
  await replayUntil(page, (hook = window.pliantReplay) => !hook.playing);
}

/** Shows this tick, which has a frame. */
async function scrubTo(page: Page, tick: number): Promise<void> {
  await page.getByRole("slider", { name: "Moment" }).fill(String(tick));
  await page.waitForFunction((wanted) => window.pliantReplay.shown === wanted, tick, { polling: 50 });
}

/** Members whose grabs are shown. */
const holders = async (page: Page): Promise<number[]> =>
  (await replay(page, (hook = window.pliantReplay) => hook.grabs().map(({ id }) => Number(id.split(":")[0])))).sort();

/** Uses keys from a displayed tick: a second, a frame, the ends. */
async function goByKeys(page: Page, from: number): Promise<void> {
  await page.locator("canvas.view").focus();
  await page.keyboard.press("ArrowLeft");
  await replayUntil(page, (hook = window.pliantReplay) => hook.shown === hook.tick);
  expect(await replay(page, (hook = window.pliantReplay) => hook.shown)).toBe(from - 60);
  await page.keyboard.press("Shift+ArrowRight");
  await replayUntil(page, (hook = window.pliantReplay) => hook.shown === hook.tick);
  expect(await replay(page, (hook = window.pliantReplay) => hook.shown)).toBe(from - 58);
  await page.keyboard.press("Home");
  await replayUntil(page, (hook = window.pliantReplay) => hook.shown === hook.first);
  await page.keyboard.press("End");
  await replayUntil(page, (hook = window.pliantReplay) => hook.shown === hook.last);
}

describe.skipIf(noBrowser)("the replay page", () => {
  const stage = useStage({}, { fewPictures: true });

  test("two members pull; the replay shows both moments as they were, with grabs, by slider and by keys", async () => {
    const { name, path } = await stage.room("jelly-stack");
    const ann = await drawn(await stage.visit(path));
    const ben = await drawn(await stage.visit(path));
    const { ints: first } = await newest(ann);
    const particles = first.length / 3;
    await pull(ann, [particles - 60, 60], 6);
    await pull(ben, [0, 60], -6);
    const both = [await ann.evaluate(() => window.pliant.member), await ben.evaluate(() => window.pliant.member)];
    await until(ann, () => window.pliant.grabs().length === 2, undefined);
    await moved(ann, first);
    const pulled = await newest(ann);
    await ann.mouse.up();
    await ben.mouse.up();
    await until(ann, (tick) => window.pliant.frames().at(-1)!.tick > tick + 60, pulled.tick);
    const after = await newest(ben);
    expect(await ann.locator('a.tool[href$="/replay"]').getAttribute("href")).toBe(`${path}/replay`);

    const quanta = await ann.evaluate(() => window.pliant.quanta);
    expect(new Set(quanta).size).toBe(1);
    // An empty room pauses, which leaves the processors to the replay.
    for (const visitor of [ann, ben]) await visitor.close();

    const page = await stage.visit(`${path}/replay`);
    await replayUntil(page, (hook = window.pliantReplay) => hook.whole && !Number.isNaN(hook.shown));
    expect(await replay(page, ({ room, head } = window.pliantReplay) => ({ room, scene: head!.scene }))).toEqual({
      room: name,
      scene: "jelly-stack",
    });
    expect(await replay(page, ({ head } = window.pliantReplay) => head!.from)).toBeLessThan(pulled.tick - 60);
    expect(await page.title()).toMatch(/^Replay: /);

    const seen: number[][] = [];
    for (const { tick, ints } of [pulled, after]) {
      await pause(page);
      await scrubTo(page, tick);
      expect(await replay(page, (hook = window.pliantReplay) => hook.ints())).toEqual(ints);
      const displayed = await replay(page, (hook = window.pliantReplay) => hook.displayed());
      // Rounding: float32 of a grid coordinate times its grid step.
      expect(Math.max(...displayed.map((x, i) => Math.abs(x - Math.fround(ints[i]! * quanta[0]!))))).toBeLessThan(1e-6);
      seen.push(displayed);
    }
    expect(Math.max(...seen[0]!.map((x, i) => Math.abs(x - seen[1]![i]!)))).toBeGreaterThan(0.03);
    // Two grabs at that tick, none at this one.
    expect(await holders(page)).toEqual([]);
    await scrubTo(page, pulled.tick);
    expect(await holders(page)).toEqual([...both].sort());
    await page.waitForTimeout(300);
    await stage.shoot(page, "replay");

    await goByKeys(page, pulled.tick);
    const [last, clock] = [
      await replay(page, (hook = window.pliantReplay) => hook.last),
      await page.locator(".deck .time").textContent(),
    ];
    expect(last).toBeGreaterThanOrEqual(after.tick);
    expect(new Set(clock!.split(" / ")).size).toBe(1);
    await page.keyboard.press("Space");
    await replayUntil(page, (hook = window.pliantReplay) => hook.playing && hook.shown < hook.last);
    await page.getByRole("combobox", { name: "Speed" }).selectOption("2");
    expect(await replay(page, (hook = window.pliantReplay) => hook.speed)).toBe(2);
    await replayUntil(page, (hook = window.pliantReplay) => hook.shown > hook.first + 60);
    await page.keyboard.press("Space");
    await replayUntil(page, (hook = window.pliantReplay) => !hook.playing);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download the recording" }).click(),
    ]);
    expect(file.suggestedFilename()).toBe(`${name}.pliant`);
    expect(await page.getByRole("link", { name: `Back to ${name}` }).getAttribute("href")).toBe(path);
  });

  test("fits a phone; the page of a deleted room says so", async () => {
    const { name, path } = await stage.room("jelly-stack");
    const ann = await Bot.join(stage.url, name);
    await ann.until(() => ann.tick > 60, "there is something to see");
    const phone = await stage.visit(`${path}/replay`, {
      viewport: { width: 390, height: 700 },
      hasTouch: true,
      isMobile: true,
    });
    await replayUntil(phone, (hook = window.pliantReplay) => hook.whole && !Number.isNaN(hook.shown));
    await phone.waitForTimeout(300);
    await stage.shoot(phone, "replay-phone");
    const boxes = await phone
      .locator(".deck > *")
      .evaluateAll((parts) =>
        parts.map((part) => part.getBoundingClientRect()).map(({ left, right, bottom }) => ({ left, right, bottom })),
      );
    for (const { left, right, bottom } of boxes) {
      expect(left).toBeGreaterThanOrEqual(0);
      expect(right).toBeLessThanOrEqual(390);
      expect(bottom).toBeLessThanOrEqual(700);
    }
    await ann.leave();
    const lost = await stage.visit("/r/never-was/replay");
    await lost.waitForSelector("main.message");
    expect(await lost.textContent("h1")).toBe("There is no such room");
    // The browser's own error message for the response.
    expect(stage.takeErrors().every((error) => /404/.test(error))).toBe(true);
  });

  test("the owner undoes ten seconds; both pages go back and say so", async () => {
    const ann = await stage.visit("/r/undone?scene=jelly-stack");
    await drawn(ann);
    const ben = await drawn(await stage.visit("/r/undone"));
    await until(ann, () => window.pliant.tick > 120, undefined);
    const calm = await newest(ben);
    const count = calm.ints.length / 3;
    await pull(ann, [count - 60, 60], 6);
    await moved(ben, calm.ints);
    await ann.mouse.up();
    const before = (await newest(ben)).tick;
    expect(await ben.locator(".access[hidden]").count()).toBe(1);
    await press(ann, ".access .tool");
    // For ten seconds the tick is lower than before, so the test compares with the tick before the undo.
    const wentBack = [ann, ben].map((page) =>
      until(page, (tick) => window.pliant.frames().at(-1)!.tick < tick, before),
    );
    await ann.getByRole("button", { name: "Undo the last 10 seconds" }).click();
    await Promise.all(wentBack);
    for (const page of [ann, ben]) await toasted(page, "The last 10 seconds are undone (the owner)");
    await stage.shoot(ben, "undone");
    // After the undo both pages show the same frames.
    for (const [a, b] of await commonFrames([ann, ben], ({ length }) => length > 10)) expect(a.ints).toEqual(b.ints);
  });
});
