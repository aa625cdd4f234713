/**
 * Time from opening a room's link to the first frame with motion, in a real Chromium with an empty cache. The clock is
 * the page's own and starts with the navigation; it includes the page, its scripts, the topology, the socket and the
 * first two snapshots. It excludes the start of the browser and its graphics process, because users have a running
 * browser.
 */
import { chromium } from "playwright-core";
import { chromiumFlags, findChromium } from "../../../tests/support/chromium.ts";
import type { Row } from "../../part.ts";
import { startServer } from "../../measuredServer.ts";

export const name = "first-frame";
export const about =
  "opening a link with an empty cache until the body moves on the screen (headless Chromium, drawn by the CPU)";

const SCENES = ["dragon", "bunny", "drape", "jelly-stack"];

export async function run(): Promise<Row[]> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("no Chromium was found: install one, or set CHROMIUM_PATH");
  const server = await startServer();
  const browser = await chromium.launch({ executablePath, args: [...chromiumFlags] });
  try {
    // The graphics process starts with the first WebGL context of the browser.
    const blank = await browser.newPage();
    await blank.evaluate(() =>
      document.createElement("canvas").getContext("webgl2")?.clear(WebGL2RenderingContext.COLOR_BUFFER_BIT),
    );
    await blank.close();
    const rows: Row[] = [];
    for (const scene of SCENES) {
      const opened = await fetch(`${server.url}/api/rooms`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ scene }),
      });
      if (!opened.ok) throw new Error(`POST /api/rooms for ${scene} answered ${opened.status}: ${await opened.text()}`);
      const { room, token } = (await opened.json()) as { room: string; token: string };
      const context = await browser.newContext(); // A new context has no cache and no storage.
      const page = await context.newPage();
      await page.goto(`${server.url}/r/${room}`);
      const value = await page.waitForFunction(
        () => (globalThis as { pliant?: { firstMovingFrameMs?: number } }).pliant?.firstMovingFrameMs,
        undefined,
        { timeout: 30_000, polling: 50 },
      );
      rows.push({
        what: `${scene}, link to first moving frame`,
        value: (await value.jsonValue()) as number,
        unit: "ms",
        target: { atMost: 2000 },
      });
      await context.close();
      await fetch(`${server.url}/api/rooms/${room}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${token}` },
      });
    }
    return rows;
  } finally {
    await browser.close();
    await server.stop();
  }
}
