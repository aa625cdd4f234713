/** Every level of the picture's quality is one that WebGL can draw: no call of it is refused. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LEVELS } from "../../client/view/quality.ts";
import { drawn, noBrowser, openStage, type E2e } from "./stage.ts";

/** What Chromium says of a call that it refuses; the first of a kind is said at once. */
const REFUSED = /GL_INVALID|INVALID_(OPERATION|ENUM|VALUE|FRAMEBUFFER_OPERATION)/;

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
    const page = await drawn(await stage.visit(`${path}?quality=${level}`, {}, { prepare }));
    await page.waitForFunction(() => window.pliant.firstMovingFrameMs !== undefined, undefined, { timeout: 60_000 });
    expect(await page.evaluate(() => document.querySelector<HTMLCanvasElement>("canvas.view")!.width)).toBe(
      // More than the screen's pixels, too: this browser draws by CPU, without multisampling.
      Math.floor(720 * LEVELS[level]!.pixelRatio),
    );
    expect(said.filter((text) => REFUSED.test(text))).toEqual([]);
    await stage.leave();
  });
});
