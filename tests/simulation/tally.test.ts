/**
 * A long run in two sessions: the second continues from the first, and both together give the result of a single run.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { EVERY_FAULT } from "./plan.ts";
import { prepareStage } from "./run.ts";
import { goOn, readTally, type Tally } from "./tally.ts";
import { testFolder } from "../support/testFolder.ts";

const folder = testFolder("tally");

test("two sessions add up to one run; failed histories run again, and other histories are rejected", async () => {
  const stage = await prepareStage();
  const sit = async (name: string, count: number, before?: (tally: Tally) => void): Promise<number[]> => {
    const file = join(folder, name);
    const tally = readTally(file, 41, EVERY_FAULT);
    before?.(tally);
    const asked: number[] = [];
    await goOn(stage, tally, { count, file, report: ({ seed }) => void asked.push(seed) });
    return asked;
  };
  const kept = (name: string): Omit<Tally, "cpuSeconds"> => {
    const { cpuSeconds, ...tally } = readTally(join(folder, name), 41, EVERY_FAULT);
    expect(cpuSeconds).toBeGreaterThan(0);
    return tally;
  };
  expect(await sit("two", 3)).toEqual([41, 42, 43]);
  expect(kept("two")).toMatchObject({ seed: 41, done: 3, wrong: [], mended: [] });
  // A history that failed with an earlier program.
  expect(await sit("two", 6, ({ wrong }) => wrong.push({ seed: 42, rule: "one owner" }))).toEqual([44, 45, 46]);
  await sit("one", 6);
  expect(kept("two")).toEqual({ ...kept("one"), mended: [42] });
  expect(kept("one").programs).toEqual({ [stage.program]: 6 });
  expect(await sit("two", 6)).toEqual([]);
  expect(() => readTally(join(folder, "two"), 42, EVERY_FAULT)).toThrow("is of seed 41");
});
