/**
 * Size of a first visit to a room, in bytes on the network, and the resources that a second visit takes from the cache.
 */
import type { CDPSession, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { SCENES_FOLDER } from "../../physics/scenes/checkScene.ts";
import { drawn, noBrowser, PATIENCE_MS } from "../pageStage.ts";
import { useStage } from "../useStage.ts";
import { inLong } from "../../support/run/long.ts";

/** Limit of all bytes before the first picture, except the frames of a moving body. */
const MOST_BYTES = 300_000;
/** Limit of the lobby before its body to pull. */
const LOBBY_BYTES = 280_000;

interface Line {
  /** Bytes of responses with headers, by path. */
  bytes: Map<string, number>;
  /** The largest message of the room's socket: the keyframe. */
  keyframe: number;
  /** Paths that came from the browser's cache. */
  kept: string[];
}

async function listen(page: Page): Promise<Line> {
  const line: Line = { bytes: new Map(), keyframe: 0, kept: [] };
  const paths = new Map<string, string>();
  const session: CDPSession = await page.context().newCDPSession(page);
  session.on("Network.requestWillBeSent", ({ requestId, request }) =>
    paths.set(requestId, new URL(request.url).pathname),
  );
  session.on("Network.responseReceived", ({ requestId, response }) => {
    if (response.fromDiskCache) line.kept.push(paths.get(requestId)!);
  });
  session.on("Network.requestServedFromCache", ({ requestId }) => line.kept.push(paths.get(requestId)!));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) =>
    line.bytes.set(paths.get(requestId)!, encodedDataLength),
  );
  session.on("Network.webSocketFrameReceived", ({ response }) => {
    const bytes = response.opcode === 2 ? Buffer.byteLength(response.payloadData, "base64") : 0;
    line.keyframe = Math.max(line.keyframe, bytes);
  });
  await session.send("Network.enable");
  return line;
}

const sum = ({ bytes, keyframe }: Line): number => [...bytes.values()].reduce((a, b) => a + b, keyframe);

describe.skipIf(noBrowser)("a first visit", () => {
  // The icon that a browser requests for a response that is not a page.
  const stage = useStage({ scenesDir: SCENES_FOLDER }, { fewPictures: true }, /404/);

  test.each(inLong(["bunny", "drape", "put-in"], ["bunny"]))(
    "to a room of %s stays below 300 kB; the next visit fetches no asset",
    async (scene) => {
      const { path } = await stage.room(scene);
      await stage.app.library.compressed; // Visits in the first moments get a topology that is a twelfth larger.
      const page = await stage.visit("/healthz", {}, { first: true });
      const first = await listen(page);
      await page.goto(stage.url + path);
      await drawn(page);
      // The browser reports network events and drawn pictures in no fixed order.
      await expect.poll(() => first.keyframe > 0 && first.bytes.size > 8, { timeout: PATIENCE_MS }).toBe(true);
      const table = [...first.bytes].sort((a, b) => b[1] - a[1]).slice(0, 6);
      console.log(`${scene}: ${sum(first)} bytes, keyframe ${first.keyframe}; ${table.map(String).join("; ")}`);
      expect(sum(first)).toBeLessThan(MOST_BYTES);

      const next = await stage.room(scene);
      const again = await page.context().newPage();
      const second = await listen(again);
      await again.goto(stage.url + next.path);
      await drawn(again);
      const scripts = [...first.bytes.keys()].filter((name) => /^\/(assets|api\/topologies)\//.test(name));
      expect(scripts.length).toBeGreaterThan(5);
      await expect.poll(() => second.kept, { timeout: PATIENCE_MS }).toEqual(expect.arrayContaining(scripts));
      expect(sum(second) - second.keyframe).toBeLessThan(0.1 * MOST_BYTES);
    },
  );

  test("to the lobby stays below 280 kB until its scenes are there; the body to pull is less than 300 kB more", async () => {
    await stage.app.library.compressed;
    const viewport = { width: 1440, height: 900 };
    const page = await stage.visit("/healthz", { viewport }, { first: true });
    const line = await listen(page);
    await page.goto(stage.url);
    await page.waitForSelector(".card");
    await page.waitForFunction(() =>
      [...document.querySelectorAll<HTMLImageElement>(".card img, .live-body img")].every(
        ({ complete, loading, offsetTop }) => complete || (loading === "lazy" && offsetTop > 2 * innerHeight),
      ),
    );
    const before = sum(line);
    const body = [...line.bytes.keys()].filter((path) => path.startsWith("/r/"));
    expect(body).toEqual([]);
    expect(before).toBeLessThan(LOBBY_BYTES);
    await page.waitForSelector(".live-body.ready", { timeout: PATIENCE_MS });
    await expect.poll(() => line.bytes.size, { timeout: PATIENCE_MS }).toBeGreaterThan(20);
    console.log(`lobby: ${before} bytes, with its body ${sum(line)}`);
    expect(sum(line) - before).toBeLessThan(MOST_BYTES);
  });
});
