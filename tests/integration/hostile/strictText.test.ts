/** HTTP requests whose text is not UTF-8, or has U+0000, are refused before a handler sees it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ adminToken: "an-operators-own-token" });
});
afterAll(() => server.close());

const headers = { "content-type": "application/json", authorization: "Bearer an-operators-own-token" };
const post = async (body: Uint8Array<ArrayBuffer> | string): Promise<[number, unknown]> => {
  const answer = await fetch(`${server.url}/api/tokens`, { method: "POST", headers, body });
  return [answer.status, ((await answer.json()) as { field?: unknown }).field];
};

describe("a JSON body", () => {
  const named = (bytes: number[]): Uint8Array<ArrayBuffer> =>
    Uint8Array.from([...Buffer.from('{"room":"*","role":"player","name":"'), ...bytes, ...Buffer.from('"}')]);
  test.each([
    ["ff fe", [0xff, 0xfe]],
    ["an overlong NUL", [0xc0, 0x80]],
    ["an encoded surrogate", [0xed, 0xa0, 0x80]],
    ["Latin-1", [0xe9]],
  ])("with %s is refused", async (_title, bytes) => {
    expect(await post(named(bytes))).toEqual([400, "body"]);
  });

  test.each([
    ["value", '{"room":"*","role":"player","name":"\\ud800"}'],
    ["value behind an escaped backslash", '{"room":"*","role":"player","name":"\\\\\\uDC00"}'],
    ["key", '{"room":"*","role":"player","\\udfff":1}'],
    ["nested value", '{"room":"*","role":"player","name":[{"a":"\\ud800x"}]}'],
    ["value that is U+0000", '{"room":"*","role":"player","subject":"a\\u0000b"}'],
    ["key with U+0000", '{"room":"*","role":"player","a\\u0000b":1}'],
  ])("with the escape of a lone surrogate or of U+0000 as a %s is refused", async (_title, body) => {
    expect(await post(body)).toEqual([400, "body"]);
  });

  test.each([
    ["a name twice", '{"room":"*","role":"player","role":"owner"}', "role"],
    ["a name twice, once as an escape", '{"room":"*","role":"player","r\\u006fle":"owner"}', "role"],
    ["a name twice, nested", '{"room":"*","role":"player","name":[{"a":1,"a":2}]}', "name.0.a"],
  ])("that has %s is refused", async (_title, body, field) => {
    expect(await post(body)).toEqual([400, field]);
  });

  test("with UTF-8, pairs of escapes and text that looks like an escape is read", async () => {
    for (const name of ["Zoë", "\\ud83e\\uddf5", "\\\\ud800"])
      expect(await post(`{"room":"*","role":"player","name":"${name}"}`)).toEqual([201, undefined]);
  });

  test("that is deep, broken or pollutes prototypes is refused as before", async () => {
    for (const body of ["[".repeat(9000), `${"[".repeat(9000)}"\\u0041"`, '{"__proto__":{"a":1}}', '{"a":"\\u0041"'])
      expect((await post(body))[0]).toBe(400);
  });
});

test.each(["%ff%fe", "%c0%80", "%ed%a0%80", "a%00b", "%", "%zz"])("a query with %s is refused", async (escaped) => {
  const answer = await fetch(`${server.url}/api/objects?name=${escaped}`, { method: "POST", headers, body: "x" });
  expect([answer.status, ((await answer.json()) as { field: string }).field]).toEqual([400, "query"]);
});

test.each(["%ff", "%c0%80", "%ed%a0%80", "a%00b"])("a path with %s is refused", async (escaped) => {
  expect((await fetch(`${server.url}/api/rooms/${escaped}`)).status).toBe(400);
});
