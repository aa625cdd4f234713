/** The list of scenes: one scan of the folder a second, for any number of callers. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import { expect, onTestFinished, test, vi } from "vitest";
import { SceneLibrary, type SceneLibraryOptions } from "../../../../server/rooms/scenes/sceneLibrary.ts";

test("callers share one scan a second; the next scan has changes, and unchanged scenes are the same objects", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pliant-list-"));
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => {
    vi.useRealTimers();
    rmSync(folder, { recursive: true, force: true });
  });
  const said: object[] = [];
  const log = { warn: (details: object) => said.push(details) } as unknown as FastifyBaseLogger;
  const library = new SceneLibrary({
    scenesDir: folder,
    reportDir: folder,
    clientDir: folder,
    log,
  } as SceneLibraryOptions);
  const source = await readFile("scenes/one-cube.json", "utf8");
  const ids = async (): Promise<string[]> => (await library.list()).scenes.map(({ id }) => id);
  writeFileSync(join(folder, "a.json"), source);
  expect(await Promise.all([ids(), ids()])).toEqual([["a"], ["a"]]);
  const before = await library.list();
  writeFileSync(join(folder, "b.json"), source);
  writeFileSync(join(folder, "c.json"), "{");
  vi.advanceTimersByTime(999);
  expect(await library.list()).toBe(before);
  vi.advanceTimersByTime(1);
  expect(await ids()).toEqual(["a", "b"]);
  const after = await library.list();
  expect(after.broken.map(({ id }) => id)).toEqual(["c"]);
  for (let i = 0; i < 3; i++) {
    vi.advanceTimersByTime(1000);
    expect(await library.list()).toBe(after);
  }
  expect(said).toHaveLength(1);
  rmSync(join(folder, "c.json"));
  vi.advanceTimersByTime(1000);
  expect(await library.list()).toEqual({ scenes: after.scenes, broken: [] });
  // A folder that cannot be read is scanned again at once.
  rmSync(folder, { recursive: true });
  vi.advanceTimersByTime(1000);
  await expect(library.list()).rejects.toThrow("ENOENT");
  await expect(library.list()).rejects.toThrow("ENOENT");
});
