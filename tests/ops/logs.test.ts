/**
 * server/ops/LOGS.md matches the lines of a real process that is used in many ways. (tests/architecture/logs.test.ts
 * compares it with the source.)
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bot, createRoom, deleteRoom } from "../../load-tests/bot.ts";
import { startServer } from "../../load-tests/measuredServer.ts";
import type { RunningServer } from "../../load-tests/measuredServer.ts";
import { faults, type Line, linesOf } from "./logLines.ts";

describe("a running server", () => {
  let server: RunningServer;
  let logged: Line[];
  let room: string;
  let secrets: string[];
  let session: string;
  let answered: string | null;

  beforeAll(async () => {
    server = await startServer({ env: { PLIANT_PREWARM: "none", LOG_LEVEL: "trace" } });
    const made = await createRoom(server.url, "jelly-stack");
    ({ room } = made);
    const bot = await Bot.join(server.url, room, { name: "somebody" });
    await bot.frames(3);
    ({ session } = bot.welcome);
    const answer = await fetch(`${server.url}/api/rooms/${room}`, {
      headers: { authorization: "Bearer very-secret-words", cookie: "id=secret-crumbs", "x-request-id": "pretended" },
    });
    answered = answer.headers.get("x-request-id");
    const broken = await Bot.join(server.url, room);
    broken.send(["nonsense"]);
    await broken.untilClosed();
    await fetch(`${server.url}/nowhere`);
    await createRoom(server.url, "there-is-no-such-scene").catch(() => {});
    secrets = [made.token!, bot.welcome.token, broken.welcome.token, "very-secret-words", "secret-crumbs"];
    expect(await deleteRoom(server.url, room, made.token)).toBe(204);
    await bot.untilClosed();
    expect(await server.stop()).toBe(0);
    logged = linesOf(server);
  });
  afterAll(() => server?.stop());

  test("writes JSON only, and only messages, levels and fields of the page", () => {
    expect(logged.length).toBeGreaterThan(15);
    expect(faults(logged)).toEqual([]);
    expect(
      faults([
        { ...logged[0]!, msg: "never heard of" },
        { ...logged[0]!, level: 60 },
        { ...logged[0]!, secret: 1 },
      ]),
    ).toHaveLength(3);
  });

  test("names room, session, member and request", () => {
    const of = (msg: string): Line[] => logged.filter((line) => line.msg === msg);
    for (const msg of ["room opened", "room closed", "member connected", "closing socket"])
      for (const line of of(msg)) expect(line.room, msg).toBe(room);
    expect(of("member connected")).toHaveLength(2);
    expect(of("member connected")[0]).toMatchObject({ session, member: 1 });
    expect(of("closing socket").map(({ code, member }) => ({ code, member }))).toEqual([
      { code: 4400, member: 2 },
      { code: 4404, member: 1 },
    ]);
    const upgrade = of("incoming request").find(({ reqId }) => reqId === of("member connected")[0]!.reqId);
    expect(upgrade?.req).toMatchObject({ url: `/api/rooms/${room}/socket` });
  });

  test("gives every request an id that its response names, and ignores a client's own id", () => {
    expect(answered).toMatch(/^[0-9a-f-]{36}$/);
    expect(logged.filter(({ reqId }) => reqId === answered).map(({ msg }) => msg)).toEqual([
      "incoming request",
      "request completed",
    ]);
    const ids = logged.filter(({ msg }) => msg === "incoming request").map(({ reqId }) => reqId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("does not log tokens and cookies", () => {
    for (const secret of secrets) expect(server.output()).not.toContain(secret);
  });
});

test("LOG_LEVEL=warn omits normal events, and a trusted proxy's request id is used", async () => {
  const server = await startServer({ env: { PLIANT_PREWARM: "none", LOG_LEVEL: "warn", PLIANT_TRUST_PROXY: "1" } });
  const id = async (given: string): Promise<string | null> =>
    (await fetch(`${server.url}/api/rooms`, { headers: { "x-request-id": given } })).headers.get("x-request-id");
  expect(await id("trace-4711:a.b")).toBe("trace-4711:a.b");
  expect(await id("not one {}")).toMatch(/^[0-9a-f-]{36}$/);
  await createRoom(server.url, "jelly-stack");
  expect(await server.stop()).toBe(0);
  expect(linesOf(server).filter(({ level }) => level < 40)).toEqual([]);
});
