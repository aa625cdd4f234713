/** Which process a page requests large data from: the one that has the room, if that is allowed. */
import { afterEach, expect, test, vi } from "vitest";
import { otherOrigin, requestOwner } from "../../../client/net/api.ts";

afterEach(() => vi.unstubAllGlobals());

test.each<[string, string, string | undefined]>([
  ["https://one.play.example", "https://play.example", "https://one.play.example"],
  ["http://10.0.0.1:8080/", "http://10.0.0.2:8080", "http://10.0.0.1:8080"],
  ["https://play.example", "https://play.example", undefined],
  ["http://one.play.example", "https://play.example", undefined],
  ["javascript:alert(1)", "https://play.example", undefined],
  ["https://", "https://play.example", undefined],
])("%s, from a page of %s: %s", (url, page, wanted) => {
  expect(otherOrigin(url, page)).toBe(wanted);
});

/** A browser on a page of http://near, whose requests to unreachable addresses fail with the error of fetch. */
function browser(owner: string, reachable: boolean): string[] {
  const asked: string[] = [];
  vi.stubGlobal("location", { origin: "http://near" });
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    if (url === "/api/rooms/x") return Response.json({ room: "x", scene: "cube", members: 0, url: owner });
    if (url.startsWith(owner) && !reachable) throw new TypeError("Failed to fetch");
    return new Response("bytes");
  });
  return asked;
}

test("the page requests from the owner; if that is unreachable, from its own process, and then always from that", async () => {
  const path = "/api/rooms/x/recording";
  const asked = browser("http://far", true);
  await requestOwner("x", "/recording", {});
  expect(asked).toEqual(["/api/rooms/x", `http://far${path}`]);
  const refused = browser("http://closed", false);
  await requestOwner("x", "/recording", {});
  await requestOwner("x", "/recording", {});
  expect(refused).toEqual(["/api/rooms/x", `http://closed${path}`, path, "/api/rooms/x", path]);
});
