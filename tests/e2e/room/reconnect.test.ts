/**
 * A lost connection is restored automatically, as the same member, without an empty picture. A closed room ends the
 * page.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { drawn, noBrowser, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

/** Another member in the room, whose connection stays. */
const OTHER = "Heron";

interface MotionRecord {
  last: number[] | undefined;
  lastMs: number;
  /** m/s */
  fastest: number;
  pictures: number;
  fading: boolean;
  /** Number of fades that have begun. */
  fades: number;
}

declare global {
  interface Window {
    motion?: MotionRecord;
  }
}

/** Records the largest speed of any particle between two drawn pictures, from now on. */
const recordSpeeds = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const record: MotionRecord = { last: undefined, lastMs: 0, fastest: 0, pictures: 0, fading: false, fades: 0 };
    window.motion = record;
    // Uses the animation frame's own time, as the page does: the work in it varies.
    const look = (ms: number) => {
      const now = window.pliant.displayed();
      if (record.last) {
        // Speed instead of distance, so that long pauses between pictures of a slow renderer do not count as jumps.
        let step = 0;
        for (let i = 0; i < now.length; i++) step = Math.max(step, Math.abs(now[i]! - record.last[i]!));
        record.fastest = Math.max(record.fastest, (1000 * step) / Math.max(16, ms - record.lastMs));
        if (window.pliant.crossFading && !record.fading) record.fades++;
        record.fading = window.pliant.crossFading;
      }
      record.last = now;
      record.lastMs = ms;
      record.pictures++;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });

describe.skipIf(noBrowser)("reconnecting", () => {
  // Draws all pictures: with few of them, a jump's speed between two would be low.
  const stage = useStage();

  /** Cuts the page's connection. Resolves when it is back, which may be too soon to be visible. */
  async function cut(page: Page, room: string): Promise<void> {
    const back = page.waitForEvent("websocket");
    const sessions = [...stage.app.registry.get(room).members.sessions.values()].filter(({ name }) => name !== OTHER);
    for (const { connection } of sessions) connection?.close(CloseCode.tooSlow, "a test cuts the line");
    await back;
    await until(page, () => window.pliant.status === "open", undefined);
  }

  test("the server closes the socket: the page freezes, returns as the same member, fades over the gap, and moves on", async () => {
    const { name, path } = await stage.room("drape");
    const other = await Bot.join(stage.url, name, { name: OTHER });
    // A small window with low quality gives a high picture rate. A jump between two pictures then has a high speed.
    const page = await drawn(await stage.visit(`${path}?quality=6`, { viewport: { width: 240, height: 160 } }));
    await other.until(() => other.center(0)[1] < 0.8, "the cloth, which begins at 1 m, has fallen");
    await recordSpeeds(page);
    const member = await page.evaluate(() => window.pliant.member);
    const tick = await page.evaluate(() => window.pliant.tick);
    // The bodies stay visible: no picture is empty.
    await page.evaluate(() => {
      const look = (): void => {
        if (window.pliant.displayed().every((x) => x === 0)) document.body.dataset.empty = "once";
        requestAnimationFrame(look);
      };
      look();
    });
    // Meanwhile the cloth restarts, far from where the page showed it last.
    const back = cut(page, name);
    other.reset();
    await back;
    await until(page, (before) => window.pliant.tick > before + 30, tick);
    expect(await page.evaluate(() => document.body.dataset.empty)).toBeUndefined();
    expect(await page.evaluate(() => window.pliant.member)).toBe(member);
    expect(await page.evaluate(() => window.pliant.members.filter((m) => m.connected).length)).toBe(2);
    expect(await page.isVisible(".banner")).toBe(false);
    // Pictures after this time no longer belong to the fade. A slow machine draws few.
    await page.waitForTimeout(1500);
    await until(page, () => window.motion!.pictures > 5, undefined);
    const { fastest, fades } = await page.evaluate(() => window.motion!);
    // attention.test.ts checks that a fade begins with the last picture.
    expect(fades).toBeGreaterThan(0);
    // The cloth falls a metre: at most 4.5 m/s, doubled by the fade. A jump of a metre within one picture would be 30
    // m/s or more.
    expect(fastest).toBeLessThan(15);
    await other.leave();
  });

  test("the page of a deleted room ends with a message", async () => {
    const { name, path } = await stage.room("jelly-stack");
    const page = await drawn(await stage.visit(path));
    await stage.app.registry.remove(name);
    await page.waitForSelector(".message h1");
    expect(await page.textContent(".message h1")).toBe("There is no such room");
  });
});
