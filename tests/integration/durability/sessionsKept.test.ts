/**
 * Sessions survive a killed process: a member that was welcomed is the same member after the restart, without its
 * grabs, however early it reconnects.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { startServer } from "../../../load-tests/measuredServer.ts";
import { decodeRecording } from "../../../server/persistence/recording.ts";
import { startTestServer, storedIn } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const folder = testFolder("sessions");

const HANDS = 5;
/** Members that are welcomed just before the kill: no journal has been written since. */
const NEWCOMERS = 5;

async function backAt(url: string, resume: string): Promise<Bot> {
  for (;;) {
    try {
      return await Bot.join(url, "room", { resume });
    } catch (error) {
      // 503: the room is on its way to this process.
      if (!String(error).includes("503")) throw error;
    }
  }
}

test("all ten members keep their identity after kill -9, also the newly welcomed ones; every grab has ended", async () => {
  const dataDir = join(folder, "data");
  const first = await startServer({ env: storedIn(dataDir) });
  await createRoom(first.url, "cube", "room");
  const bots: Bot[] = [];
  for (let i = 0; i < HANDS; i++) {
    const bot = await Bot.join(first.url, "room", { name: `hand ${i}` });
    const point = { body: 0, triangle: 3 + 7 * i, u: 0.3, v: 0.3 };
    const [x, y, z] = bot.surfacePosition(point);
    bot.grab(1, point, [x, y, z]);
    bot.move(1, [x + 0.02, y + 0.05, z]);
    bots.push(bot);
  }
  await bots[0]!.until(() => bots[0]!.memberGrabs.size === HANDS && bots[0]!.tick > 120, "all hands");
  // Kill at the moment in which the last of them is welcomed.
  const newcomers = Array.from({ length: NEWCOMERS }, (_, i) =>
    Bot.join(first.url, "room", { name: `new ${i}`, color: "#123456" }),
  );
  bots.push(...(await Promise.all(newcomers)));
  first.process.kill("SIGKILL");
  await once(first.process, "exit");

  // At the same address, as after a restart. Everybody is there before the first server's lease has ended.
  const second = await startTestServer({ store: "sqlite", dataDir, workers: 1 }, Number(new URL(first.url).port));
  const back = await Promise.all(bots.map(({ welcome }) => backAt(second.url, welcome.token)));
  for (const [i, { welcome }] of back.entries()) {
    const { session, member, role } = bots[i]!.welcome;
    expect(welcome).toMatchObject({ session, member, role });
  }
  const watch = back.at(-1)!;
  await watch.until(
    () => watch.members.length === HANDS + NEWCOMERS && watch.members.every(([, , , here]) => here),
    "all of them",
  );
  expect(watch.members.map(([, name]) => name)).toEqual(
    expect.arrayContaining([...Array.from({ length: HANDS }, (_, i) => `hand ${i}`), "new 0", `new ${NEWCOMERS - 1}`]),
  );
  await watch.frames(10);
  const bytes = new Uint8Array(await (await fetch(`${second.url}/api/rooms/room/recording`)).arrayBuffer());
  const inputs = decodeRecording(bytes).records.flatMap((record) => record.inputs);
  const last = inputs.findLastIndex(({ type }) => type === "grab");
  for (const { welcome } of bots.slice(0, HANDS))
    expect(
      inputs.slice(last).some(({ type, member }) => type === "releaseAll" && member === welcome.member),
      `grab of ${welcome.member}`,
    ).toBe(true);
  // The disk contains nothing that would allow entering as one of them.
  await second.close();
  const file = readFileSync(join(dataDir, "pliant.sqlite")).toString("latin1");
  for (const { welcome } of bots) expect(file).not.toContain(welcome.token);
});
