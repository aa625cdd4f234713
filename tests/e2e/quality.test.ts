/** Every level of the picture's quality is one that WebGL can draw: no call of it is refused. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LEVELS } from "../../client/view/quality.ts";
import { drawn, noBrowser, openStage, type E2e, until } from "./stage.ts";

/** What Chromium says of a call that it refuses; the first of a kind is said at once. */
const REFUSED = /GL_INVALID|INVALID_(OPERATION|ENUM|VALUE|FRAMEBUFFER_OPERATION)/;

/** Every pixel is drawn by the CPU. */
const SMALL = { width: 240, height: 160 };

describe.skipIf(noBrowser)("quality", () => {
  let stage: E2e;
  beforeAll(async () => {
    stage = await openStage({}, { fewPictures: true });
  });
  afterAll(() => stage?.close());

  test.each(LEVELS.map((_, level) => level))("level %i draws without a refused call", async (level) => {
    const { path } = await stage.room("jelly-stack");
    const said: string[] = [];
    const prepare = (page: Awaited<ReturnType<E2e["visit"]>>): void =>
      void page.on("console", (message) => said.push(message.text()));
    const page = await drawn(await stage.visit(`${path}?quality=${level}`, { viewport: SMALL }, { prepare }));
    const before = await page.evaluate(() => {
      window.pliant.view!.invalidate();
      return window.pliant.drawn;
    });
    await until(page, (than) => window.pliant.drawn > than, before);
    expect(await page.evaluate(() => document.querySelector<HTMLCanvasElement>("canvas.view")!.width)).toBe(
      // More than the screen's pixels, too: this browser draws by CPU, without multisampling.
      Math.floor(SMALL.width * LEVELS[level]!.pixelRatio),
    );
    expect(said.filter((text) => REFUSED.test(text))).toEqual([]);
    await stage.leave();
  });

  test("where the CPU draws no picture waits behind another, and what a press changes waits for none that is not begun", async () => {
    const { path } = await stage.room("jelly-stack");
    const page = await drawn(await stage.visit(path));
    // the frame after a press, when nothing is being drawn and a picture is wanted
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
      // begun, and in this task it cannot be done
      view.stage.draw();
      view.invalidate();
      return view.stage.busy;
    });
    expect(behind).toBe(true);
    const count = await page.evaluate(() => window.pliant.drawn);
    await page.waitForFunction((than) => window.pliant.drawn > than, count);
    await stage.leave();
  });
});
