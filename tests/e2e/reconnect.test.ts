/** A lost line comes back by itself, as the same member, without an empty picture; a closed room ends the page. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { CloseCode } from "../../shared/protocol/protocol.ts";
import { drawn, noBrowser, until } from "./stage.ts";
import { useStage } from "./useStage.ts";

describe.skipIf(noBrowser)("reconnecting", () => {
  const stage = useStage({}, { fewPictures: true });

  /** Resolves when the page is back: it may be so soon that nobody sees it away. */
  async function cut(page: Page, room: string): Promise<void> {
    const back = page.waitForEvent("websocket");
    const sessions = [...stage.app.registry.get(room).members.sessions.values()];
    for (const { connection } of sessions) connection?.close(CloseCode.tooSlow, "a test cuts the line");
    await back;
    await until(page, () => window.pliant.status === "open", undefined);
  }

  test("the server closes the socket: the page freezes, returns as the same member, and moves on", async () => {
    const { name, path } = await stage.room("drape");
    const page = await drawn(await stage.visit(path));
    const member = await page.evaluate(() => window.pliant.member);
    const tick = await page.evaluate(() => window.pliant.tick);
    // What was there stays there: in no picture is nothing.
    await page.evaluate(() => {
      const look = (): void => {
        if (window.pliant.displayed().every((x) => x === 0)) document.body.dataset.empty = "once";
        requestAnimationFrame(look);
      };
      look();
    });
    await cut(page, name);
    await until(page, (before) => window.pliant.tick > before + 30, tick);
    expect(await page.evaluate(() => document.body.dataset.empty)).toBeUndefined();
    expect(await page.evaluate(() => window.pliant.member)).toBe(member);
    expect(await page.evaluate(() => window.pliant.members.filter((m) => m.connected).length)).toBe(1);
    expect(await page.isVisible(".banner")).toBe(false);
  });

  test("the picture fades over the gap: no particle jumps from one drawn picture to the next", async () => {
    const { name, path } = await stage.room("drape");
    const page = await drawn(await stage.visit(path));
    await page.evaluate(() => {
      const record = { last: undefined as number[] | undefined, lastMs: 0, fastest: 0, pictures: 0 };
      (window as unknown as { record: typeof record }).record = record;
      // By the animation frame's own time, as the page's: the work in it takes longer in one than in another.
      const look = (ms: number) => {
        const now = window.pliant.displayed();
        if (record.last) {
          // Speed, so that a slow renderer's long pauses between pictures do not count as jumps.
          let step = 0;
          for (let i = 0; i < now.length; i++) step = Math.max(step, Math.abs(now[i]! - record.last[i]!));
          record.fastest = Math.max(record.fastest, (1000 * step) / Math.max(16, ms - record.lastMs));
        }
        record.last = now;
        record.lastMs = ms;
        record.pictures++;
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    await cut(page, name);
    // the fade is over after that; on a machine that draws slowly it has few pictures, and some belong to it
    await page.waitForTimeout(1500);
    await until(page, () => (window as unknown as { record: { pictures: number } }).record.pictures > 5, undefined);
    const { fastest } = await page.evaluate(() => (window as unknown as { record: { fastest: number } }).record);
    // The cloth falls a metre: at most 4.5 m/s. Over a gap of half a second a jump within one picture would be 30 m/s
    // and more.
    expect(fastest).toBeLessThan(15);
  });

  test("a room that is deleted ends the page with a word", async () => {
    const { name, path } = await stage.room("jelly-stack");
    const page = await drawn(await stage.visit(path));
    await stage.app.registry.remove(name);
    await page.waitForSelector(".message h1");
    expect(await page.textContent(".message h1")).toBe("This room has ended");
  });
});
