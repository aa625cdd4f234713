/**
 * Two visitors in one room: each sees the other's pulls, both have the server's integers, and the drawn positions are
 * the sent ones.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { lookOf } from "../../../shared/members/memberColors.ts";
import {
  commonFrames,
  drawn,
  type E2e,
  type Frame,
  noBrowser,
  serverPositions,
  surfaceUnderMiddle,
  takeHold,
  toasted,
  until,
  PATIENCE_MS,
} from "../pageStage.ts";
import { useStage } from "../useStage.ts";

/** During a grab the wheel moves its target and not the view, and Escape lets go. */
async function goesInDepth(page: Page): Promise<void> {
  const look = () =>
    page.evaluate(() => ({
      target: window.pliant.grabs()[0]!.target,
      origin: window.pliant.project([0, 0, 0])!,
      hand: window.pliant.project(window.pliant.grabs()[0]!.target)!,
    }));
  const before = await look();
  for (let notch = 0; notch < 3; notch++) await page.mouse.wheel(0, 100);
  await until(
    page,
    (old) => Math.hypot(...window.pliant.grabs()[0]!.target.map((x, k) => x - old[k]!)) > 0.1,
    before.target,
  );
  const after = await look();
  expect(after.origin).toEqual(before.origin);
  // Along the line of sight: the grab's target stays under the pointer.
  expect(Math.hypot(after.hand.x - before.hand.x, after.hand.y - before.hand.y)).toBeLessThan(1);
  await page.keyboard.press("Escape");
  expect(await page.evaluate(() => window.pliant.grabs().length)).toBe(0);
  await page.mouse.up();
}

/** Draws no pictures once the body has come to rest, although frame numbers still advance. */
async function restsWithoutPictures(page: Page): Promise<void> {
  await until(
    page,
    () =>
      window.pliant
        .frames()
        .slice(-3)
        .every(({ still }) => still),
    undefined,
  );
  // Damped camera motion and gliding cursors end, later on a busy machine.
  for (let drawn = -1; drawn !== (drawn = await page.evaluate(() => window.pliant.drawn)); )
    await page.waitForTimeout(1500);
  const before = await page.evaluate(() => ({ drawn: window.pliant.drawn, tick: window.pliant.frames().at(-1)!.tick }));
  await until(page, (tick) => window.pliant.frames().at(-1)!.tick > tick + 90, before.tick);
  expect((await page.evaluate(() => window.pliant.drawn)) - before.drawn).toBeLessThanOrEqual(1);
}

/** The pointer at `at` moves to and fro, because a body that only hangs comes to rest. */
async function sameOnBoth(stage: E2e, name: string, ann: Page, ben: Page, at: { x: number; y: number }): Promise<void> {
  // Same tick, same integers, on both pages and on the server.
  let side = 25;
  const wiggle = (): Promise<void> => ann.mouse.move(at.x + (side = -side), at.y);
  const enough = (common: [Frame, Frame][]): boolean => common.length > 5 && common.some(([{ still }]) => !still);
  for (const [a, b] of await commonFrames([ann, ben], enough, wiggle)) expect(a.ints).toEqual(b.ints);

  let compared = false;
  for (let attempt = 0; attempt < 60 && !compared; attempt++) {
    await wiggle();
    const state = await serverPositions(stage, name);
    if (state.tick !== state.frameTick) continue;
    await until(ben, (tick) => window.pliant.frames().at(-1)!.tick >= tick, state.tick);
    const frame = await ben.evaluate((tick) => window.pliant.frames().find((f) => f.tick === tick), state.tick);
    if (!frame) continue;
    compared = true;
    expect(frame.ints).toEqual(state.quantized);
    const [quantum] = await ben.evaluate(() => window.pliant.quanta);
    const worst = Math.max(...state.positions.map((x, i) => Math.abs(x - frame.ints[i]! * quantum!)));
    // Half a step for rounding, and the rest for float32 and for a body that the encoder freezes.
    expect(worst).toBeLessThanOrEqual(quantum!);
  }
  expect(compared).toBe(true);
}

/** The cursor disappears on the other page, the body comes to rest, and both pictures show exactly the last frame. */
async function bothShowTheLast(pages: readonly Page[]): Promise<void> {
  for (const page of pages) {
    await until(
      page,
      () => {
        const frame = window.pliant.frames().at(-1)!;
        const shown = window.pliant.displayed();
        const quantum = window.pliant.quanta[0]!;
        return frame.still && shown.every((x, i) => Math.abs(x - frame.ints[i]! * quantum) < 1e-6);
      },
      undefined,
    );
  }
}

/** Ann's new name and color reach Ben, and her cursor shows them. */
async function namesReach(stage: E2e, ann: Page, ben: Page): Promise<void> {
  const member = await ann.evaluate(() => window.pliant.member);
  await ann.click(".tool.me");
  await ann.fill("#member-name", "  Ada   Lovelace ");
  await ann.press("#member-name", "Enter");
  await until(ben, (id) => window.pliant.members.some((m) => m.member === id && m.name === "Ada Lovelace"), member);
  // The session continued: the same member under a new name, and no additional member.
  expect(await ann.evaluate(() => window.pliant.member)).toBe(member);
  await until(ben, () => window.pliant.members.filter((m) => m.connected).length === 2, undefined);
  await ann.keyboard.press("Escape");
  await ann.mouse.move(360, 300);
  await ann.mouse.move(330, 280);
  await until(
    ben,
    (id) => window.pliant.cursors().some((cursor) => cursor.member === id && cursor.name === "Ada Lovelace"),
    member,
  );
  // Its tip is at her pointer, once it has glided there.
  await until(
    ben,
    (id) => {
      const shown = document.querySelector(`.cursor[data-member="${id}"]`);
      const cursor = window.pliant.cursors().find(({ member }) => member === id);
      const at = cursor && window.pliant.project(cursor.at);
      if (!shown || !at) return false;
      const { x, y } = shown.getBoundingClientRect();
      return shown.textContent === "Ada Lovelace" && Math.hypot(x - at.x, y - at.y) < 1;
    },
    member,
  );
  await stage.shoot(ben, "named-cursor");

  // Ben's narrow window does not show her pointer's place: an arrow at its edge points there.
  await ben.setViewportSize({ width: 320, height: 480 });
  await ann.mouse.move(6, 250);
  await until(
    ben,
    () => {
      const x = document.querySelector(".cursor.outside")?.getBoundingClientRect().x ?? 0;
      return x > 0 && x < 60;
    },
    undefined,
  );
  await stage.shoot(ben, "cursor-outside");
}

/** The statistics are hidden until requested, then update. */
async function numbersComeWhenAsked(stage: E2e, page: Page): Promise<void> {
  await page.setViewportSize({ width: 1000, height: 700 });
  expect(await page.isVisible(".stats")).toBe(false);
  await page.keyboard.press("o");
  expect(await page.isVisible(".stats")).toBe(true);
  await page.waitForFunction(
    () =>
      /\d ms/.test(document.querySelector(".stats")!.textContent!) &&
      document.querySelectorAll(".stats .stages span").length >= 3,
    undefined,
    { timeout: PATIENCE_MS },
  );
  const { stats, openMs } = await page.evaluate(() => ({ stats: window.pliant.stats(), openMs: performance.now() }));
  expect(stats.rttMs).toBeGreaterThan(0);
  expect(stats.rttMs).toBeLessThan(openMs);
  expect(stats.bufferMs).toBeGreaterThanOrEqual((2 * 1000) / 30 - 1e-9);
  await page.keyboard.press("w");
  await page.waitForTimeout(300);
  await stage.shoot(page, "numbers");
}

describe.skipIf(noBrowser)("two pages in one room", () => {
  const stage = useStage({}, { fewPictures: true });

  test("a joining member sees existing grabs; one drags, the other sees it move; both draw the server's shape", async () => {
    const { name, path } = await stage.room("bunny");
    const ann = await drawn(await stage.visit(path));
    await until(ann, () => window.pliant.frames().at(-1)?.still, undefined);
    const programs = (): Promise<number> =>
      ann.evaluate(() => window.pliant.view!.stage.renderer.info.programs!.length);
    const compiled = await programs();
    await takeHold(ann);
    const ben = await drawn(await stage.visit(path));
    const member = await ann.evaluate(() => window.pliant.member);
    await until(ben, (id) => window.pliant.grabs().some((grab) => grab.id.startsWith(`${id}:`)), member);
    await ann.mouse.up();
    await until(ben, () => window.pliant.grabs().length === 0, undefined);
    await restsWithoutPictures(ben);
    // The body is at rest: later motion comes from a pull.
    const before = await ben.evaluate(() => window.pliant.displayed());
    const held = await takeHold(ann);
    for (let step = 1; step <= 12; step++) {
      await ann.mouse.move(held.x + 4 * step, held.y - 5 * step);
      await ann.waitForTimeout(50);
    }
    await until(
      ben,
      (first) => {
        const now = window.pliant.displayed();
        return now.some((x, i) => Math.abs(x - first[i]!) > 0.03);
      },
      before,
    );
    // A press compiles nothing: all programs were compiled after the first picture.
    expect(await programs()).toBe(compiled);
    await until(ben, (id) => window.pliant.grabs().some((grab) => grab.id.startsWith(`${id}:`)), member);
    await stage.shoot(ann, "pull-ann");
    await stage.shoot(ben, "pull-ben");

    await sameOnBoth(stage, name, ann, ben, { x: held.x + 48, y: held.y - 60 });
    await ann.mouse.up();
    await until(ben, () => window.pliant.grabs().length === 0, undefined);
    await bothShowTheLast([ann, ben]);
    await takeHold(ann);
    await goesInDepth(ann);
  });

  test("a push moves the body, a reset restores it for both; a new name reaches the other, and the statistics update", async () => {
    const { path } = await stage.room("jelly-stack");
    const ann = await drawn(await stage.visit(path));
    const ben = await drawn(await stage.visit(path));
    const start = await ann.evaluate(() => window.pliant.displayed());
    await ann.keyboard.press("p");
    expect(await ann.getAttribute(".tool[title*='Push']", "aria-pressed")).toBe("true");
    // The top cube, which a push throws off.
    const held = await surfaceUnderMiddle(ann, Math.floor(start.length / 3) - 60, 60);
    for (let k = 0; k < 4; k++) await ann.mouse.click(held.x, held.y);
    await until(ben, (first) => window.pliant.displayed().some((x, i) => Math.abs(x - first[i]!) > 0.05), start);
    await ann.keyboard.press("p");
    await ann.keyboard.press("r");
    // The room is Ben's, too: Ann has to confirm.
    await ann.waitForSelector(".reset-panel");
    expect(await ann.textContent(".reset-panel p")).toContain("one other person");
    await ann.keyboard.press("Enter");
    await toasted(ben, / restarted the scene$/);
    await until(ben, (first) => window.pliant.displayed().every((x, i) => Math.abs(x - first[i]!) < 0.05), start);
    await toasted(ann, "You restarted the scene");
    // Without a headset there is no button for it, and without spawnable bodies no list of them.
    expect(await ann.isVisible("button[data-tool=headset]")).toBe(false);
    expect(await ann.isVisible(".spares .tool")).toBe(false);
    await namesReach(stage, ann, ben);
    await numbersComeWhenAsked(stage, ann);
  });

  test("two tabs of one browser are two members, with two colors", async () => {
    const { path } = await stage.room("jelly-stack");
    const first = await drawn(await stage.visit(path));
    const second = await first.context().newPage();
    await second.goto(stage.url + path);
    await drawn(second);
    await until(
      first,
      () => {
        const here = window.pliant.members.filter(({ connected }) => connected);
        return here.length === 2 && new Set(here.flatMap(({ name, color }) => [name, color])).size === 4;
      },
      undefined,
    );
    const names = await first.evaluate(() => window.pliant.members.map(({ name }) => name));
    expect(names[1]).toBe(`${names[0]} 2`);
    // A member who chooses a taken color gets it with a ring of a second color, and other members see both.
    const [firsts, was] = await first.evaluate(() => window.pliant.members.map(({ color }) => color));
    const { first: wanted } = lookOf(firsts!);
    const member = await second.evaluate(() => window.pliant.member);
    await second.click(".tool.me");
    await second.click(`.colors [data-color="${wanted}"]`);
    await until(
      first,
      ([id, before]) => window.pliant.members.some((other) => other.member === id && other.color !== before),
      [member, was!] as const,
    );
    await second.keyboard.press("Escape");
    await second.mouse.move(360, 300);
    await second.mouse.move(330, 280);
    await until(first, (id) => window.pliant.cursors().some((cursor) => cursor.member === id), member);
    await first.bringToFront();
    await first.waitForSelector(`.cursor[data-member="${member}"]`, { state: "attached" });
    const { color } = (await first.evaluate(() => window.pliant.members))[1]!;
    const { second: ring } = lookOf(color);
    expect([lookOf(color).first, ring === wanted]).toEqual([wanted, false]);
    const drawnIn = await first.evaluate((id) => {
      const of = (selector: string): CSSStyleDeclaration => getComputedStyle(document.querySelector(selector)!);
      const cursor = of(`.cursor[data-member="${id}"] svg`);
      const dot = of(`.people [data-member="${id}"] .dot`);
      return [cursor.fill, cursor.stroke, dot.backgroundColor, /rgb\([^)]*\)/.exec(dot.boxShadow)?.[0]];
    }, member);
    const rgb = (hex: string): string =>
      `rgb(${[1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).join(", ")})`;
    expect(drawnIn).toEqual([rgb(wanted), rgb(ring), rgb(wanted), rgb(ring)]);
    await stage.shoot(first, "colour-with-a-second");
  });

  test("a visitor who opens the link sees motion, and the time until then is recorded", async () => {
    // The flag never rests, however late the visitor looks.
    const { path } = await stage.room("flag-in-the-wind");
    const page = await stage.visit(path);
    await until(page, () => window.pliant?.firstMovingFrameMs !== undefined, undefined);
    const times = await page.evaluate(() => ({
      drawn: window.pliant.firstDrawnFrameMs!,
      moving: window.pliant.firstMovingFrameMs!,
      marks: performance.getEntriesByType("mark").map(({ name }) => name),
    }));
    console.log(
      `flag-in-the-wind in headless Chromium, drawn by the CPU: first picture after ${Math.round(times.drawn)} ms, first motion after ${Math.round(times.moving)} ms`,
    );
    expect(times.marks).toEqual(
      expect.arrayContaining(["pliant:start", "pliant:first-drawn-frame", "pliant:first-moving-frame"]),
    );
    expect(times.moving).toBeGreaterThan(times.drawn);
    await stage.shoot(page, "first-motion");
  });
});
