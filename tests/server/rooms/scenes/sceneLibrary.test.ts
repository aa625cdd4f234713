/** The list of scenes: one scan of the folder a second, for any number of callers. A build that several await. */
import { rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Metrics } from "../../../../server/metrics/metrics.ts";
import { SceneLibrary, type SceneLibraryOptions } from "../../../../server/rooms/scenes/sceneLibrary.ts";
import { testFolder } from "../../../support/testFolder.ts";

test("callers share one scan a second; the next scan has changes, and unchanged scenes are the same objects", async () => {
  const folder = testFolder("list");
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
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

test("visitors who ask at once for the scene of another process's room all wait for its one build", async () => {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  let builds = 0;
  const build = async (): Promise<object> => {
    builds += 1;
    await ended;
    const layout = { streamedParticles: 1, tickHz: 60 };
    return { seconds: 0, layout, template: null, topologyHash: "0123", topology: new SharedArrayBuffer(8) };
  };
  const library = new SceneLibrary({
    ...{ scenesDir: "scenes", reportDir: "scenes", clientDir: "scenes" },
    log: { info: () => {} } as unknown as FastifyBaseLogger,
    metrics: { buildSeconds: { observe: () => {} } } as unknown as Metrics,
    stored: { shapes: async () => new Map() },
    pools: { build },
    inUse: () => [],
  } as unknown as SceneLibraryOptions);
  const found = [1, 2].map(() => library.buildMissing(["one-cube"]).then(() => library.topology("0123") !== undefined));
  // The second request comes when the build is under way.
  await vi.waitUntil(() => builds > 0);
  found.push(library.buildMissing(["one-cube"]).then(() => library.topology("0123") !== undefined));
  await new Promise((resolve) => setImmediate(resolve));
  end();
  expect(await Promise.all(found)).toEqual([true, true, true]);
  expect(builds).toBe(1);
});
