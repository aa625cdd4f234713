/**
 * Pages of other origins in a real browser: a page with an allowed origin grabs in a room with `pliant-client` and
 * frames the room's page. A page whose origin is not allowed can do neither.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { decode } from "fast-png";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { joinRoom, Room } from "../../../client/sdk/index.ts";
import { Bot } from "../../../load-tests/bot.ts";
import { SCENES_DIR } from "../../integration/testServer.ts";
import { succeeds } from "../../support/program.ts";
import { buildTemplate } from "../viteTemplate.ts";
import { type E2e, noBrowser, openStage, serverPositions, PATIENCE_MS } from "../pageStage.ts";
import { inLong } from "../../support/run/long.ts";

const BUILT = fileURLToPath(new URL("../../../build/sdk/", import.meta.url));

declare global {
  interface Window {
    joinRoom: typeof joinRoom;
  }
}

const PAGE =
  '<!doctype html><link rel="icon" href="data:,"><script type="module">' +
  'import { joinRoom } from "/pliant-client/index.js"; window.joinRoom = joinRoom;</script>';
/** The complete code of a page, as in client/sdk/README.md. */
const oneTag = (address: string): string =>
  `<!doctype html><link rel="icon" href="data:,"><script type="module" src="${new URL(address).origin}/pliant-room.js">` +
  `</script><pliant-room src="${address}"></pliant-room><p></p><script>` +
  "for (const type of ['ready', 'error']) document.querySelector('pliant-room').addEventListener(type, " +
  "({ detail }) => (document.querySelector('p').textContent = detail.code ?? type));</script>";
const EXAMPLES = fileURLToPath(new URL("../../../client/examples/", import.meta.url));
const THREE = fileURLToPath(new URL("../../../node_modules/three/build/", import.meta.url));

/** Limit of the element's script, gzip. */
const MOST_SCRIPT_BYTES = 2048;

const REACT = fileURLToPath(new URL("../../../build/e2e-react/", import.meta.url));

/** Folder of the built create-vite page, and the types of its files. */
let templateFolder = "";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};
/** Limit set by the requirement for custom pages. */
const MOST_OWN_LINES = 10;

let stage: E2e;
/** The site with an allowed origin, and the other one. */
let friend: Site;
let stranger: Site;

interface Site {
  server: Server;
  origin: string;
}

/** Serves the package's files, and a page that loads it and frames the room in its address. */
async function openSite(): Promise<Site> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://site");
    const file = /^\/pliant-client\/([a-z0-9]+\.js)$/.exec(pathname)?.[1];
    if (file !== undefined) {
      response.setHeader("content-type", "text/javascript");
      return void response.end(readFileSync(BUILT + file));
    }
    const three = /^\/three\/(three\.[a-z]+\.js)$/.exec(pathname)?.[1];
    if (three !== undefined) {
      response.setHeader("content-type", "text/javascript");
      return void response.end(readFileSync(THREE + three));
    }
    const react = /^\/react\/((?:assets\/)?[\w.-]+\.(js|html))$/.exec(pathname);
    response.setHeader("content-type", react?.[2] === "js" ? "text/javascript" : "text/html");
    if (react) return void response.end(readFileSync(REACT + react[1]!));
    const template = /^\/template\/([\w./-]*)$/.exec(pathname)?.[1];
    if (template !== undefined && !template.includes("..")) {
      const file = template === "" ? "index.html" : template;
      response.setHeader("content-type", TYPES[extname(file)]!);
      return void response.end(readFileSync(templateFolder + file));
    }
    const example = /^\/(points|room|three)\.html$/.exec(pathname)?.[0];
    if (example !== undefined) return void response.end(readFileSync(EXAMPLES + example));
    const shown = searchParams.get("element");
    if (shown !== null) return void response.end(oneTag(shown));
    const framed = searchParams.get("room");
    response.end(PAGE + (framed === null ? "" : `<iframe src="${framed}"></iframe>`));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/**
 * In a page: joins with the package, pulls its first body to the right, and returns the distance, or the error code.
 */
async function pullThere(address: string): Promise<string> {
  const { joinRoom } = window;
  let room: Room;
  try {
    room = await joinRoom(address, { scene: "cube", name: "from elsewhere" });
  } catch (error) {
    return (error as { code: string }).code;
  }
  const start = room.positions(0)[0]!;
  const hand = room.grab(0, [1, 0, 0]);
  hand.move([1, 0, 0]);
  await new Promise<void>((resolve) =>
    room.on("frame", () => {
      if (room.positions(0)[0]! > start + 0.05) resolve();
    }),
  );
  hand.release();
  room.leave();
  return "pulled";
}

/** In the example's page: tests whether anything is drawn between these columns of its canvas. */
function drawnBetween([left, right]: readonly [number, number]): boolean {
  const canvas = document.querySelector("canvas")!;
  const { data } = canvas.getContext("2d")!.getImageData(left, 0, right - left, canvas.height);
  return data.some((value) => value > 0);
}

describe.skipIf(noBrowser)("pages of other origins", () => {
  beforeAll(async () => {
    expect(await succeeds("setup.mjs", ["--quiet", "--only", "sdk"])).toBe(true);
    [friend, stranger] = [await openSite(), await openSite()];
    stage = await openStage(
      { scenesDir: SCENES_DIR, embedOrigins: [friend.origin], origins: ["same", friend.origin] },
      { fewPictures: true },
    );
  });

  afterAll(async () => {
    await stage?.close();
    friend?.server.close();
    stranger?.server.close();
  });

  test("a page with an allowed origin grabs in a room with the package alone", async () => {
    const page = await stage.visit("/", {}, { through: friend.origin });
    expect(await page.evaluate(pullThere, `${stage.url}/r/elsewhere`)).toBe("pulled");
    expect(stage.takeErrors()).toEqual([]);
    await stage.leave();
  });

  test("the example draws a room's particles, and a visitor grabs them", async () => {
    const { name, path } = await stage.room("cube");
    const framing = `/points.html?room=${encodeURIComponent(stage.url + path)}`;
    const page = await stage.visit(framing, {}, { through: friend.origin });
    await page.getByText("In cube as player.").waitFor();
    // The cube ends at 0.2 m, which is at pixel 360; nothing is right of 420.
    await page.waitForFunction(drawnBetween, [0, 420] as const);
    expect(await page.evaluate(drawnBetween, [421, 600] as const)).toBe(false);
    const canvas = (await page.locator("canvas").boundingBox())!;
    await page.mouse.move(canvas.x + 358, canvas.y + 250);
    await page.mouse.down();
    await page.mouse.move(canvas.x + 560, canvas.y + 250, { steps: 4 });
    await page.waitForFunction(drawnBetween, [421, 600] as const);
    const [member] = stage.app.registry.get(name).members.sessions.values();
    expect(member!.name).toBe("Points");
    await page.mouse.up();
    expect(stage.takeErrors()).toEqual([]);
    await stage.leave();
  });

  test("the element shows a room, reports its events, and restarts it", async () => {
    const { name, path } = await stage.room("cube");
    const address = stage.url + path;
    const page = await stage.visit(`/room.html?room=${encodeURIComponent(address)}`, {}, { through: friend.origin });
    await page.getByText("Ready.").waitFor();
    const [member] = stage.app.registry.get(name).members.sessions.values();
    expect(member!.name).toBe("Ada");
    const other = await Bot.join(stage.url, name);
    await page.locator("pliant-room[data-members='2']").waitFor();
    const frame = page.frames().find((one) => one.url().startsWith(address))!;
    expect(new URL(frame.url()).search).toBe("?name=Ada&ui=none");
    await stage.shoot(page, "element");
    await page.getByText("Start again").click();
    await other.until(() => other.resets === 1, "it is started again");
    await other.leave();
    await page.evaluate(() => document.querySelector("pliant-room")!.setAttribute("src", "/elsewhere"));
    await page.getByText("BAD_ARGUMENT: http(s)://host[:port]/r/<room>").waitFor();
    expect(stage.takeErrors()).toEqual([]);
    await stage.leave();
  });

  test("on a page without an allowed origin the element reports that there is no answer", async () => {
    const { path } = await stage.room("cube");
    const address = `/room.html?room=${encodeURIComponent(stage.url + path)}`;
    const page = await stage.visit(address, {}, { through: stranger.origin });
    await page.getByText(/^NO_ANSWER: /).waitFor();
    expect(stage.takeErrors().join("\n")).toMatch(/403/);
    await stage.leave();
  });

  test("the server sends the element's script to every origin, and room data to allowed origins", async () => {
    const { name, path } = await stage.room("cube");
    const address = `/?element=${encodeURIComponent(stage.url + path)}`;
    const page = await stage.visit(address, {}, { through: friend.origin });
    await page.locator("p", { hasText: /^ready$/ }).waitFor({ timeout: PATIENCE_MS });
    expect(stage.app.registry.get(name).members.sessions.size).toBe(1);
    expect(stage.takeErrors()).toEqual([]);
    await stage.leave();
    const other = await stage.visit(address, {}, { through: stranger.origin });
    await other.locator("p", { hasText: /^NO_ANSWER$/ }).waitFor();
    expect(stage.takeErrors().join("\n")).toMatch(/403/);
    await stage.leave();
    // Requests as a browser sends them: fetch would add `no-cache` to a request with an etag.
    const get = (url: string, headers: Record<string, string> = {}) =>
      stage.app.fastify.inject({ url, headers: { origin: stranger.origin, "accept-encoding": "gzip", ...headers } });
    const { headers, rawPayload } = await get("/pliant-room.js");
    expect(headers).toMatchObject({
      "access-control-allow-origin": "*",
      "cache-control": "no-cache",
      "content-encoding": "gzip",
      "content-type": expect.stringMatching(/^(text|application)\/javascript/) as string,
    });
    expect(rawPayload.length).toBeLessThanOrEqual(MOST_SCRIPT_BYTES);
    expect((await get("/pliant-room.js", { "if-none-match": headers.etag as string })).statusCode).toBe(304);
    const beside = await get("/icon.svg");
    expect([beside.statusCode, beside.headers["access-control-allow-origin"]]).toEqual([200, undefined]);
  });

  test("a room in a three.js scene, scaled and rotated, is drawn and grabbed", async () => {
    const { name, path } = await stage.room("cube");
    const address = `/three.html?room=${encodeURIComponent(stage.url + path)}`;
    const page = await stage.visit(address, {}, { through: friend.origin });
    await page.getByText("In cube as player.").waitFor();
    const start = (await serverPositions(stage, name)).positions;
    const holds = page.getByText(/^Holds /);
    /** Red, green, blue in the middle of the cube: reddish, while the background is bluish. */
    const middle = async (): Promise<ArrayLike<number>> =>
      decode(await page.screenshot({ clip: { x: 300, y: 240, width: 1, height: 1 } })).data;
    await expect
      .poll(async () => ((pixel) => pixel[0]! - pixel[2]!)(await middle()), { timeout: PATIENCE_MS })
      .toBeGreaterThan(50);
    // The camera looks at the cube, which is around the origin.
    await page.mouse.move(300, 240);
    await page.mouse.down();
    await holds.waitFor();
    await page.mouse.move(430, 200, { steps: 6 });
    await expect
      .poll(
        async () => {
          const { positions } = await serverPositions(stage, name);
          return Math.max(...positions.map((value, i) => Math.abs(value - start[i]!)));
        },
        { timeout: PATIENCE_MS },
      )
      .toBeGreaterThan(0.05);
    await stage.shoot(page, "three");
    const other = await Bot.join(stage.url, name);
    const held = (): number => [...other.memberGrabs.values()].flatMap(({ grabs }) => grabs).length;
    await page.mouse.move(440, 210);
    await other.until(() => held() === 1, "its grab");
    await page.mouse.up();
    await other.until(() => held() === 0, "the end of its grab");
    await other.leave();
    expect(stage.takeErrors()).toEqual([]);
    await stage.leave();
  });

  test("a room in a React scene: one member pulls, and the other's canvas shows it", async () => {
    const entry = (name: string): string => `${BUILT}${name}.js`;
    await build({
      configFile: false,
      logLevel: "error",
      root: `${EXAMPLES}react`,
      base: "/react/",
      resolve: {
        alias: [
          { find: /^pliant-client$/, replacement: entry("index") },
          { find: /^pliant-client\/(react|three)$/, replacement: `${BUILT}$1.js` },
        ],
      },
      build: { outDir: REACT, emptyOutDir: true, target: "es2022", minify: false, chunkSizeWarningLimit: 4000 },
    });
    const { path } = await stage.room("cube");
    const enter = async (name: string) => {
      const address = `/react/index.html?name=${name}&room=${encodeURIComponent(stage.url + path)}`;
      const page = await stage.visit(address, {}, { through: friend.origin });
      await page.getByText(/^open$/).waitFor();
      return page;
    };
    const [ann, ben] = [await enter("Ann"), await enter("Ben")];
    /** Redness of a pixel above the grabbed point, whose mark is drawn along the middle. */
    const redness = async (page: typeof ann, x: number): Promise<number> => {
      const { data } = decode(await page.screenshot({ clip: { x, y: 180, width: 1, height: 1 } }));
      return data[0]! - data[2]!;
    };
    for (const page of [ann, ben])
      await expect.poll(() => redness(page, 300), { timeout: PATIENCE_MS }).toBeGreaterThan(30);
    // The cube stays at the grab's target as long as it is held; it only passes the pixels on the way.
    const target = 470;
    expect(await redness(ben, target)).toBeLessThan(10);
    await ann.mouse.move(300, 200);
    await ann.mouse.down();
    await ann.mouse.move(target, 200, { steps: 6 });
    await expect.poll(() => redness(ben, target), { timeout: PATIENCE_MS }).toBeGreaterThan(30);
    await stage.shoot(ben, "react");
    await ann.mouse.up();
    expect(stage.takeErrors()).toEqual([]);
    await stage.leave();
  });

  // In the short form packages.test.ts installs the package, and the examples draw with it.
  if (inLong(true, false))
    test("the create-vite page, with the packed package and ten lines at most, shows a room whose body can be grabbed", async () => {
      const { name, path } = await stage.room("cube");
      const { folder, lines } = await buildTemplate(stage.url + path, "/template/");
      expect(lines).toBeLessThanOrEqual(MOST_OWN_LINES);
      templateFolder = folder;
      const page = await stage.visit("/template/", {}, { through: friend.origin });
      await page.locator("canvas").waitFor();
      let [left, top] = [0, 0];
      // A canvas has its size only when its scene has been created.
      const bodyThere = async (): Promise<boolean> => {
        const { x, y, width, height } = (await page.locator("canvas").boundingBox())!;
        [left, top] = [x + width / 2, y + height / 2];
        const { data } = decode(await page.screenshot({ clip: { x: left, y: top, width: 1, height: 1 } }));
        return data[0]! - data[2]! > 20;
      };
      await expect.poll(bodyThere, { timeout: PATIENCE_MS }).toBe(true);
      const start = (await serverPositions(stage, name)).positions;
      // This page does not show whether a grab succeeded, so the test repeats a grab that came too early.
      await expect
        .poll(
          async () => {
            await page.mouse.up();
            await page.mouse.move(left, top);
            await page.mouse.down();
            await page.mouse.move(left + 90, top - 40, { steps: 6 });
            await page.waitForTimeout(500);
            const { positions } = await serverPositions(stage, name);
            return Math.max(...positions.map((value, i) => Math.abs(value - start[i]!)));
          },
          { timeout: PATIENCE_MS },
        )
        .toBeGreaterThan(0.05);
      await stage.shoot(page, "template");
      await page.mouse.up();
      expect(stage.takeErrors()).toEqual([]);
      await stage.leave();
    });

  test("a page without an allowed origin reads nothing", async () => {
    const page = await stage.visit("/", {}, { through: stranger.origin });
    expect(await page.evaluate(pullThere, `${stage.url}/r/elsewhere`)).toBe("ORIGIN_REFUSED");
    expect(stage.takeErrors().join("\n")).toMatch(/blocked by CORS policy/);
    await stage.leave();
  });

  test("the room's page is drawn in a frame of an allowed origin, and of no other", async () => {
    const { path } = await stage.room("cube");
    const framing = `/?room=${encodeURIComponent(stage.url + path)}`;
    const page = await stage.visit(framing, {}, { through: friend.origin });
    const frame = page.frames().find((one) => one.url() === stage.url + path)!;
    await frame.waitForFunction(() => window.pliant?.firstDrawnFrameMs !== undefined, undefined, {
      timeout: PATIENCE_MS,
    });
    expect(stage.takeErrors()).toEqual([]);
    await stage.leave();
    const policies = await Promise.all(
      [path, "/", "/admin"].map(async (one) => (await fetch(stage.url + one)).headers.get("content-security-policy")),
    );
    expect(policies.map((policy) => policy?.includes(friend.origin))).toEqual([true, false, false]);
    const other = await stage.visit(framing, {}, { through: stranger.origin });
    // In place of the room there is a page without scripts, which names the setting and links the room.
    const refused = other.frameLocator("iframe");
    await refused.getByText(`PLIANT_EMBED_ORIGINS=${stranger.origin}`).waitFor({ timeout: PATIENCE_MS });
    expect(await refused.getByRole("link").getAttribute("href")).toBe(path);
    expect(await refused.locator("script, canvas").count()).toBe(0);
    expect(stage.takeErrors().every((error) => /403/.test(error))).toBe(true);
    await stage.leave();
  });
});
