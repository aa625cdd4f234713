/** The other half of histories.test.ts, side by side with it. */
import { expect, test } from "vitest";
import { inLong } from "../support/long.ts";
import { EVERY_FAULT } from "./plan.ts";
import { prepareStage, runHistories } from "./run.ts";

const COUNT = inLong(25_000, 5000);

test(`${COUNT} more histories`, async () => {
  const stage = await prepareStage();
  const { violations, histories } = await runHistories({
    stage,
    seed: inLong(25_001, 5001),
    count: COUNT,
    faults: EVERY_FAULT,
  });
  expect(violations.map(({ seed, violation }) => `seed ${seed}: ${violation!.message}`)).toEqual([]);
  expect(histories).toBe(COUNT);
});
