/** WebGL draws every quality level of the picture without refusing a call. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LEVELS } from "../../../client/view/stage/pictureQuality.ts";
import { setQuality } from "../controls.ts";
import { drawn, noBrowser, openStage, type E2e } from "../pageStage.ts";
import { inLong } from "../../support/run/long.ts";

/** Chromium's messages for a refused call; it reports the first of each kind at once. */
const REFUSED = /GL_INVALID|INVALID_(OPERATION|ENUM|VALUE|FRAMEBUFFER_OPERATION)/;

/** The CPU draws every pixel. */
const SMALL = { width: 240, height: 160 };

describe.skipIf(noBrowser)("quality", () => {
  // The stage whose pages choose their quality themselves, as visitors' pages do.
  let stage: E2e;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage?.close());

  /** A page of the jelly stack, at the level that it chose itself: opened by the first test that needs it. */
  let opened: Promise<Page> | undefined;
  const jelly = async (): Promise<Page> => drawn(await stage.visit((await stage.room("jelly-stack")).path));

  // The tank also has cloth, water and smoke (lightScenes.ts).
  test.each(inLong(["jelly-stack", "tank"], ["tank"]))("every level draws %s without a refused call", async (scene) => {
    const { path } = await stage.room(scene);
    const said: string[] = [];
    const prepare = (page: Page): void => void page.on("console", (message) => said.push(message.text()));
    const page = await drawn(await stage.visit(`${path}?quality=0`, { viewport: SMALL }, { prepare }));
    // Levels 1 and 5 differ from the one before only in their numbers of pixels and texels.
    for (const level of inLong([...LEVELS.keys()], [0, 2, 3, 4, 6])) {
      const { pixelRatio } = LEVELS[level]!;
      await setQuality(page, level);
      expect(await page.evaluate(() => document.querySelector<HTMLCanvasElement>("canvas.view")!.width)).toBe(
        // More pixels than the screen, too: this browser draws by CPU, without multisampling.
        Math.floor(SMALL.width * pixelRatio),
      );
      // When the GPU's process has reached this call, it has reported earlier refusals.
      await page.evaluate(() => {
        const gl = window.pliant.view!.stage.renderer.getContext();
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
      });
      expect(
        said.filter((text) => REFUSED.test(text)),
        `level ${level}`,
      ).toEqual([]);
    }
    await stage.leave();
  });

  test("with drawing by the CPU no picture queues behind another, and a press goes before a picture that has not begun", async () => {
    const page = await (opened ??= jelly());
    // The frame after a press, when no drawing is in progress and a picture is requested.
    const first = await page.evaluate(async () => {
      const view = window.pliant.view!;
      const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
      for (await frame(); view.stage.busy; ) await frame();
      const before = window.pliant.drawn;
      dispatchEvent(new KeyboardEvent("keydown", { key: "Shift" }));
      view.invalidate();
      await frame();
      return window.pliant.drawn - before;
    });
    expect(first).toBe(0);
    const behind = await page.evaluate(() => {
      const view = window.pliant.view!;
      // Started, and it cannot finish in this task.
      view.stage.draw();
      view.invalidate();
      return view.stage.busy;
    });
    expect(behind).toBe(true);
    const count = await page.evaluate(() => window.pliant.drawn);
    await page.waitForFunction((than) => window.pliant.drawn > than, count);
  });

  test("with drawing by the CPU a picture that stands has more pixels than a moving one", async () => {
    const page = await (opened ??= jelly());
    // A renderer that is fast enough for the best level has no need of it.
    await page.waitForFunction((levels) => {
      const { width, clientWidth } = document.querySelector<HTMLCanvasElement>("canvas.view")!;
      const { level } = window.pliant.view!.stage.quality;
      return level === 0 || width / clientWidth === Math.min(2, 2 * levels[level]!.pixelRatio);
    }, LEVELS);
    const moving = await page.evaluate(async () => {
      const { drawn } = window.pliant;
      const canvas = document.querySelector<HTMLCanvasElement>("canvas.view")!;
      while (window.pliant.drawn === drawn) {
        window.pliant.view!.invalidate();
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      return { ratio: canvas.width / canvas.clientWidth, level: window.pliant.view!.stage.quality.level };
    });
    expect(moving.ratio).toBe(LEVELS[moving.level]!.pixelRatio);
  });
});
