/** The server reports a scene whose ticks exceed their budget: once in the log, and in the list. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { startServer } from "../../../load-tests/measuredServer.ts";
import type { RunningServer } from "../../../load-tests/measuredServer.ts";
import { linesOf } from "../../ops/logLines.ts";
import { SCENES_DIR } from "../testServer.ts";

const TOKEN = "operators-own-token-of-a-heavy-scene";
const WARNING = "a tick of this scene takes longer than its period on this machine: its rooms run in slow motion";
let server: RunningServer;

beforeAll(async () => {
  server = await startServer({
    env: { PLIANT_PREWARM: "none", PLIANT_STORE: "none", PLIANT_ADMIN_TOKEN: TOKEN, PLIANT_SCENES_DIR: SCENES_DIR },
  });
});
afterAll(() => server?.stop());

interface Listed {
  room: string;
  tick: number;
  overBudget?: { medianSeconds: number; budgetSeconds: number };
}
async function rooms(): Promise<Map<string, Listed>> {
  const answer = await fetch(`${server.url}/api/admin/rooms`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const body = (await answer.json()) as { rooms: Listed[] };
  return new Map(body.rooms.map((room) => [room.room, room]));
}

test("two rooms of a heavy scene and one of a light one: one log line, and the heavy rooms give the reason", async () => {
  const names = { first: "heavy", second: "heavy", light: "cube" };
  for (const [room, scene] of Object.entries(names)) await createRoom(server.url, scene, room);
  const bots = await Promise.all(Object.keys(names).map((room) => Bot.join(server.url, room)));
  await vi.waitFor(
    async () => {
      for (const { tick } of (await rooms()).values()) expect(tick).toBeGreaterThanOrEqual(120);
    },
    { timeout: 300_000, interval: 250 },
  );
  const listed = await rooms();
  for (const room of ["first", "second"]) {
    const { medianSeconds, budgetSeconds } = listed.get(room)!.overBudget!;
    expect(budgetSeconds).toBeCloseTo(1 / 240, 12);
    expect(medianSeconds).toBeGreaterThan(budgetSeconds);
  }
  expect(listed.get("light")).not.toHaveProperty("overBudget");
  const said = linesOf(server).filter(({ msg }) => msg === WARNING);
  expect(said).toEqual([expect.objectContaining({ level: 40, scene: "heavy", budgetMs: 1000 / 240 })]);
  for (const bot of bots) await bot.leave();
});
