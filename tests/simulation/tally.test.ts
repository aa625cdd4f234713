/** A long run in two sittings: the second goes on where the first was, with the same in the end as one of both. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Tally } from "./tally.ts";

const folder = mkdtempSync(join(tmpdir(), "pliant-tally-"));
afterAll(() => rmSync(folder, { recursive: true }));

function sit(file: string, count: number, seed = 41): { status: number | null; tally: Tally | null; said: string } {
  const path = join(folder, file);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["tests/simulation/main.ts", "--seed", String(seed), "--count", String(count), "--into", path],
    { encoding: "utf8" },
  );
  return { status, said: stdout + stderr, tally: JSON.parse(readFileSync(path, "utf8")) as Tally };
}

const without = ({ cpuSeconds, ...tally }: Tally): Omit<Tally, "cpuSeconds"> => tally;

test("two sittings add up to what one gives; what was wrong is asked again, and other histories are refused", () => {
  expect(sit("two", 6).tally).toMatchObject({ seed: 41, done: 6, wrong: [], mended: [] });
  // A history that was wrong with a program of before.
  const path = join(folder, "two");
  const before = JSON.parse(readFileSync(path, "utf8")) as Tally;
  writeFileSync(path, JSON.stringify({ ...before, wrong: [{ seed: 43, rule: "one owner" }] }));
  const second = sit("two", 15);
  expect(second.status).toBe(0);
  const whole = sit("one", 15);
  expect(without(second.tally!)).toEqual({ ...without(whole.tally!), mended: [43] });
  expect(Object.values(whole.tally!.programs)).toEqual([15]);
  // Nothing is left to do.
  expect(sit("two", 15).tally!.done).toBe(15);
  const other = sit("two", 15, 42);
  expect([other.status, other.said]).toEqual([2, expect.stringContaining("is of seed 41")]);
}, 240_000);
