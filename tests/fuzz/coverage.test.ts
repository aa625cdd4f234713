/**
 * Coverage-guided fuzzing, the short form: guidance finds inputs that chance does not, and the corpus keeps its
 * coverage and causes no findings. `npm run fuzz:coverage` searches further.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("./coverage/", import.meta.url).pathname;
const run = (...args: string[]): unknown => {
  // A process of its own: V8 counts only blocks of code that is compiled after coverage is enabled.
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8" });
  if (status === null || status > 1 || stdout === "") throw new Error(`${args.join(" ")}: ${status}\n${stderr}`);
  return JSON.parse(stdout);
};

test("four required bytes are found one after another with guidance, and not without it", () => {
  const { guided, blind } = run("toy.ts") as { guided: number; blind: number };
  expect(guided).toBeGreaterThan(0);
  expect(blind).toBe(0);
}, 120_000);

test("the corpus covers more than the seeds, and neither it nor some hundred mutations of it cause findings", () => {
  const report = run("main.ts", "--executions", "128", "--seed", "3") as {
    target: string;
    corpus: number;
    seeds: number;
    reached: number;
    findings: unknown[];
  }[];
  const kept = readdirSync(new URL("./corpus/", import.meta.url));
  expect(kept.length).toBeGreaterThan(5);
  for (const { target, corpus, seeds, reached, findings } of report) {
    expect([target, findings]).toEqual([target, []]);
    if (!kept.includes(target)) continue;
    expect(corpus, target).toBeGreaterThan(0);
    expect(reached, target).toBeGreaterThan(1.05 * seeds);
  }
}, 240_000);
