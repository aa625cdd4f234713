/**
 * A thread that runs out of memory in the middle of a step: two crumpled sheets that intersect in a hundred thousand
 * places need more heap than it has.
 */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { startTestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const CELLS = 100;

/** A sheet of 1 m whose corners are at random places within 3 cm. */
function crumpled(seed: number): string {
  let state = seed;
  const random = (): number => (state = (state * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
  const lines: string[] = [];
  const corner = (i: number, j: number): number => i * (CELLS + 1) + j + 1;
  for (let i = 0; i <= CELLS; i++)
    for (let j = 0; j <= CELLS; j++) lines.push(`v ${i / CELLS} ${0.03 * random()} ${j / CELLS}`);
  for (let i = 0; i < CELLS; i++) {
    for (let j = 0; j < CELLS; j++)
      lines.push(
        `f ${corner(i, j)} ${corner(i, j + 1)} ${corner(i + 1, j)}`,
        `f ${corner(i + 1, j)} ${corner(i, j + 1)} ${corner(i + 1, j + 1)}`,
      );
  }
  return `${lines.join("\n")}\n`;
}

test("costs the thread, and closes a room that needs so much memory repeatedly; other rooms continue", async () => {
  const scenesDir = testFolder("greedy");
  cpSync("tests/integration/scenes/cube.json", join(scenesDir, "cube.json"));
  const material = { density: 300, thickness: 0.001, youngsModulus: 1e4, poissonsRatio: 0.3 };
  const bodies = [1, 2].map((n) => {
    writeFileSync(join(scenesDir, `sheet${n}.obj`), crumpled(n));
    return { name: `sheet ${n}`, kind: "cloth", mesh: { type: "file", path: `sheet${n}.obj` }, material };
  });
  writeFileSync(
    join(scenesDir, "greedy.json"),
    JSON.stringify({ version: 1, title: "More than fits", gravity: [0, 0, 0], bodies }),
  );
  const errors: string[] = [];
  const server = await startTestServer({ scenesDir, workers: 1, threadMemoryMb: 32, stepDeadlineMs: 60_000 });
  const { log } = server.app.fastify;
  const { error } = log;
  log.error = (details: unknown, ...rest: unknown[]): void => {
    errors.push(
      (
        (details as { err?: { code?: string; cause?: { code?: string } } }).err?.cause ??
        (details as { err?: { code?: string } }).err
      )?.code ?? "",
    );
    (error as (...all: unknown[]) => void).call(log, details, ...rest);
  };
  try {
    await createRoom(server.url, "cube", "beside");
    const beside = await Bot.join(server.url, "beside");
    await beside.frames(3);
    await createRoom(server.url, "greedy", "greedy");
    const greedy = Bot.connect(server.url, "greedy");
    expect(await greedy.untilClosed()).toEqual({ code: CloseCode.roomGone, reason: "the simulation failed" });
    expect(errors).toContain("ERR_WORKER_OUT_OF_MEMORY");
    expect(server.workers.length).toBeGreaterThan(4);
    const { tick } = beside;
    await beside.frames(5);
    expect(beside.tick).toBeGreaterThan(tick);
    expect(beside.resets).toBe(0);
    await beside.leave();
  } finally {
    await server.close();
  }
});
