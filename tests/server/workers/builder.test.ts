/** The builder's two lines: what is read keeps nothing from being built, and goes over without a copy. */
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { Builder } from "../../../server/workers/builder.ts";
import { objBall } from "../../support/modelFiles.ts";

const scenePath = fileURLToPath(new URL("../../../scenes/one-cube.json", import.meta.url));
const builder = new Builder({
  deadlineMs: 120_000,
  readDeadlineMs: 120_000,
  memoryMb: 1024,
  onError: (error) => {
    throw error;
  },
});
afterAll(() => builder.close());

test("a scene is built while files are read, whose bytes are not copied", async () => {
  const ball = new TextEncoder().encode(objBall(5));
  const files = Array.from({ length: 8 }, () => ball.slice());
  let read = 0;
  const reads = files.map((bytes) => builder.readObject({ bytes, name: "ball.obj" }).then(() => (read += 1)));
  const { topologyHash } = await builder.build({ scenePath });
  expect(topologyHash).toMatch(/^[0-9a-f]+$/);
  // In one line it would come after all of them.
  expect(read).toBeLessThan(files.length);
  await Promise.all(reads);
  expect(files.map(({ byteLength }) => byteLength)).toEqual(files.map(() => 0));
});
