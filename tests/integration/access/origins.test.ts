/** Pages by origin: the server's own are always allowed, listed ones by their lists, local ones by the switch. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { createRoom } from "../../../load-tests/bot.ts";
import { type App, buildApp } from "../../../server/app.ts";
import { readConfig } from "../../../server/config.ts";
import { SCENES_DIR } from "../testServer.ts";
import { postJson } from "../../support/request.ts";

interface Line {
  level: number;
  msg: string;
}
let app: App | undefined;
afterEach(() => app?.close());

async function start(environment: Record<string, string>): Promise<{ url: string; warnings: string[] }> {
  const lines: Line[] = [];
  const stream = { write: (text: string): number => lines.push(JSON.parse(text) as Line) };
  const config = readConfig({ PLIANT_STORE: "none", PLIANT_PREWARM: "none", ...environment });
  app = await buildApp({ ...config, scenesDir: SCENES_DIR }, { level: "warn", stream });
  const url = await app.fastify.listen({ port: 0, host: "127.0.0.1" });
  await createRoom(url, "cube", "room");
  return { url, warnings: lines.map(({ msg }) => msg).filter((msg) => msg.startsWith("PLIANT_")) };
}

/** Opens a socket as a page of the origin does. @returns the body of the refusal; null: it was opened */
async function refusal(url: string, origin: string): Promise<{ code: string; limit: string } | null> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/rooms/room/socket`, { origin });
  socket.on("error", () => {});
  const answer = await Promise.race([
    once(socket, "open").then(() => null),
    once(socket, "unexpected-response").then(([, response]) => response as IncomingMessage),
  ]);
  const body = answer && Buffer.concat(await answer.toArray()).toString();
  socket.terminate();
  return body === null ? null : (JSON.parse(body) as { code: string; limit: string });
}
const post = async (url: string, origin: string): Promise<[number, string | null]> => {
  const answer = await postJson(`${url}/api/rooms`, { scene: "cube", room: "room" }, undefined, { origin });
  return [answer.status, answer.headers.get("access-control-allow-origin")];
};

describe("PLIANT_ORIGINS without `same`", () => {
  test("leaves the server's own pages in, warns at the start, and names the variable to refused pages", async () => {
    const { url, warnings } = await start({ PLIANT_ORIGINS: "https://friend.example" });
    expect(warnings).toEqual(["PLIANT_ORIGINS does not list `same`; the server's own pages are allowed all the same"]);
    for (const origin of [url, "https://friend.example"])
      expect([origin, await refusal(url, origin)]).toEqual([origin, null]);
    expect((await post(url, url))[0]).toBe(200);
    expect(await refusal(url, "https://stranger.example")).toMatchObject({
      code: "ORIGIN_REFUSED",
      limit: "PLIANT_ORIGINS: same, https://friend.example",
    });
  });
});

const LOCAL = ["http://localhost:5173", "https://localhost", "http://127.0.0.1:1", "http://[::1]:8000"];
const NOT_LOCAL = ["http://localhost.evil.example", "http://127.0.0.1.evil.example", "http://evil.localhost", "null"];

describe("PLIANT_LOCAL_PAGES", () => {
  test("on: pages of this computer may open sockets, use the HTTP API and frame rooms; others may not", async () => {
    const { url, warnings } = await start({ PLIANT_LOCAL_PAGES: "on" });
    expect(warnings).toEqual([
      "PLIANT_LOCAL_PAGES is on: all pages of this computer may use the API; for development only",
    ]);
    for (const origin of LOCAL) {
      expect([origin, await refusal(url, origin)]).toEqual([origin, null]);
      expect([origin, await post(url, origin)]).toEqual([origin, [200, origin]]);
    }
    for (const origin of NOT_LOCAL) {
      expect([origin, (await refusal(url, origin))?.code]).toEqual([origin, "ORIGIN_REFUSED"]);
      expect([origin, await post(url, origin)]).toEqual([origin, [403, null]]);
    }
    const policy = async (path: string): Promise<string | null> =>
      /frame-ancestors ([^;]*)/.exec((await fetch(`${url}${path}`)).headers.get("content-security-policy") ?? "")![1]!;
    expect(await policy("/r/room")).toBe(
      "'self' http://localhost:* https://localhost:* http://127.0.0.1:* https://127.0.0.1:*",
    );
  });

  test("off, the default: they may not", async () => {
    const { url, warnings } = await start({});
    expect(warnings).toEqual([]);
    for (const origin of LOCAL) {
      expect([origin, (await refusal(url, origin))?.code]).toEqual([origin, "ORIGIN_REFUSED"]);
      expect([origin, await post(url, origin)]).toEqual([origin, [403, null]]);
    }
  });
});

test("a frame of a page without permission gets a page that names the setting, and never the room", async () => {
  const { url } = await start({ PLIANT_EMBED_ORIGINS: "https://friend.example" });
  const framed = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${url}/r/room-1?ui=minimal`, {
      headers: { "sec-fetch-dest": "iframe", "sec-fetch-site": "cross-site", ...headers },
    });
  const refused = await framed({ referer: "https://other.example/<i>", "accept-language": "de-CH,de;q=0.9" });
  expect(refused.status).toBe(403);
  expect(refused.headers.get("content-security-policy")).toMatch(/default-src 'none'.*frame-ancestors \*$/);
  const text = await refused.text();
  expect(text).toContain("PLIANT_EMBED_ORIGINS=https://other.example");
  expect(text).toContain('lang="de"');
  expect(text).not.toMatch(/<script|<i>/);
  // The browser decides by `frame-ancestors` if it does not name the framing page, and for listed pages.
  for (const headers of [{ referer: "https://friend.example/page" }, {}] as Record<string, string>[]) {
    const answer = await framed(headers);
    expect(answer.status).not.toBe(403);
    expect(answer.headers.get("content-security-policy")).toMatch(/frame-ancestors 'self' https:\/\/friend.example$/);
  }
});

test.each(["/", "/admin", "/materials", "/docs", "/api/rooms", "/nothing"])(
  "%s cannot be framed by any page",
  async (path) => {
    const { url } = await start({ PLIANT_EMBED_ORIGINS: "https://friend.example" });
    const answer = await fetch(`${url}${path}`, { headers: { accept: "text/html" } });
    expect(answer.headers.get("content-security-policy")).toMatch(/frame-ancestors 'none'/);
  },
);
