/** What becomes of a room whose threads are lost in the same tick again and again. */
import { expect, test } from "vitest";
import { CheckpointPolicy, Hopeless } from "../../../server/persistence/checkpointPolicy.ts";

function played(beginsAnew: boolean): CheckpointPolicy {
  const policy = new CheckpointPolicy(60, 3600, beginsAnew);
  for (let tick = 1; tick <= 90; tick++) policy.history.stepped(tick, [{ type: "releaseAll", member: tick }]);
  return policy;
}

test("again, without inputs, and then nothing more: what was is kept", () => {
  const policy = played(false);
  expect(policy.afterLoss()).toMatchObject({ until: 90 });
  expect(policy.lossOutcome).toBe("again");
  expect(policy.afterLoss()).toMatchObject({ until: 90 });
  expect(policy.lossOutcome).toBe("without inputs");
  for (let more = 0; more < 2; more++) expect(() => policy.afterLoss()).toThrow(Hopeless);
  expect(policy.history.tick).toBe(90);
  expect(policy.history.records(0)).toHaveLength(90);
});

test("a tick that was stepped in between begins the count anew", () => {
  const policy = played(false);
  policy.afterLoss();
  policy.afterLoss();
  policy.history.stepped(91, []);
  expect(policy.afterLoss()).toMatchObject({ until: 91 });
  expect(policy.lossOutcome).toBe("again");
});

test("where there is nothing to keep it for, the scene starts again", () => {
  const policy = played(true);
  policy.afterLoss();
  policy.afterLoss();
  expect(policy.afterLoss()).toMatchObject({ from: 0, until: 0, records: [] });
  expect(policy.lossOutcome).toBe("anew");
});
