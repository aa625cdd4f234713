/** `npm run dev`: after a scene's file is saved, the open room and its page show the new scene; the server stays. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createRoom } from "../../../load-tests/bot.ts";
import { freePort, waitForOk } from "../../../load-tests/measuredServer.ts";
import { launch, type PageWindow } from "../../../load-tests/visitors/pages.ts";
import { noBrowser, PATIENCE_MS } from "../pageStage.ts";
import { testFolder } from "../../support/testFolder.ts";

const { dev } = (JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { dev: string } }).scripts;

/** In the page: tests whether a particle is further to the side than this, m. */
const wide = (least: number): boolean =>
  (globalThis as unknown as Partial<PageWindow>).pliant?.displayed().some((x) => x > least) ?? false;

test("a room restarts when its scene's file is saved", async () => {
  const folder = testFolder("dev");
  const scenes = join(folder, "scenes");
  cpSync("scenes/schema.json", join(scenes, "schema.json"));
  const save = (width: number): void => {
    const mesh = { type: "box", size: [width, 1, 1], cells: [2, 2, 2] };
    const material = { density: 1000, youngsModulus: 20_000, poissonsRatio: 0.4 };
    const scene = { version: 1, title: "A box", bodies: [{ name: "box", kind: "soft", mesh, material }] };
    writeFileSync(join(scenes, "box.json"), JSON.stringify(scene));
  };
  save(1);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const here = {
    PLIANT_SCENES_DIR: scenes,
    PLIANT_DATA_DIR: join(folder, "data"),
    PLIANT_WORKERS: "1",
    PLIANT_OPERATIONS_PORT: "same",
  };
  const server = spawn("sh", ["-c", dev], {
    env: { ...process.env, ...here, PORT: String(port), HOST: "127.0.0.1", PLIANT_PREWARM: "none", LOG_LEVEL: "warn" },
    stdio: "ignore",
    detached: true,
  });
  const ended = once(server, "exit");
  const browser = noBrowser ? undefined : await launch();
  try {
    await waitForOk(`${url}/readyz`, PATIENCE_MS);
    const { topology } = await createRoom(url, "box", "dev");
    const page = await browser?.newPage({ viewport: { width: 320, height: 240 } });
    page?.setDefaultTimeout(PATIENCE_MS);
    await page?.goto(`${url}/r/dev`);
    await page?.waitForFunction(wide, 0.4, { timeout: PATIENCE_MS });
    const started = async (): Promise<string | undefined> =>
      /^process_start_time_seconds .*$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[0];
    const before = await started();
    expect(before).toMatch(/ \d+/);
    save(2);
    const now = async (): Promise<unknown> =>
      ((await (await fetch(`${url}/api/rooms/dev`)).json()) as { topology?: unknown }).topology;
    let seen: unknown;
    do await sleep(100);
    while ((seen = await now().catch(() => undefined)) === topology || seen === undefined);
    expect(seen).toMatch(/^[0-9a-f]{32}$/);
    expect(await started()).toBe(before);
    // The page has reconnected and shows the box twice as wide.
    await page?.waitForFunction(wide, 0.9, { timeout: PATIENCE_MS });
    if (page) expect(await page.evaluate(() => (globalThis as unknown as PageWindow).pliant.status)).toBe("open");
  } finally {
    await browser?.close();
    process.kill(-server.pid!, "SIGTERM");
    await ended;
    // The shell has ended; its child processes may still write.
  }
});
