/** The other half of histories.test.ts, side by side with it. */
import { expect, test } from "vitest";
import { EVERY_FAULT } from "./plan.ts";
import { prepareStage, runHistories } from "./run.ts";

test("five thousand more histories", { timeout: 600_000 }, async () => {
  const stage = await prepareStage();
  const { violations, histories } = await runHistories({ stage, seed: 5001, count: 5000, faults: EVERY_FAULT });
  expect(violations.map(({ seed, violation }) => `seed ${seed}: ${violation!.message}`)).toEqual([]);
  expect(histories).toBe(5000);
});
