/**
 * Two versions of the program on one store, as in every update: neither can read the other's rooms. Each leaves them to
 * the other, whatever happens to single processes, and visitors of either version may enter at any process. Real
 * processes.
 */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { Connection } from "../../../client/sdk/connection/roomConnection.ts";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { freePort, type RunningServer, serveCommand, startServer } from "../../../load-tests/measuredServer.ts";
import type { Welcome } from "../../../shared/protocol/fromServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const ADMIN = "an-operators-own-token";
const OTHER = fileURLToPath(new URL("./otherVersion.ts", import.meta.url));
const SCENES = fileURLToPath(new URL("../scenes", import.meta.url));
const folder = testFolder("versions");
const running: RunningServer[] = [];
const lines: Connection[] = [];
afterAll(async () => {
  for (const line of lines) line.close();
  await Promise.all(running.map((server) => server.stop()));
});

async function start(version: "old" | "new"): Promise<RunningServer> {
  const port = await freePort();
  const server = await startServer({
    port,
    command: version === "old" ? serveCommand() : serveCommand("--import", OTHER),
    env: {
      PLIANT_STORE: "sqlite",
      PLIANT_DATA_DIR: folder,
      PLIANT_SCENES_DIR: SCENES,
      PLIANT_PREWARM: "cube",
      PLIANT_WORKERS: "1",
      PLIANT_ADMIN_TOKEN: ADMIN,
      PLIANT_PUBLIC_URL: `http://127.0.0.1:${port}`,
    },
  });
  running.push(server);
  return server;
}

interface Listed {
  room: string;
  quarantined?: { reason: string };
}
const list = async ({ url }: RunningServer): Promise<Listed[]> =>
  ((await (await fetch(`${url}/api/rooms`)).json()) as { rooms: Listed[] }).rooms;
const urlOf = async ({ url }: RunningServer, room: string): Promise<string | undefined> =>
  ((await (await fetch(`${url}/api/rooms/${room}`)).json()) as { url?: string }).url;
const versions = async ({ url }: RunningServer): Promise<string[]> => {
  const answer = await fetch(`${url}/api/admin/processes`, { headers: { authorization: `Bearer ${ADMIN}` } });
  return ((await answer.json()) as { processes: { version: string }[] }).processes.map(({ version }) => version).sort();
};

async function until(what: string, done: () => boolean | Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + 300_000; !(await done()); ) {
    if (performance.now() > endMs)
      throw new Error(`${what}: not within 300 s\n${running.map((server) => server.output()).join("\n")}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A page's connection through this server. */
function visit(server: RunningServer, room: string): Welcome[] {
  const welcomes: Welcome[] = [];
  lines.push(
    new Connection({
      url: `${server.url.replace("http", "ws")}/api/rooms/${room}/socket`,
      profile: () => ({ name: "Ada", color: "#112233" }),
      onEvent: (event) => void (event.type === "welcome" && welcomes.push(event.welcome)),
      onStatus: () => {},
    }),
  );
  return welcomes;
}

test("rooms stay with their version: at a hand-over, after kill -9, and when new ones start; visitors may enter at any process", async () => {
  const [first, second, newer] = [await start("old"), await start("old"), await start("new")];
  const olds = ["old-0", "old-1", "old-2", "old-3"];
  for (const room of olds) await createRoom(first.url, "cube", room);
  await createRoom(newer.url, "cube", "new-0");
  expect(await urlOf(first, "new-0")).toBe(newer.url);
  await until("all processes know each other", async () => (await versions(newer)).length === 3);
  const [a, b, c] = await versions(newer);
  expect(new Set([a, b, c]).size).toBe(2);

  // Members of the old rooms connect through the new process, members of the new room through an old one.
  const visits = [...olds.map((room) => visit(newer, room)), visit(second, "new-0")];
  const areIn = (): boolean => visits.every((own) => own.length > 0) && lines.every((line) => line.isOpen);
  await until("all members are in", areIn);
  const sessions = visits.map((own) => own.at(-1)!.session);

  expect(await first.stop()).toBe(0);
  await until("the rooms are at the other old process", () =>
    visits.slice(0, 4).every((own) => own.at(-1)!.url === second.url),
  );

  const third = await start("old");
  await until("the process is known", async () => (await versions(newer)).length === 3);
  const gone = once(second.process, "exit");
  second.process.kill("SIGKILL");
  await gone;
  await until("the rooms are at the third process", () =>
    visits.slice(0, 4).every((own) => own.at(-1)!.url === third.url),
  );
  // The page that connected through the killed process has no other address.
  lines.pop()!.close();
  expect((await list(newer)).filter(({ quarantined }) => quarantined !== undefined)).toEqual([]);
  await until("all members are in again", () => lines.every((line) => line.isOpen));
  expect(visits.map((own) => own.at(-1)!.session)).toEqual(sessions);
  const bot = await Bot.join(third.url, "new-0");
  await bot.frames(3);
  await bot.leave();

  // Without a process of its version a room is kept, and resumes when one starts.
  expect(await newer.stop()).toBe(0);
  await until("the room is kept", async () =>
    (await list(third)).some(({ room, quarantined }) => room === "new-0" && quarantined?.reason === "version"),
  );
  const again = await start("new");
  await until("the room resumes", async () => (await urlOf(third, "new-0")) === again.url);
  expect((await list(again)).filter(({ quarantined }) => quarantined !== undefined)).toEqual([]);
});
