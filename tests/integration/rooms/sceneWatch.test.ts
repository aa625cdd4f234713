/** PLIANT_OTHER_VERSIONS=watch: saved scenes and meshes restart their rooms; broken files change nothing. */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

/** On a busy machine a build waits for its turn. */
const PATIENCE_MS = 300_000;
let server: TestServer | undefined;
afterEach(async () => {
  await server?.app.close();
  server = undefined;
});

function scenesFolder(): { scenes: string; data: string } {
  const folder = testFolder("watch");
  cpSync("scenes/schema.json", join(folder, "scenes", "schema.json"));
  return { scenes: join(folder, "scenes"), data: join(folder, "data") };
}
const material = { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3 };
const sceneOf = (mesh: object): string =>
  JSON.stringify({ version: 1, title: "A sheet", bodies: [{ name: "sheet", kind: "cloth", mesh, material }] });
const quad = (width: number): string => `v 0 0 0\nv ${width} 0 0\nv ${width} 0 1\nv 0 0 1\nf 4 3 2 1\n`;

describe.each(["none", "sqlite"])("store %s", (store) => {
  test("a saved scene, and a saved mesh, start their room again with its owner and members", async () => {
    const { scenes, data } = scenesFolder();
    writeFileSync(join(scenes, "sheet.json"), sceneOf({ type: "grid", size: [1, 1], cells: [2, 2] }));
    writeFileSync(join(scenes, "other.json"), sceneOf({ type: "grid", size: [2, 2], cells: [3, 3] }));
    const here = { scenesDir: scenes, dataDir: data, store, otherVersions: "watch" as const };
    server = await startTestServer(here);
    const { url, app } = server;
    const { topology: first, token } = await createRoom(url, "sheet", "a");
    await createRoom(url, "other", "b");
    const bystander = app.registry.get("b");
    const bot = await Bot.join(url, "a", { joinToken: token! });
    const topologyOf = (): string | undefined => app.registry.find("a")?.template.topologyHash;

    writeFileSync(join(scenes, "sheet.json"), sceneOf({ type: "file", path: "m.obj" }));
    writeFileSync(join(scenes, "m.obj"), quad(1));
    await expect.poll(topologyOf, { timeout: PATIENCE_MS }).not.toBe(first);
    await expect.poll(topologyOf, { timeout: PATIENCE_MS }).toMatch(/^[0-9a-f]{32}$/);
    const second = topologyOf();
    expect(await bot.untilClosed()).toMatchObject({ code: 1012 });
    const back = await Bot.join(url, "a", { joinToken: token! });
    await back.until(() => back.members.length > 0, "members");
    expect(back.members[0]![4]).toBe("owner");

    writeFileSync(join(scenes, "m.obj"), quad(3));
    await expect.poll(() => topologyOf() ?? second, { timeout: PATIENCE_MS }).not.toBe(second);
    const third = topologyOf();
    writeFileSync(join(scenes, "sheet.json"), "{ broken");
    writeFileSync(join(scenes, "other.json"), sceneOf({ type: "grid", size: [2, 3], cells: [3, 3] }));
    // The other scene's room follows, so the watch has seen both files.
    await expect.poll(() => app.registry.find("b") ?? bystander, { timeout: PATIENCE_MS }).not.toBe(bystander);
    expect(topologyOf()).toBe(third);
  });
});
