/**
 * Ten thousand histories of servers that are killed, stopped, cut off and lied to, in virtual time, on the server's own
 * code; docs/SIMULATION.md says what is virtual in them. In two halves, for two cores.
 */
import { expect, test } from "vitest";
import { planOf, EVERY_FAULT } from "./plan.ts";
import { prepareStage, runHistories, runPlan } from "./run.ts";

test("five thousand histories: one owner, and nothing that was acknowledged is lost", {
  timeout: 600_000,
}, async () => {
  const stage = await prepareStage();
  const { violations, histories } = await runHistories({ stage, seed: 1, count: 5000, faults: EVERY_FAULT });
  expect(violations.map(({ seed, violation }) => `seed ${seed}: ${violation!.message}`)).toEqual([]);
  expect(histories).toBe(5000);
});

test("a seed gives the same history again, whatever was run before it", async () => {
  const [fresh, used] = [await prepareStage(), await prepareStage()];
  await runHistories({ stage: used, seed: 100, count: 20, faults: EVERY_FAULT });
  for (const seed of [7, 8, 9]) {
    const [first, second] = [
      await runPlan(fresh, planOf(seed, EVERY_FAULT), true),
      await runPlan(used, planOf(seed, EVERY_FAULT), true),
    ];
    expect(first.lines.length).toBeGreaterThan(20);
    expect(second).toEqual(first);
  }
});
