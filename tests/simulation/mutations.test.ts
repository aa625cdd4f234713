/** The histories detect each of these faults in the server's code within a thousand histories. */
import { expect, test } from "vitest";
import { MUTATIONS } from "./mutations.ts";
import { planOf, EVERY_FAULT } from "./plan.ts";
import { prepareStage, runHistories } from "./run.ts";
import { shrink } from "./shrink.ts";

test.each(MUTATIONS)("$name: found", async (mutation) => {
  const stage = await prepareStage([mutation]);
  const { violations } = await runHistories({
    stage,
    seed: mutation.seed ?? 1,
    count: 1000,
    faults: mutation.faults ?? EVERY_FAULT,
    report: ({ violation }) => violation !== null,
  });
  expect(violations).toHaveLength(1);
});

test("a history that breaks a rule is made smaller, and still breaks the rule", async () => {
  const stage = await prepareStage([MUTATIONS.find(({ name }) => name === "an undo does not reach the store")!]);
  const { violations } = await runHistories({
    stage,
    seed: 1,
    count: 1000,
    faults: EVERY_FAULT,
    report: ({ violation }) => violation !== null,
  });
  const [{ seed, violation }] = violations as [(typeof violations)[0]];
  const plan = planOf(seed, EVERY_FAULT);
  const smaller = await shrink(stage, plan, violation!.rule);
  expect(smaller.actions.length).toBeLessThan(plan.actions.length / 2);
});
