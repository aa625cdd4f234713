/**
 * The builder's queues: they do not wait for each other, addresses take turns, and files are transferred without a
 * copy.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { Piscina } from "piscina";
import { afterAll, expect, test } from "vitest";
import { Builder } from "../../../../server/workers/builders/builder.ts";
import type { ReadObjectResult } from "../../../../server/workers/messages.ts";
import { StepsRunning } from "../../../../server/workers/stepping/stepsRunning.ts";
import { runWithin } from "../../../../server/workers/workDeadline.ts";
import { objBall } from "../../../support/modelFiles.ts";
import { testFolder } from "../../../support/testFolder.ts";

/** Four times the processor time of a first build, which loads the modules of its thread (1.4 s on a busy machine). */
const DEADLINE_MS = 6000;
const folder = testFolder("builder");
const builder = new Builder({
  deadlineMs: 120_000,
  readDeadlineMs: 120_000,
  memoryMb: 1024,
  steps: new StepsRunning(),
  onError: (error) => {
    throw error;
  },
});
afterAll(() => builder.close());

test("a scene is built while files are read; neither their bytes nor the results are copied", async () => {
  // A scene file that blocks until the test writes to it. So on any machine the build has begun, and is not done, while
  // files are read.
  const scenePath = join(folder, "scene.json");
  execFileSync("mkfifo", [scenePath]);
  const built = builder.build({ scenePath });
  const ball = new TextEncoder().encode(objBall(3));
  const files = [ball.slice(), ball.slice()];
  try {
    const read = files.map((bytes) => builder.readObject({ bytes, name: "ball.obj" }));
    for (const found of await Promise.all(read)) {
      const { shape, picture } = found as ReadObjectResult;
      for (const { buffer } of [shape, picture]) expect(buffer).toBeInstanceOf(SharedArrayBuffer);
    }
  } finally {
    // Not at once: the thread may still be starting, which needs this thread.
    await writeFile(scenePath, readFileSync("scenes/one-cube.json"));
  }
  expect(files.map(({ byteLength }) => byteLength)).toEqual([0, 0]);
  expect((await built).topologyHash).toMatch(/^[0-9a-f]+$/);
});

test("a scene is told which bodies have another solver, and because of which other body", async () => {
  const scene = JSON.parse(readFileSync("tests/integration/scenes/cube.json", "utf8")) as { bodies: object[] };
  const [cube] = scene.bodies;
  const bodies = [
    { ...cube, solver: "implicit" },
    { ...cube, name: "other", solver: "compliant", transform: { translate: [0, 1, 0] } },
  ];
  const { found } = await builder.build({ scenePath: "scene.json", text: JSON.stringify({ ...scene, bodies }) });
  expect(found).toEqual([{ body: "cube", code: "SOLVER_CHANGED", text: expect.stringContaining('meet "other"') }]);
});

test("a deadline counts work: waiting for a processor or for a file extends it", async () => {
  const options = {
    deadlineMs: DEADLINE_MS,
    readDeadlineMs: DEADLINE_MS,
    memoryMb: 1024,
    steps: new StepsRunning(),
    onError: () => {},
  };
  const hurried = new Builder(options);
  const gate = join(folder, "late.json");
  execFileSync("mkfifo", [gate]);
  try {
    // The thread has started.
    await hurried.build({ scenePath: "scenes/one-cube.json" });
    const built = hurried.build({ scenePath: gate });
    await sleep(1.1 * DEADLINE_MS);
    await writeFile(gate, readFileSync("scenes/one-cube.json"));
    expect((await built).topologyHash).toMatch(/^[0-9a-f]+$/);
  } finally {
    await hurried.close();
  }
});

test("a thread that cannot load its code is told at once, each time, not at the deadline", async () => {
  const filename = join(folder, "broken.mjs");
  // In parts: written out, the statement would count as an import of this file.
  const [load, missing] = ["import", "missing.mjs"];
  await writeFile(filename, `${load} "./${missing}";\nexport const build = () => 1;\n`);
  const pool = new Piscina({ filename, minThreads: 0, maxThreads: 1, recordTiming: false });
  pool.on("error", () => {});
  // A deadline of an hour: only the error ends these.
  const run = (): Promise<unknown> => runWithin(pool, {}, { name: "build", deadlineMs: 3_600_000 });
  await expect(run()).rejects.toThrow(missing);
  await expect(run()).rejects.toThrow(missing);
  await writeFile(join(folder, missing), "");
  expect(await run()).toBe(1);
  expect(pool.listenerCount("error")).toBe(1);
  await pool.destroy();
});

test("addresses take turns: many scenes of one address delay only that address", async () => {
  const gate = join(folder, "gate.json");
  execFileSync("mkfifo", [gate]);
  const done: string[] = [];
  const build = (by: string, scenePath = "scenes/one-cube.json"): Promise<unknown> =>
    builder.build({ scenePath }, by).then(() => done.push(by));
  const all = [build("greedy", gate)];
  all.push(build("greedy"), build("greedy"));
  all.push(build("another"));
  await writeFile(gate, readFileSync("scenes/one-cube.json"));
  await Promise.all(all);
  // After the scene in progress, and one requested earlier.
  expect(done.indexOf("another")).toBe(2);
});

/** A few kilobytes that take seconds to read. */
const TRIANGLES = 700_000;
const giant = gzipSync(`v 0 0 0\nv 1 0 0\nv 0 1 0\n${"f 1 2 3\n".repeat(TRIANGLES)}`);

test("a small file waits for a time slice of huge ones from other addresses, not for their ends", async () => {
  const done: string[] = [];
  const read = async (by: string, bytes: Uint8Array, name: string): Promise<ReadObjectResult> => {
    const found = await builder.readObject({ bytes: Uint8Array.from(bytes), name }, by);
    done.push(by);
    return found as ReadObjectResult;
  };
  const giants = ["a", "b"].map((by) => read(by, giant, "giant.obj.gz"));
  await read("small", new TextEncoder().encode(objBall(3)), "ball.obj");
  expect(done).not.toContain("b");
  // The quick thread gives them up, and the other one reads them whole.
  for (const { about } of await Promise.all(giants)) expect(about.triangles).toBe(TRIANGLES);
});

test("a file that takes too much processor time is refused with the limit and its name", async () => {
  const hurried = new Builder({
    deadlineMs: 1000,
    readDeadlineMs: 100,
    memoryMb: 1024,
    steps: new StepsRunning(),
    onError: () => {},
  });
  try {
    const read = hurried.readObject({ bytes: Uint8Array.from(giant), name: "giant.obj.gz" });
    await expect(read).rejects.toThrow("it took more than 100 ms of processor time (by PLIANT_OBJECTS_DEADLINE_MS)");
  } finally {
    await hurried.close();
  }
});
